//! Finds the media file that a sidecar refers to by a name, and the sidecars of a media file. Names come from the
//! machines, tools and file systems on which a sidecar was written, so a name only has to fit one file of the folder.
//! No name leads out of the folder, because names are only compared with the listed files. Other files that name media,
//! such as tables of embeddings, are matched in the same way.

use std::{
    borrow::Cow,
    cell::OnceCell,
    cmp::Reverse,
    collections::{HashMap, HashSet},
    ffi::OsStr,
    path::{Component, Path, PathBuf},
    rc::Rc,
};

use super::{
    diagnostics::Reason,
    sidecar_names::{is_in_label_folder, is_named, may_be_sidecar},
};
use crate::ingest::{
    FolderScan, OriginalFiles, file_names::printable_path, is_parquet, read_first_bytes,
    text_encoding::unmarked_name,
};
use percent_encoding::percent_decode_str;
use tessera_model::{FileKind, PictureName, keep_best, search_form};
use tessera_picture::media_kind;

/// Names of image folders that have a parallel folder of sidecars.
const IMAGE_FOLDERS: [&str; 3] = ["images", "JPEGImages", "image_2"];

/// Returns the folder of sidecars that is parallel to a folder of images: `labels/b` for `images/b`.
pub(crate) fn parallel_folder(images: &Path, sidecars: &str) -> Option<PathBuf> {
    let mut parts: Vec<&OsStr> = images.iter().collect();
    let position =
        parts.iter().rposition(|part| IMAGE_FOLDERS.iter().any(|images| part == images))?;
    parts[position] = OsStr::new(sidecars);
    Some(parts.into_iter().collect())
}

