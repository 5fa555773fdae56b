//! Finds the files of a folder as sidecars refer to them: by path, by name, or by location. The names that make a file a
//! sidecar of some format are here, too.

use std::{
    cell::OnceCell,
    collections::{BTreeSet, HashMap, HashSet},
    ffi::OsStr,
    path::{Component, Path, PathBuf},
};

use tessera_model::FileKind;

use crate::ingest::FolderScan;

pub(super) use crate::ingest::scan::METADATA_PARQUET;

/// Names of image folders that have parallel sidecar folders.
const IMAGE_FOLDERS: [&str; 3] = ["images", "JPEGImages", "image_2"];
/// Limit on folders of the same name to search for an image.
const MAX_CANDIDATE_FOLDERS: usize = 8;

pub(crate) struct FileIndex<'a> {
    scan: &'a FolderScan,
    paths: HashSet<&'a Path>,
    /// The only file of each name, `None` if there are several. Built on demand.
    unique_names: OnceCell<HashMap<&'a OsStr, Option<&'a Path>>>,
    /// The folders of media files by their own name. Built on demand.
    media_folders: OnceCell<HashMap<&'a OsStr, BTreeSet<&'a Path>>>,
}

impl<'a> FileIndex<'a> {
    pub fn new(scan: &'a FolderScan) -> Self {
        let paths = scan.files.iter().map(|file| file.path.as_path()).collect();
        Self { scan, paths, unique_names: OnceCell::new(), media_folders: OnceCell::new() }
    }

    pub fn all(&self) -> impl Iterator<Item = &'a Path> + use<'a> {
        self.scan.files.iter().map(|file| file.path.as_path())
    }

    pub fn media(&self) -> impl Iterator<Item = &'a Path> + use<'a> {
        self.all().filter(|path| is_media(path))
    }

    /// Returns the files with this name, least nested first.
    pub(crate) fn with_name(&self, name: &str) -> Vec<&'a Path> {
        let named = |path: &&Path| path.file_name() == Some(OsStr::new(name));
        let mut paths: Vec<_> = self.all().filter(named).collect();
        paths.sort_by_key(|path| path.components().count());
        paths
    }

    pub fn get(&self, path: &Path) -> Option<&'a Path> {
        self.paths.get(path).copied()
    }

    pub(crate) fn sidecar_beside(&self, media: &Path, extension: &str) -> Option<&'a Path> {
        self.get(&media.with_extension(extension))
    }

    /// Returns the sidecar of a media file in a parallel folder: `labels/b/a.txt` for `images/b/a.jpg`.
    pub(crate) fn sidecar_in_parallel_folder(
        &self,
        media: &Path,
        folder: &str,
        extension: &str,
    ) -> Option<&'a Path> {
        let parts: Vec<_> = media.iter().collect();
        let position =
            parts.iter().rposition(|part| IMAGE_FOLDERS.iter().any(|images| part == images))?;
        let mut path: PathBuf = parts[..position].iter().collect();
        path.push(folder);
        path.extend(&parts[position + 1..]);
        self.get(&path.with_extension(extension))
    }

    /// Finds the media file that a row of `sidecar` calls `name`. The name is relative to the sidecar's folder or the root,
    /// or is that of only one file. The error says why there is none.
    pub fn resolve(&self, name: &str, sidecar: &Path) -> Result<&'a Path, &'static str> {
        // Tables that were written on Windows have backslashes.
        let name = name.trim().replace('\\', "/");
        let mut path = PathBuf::new();
        for part in Path::new(&name).components() {
            match part {
                Component::Normal(part) => path.push(part),
                Component::CurDir => {}
                _ => return Err("its file_name points outside the folder"),
            }
        }
        let by_path = sidecar
            .parent()
            .and_then(|folder| self.get(&folder.join(&path)))
            .or_else(|| self.get(&path))
            .or_else(|| self.in_folder_of_same_name(&path, sidecar));
        let media = by_path.map_or_else(|| self.by_unique_name(&path), Ok)?;
        if may_be_sidecar(media) { Err("its file_name is not a media file") } else { Ok(media) }
    }

    /// Finds `train/a.jpg` or `images/train/a.jpg` for `instances_train.json`.
    fn in_folder_of_same_name(&self, path: &Path, sidecar: &Path) -> Option<&'a Path> {
        let folders = self.media_folders.get_or_init(|| {
            let mut folders = HashMap::<_, BTreeSet<_>>::new();
            for folder in self.media().filter_map(Path::parent) {
                if let Some(name) = folder.file_name() {
                    folders.entry(name).or_default().insert(folder);
                }
            }
            folders
        });
        let word = sidecar.file_stem()?.to_str()?.rsplit(['_', '-', '.', ' ']).next()?;
        let named = folders.get(OsStr::new(word))?.iter().take(MAX_CANDIDATE_FOLDERS);
        named.map(|folder| folder.join(path)).find_map(|path| self.get(&path))
    }

    fn by_unique_name(&self, path: &Path) -> Result<&'a Path, &'static str> {
        let unique = self.unique_names.get_or_init(|| {
            let mut unique = HashMap::new();
            for path in self.all() {
                if let Some(name) = path.file_name() {
                    unique.entry(name).and_modify(|only| *only = None).or_insert(Some(path));
                }
            }
            unique
        });
        match path.file_name().and_then(|name| unique.get(name)) {
            Some(Some(path)) => Ok(path),
            Some(None) => Err("its file_name matches several files in the folder"),
            None => Err("its file_name is not in the folder"),
        }
    }
}

