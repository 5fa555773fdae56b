//! Decides which files a name in a sidecar can refer to. The reader of sidecars and the rewriter of annotation files
//! share these rules, so that an action on files changes the entries that were read for them.

use std::{ffi::OsStr, path::Path};

use crate::{FileKind, search_form};

/// The number of files of the same name among which one is chosen.
const MAX_CANDIDATES: usize = 256;

/// The name of a picture, and where it is written. Paths begin at the folder of the dataset.
#[derive(Clone, Copy, Debug)]
pub struct PictureName<'n> {
    /// The name without `.` and `..`.
    pub path: &'n Path,
    pub sidecar: &'n Path,
    /// The folder that the sidecar states beside the name.
    pub folder: Option<&'n str>,
}

impl PictureName<'_> {
    /// Whether a file is in another split of the dataset than the name. The name states its split by its folders, or
    /// else by the place of the sidecar.
    pub fn is_of_other_split(&self, file: &Path) -> bool {
        let mut stated = splits(folders(self.path).chain(self.folder.map(OsStr::new)));
        if stated.is_empty() {
            let is_of_file = is_named_after(self.sidecar, file);
            stated = splits(
                folders(self.sidecar).chain(self.sidecar.file_stem().filter(|_| !is_of_file)),
            );
        }
        if stated.is_empty() {
            return false;
        }
        let found = splits(folders(file));
        stated.iter().any(|split| !found.contains(split))
            && found.iter().any(|split| !stated.contains(split))
    }

    /// Keeps the files that fit best: in the stated folder, near the sidecar, in a folder of the same name as the
    /// sidecar (`train/a.jpg` for `instances_train.json`), in the same spelling, or at the same place below the root.
    pub fn keep_best(&self, files: &mut Vec<&Path>) {
        if files.len() > MAX_CANDIDATES {
            return;
        }
        if let Some(stated) = self.folder.map(search_form) {
            let is_stated = |folder: &OsStr| search_form(&folder.to_string_lossy()) == stated;
            keep_best(files, |file| usize::from(folders(file).any(is_stated)));
        }
        keep_best(files, |file| {
            file.iter().zip(folders(self.sidecar)).take_while(|(one, other)| one == other).count()
        });
        let words = words(self.sidecar);
        keep_best(files, |file| folders_named(file, &words));
        keep_best(files, |file| {
            let ends = file.iter().rev().zip(self.path.iter().rev());
            ends.take_while(|(one, other)| one == other).count()
        });
        keep_best(files, |file| usize::from(*file == self.path));
    }
}

/// Keeps the files with the highest score.
pub fn keep_best<'a>(files: &mut Vec<&'a Path>, score: impl Fn(&&'a Path) -> usize) {
    if files.len() > 1 {
        let best = files.iter().map(&score).max();
        files.retain(|file| Some(score(file)) == best);
    }
}

fn folders(path: &Path) -> impl Iterator<Item = &OsStr> {
    path.parent().into_iter().flatten()
}

/// Whether a sidecar has the name of a file: `a.xml` or `a.jpg.json` for `a.jpg`.
fn is_named_after(sidecar: &Path, file: &Path) -> bool {
    let form = |name: Option<&OsStr>| search_form(&name.unwrap_or_default().to_string_lossy());
    let rest = form(sidecar.file_name());
    rest.strip_prefix(&form(file.file_stem())).is_some_and(|rest| rest.starts_with('.'))
}

/// Returns the splits of a dataset that parts of a path name: `train2017`, `test_images`.
fn splits<'p>(parts: impl Iterator<Item = &'p OsStr>) -> Vec<&'static str> {
    let mut splits = Vec::new();
    for part in parts {
        let part = search_form(&part.to_string_lossy());
        // Frames are called as if they were in a folder named like their video.
        if FileKind::from_name(&part).is_media() {
            continue;
        }
        // The folder `dev` is rarely a split: it contains the projects of a developer.
        splits.extend(part.split(SEPARATORS).filter(|word| *word != "dev").filter_map(split_name));
    }
    splits
}

/// The characters between the words of a name.
const SEPARATORS: [char; 4] = ['_', '-', '.', ' '];

/// Returns the words in the path of a sidecar that may name a part of a dataset: folders, the whole name, and the words
/// of the name.
fn words(sidecar: &Path) -> Vec<String> {
    let path = sidecar.with_extension("");
    let parts = path.iter().map(|part| search_form(&part.to_string_lossy()));
    let mut words: Vec<String> = parts.collect();
    if let Some(name) = words.last().cloned() {
        words.extend(name.split(SEPARATORS).map(str::to_owned));
    }
    words
}

/// Returns how well the folders of a file match the words. The same word counts more than the same split of a dataset.
fn folders_named(file: &Path, words: &[String]) -> usize {
    let score = |folder: &OsStr| {
        let folder = search_form(&folder.to_string_lossy());
        let is_same_split =
            |word: &String| split_name(word).is_some_and(|it| split_name(&folder) == Some(it));
        if words.contains(&folder) { 2 } else { usize::from(words.iter().any(is_same_split)) }
    };
    folders(file).map(score).sum()
}

/// Returns the split of a dataset that a word names, in one of its usual spellings: `train2017`, `valid`, `testset`.
pub fn split_name(word: &str) -> Option<&'static str> {
    let word = word.trim_end_matches(|c: char| c.is_ascii_digit());
    match word.strip_suffix("set").unwrap_or(word) {
        "train" | "training" => Some("train"),
        "val" | "valid" | "validation" | "dev" => Some("val"),
        "test" | "testing" => Some("test"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_one_split_fits_no_file_of_another() {
        for (name, sidecar, file, expected) in [
            ("train/1.jpg", "all.json", "test/1.jpg", true),
            ("/data/train2017/1.jpg", "all.json", "images/val2017/1.jpg", true),
            ("train_images/1.jpg", "all.json", "images_test/1.jpg", true),
            ("trainset/1.jpg", "all.json", "testset/1.jpg", true),
            ("1.jpg", "annotations/instances_val2017.json", "train2017/1.jpg", true),
            ("1.jpg", "train/annotations.json", "valid/1.jpg", true),
            ("set/train/1.jpg", "all.json", "set/train/1.jpg", false),
            ("test/train/1.jpg", "all.json", "test/val/1.jpg", true),
            ("train/1.jpg", "instances_val.json", "train/1.jpg", false),
            ("1.jpg", "train_val.json", "val/1.jpg", false),
            ("1.jpg", "all.json", "train/1.jpg", false),
            ("train/1.jpg", "all.json", "images/1.jpg", false),
            ("/home/me/dev/1.jpg", "all.json", "train/1.jpg", false),
            ("x/test.mp4/1.jpg", "all.json", "train/test.mp4", false),
            ("test_1", "notes/test_1.xml", "train/test_1.jpg", false),
        ] {
            let [path, sidecar, file] = [name, sidecar, file].map(Path::new);
            let name = PictureName { path, sidecar, folder: None };
            assert_eq!(name.is_of_other_split(file), expected, "{name:?} and {file:?}");
        }
    }
}