pub struct FileIndex<'a> {
    scan: &'a FolderScan,
    paths: HashSet<&'a Path>,
    /// The media files whose name does not say that they are media.
    recognized: Rc<HashSet<&'a Path>>,
    /// The media files whose names go on after a second dot, by their path up to the first dot. Built on demand.
    samples: OnceCell<HashMap<PathBuf, Vec<&'a Path>>>,
    /// The files by their path without case, from the name up to the root, also by their decoded path if it is
    /// percent-encoded. Built on demand.
    by_name: OnceCell<Vec<(Box<str>, &'a Path)>>,
    /// The best fit of a name in the current sidecar for each file, and the sidecar.
    best_fits: (PathBuf, HashMap<&'a Path, Fit>),
}

/// How well a name fits a file: the number of equal parts at the end, how many of these have the same spelling, and the
/// rank of the way in which the name was read. A path that leads to the file fits best.
type Fit = (usize, usize, Reverse<usize>);

const EXACT: Fit = (usize::MAX, 0, Reverse(0));
/// The fit of the path from the folder of the dataset.
const FROM_ROOT: Fit = (usize::MAX - 1, 0, Reverse(0));

impl<'a> FileIndex<'a> {
    /// Indexes the files of a folder. Files on this machine whose name says nothing are opened, because they may be
    /// pictures or videos.
    pub fn new(scan: &'a FolderScan, folder: &dyn OriginalFiles) -> Self {
        Self::with_media(scan, |path| has_media(folder, path))
    }

    /// Indexes files, all of which are media.
    pub fn of_media(scan: &'a FolderScan) -> Self {
        Self::with_media(scan, |_| true)
    }

    /// Indexes files. `is_recognized` says which of those whose name says nothing are media.
    pub(crate) fn with_media(scan: &'a FolderScan, is_recognized: impl Fn(&Path) -> bool) -> Self {
        let paths = || scan.files.iter().map(|file| file.path.as_path());
        let media = paths().filter(|path| kind_of(path) == FileKind::Other && is_recognized(path));
        Self {
            scan,
            paths: paths().collect(),
            recognized: Rc::new(media.collect()),
            samples: OnceCell::new(),
            by_name: OnceCell::new(),
            best_fits: (PathBuf::new(), HashMap::new()),
        }
    }

    /// Returns the files with more bytes than this.
    pub fn larger_than(&self, bytes: u64) -> impl Iterator<Item = &'a Path> + use<'a> {
        let files = self.scan.files.iter().filter(move |file| file.stat.size > bytes);
        files.map(|file| file.path.as_path())
    }

    pub fn all(&self) -> impl Iterator<Item = &'a Path> + use<'a> {
        self.scan.files.iter().map(|file| file.path.as_path())
    }

    pub fn media(&self) -> impl Iterator<Item = &'a Path> + use<'a> {
        let recognized = Rc::clone(&self.recognized);
        self.all().filter(move |path| kind_of(path).is_media() || recognized.contains(path))
    }

    /// Returns the files with this name in any case of letters, the least nested ones first.
    pub(crate) fn with_name(&self, name: &str) -> Vec<&'a Path> {
        let mut paths: Vec<_> = self.all().filter(|path| is_named(path, &[name])).collect();
        paths.sort_by_key(|path| path.components().count());
        paths
    }

    pub fn get(&self, path: &Path) -> Option<&'a Path> {
        self.paths.get(path).copied()
    }

    /// Returns the sidecar beside a media file: `a.txt` or `a.jpg.txt` for `a.jpg`, and `0.txt` for `0.left.jpg`.
    pub(crate) fn sidecar_beside(&self, media: &Path, extension: &str) -> Option<&'a Path> {
        let upper = extension.to_ascii_uppercase();
        let find = |stem: &OsStr, extension: &str| {
            let mut name = stem.to_owned();
            name.push(".");
            name.push(extension);
            self.get(&media.with_file_name(name))
        };
        [media.file_stem(), media.file_name(), self.sample_key(media)]
            .into_iter()
            .flatten()
            .find_map(|stem| find(stem, extension).or_else(|| find(stem, &upper)))
    }

    /// Returns the name of a media file up to its first dot, by which shards of `WebDataset` mark the files of a
    /// sample. Returns `None` if another media file has this name.
    fn sample_key<'m>(&self, media: &'m Path) -> Option<&'m OsStr> {
        let key = up_to_first_dot(media)?;
        self.samples().contains_key(&media.with_file_name(key)).then_some(OsStr::new(key))
    }

    fn samples(&self) -> &HashMap<PathBuf, Vec<&'a Path>> {
        self.samples.get_or_init(|| {
            let mut samples = HashMap::<_, Vec<_>>::new();
            for media in self.media() {
                if let Some(key) = up_to_first_dot(media) {
                    samples.entry(media.with_file_name(key)).or_default().push(media);
                }
            }
            if !samples.is_empty() {
                for media in self.media() {
                    samples.remove(&media.with_extension(""));
                }
            }
            samples
        })
    }

    pub(crate) fn is_media(&self, path: &Path) -> bool {
        kind_of(path).is_media() || self.recognized.contains(path)
    }

    /// Returns the sidecar of a media file in a parallel folder: `labels/b/a.txt` for `images/b/a.jpg`.
    pub(crate) fn sidecar_in_parallel_folder(
        &self,
        media: &Path,
        folder: &str,
        extension: &str,
    ) -> Option<&'a Path> {
        let folder = parallel_folder(media.parent()?, folder)?;
        self.get(&folder.join(media.file_name()?).with_extension(extension))
    }

    /// Finds the media file that a record of `sidecar` calls `name`. The name is a path relative to the sidecar, or it
    /// fits exactly one file of the folder: by its last parts, by the place of the sidecar, or without an extension. A
    /// frame of a video is called as if it were in a folder named like the video. The error explains why no file was
    /// found.
    pub fn resolve(&self, name: &str, sidecar: &Path) -> Result<&'a Path, Reason> {
        self.resolve_in(name, None, sidecar)
    }

    /// Like [`FileIndex::resolve`], for a record that states the folder of the file, too.
    pub(crate) fn resolve_in(
        &self,
        name: &str,
        folder: Option<&str>,
        sidecar: &Path,
    ) -> Result<&'a Path, Reason> {
        let (media, fit) = self.resolve_fit(name, folder, sidecar)?;
        let (current, best_fits) = &self.best_fits;
        let is_better = |best: &Fit| current == sidecar && *best > fit;
        if best_fits.get(media).is_some_and(is_better) {
            return Err(NOT_IN_FOLDER.into());
        }
        Ok(media)
    }

    /// Records a name of a sidecar before its names are resolved. A name that is not the best fit for its file then
    /// gets no file. Returns whether a file fits this name.
    pub(crate) fn note_name(&mut self, name: &str, folder: Option<&str>, sidecar: &Path) -> bool {
        let Ok((media, fit)) = self.resolve_fit(name, folder, sidecar) else { return false };
        let (current, best_fits) = &mut self.best_fits;
        if current != sidecar {
            (*current, *best_fits) = (sidecar.to_owned(), HashMap::new());
        }
        let best = best_fits.entry(media).or_insert(fit);
        *best = fit.max(*best);
        true
    }

    fn resolve_fit(
        &self,
        name: &str,
        folder: Option<&str>,
        sidecar: &Path,
    ) -> Result<(&'a Path, Fit), Reason> {
        for (number, spelling) in spellings(name).iter().enumerate() {
            if let Some(found) = self.find(spelling, folder, sidecar) {
                let (media, (parts, same, _)) = found?;
                return if may_be_sidecar(media) {
                    Err("its file_name is not a media file".into())
                } else {
                    Ok((media, (parts, same, Reverse(number))))
                };
            }
        }
        Err(NOT_IN_FOLDER.into())
    }

    /// Returns the media files beside a sidecar that have its name, or are of its sample.
    pub(crate) fn pictures_beside(&self, sidecar: &Path) -> Vec<&'a Path> {
        let beside = self.same_name_beside(sidecar);
        if beside.is_empty() { self.sample_of(sidecar) } else { beside }
    }

    /// Returns the media files beside a sidecar that have its name.
    pub(crate) fn same_name_beside(&self, sidecar: &Path) -> Vec<&'a Path> {
        in_folder_of(sidecar, &self.named_like(sidecar))
    }

    /// Returns the pictures of the sample of `WebDataset` to which a sidecar belongs: those of `0.jpg` or `0.left.jpg`
    /// for `0.txt` and `0.caption.txt`.
    pub(crate) fn sample_of(&self, sidecar: &Path) -> Vec<&'a Path> {
        let named = sidecar.with_extension("");
        if let Some(sample) = self.samples().get(&named) {
            return sample.clone();
        }
        if !has_sample_part(sidecar) {
            return Vec::new();
        }
        // `frame.0001.caption.txt` belongs to `frame.0001.jpg` alone.
        let whole_name = named.with_extension("");
        let name = PictureName { path: &whole_name, sidecar, folder: None };
        let mut same_name = in_folder_of(sidecar, &self.with_media_extension(&name));
        keep_best(&mut same_name, |file| usize::from(has_same_spelling(file, &whole_name)));
        if !same_name.is_empty() {
            return same_name;
        }
        self.samples().get(&whole_name).cloned().unwrap_or_default()
    }

    /// Returns the media files whose path ends like the path of a sidecar in as many parts as possible. The name of a
    /// sidecar may be that of the picture with a further extension: `a.jpg.json`. It may be percent-encoded.
    fn named_like(&self, sidecar: &Path) -> Vec<&'a Path> {
        let named = sidecar.with_extension("");
        let find = |named: &Path| {
            let name = PictureName { path: named, sidecar, folder: None };
            let mut files = self.ending_like(named, &name);
            files.retain(|file| self.is_media(file));
            let mut files = if files.is_empty() { self.with_media_extension(&name) } else { files };
            // Names that only differ in case or normalization are those of different files.
            keep_best(&mut files, |file| usize::from(has_same_spelling(file, named)));
            files
        };
        let found = find(&named);
        match percent_decoded(&named) {
            Some(decoded) if found.is_empty() => find(&decoded),
            _ => found,
        }
    }

    /// Finds the media files that each sidecar of a single picture describes. A file is described only by the sidecars
    /// that fit it best. `better` says which files have sidecars that fit better than all of these.
    pub(crate) fn described_by_each<'s>(
        &self,
        sidecars: impl Iterator<Item = (&'s Path, Option<StatedName<'s>>)>,
        better: impl Fn(&Path) -> bool,
    ) -> Vec<Result<Vec<&'a Path>, Reason>> {
        let found: Vec<_> =
            sidecars.map(|(sidecar, stated)| self.described_by(sidecar, stated)).collect();
        let mut best_fits = HashMap::<&Path, (Fit, usize)>::new();
        for (media, fit) in found.iter().flatten() {
            for media in media {
                let best = best_fits.entry(media).or_insert(*fit);
                *best = (*best).max(*fit);
            }
        }
        let is_best = |media: &Path, fit: &(Fit, usize)| {
            best_fits.get(media) == Some(fit) && (fit.0 == EXACT || !better(media))
        };
        let only_best = |(mut media, fit): (Vec<&'a Path>, _)| {
            media.retain(|media| is_best(media, &fit));
            if media.is_empty() { Err(NO_PICTURE.into()) } else { Ok(media) }
        };
        found.into_iter().map(|found| found.and_then(only_best)).collect()
    }

    /// Finds the media files that a sidecar of one picture describes. The sidecar is beside them and has their name, or
    /// its path ends like the path of a picture, or it states the name of a picture. Also returns how well the sidecar
    /// fits, and the number of folders that its path and the picture share.
    fn described_by(
        &self,
        sidecar: &Path,
        stated: Option<StatedName<'_>>,
    ) -> Result<(Vec<&'a Path>, (Fit, usize)), Reason> {
        let candidates = self.named_like(sidecar);
        let mut beside = in_folder_of(sidecar, &candidates);
        if candidates.is_empty() {
            beside = self.sample_of(sidecar);
        }
        let stated = stated.map(|it| self.resolve_fit(it.name, it.folder, sidecar));
        if !beside.is_empty() {
            // A mask among the annotations is called like the picture, which is elsewhere and has another extension.
            let is_picture = |file: &Path| {
                let has_stem = |it: &&Path| it.file_stem() == file.file_stem();
                let has_extension = |it: &&Path| it.extension() == file.extension();
                is_in_label_folder(sidecar)
                    && beside.iter().all(has_stem)
                    && !beside.iter().any(has_extension)
            };
            let only = stated.and_then(Result::ok);
            let only = only.filter(|(file, _)| beside.contains(file) || is_picture(file));
            return Ok((only.map_or(beside, |(file, _)| vec![file]), (EXACT, 0)));
        }
        let named = sidecar.with_extension("");
        let name = PictureName { path: &named, sidecar, folder: None };
        let by_path = (!candidates.is_empty()).then(|| only_one(candidates, &name));
        let by_path = by_path.map(|found| found.map(|file| (file, fit_of(file, &named))));
        let (file, fit) = match (by_path, stated) {
            // A mask is called like its picture. The name that is stated has the extension of one of them.
            (Some(Ok((one, _))), Some(Ok((other, fit))))
                if one != other && one.file_stem() == other.file_stem() =>
            {
                (other, fit)
            }
            (Some(Ok((one, _))), Some(Ok((other, _)))) if one != other => {
                return Err(several(one, other));
            }
            (Some(Ok((file, fit))), Some(Ok((_, other)))) => (file, fit.max(other)),
            (Some(Ok(found)), _) | (_, Some(Ok(found))) => found,
            (Some(Err(why)), _) | (None, Some(Err(why))) => return Err(why),
            (None, None) => return Err(NO_PICTURE.into()),
        };
        let shared = file.iter().zip(sidecar).take_while(|(one, other)| one == other).count();
        Ok((vec![file], (fit, shared)))
    }

    fn find(
        &self,
        name: &str,
        folder: Option<&str>,
        sidecar: &Path,
    ) -> Option<Result<(&'a Path, Fit), Reason>> {
        let beside = joined(sidecar.parent().unwrap_or(Path::new("")), name);
        let exact =
            self.get(&beside).or_else(|| self.get(beside.parent().filter(|it| self.is_media(it))?));
        // A sidecar without an extension may be called like its picture.
        if let Some(found) = exact.filter(|found| *found != sidecar) {
            return Some(Ok((found, EXACT)));
        }
        let path = joined(Path::new(""), name);
        let name = PictureName { path: &path, sidecar, folder };
        let mut candidates = self.ending_like(&path, &name);
        candidates.retain(|file| *file != sidecar);
        let mut wanted = &*path;
        if let Some(video) = path.parent().filter(|_| candidates.is_empty()) {
            candidates = self.ending_like(video, &name);
            candidates.retain(|file| self.is_media(file));
            wanted = if candidates.is_empty() { wanted } else { video };
        }
        if !kind_of(&path).is_media() && !candidates.iter().any(|file| self.is_media(file)) {
            let pictures = self.with_media_extension(&name);
            candidates = if pictures.is_empty() { candidates } else { pictures };
        }
        let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        for [one, other] in SAME_EXTENSIONS.into_iter().flat_map(|[a, b]| [[a, b], [b, a]]) {
            if candidates.is_empty() && extension == one {
                candidates = self.ending_like(&path.with_extension(other), &name);
            }
        }
        let stem = path.with_extension("");
        if candidates.is_empty() && kind_of(&path).is_media() {
            candidates = self.ending_like(&stem, &name);
            candidates.retain(|file| self.is_media(file));
            wanted = &stem;
        }
        let found = (!candidates.is_empty()).then(|| only_one(candidates, &name))?;
        Some(found.map(|file| (file, fit_of(file, wanted))))
    }

    /// Returns the files whose paths end like `path` in as many parts as possible, regardless of case and of the
    /// normalization of Unicode. Files of another split than the name are omitted.
    fn ending_like(&self, path: &Path, name: &PictureName<'_>) -> Vec<&'a Path> {
        let parts = path.iter().count();
        if parts == 0 || self.beginning_with(&reversed(path, 1)).next().is_none() {
            return Vec::new();
        }
        let matching = |parts| -> Vec<&'a Path> {
            let wanted = reversed(path, parts);
            let files = self.beginning_with(&wanted);
            files.filter(|file| !name.is_of_other_split(file)).collect()
        };
        let mut longest = (1..=parts.min(MAX_PARTS)).rev().map(matching);
        longest.find(|files| !files.is_empty()).unwrap_or_default()
    }

    /// Returns the files that have a key in `by_name` that begins like this.
    fn beginning_with<'s>(
        &'s self,
        wanted: &'s str,
    ) -> impl Iterator<Item = &'a Path> + use<'a, 's> {
        let key = |path: &Path| reversed(path, usize::MAX).into();
        let files = self.by_name.get_or_init(|| {
            let decoded = self.all().filter_map(|path| Some((key(&percent_decoded(path)?), path)));
            let mut files: Vec<_> =
                self.all().map(|path| (key(path), path)).chain(decoded).collect();
            files.sort_unstable();
            files
        });
        let start = files.partition_point(|(key, _)| **key < *wanted);
        let length = files[start..].partition_point(|(key, _)| key.starts_with(wanted));
        // Both keys of a file with an encoded path may begin like this.
        let is_first = move |(known, path): &&(Box<str>, &'a Path)| {
            percent_decoded(path).is_none_or(|_| {
                let literal: Box<str> = key(path);
                *known == literal || !literal.starts_with(wanted)
            })
        };
        files[start..start + length].iter().filter(is_first).map(|(_, path)| *path)
    }

    /// Returns the media files that are called like a name without an extension.
    fn with_media_extension(&self, name: &PictureName<'_>) -> Vec<&'a Path> {
        let Some(file_name) = name.path.file_name() else { return Vec::new() };
        let start = name_form(&file_name.to_string_lossy()) + ".";
        // A number after a dot is a part of the name.
        let is_number = |end: &OsStr| end.as_encoded_bytes().iter().all(u8::is_ascii_digit);
        let is_like = |file: &&Path| {
            file.extension().is_some_and(|end| !is_number(end))
                && matching_parts(&file.with_extension(""), name.path) > 0
                && !name.is_of_other_split(file)
                && self.is_media(file)
        };
        let mut found: Vec<_> = self.beginning_with(&start).filter(is_like).collect();
        keep_best(&mut found, |file| matching_parts(&file.with_extension(""), name.path));
        found
    }
}

