//! Labels pictures by the folder that contains them, if no sidecar does. Collections of classes have a folder for each
//! class, which may have a number as its name, or may contain a folder `images`.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    ffi::OsStr,
};

use super::file_index::FileIndex;
use super::prelude::*;
use crate::ingest::is_parquet;
use tessera_model::{FileKind, split_name};

/// Names of folders that contain the pictures of something.
const PICTURE_FOLDERS: &str =
    "image images img imgs jpeg jpegimages jpegs jpg photo photos pics picture pictures png pngs";
/// The folder in which cameras keep their folders.
const CAMERA: &str = "DCIM";
/// Further words that say nothing about the media, in lower case. The names of splits say nothing, either.
const GENERIC_WORDS: &str = "all annotation annotations data dataset datasets dcim default files frames input label \
    labels media obj output raw set uploads video videos";

pub(crate) fn read(reader: &mut SidecarReader<'_>) {
    let folders = Folders::new(&reader.files);
    let mut labels = HashMap::new();
    for media in reader.files.media() {
        let labeled = reader.data.descriptions.get(media).is_some_and(|d| !d.labels.is_empty());
        let Some(folder) = folder_of(media).filter(|_| !labeled) else { continue };
        if let Some(label) = *labels.entry(folder).or_insert_with(|| folders.label_of(folder)) {
            let mut description = MediaDescription::default();
            push_name(&mut description.labels, label);
            reader.add_description(media, folder, description);
        }
    }
}

/// Returns the folder of a file. The files in a Parquet file or in a shard count as files of the folder that contains
/// the Parquet file or the shard.
fn folder_of(media: &Path) -> Option<&Path> {
    let folder = media.parent()?;
    let is_shard = || FileKind::from_name(&folder.to_string_lossy()) == FileKind::Archive;
    if is_parquet(folder) || is_shard() { folder.parent() } else { Some(folder) }
}

/// Whether a camera or phone has named a folder: `DCIM/100CANON` or `DCIM/Camera`.
fn is_camera_folder(folder: &Path, name: &str) -> bool {
    let is_in_camera = folder
        .parent()
        .and_then(Path::file_name)
        .is_some_and(|parent| parent.eq_ignore_ascii_case(CAMERA));
    let is_numbered = name.len() == 8 && name.bytes().take(3).all(|byte| byte.is_ascii_digit());
    is_in_camera && (is_numbered || name.eq_ignore_ascii_case("camera"))
}

/// Whether a folder is a revision of a repository in the cache of a model hub: `snapshots/9f3c…`, with 40 digits.
fn is_revision(folder: &Path, name: &str) -> bool {
    let is_of_cache = folder.parent().is_some_and(|parent| parent.ends_with("snapshots"));
    is_of_cache && name.len() == 40 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

struct Folders<'a> {
    /// The names of the folders in each folder.
    names: HashMap<&'a Path, BTreeSet<&'a OsStr>>,
    /// The folders that contain folders which are numbered from 0.
    numbered: HashSet<&'a Path>,
    /// The folders that contain media, or a folder of pictures.
    with_media: HashSet<&'a Path>,
}

impl<'a> Folders<'a> {
    fn new(files: &FileIndex<'a>) -> Self {
        let mut names = HashMap::<_, BTreeSet<_>>::new();
        for folder in files.all().filter_map(folder_of).flat_map(Path::ancestors) {
            if let Some((parent, name)) = folder.parent().zip(folder.file_name()) {
                names.entry(parent).or_default().insert(name);
            }
        }
        let numbered = names.iter().filter(|(_, names)| are_numbered(names));
        let numbered = numbered.map(|(folder, _)| *folder).collect();
        let folders = files.media().filter_map(folder_of);
        let with_media = folders
            .flat_map(|folder| {
                [Some(folder), folder.parent().filter(|_| is_picture_folder(folder))]
            })
            .flatten()
            .collect();
        Self { names, numbered, with_media }
    }

