//! The files of a folder as sidecars refer to them: by path, by name, or by location next to each
//! other.

use std::{
    cell::OnceCell,
    collections::{BTreeSet, HashMap, HashSet},
    ffi::OsStr,
    path::{Component, Path, PathBuf},
};

use super::is_candidate;
use crate::ingest::FolderScan;

/// Extensions of media files, in lower case, for files that no row names.
const MEDIA_EXTENSIONS: &[&str] = &[
    "jpg", "jpeg", "jpe", "jfif", "png", "webp", "gif", "bmp", "avi", "m4v", "mkv", "mov", "mp4",
    "webm",
];
/// Names of image folders that have parallel sidecar folders.
const IMAGE_FOLDERS: [&str; 2] = ["images", "JPEGImages"];
/// Limit on folders of the same name to search for an image.
const MAX_CANDIDATE_FOLDERS: usize = 8;

/// An index of the scanned files.
pub struct FileIndex<'a> {
    scan: &'a FolderScan,
    paths: HashSet<&'a Path>,
    /// The only file of each name, `None` if there are several. Built on demand.
    unique_names: OnceCell<HashMap<&'a OsStr, Option<&'a Path>>>,
    /// The folders of media files by their own name. Built on demand.
    media_folders: OnceCell<HashMap<&'a OsStr, BTreeSet<&'a Path>>>,
}

impl<'a> FileIndex<'a> {
    pub fn new(scan: &'a FolderScan) -> Self {
        let paths = scan.files.iter().map(|found| found.path.as_path()).collect();
        Self { scan, paths, unique_names: OnceCell::new(), media_folders: OnceCell::new() }
    }

    pub fn all(&self) -> impl Iterator<Item = &'a Path> + use<'a> {
        self.scan.files.iter().map(|found| found.path.as_path())
    }

    /// Files with a media extension.
    pub fn media(&self) -> impl Iterator<Item = &'a Path> + use<'a> {
        self.all().filter(|path| is_media(path))
    }

    /// Files with this name, least nested first.
    pub fn with_name(&self, name: &str) -> Vec<&'a Path> {
        let named = |path: &&Path| path.file_name() == Some(OsStr::new(name));
        let mut found: Vec<_> = self.all().filter(named).collect();
        found.sort_by_key(|path| path.components().count());
        found
    }

    pub fn get(&self, path: &Path) -> Option<&'a Path> {
        self.paths.get(path).copied()
    }

    /// The sidecar with this extension next to a media file.
    pub fn sidecar_beside(&self, media: &Path, extension: &str) -> Option<&'a Path> {
        self.get(&media.with_extension(extension))
    }

    /// The sidecar of a media file in a parallel folder: `labels/b/a.txt` for `images/b/a.jpg`.
    pub fn sidecar_in_parallel_folder(
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

    /// Finds the media file that a row of `sidecar` calls `name`: relative to the sidecar's folder
    /// or the root, or the only file of that name.
    ///
    /// # Errors
    /// There is no such file; the message says why.
    pub fn resolve(&self, name: &str, sidecar: &Path) -> Result<&'a Path, &'static str> {
        // Tables written on Windows.
        let name = name.trim().replace('\\', "/");
        let mut path = PathBuf::new();
        for part in Path::new(&name).components() {
            match part {
                Component::Normal(part) => path.push(part),
                Component::CurDir => {}
                _ => return Err("its file_name points outside the folder"),
            }
        }
        let near = sidecar.parent().and_then(|folder| self.get(&folder.join(&path)));
        let found = near
            .or_else(|| self.get(&path))
            .or_else(|| self.in_folder_of_same_name(&path, sidecar));
        let found = match found {
            Some(found) => found,
            None => self.by_unique_name(&path)?,
        };
        if is_candidate(found) { Err("its file_name is not a media file") } else { Ok(found) }
    }

    /// Looks in folders that the sidecar is named after: `train/a.jpg` or `images/train/a.jpg` for
    /// `instances_train.json`.
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
        let homes = folders.get(OsStr::new(word))?.iter().take(MAX_CANDIDATE_FOLDERS);
        homes.map(|home| home.join(path)).find_map(|path| self.get(&path))
    }

    fn by_unique_name(&self, path: &Path) -> Result<&'a Path, &'static str> {
        let only = self.unique_names.get_or_init(|| {
            let mut only = HashMap::new();
            for path in self.all() {
                if let Some(name) = path.file_name() {
                    only.entry(name).and_modify(|found| *found = None).or_insert(Some(path));
                }
            }
            only
        });
        match path.file_name().and_then(|name| only.get(name)) {
            Some(Some(found)) => Ok(found),
            Some(None) => Err("its file_name matches several files in the folder"),
            None => Err("its file_name is not in the folder"),
        }
    }
}