/// Parts of the samples of `WebDataset` that describe the pictures of a sample, as in `0.caption.txt`.
const SAMPLE_PARTS: [&str; 13] = [
    "annotation",
    "annotations",
    "caption",
    "captions",
    "class",
    "description",
    "label",
    "labels",
    "meta",
    "metadata",
    "objects",
    "prompt",
    "text",
];

/// Whether a sidecar is called like a part of a sample of `WebDataset` that describes the pictures of the sample.
pub(crate) fn has_sample_part(sidecar: &Path) -> bool {
    let named = sidecar.with_extension("");
    let part = named.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    SAMPLE_PARTS.contains(&part.as_str())
}

/// Extensions of the same format.
const SAME_EXTENSIONS: [[&str; 2]; 3] = [["jpg", "jpeg"], ["tif", "tiff"], ["heic", "heif"]];
/// Extensions of files that are not media, and of which a dataset can have one for each picture. These files are not
/// opened at each scan.
const DATA_EXTENSIONS: [&str; 7] = ["npy", "npz", "pt", "pth", "pkl", "safetensors", "h5"];
/// The number of parts of a name that are compared, from its end.
const MAX_PARTS: usize = 16;
const NOT_IN_FOLDER: &str = "its file_name is not in the folder";
const NO_PICTURE: &str = "its picture is not in the folder";