    fn label_of<'p>(&self, folder: &'p Path) -> Option<&'p str> {
        let name = folder.file_name()?.to_str()?;
        if is_camera_folder(folder, name) || is_revision(folder, name) {
            None
        } else if is_number(name) {
            self.is_class_number(folder, name).then_some(name)
        } else if is_one_of(name, PICTURE_FOLDERS) {
            let class = folder.parent()?;
            let label = self.label_of(class).filter(|_| !is_picture_folder(class))?;
            self.is_class_folder(class, folder.file_name()?).then_some(label)
        } else {
            let is_class = is_descriptive(name) || self.is_among_classes(folder);
            (is_class && !stem(name).is_empty()).then_some(name)
        }
    }

    /// Whether a folder with a generic name, such as `train` beside `bus` and `car`, is one of several classes: no
    /// folder beside it has only generic words, and several of them describe and contain media.
    fn is_among_classes(&self, folder: &Path) -> bool {
        let Some(parent) = folder.parent() else { return false };
        let own = folder.file_name();
        let names = || self.names.get(parent).into_iter().flatten();
        let others = || names().filter(|name| Some(**name) != own);
        let has_media = |name: &&&OsStr| self.with_media.contains(&*parent.join(name));
        // A split is not divided into splits again. Inside a split, one other class is therefore enough to show that a
        // folder such as `train` is a class.
        let needed = if is_split(folder) && is_split(parent) { 1 } else { 2 };
        let is_class = |name: &&&OsStr| name.to_str().is_some_and(is_descriptive);
        others().all(|name| name.to_str().is_some_and(is_specific))
            && others().filter(is_class).filter(has_media).nth(needed - 1).is_some()
    }

    /// Whether a folder that contains a folder of pictures is one of several classes. A folder with further folders,
    /// such as `labels`, is a dataset.
    fn is_class_folder(&self, class: &Path, pictures: &OsStr) -> bool {
        let has_only_pictures = |folder: &Path| {
            self.names.get(folder).is_some_and(|names| names.iter().eq([&pictures]))
        };
        let Some(parent) = class.parent() else { return false };
        let siblings = self.names.get(parent).into_iter().flatten();
        let mut classes = siblings.filter(|sibling| has_only_pictures(&parent.join(sibling)));
        has_only_pictures(class) && (is_split(parent) || classes.nth(1).is_some())
    }

    /// Whether a folder whose name is a number is a class: in a folder such as `train`, or if the folders beside it are
    /// numbered from 0. Other numbers are dates, or parts of a large collection.
    fn is_class_number(&self, folder: &Path, name: &str) -> bool {
        let Some(parent) = folder.parent() else { return false };
        let is_year = name.len() == 4 && (name.starts_with("19") || name.starts_with("20"));
        let mut above = parent.ancestors().skip_while(|folder| is_picture_folder(folder));
        (above.next().is_some_and(is_split) && !is_year) || self.numbered.contains(parent)
    }
}

/// Whether the numbers among names are at least two, and count from 0.
fn are_numbered(names: &BTreeSet<&OsStr>) -> bool {
    let numbers = names.iter().filter_map(|name| name.to_str().filter(|it| is_number(it)));
    let numbers: BTreeSet<&str> = numbers.collect();
    numbers.len() > 1 && (0..numbers.len()).all(|number| numbers.contains(&*number.to_string()))
}

fn is_number(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_separator(c: char) -> bool {
    matches!(c, '-' | '_' | '.' | ' ')
}

/// Returns a name without the digits and separators at its end.
fn stem(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit() || is_separator(c))
}

/// Whether a name describes media: it has a specific word, and no word for a split, as `coco_train` has.
fn is_descriptive(name: &str) -> bool {
    is_specific(name) && !has_split(name)
}

/// Whether a name has a word that is neither a number nor a word for media in general nor for a split.
fn is_specific(name: &str) -> bool {
    let is_generic = |word: &str| {
        stem(word).is_empty()
            || is_one_of(word, GENERIC_WORDS)
            || is_one_of(word, PICTURE_FOLDERS)
            || has_split(word)
    };
    !name.split(is_separator).all(is_generic)
}

/// Whether a word of a name is a split of a dataset, such as `train` or `Final_Training`.
fn has_split(name: &str) -> bool {
    let mut words = name.split(|c: char| !c.is_alphanumeric());
    words.any(|word| split_name(&word.to_lowercase()).is_some())
}

fn is_one_of(name: &str, names: &str) -> bool {
    names.split_whitespace().any(|other| other.eq_ignore_ascii_case(stem(name)))
}

fn is_picture_folder(folder: &Path) -> bool {
    folder.file_name().and_then(OsStr::to_str).is_some_and(|name| is_one_of(name, PICTURE_FOLDERS))
}

fn is_split(folder: &Path) -> bool {
    folder.file_name().is_some_and(|name| has_split(&name.to_string_lossy()))
}