fn is_media(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    FileKind::from_name(&name).is_media()
}

pub(crate) const METADATA_JSONL: &str = "metadata.jsonl";
pub(crate) const METADATA_CSV: &str = "metadata.csv";
pub(crate) const CVAT_XML: &str = "annotations.xml";
/// Files with class names for YOLO boxes, in the order to look for them.
pub(crate) const CLASS_NAME_FILES: [&str; 7] = [
    "data.yaml",
    "data.yml",
    "dataset.yaml",
    "dataset.yml",
    "classes.txt",
    "obj.names",
    "_darknet.labels",
];
/// The COCO file in every folder of a Roboflow export.
const ROBOFLOW_COCO: &str = "_annotations.coco.json";
/// The usual folder of COCO files, if not the root.
const COCO_FOLDER: &str = "annotations";

/// Whether the name of a file is one of a sidecar. Rows of tables cannot describe such a file as a media file.
fn may_be_sidecar(path: &Path) -> bool {
    let ends = |end: &str| path.extension().is_some_and(|extension| extension == end);
    is_named(path, &[METADATA_JSONL, METADATA_PARQUET, METADATA_CSV])
        || is_named(path, &CLASS_NAME_FILES)
        || ends("txt")
        || ends("xml")
        || ends("cls")
        || open_images_table(path).is_some()
        || may_be_coco(path)
}

pub(crate) fn may_be_coco(path: &Path) -> bool {
    let folder = path.parent().and_then(Path::file_name);
    path.extension().is_some_and(|extension| extension == "json")
        && (folder.is_none_or(|folder| folder.eq_ignore_ascii_case(COCO_FOLDER))
            || is_named(path, &[ROBOFLOW_COCO]))
}

/// The tables of Open Images: boxes, labels that people checked, and the names of classes. The name of a table begins
/// with a version and a part of the images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpenImagesTable {
    Boxes,
    Labels,
    ClassNames,
}

pub(crate) fn open_images_table(path: &Path) -> Option<OpenImagesTable> {
    let name = path.file_name()?.to_str()?.strip_suffix(".csv")?;
    let contains = |word| name.contains(word);
    if name.ends_with("annotations-bbox") {
        Some(OpenImagesTable::Boxes)
    } else if contains("annotations-human-imagelabels") {
        Some(OpenImagesTable::Labels)
    } else {
        contains("class-descriptions").then_some(OpenImagesTable::ClassNames)
    }
}

fn is_named(path: &Path, names: &[&str]) -> bool {
    path.file_name().is_some_and(|name| names.iter().any(|known| name == *known))
}