/// The name of a picture in its sidecar.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StatedName<'n> {
    pub name: &'n str,
    pub folder: Option<&'n str>,
}

/// Returns the last parts of a path, beginning with the last one, in the form in which names are compared.
fn reversed(path: &Path, parts: usize) -> String {
    let mut key = String::new();
    for part in path.iter().rev().take(parts) {
        key += &name_form(&part.to_string_lossy());
        key.push('/');
    }
    key
}

/// Returns the form in which parts of paths are compared. macOS writes narrow blanks into the names of screenshots.
fn name_form(part: &str) -> String {
    search_form(&part.replace(['\u{a0}', '\u{202f}'], " "))
}

/// Whether a file has this very path, with or without its extension.
fn has_same_spelling(file: &Path, named: &Path) -> bool {
    file == named || file.with_extension("") == named
}

/// Returns the number of parts at the end of a name that are those of a file, whose parts may be percent-encoded.
fn matching_parts(file: &Path, name: &Path) -> usize {
    let is_same = |(part, wanted): &(&OsStr, &OsStr)| {
        let [part, wanted] = [part, wanted].map(|it| it.to_string_lossy());
        let decoded = || percent_decode_str(&part).decode_utf8_lossy();
        part == wanted
            || name_form(&part) == name_form(&wanted)
            || (part.contains('%') && name_form(&decoded()) == name_form(&wanted))
    };
    file.iter().rev().zip(name.iter().rev()).take_while(is_same).count()
}

