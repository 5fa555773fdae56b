//! Finds the files that go with a picture or video when it is moved: sidecars that describe only this file, and files
//! with the same name and another extension, such as the raw file of a JPEG.

use std::{
    collections::HashMap,
    ffi::{OsStr, OsString},
    fs,
    path::{Path, PathBuf},
};

use tessera_picture::file_kind;

use super::sidecar::{PARALLEL_SIDECARS, describes_many, parallel_path};

/// The extensions of sidecars beside a picture, in lower case.
const EXTENSIONS: [&str; 6] = ["caption", "cls", "json", "txt", "xml", "xmp"];

/// The files that go with a file. All paths are absolute.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Companions {
    /// The files that describe only this file.
    pub sidecars: Vec<PathBuf>,
    /// The files that describe this file and its pair.
    pub shared_sidecars: Vec<PathBuf>,
    /// The other pictures and videos of the same name.
    pub pair: Vec<PathBuf>,
}

/// Reads each folder once, because a folder can have many files.
#[derive(Default)]
pub struct CompanionFinder {
    /// The names in a folder, by their name without extension.
    folders: HashMap<PathBuf, HashMap<OsString, Vec<OsString>>>,
}

impl CompanionFinder {
    /// Finds the companions of a file, which is given by its path below the folder of the dataset.
    pub fn find(&mut self, folder: &Path, file: &Path) -> Companions {
        let path = folder.join(file);
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Companions::default();
        };
        let names = self.names(parent);
        let mut found = Companions::default();
        // Some programs append an extension to the whole name: `a.jpg.xmp`.
        let appended = names.get(name).into_iter().flatten();
        found
            .sidecars
            .extend(appended.filter(|name| is_sidecar(name)).map(|name| parent.join(name)));
        let same_stem = path.file_stem().and_then(|stem| names.get(stem)).into_iter().flatten();
        let mut beside = Vec::new();
        for other in same_stem.filter(|other| *other != name) {
            if file_kind(&parent.join(other)).is_media() {
                found.pair.push(parent.join(other));
            } else if is_sidecar(other) {
                beside.push(parent.join(other));
            }
        }
        let parallel = PARALLEL_SIDECARS.iter();
        let parallel =
            parallel.filter_map(|(folder, extension)| parallel_path(file, folder, extension));
        beside.extend(parallel.map(|path| folder.join(path)).filter(|path| path.is_file()));
        let is_shared = !found.pair.is_empty();
        if is_shared {
            found.shared_sidecars = beside;
        } else {
            found.sidecars.extend(beside);
        }
        found
    }

    fn names(&mut self, folder: &Path) -> &HashMap<OsString, Vec<OsString>> {
        self.folders.entry(folder.to_owned()).or_insert_with(|| {
            let mut names: HashMap<OsString, Vec<OsString>> = HashMap::new();
            // A folder that cannot be listed has no companions to offer.
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let name = entry.file_name();
                let stem = Path::new(&name).file_stem().unwrap_or(&name).to_owned();
                names.entry(stem).or_default().push(name);
            }
            for names in names.values_mut() {
                names.sort();
            }
            names
        })
    }
}

fn is_sidecar(name: &OsStr) -> bool {
    let path = Path::new(name);
    let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    EXTENSIONS.contains(&extension.to_ascii_lowercase().as_str()) && !describes_many(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(paths: &[PathBuf], folder: &Path) -> Vec<String> {
        let below = |path: &PathBuf| path.strip_prefix(folder).unwrap().display().to_string();
        paths.iter().map(below).collect()
    }

    #[test]
    fn sidecars_go_with_their_picture_unless_another_one_shares_them() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for file in [
            "images/a.jpg",
            "images/a.jpg.xmp",
            "images/a.TXT",
            "images/a.md",
            "labels/a.txt",
            "Annotations/a.xml",
            "b.jpg",
            "b.nef",
            "b.xmp",
            "b.jpg.xmp",
            "classes.jpg",
            "classes.txt",
            "metadata.png",
            "metadata.jsonl",
            "c.jpg",
            "c.ts",
        ] {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, file).unwrap();
        }
        let mut finder = CompanionFinder::default();
        let a = finder.find(root, Path::new("images/a.jpg"));
        let expected = ["images/a.jpg.xmp", "images/a.TXT", "labels/a.txt", "Annotations/a.xml"];
        assert_eq!(names(&a.sidecars, root), expected);
        assert!(a.shared_sidecars.is_empty() && a.pair.is_empty());
        let b = finder.find(root, Path::new("b.jpg"));
        assert_eq!(names(&b.sidecars, root), ["b.jpg.xmp"]);
        assert_eq!(names(&b.shared_sidecars, root), ["b.xmp"]);
        assert_eq!(names(&b.pair, root), ["b.nef"]);
        assert_eq!(finder.find(root, Path::new("c.jpg")), Companions::default(), "a program");
        fs::write(root.join("c.ts"), [&[0x47][..], &[0; 187]].concat().repeat(4)).unwrap();
        assert_eq!(names(&finder.find(root, Path::new("c.jpg")).pair, root), ["c.ts"]);
        for many in ["classes.jpg", "metadata.png"] {
            assert_eq!(finder.find(root, Path::new(many)), Companions::default(), "{many}");
        }
    }
}
