//! The files of a folder as sidecars refer to them: by path, by name, or by location.

use std::{
    cell::OnceCell,
    collections::{BTreeSet, HashMap, HashSet},
    ffi::OsStr,
    path::{Component, Path, PathBuf},
};

use super::candidates::is_candidate;
use crate::ingest::FolderScan;
use tessera_model::FileKind;

/// Names of image folders that have parallel sidecar folders.
const IMAGE_FOLDERS: [&str; 3] = ["images", "JPEGImages", "image_2"];
/// Limit on folders of the same name to search for an image.
const MAX_CANDIDATE_FOLDERS: usize = 8;

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
        let paths = scan.files.iter().map(|file| file.path.as_path()).collect();
        Self { scan, paths, unique_names: OnceCell::new(), media_folders: OnceCell::new() }
    }

    pub fn all(&self) -> impl Iterator<Item = &'a Path> + use<'a> {
        self.scan.files.iter().map(|file| file.path.as_path())
    }

    pub fn media(&self) -> impl Iterator<Item = &'a Path> + use<'a> {
        self.all().filter(|path| is_media(path))
    }

    /// Files with this name, least nested first.
    pub fn with_name(&self, name: &str) -> Vec<&'a Path> {
        let named = |path: &&Path| path.file_name() == Some(OsStr::new(name));
        let mut paths: Vec<_> = self.all().filter(named).collect();
        paths.sort_by_key(|path| path.components().count());
        paths
    }

    pub fn get(&self, path: &Path) -> Option<&'a Path> {
        self.paths.get(path).copied()
    }

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
    /// or the root, or the only file of that name. The error says why there is none.
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
        let by_path = sidecar
            .parent()
            .and_then(|folder| self.get(&folder.join(&path)))
            .or_else(|| self.get(&path))
            .or_else(|| self.in_folder_of_same_name(&path, sidecar));
        let media = by_path.map_or_else(|| self.by_unique_name(&path), Ok)?;
        if is_candidate(media) { Err("its file_name is not a media file") } else { Ok(media) }
    }

    /// `train/a.jpg` or `images/train/a.jpg` for `instances_train.json`.
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