fn is_media(path: &Path) -> bool {
    let extension = path.extension().and_then(OsStr::to_str);
    extension.is_some_and(|extension| {
        MEDIA_EXTENSIONS.iter().any(|media| media.eq_ignore_ascii_case(extension))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{file_stat::FileStat, ingest::ScannedFile};

    fn scan(paths: &[&str]) -> FolderScan {
        let stat = FileStat { size: 1, modified: 1 };
        let files = paths.iter().map(|path| ScannedFile { path: path.into(), stat }).collect();
        FolderScan { files, skipped: Vec::new() }
    }

    #[test]
    fn file_names_are_resolved_by_folder_root_namesake_or_uniqueness() {
        let scan = scan(&[
            "1.jpg",
            "a/1.jpg",
            "a/b/2.jpg",
            "images/train/3.jpg",
            "images/val/3.jpg",
            "notes.txt",
            "x/4",
            "x/y.jpg/5.jpg",
        ]);
        let files = FileIndex::new(&scan);
        let none = Err("its file_name is not in the folder");
        let outside = Err("its file_name points outside the folder");
        for (name, sidecar, expected) in [
            ("1.jpg", "metadata.csv", Ok("1.jpg")),
            (" ./1.jpg ", "a/metadata.csv", Ok("a/1.jpg")),
            ("a\\b\\2.jpg", "metadata.csv", Ok("a/b/2.jpg")),
            ("a/b/2.jpg", "annotations/all.json", Ok("a/b/2.jpg")),
            ("2.jpg", "annotations/all.json", Ok("a/b/2.jpg")),
            ("elsewhere/2.jpg", "metadata.csv", Ok("a/b/2.jpg")),
            ("3.jpg", "annotations/instances_train.json", Ok("images/train/3.jpg")),
            ("3.jpg", "annotations/val.json", Ok("images/val/3.jpg")),
            ("3.jpg", "all.json", Err("its file_name matches several files in the folder")),
            ("4", "metadata.csv", Ok("x/4")),
            ("y.jpg", "metadata.csv", none),
            ("9.jpg", "metadata.csv", none),
            ("", "metadata.csv", none),
            ("notes.txt", "metadata.csv", Err("its file_name is not a media file")),
            ("../1.jpg", "a/metadata.csv", outside),
            ("a/../1.jpg", "metadata.csv", outside),
            ("/1.jpg", "metadata.csv", outside),
        ] {
            let found = files.resolve(name, Path::new(sidecar));
            assert_eq!(found, expected.map(Path::new), "{name} in {sidecar}");
        }
    }

    #[test]
    fn sidecars_are_next_to_the_image_or_in_a_parallel_folder() {
        let scan = scan(&["labels/train/a.txt", "v/Annotations/b.xml", "images/c.txt"]);
        let files = FileIndex::new(&scan);
        let opposite = |media: &str, folder, extension| {
            files
                .sidecar_in_parallel_folder(Path::new(media), folder, extension)
                .map(|path| path.to_str().unwrap())
        };
        assert_eq!(opposite("images/train/a.jpg", "labels", "txt"), Some("labels/train/a.txt"));
        assert_eq!(
            opposite("v/JPEGImages/b.jpg", "Annotations", "xml"),
            Some("v/Annotations/b.xml")
        );
        assert_eq!(opposite("train/a.jpg", "labels", "txt"), None);
        assert_eq!(opposite("images/train/b.jpg", "labels", "txt"), None);
        let beside = files.sidecar_beside(Path::new("images/c.PNG"), "txt");
        assert_eq!(beside, Some(Path::new("images/c.txt")));
    }

    #[test]
    fn media_are_recognized_by_extension() {
        let scan = scan(&["a.JPG", "b.txt", "c", "d.webm", "e.jpg.txt"]);
        let media: Vec<_> = FileIndex::new(&scan).media().collect();
        assert_eq!(media, [Path::new("a.JPG"), Path::new("d.webm")]);
    }
}