/// Returns the path that a percent-encoded path stands for. Returns `None` for any other path.
fn percent_decoded(path: &Path) -> Option<PathBuf> {
    match percent_decode_str(path.to_str()?).decode_utf8() {
        Ok(Cow::Owned(decoded)) => Some(decoded.into()),
        _ => None,
    }
}

/// Returns how well a name that is not the path of a file fits the file.
fn fit_of(file: &Path, name: &Path) -> Fit {
    if file == name {
        return FROM_ROOT;
    }
    let same = file.iter().rev().zip(name.iter().rev()).take_while(|(one, other)| one == other);
    let stem = file.with_extension("");
    // A name may lack its extension.
    let parts = [name, &name.with_extension("")].map(|name| matching_parts(&stem, name));
    (parts[0].max(parts[1]), same.count(), Reverse(0))
}

/// Returns the ways to read a name, beginning with the most literal one.
fn spellings(name: &str) -> Vec<Cow<'_, str>> {
    let mut spellings = vec![Cow::Borrowed(name)];
    let name = name.trim();
    // Label Studio names a file by a query: `/data/local-files/?d=images/a.jpg`.
    let query = name.split_once("?d=").map(|(_, path)| path);
    // A URL may have a query after the path, and a table that was written on Windows contains backslashes.
    let address = name.contains("://").then(|| name.split(['?', '#']).next().unwrap_or(name));
    let local = query.or(address).unwrap_or(name).replace('\\', "/");
    let decode = |text: &str| {
        let bytes = percent_decode_str(text);
        let utf_8 = bytes.clone().decode_utf8().ok().map(Cow::into_owned);
        // Old programs encode the bytes of a name in the encoding of their system.
        utf_8.or_else(|| text.is_ascii().then(|| unmarked_name(&bytes.collect::<Vec<_>>())))
    };
    let decoded = decode(&local);
    // Some programs encode a name twice, or write blanks as in forms.
    let twice = decoded.as_deref().and_then(decode);
    let of_form = decode(&local.replace('+', " "));
    let uploaded = decoded.as_deref().and_then(without_upload_hash);
    let of_xml = local.contains("&amp;").then(|| local.replace("&amp;", "&"));
    let others = [Some(name.to_owned()), Some(local), decoded, twice, of_form, uploaded, of_xml];
    for other in others.into_iter().flatten() {
        if spellings.iter().all(|known| **known != other) {
            spellings.push(other.into());
        }
    }
    spellings
}

/// Removes the eight hexadecimal digits that Label Studio puts in front of the name of an uploaded file:
/// `1f3a5c7e-a.jpg`. Digits that begin like a year are a date.
fn without_upload_hash(name: &str) -> Option<String> {
    let (folder, file) = name.rsplit_once('/').unwrap_or(("", name));
    let (hash, rest) = file.split_once('-')?;
    let is_date = hash.bytes().all(|byte| byte.is_ascii_digit())
        && ["19", "20"].iter().any(|century| hash.starts_with(century));
    let is_hash = hash.len() == 8 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) && !is_date;
    is_hash.then(|| format!("{folder}/{rest}").trim_start_matches('/').to_owned())
}

/// Returns a path below `folder`. Parts that lead above the root of all files are omitted.
fn joined(folder: &Path, name: &str) -> PathBuf {
    let mut path = folder.to_owned();
    for part in Path::new(name).components() {
        match part {
            Component::Normal(part) => path.push(part),
            Component::ParentDir => {
                path.pop();
            }
            Component::RootDir => path = PathBuf::new(),
            Component::CurDir | Component::Prefix(_) => {}
        }
    }
    path
}

/// Returns the name of a file up to its first dot, if there are further dots.
fn up_to_first_dot(media: &Path) -> Option<&str> {
    let (key, extensions) = media.file_name()?.to_str()?.split_once('.')?;
    (!key.is_empty() && extensions.contains('.')).then_some(key)
}

fn in_folder_of<'a>(sidecar: &Path, files: &[&'a Path]) -> Vec<&'a Path> {
    files.iter().copied().filter(|file| file.parent() == sidecar.parent()).collect()
}

/// Returns the only file that fits a name best.
fn only_one<'a>(mut files: Vec<&'a Path>, name: &PictureName<'_>) -> Result<&'a Path, Reason> {
    name.keep_best(&mut files);
    match files[..] {
        [] => Err(NOT_IN_FOLDER.into()),
        [file] => Ok(file),
        [one, other, ..] => Err(several(one, other)),
    }
}

fn several(one: &Path, other: &Path) -> Reason {
    let (one, other) = (printable_path(one), printable_path(other));
    format!(
        "its file_name matches several files in the folder, such as {} and {}",
        one.as_str(),
        other.as_str()
    )
    .into()
}

/// Whether a file on this machine begins like a picture or video. A text may begin like a picture, too.
pub(crate) fn has_media(folder: &dyn OriginalFiles, path: &Path) -> bool {
    let is_data = || {
        let extension = path.extension().unwrap_or_default();
        DATA_EXTENSIONS.iter().any(|data| extension.eq_ignore_ascii_case(data))
    };
    // The rows of Parquet files are known from the table.
    let is_row = || path.parent().is_some_and(is_parquet);
    if folder.is_remote() || may_be_sidecar(path) || is_data() || is_row() {
        return false;
    }
    let head = folder.open_file(path).and_then(|mut file| read_first_bytes(&mut *file));
    head.is_ok_and(|head| media_kind(&head).is_some())
}

fn kind_of(path: &Path) -> FileKind {
    FileKind::from_name(&path.file_name().unwrap_or_default().to_string_lossy())
}
