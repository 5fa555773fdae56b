//! Finds the files that go with a picture or video when it is moved: its sidecars, and files with the same name and
//! another extension, such as the raw file of a JPEG. The index by which sidecars are read decides which pictures a
//! sidecar describes.

use std::{
    collections::HashMap,
    ffi::{OsStr, OsString},
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    FolderScan, SandboxedDir,
    sidecar::{FileIndex, PARALLEL_FOLDERS, TakeoutNames, describes_many, parallel_folder},
};

/// The extensions of sidecars of single pictures, in lower case.
const EXTENSIONS: [&str; 6] = ["caption", "cls", "json", "txt", "xml", "xmp"];

/// The files that go with a file. All paths are absolute.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Companions {
    /// The files that describe only this file.
    pub sidecars: Vec<PathBuf>,
    /// The files that describe this file and others, with all files that they describe.
    pub shared_sidecars: Vec<(PathBuf, Arc<[PathBuf]>)>,
    /// The other pictures and videos of the same name, each followed by the files that describe only this one.
    pub pair: Vec<PathBuf>,
}

/// Reads each folder once, because a folder can have many files.
#[derive(Default)]
pub struct CompanionFinder {
    /// The companions of the files in a folder by their paths, by the folders of the dataset and of the files.
    folders: HashMap<(PathBuf, PathBuf), HashMap<PathBuf, Companions>>,
}

impl CompanionFinder {
    /// Finds the companions of a file, which is given by its path below the folder of the dataset.
    pub fn find(&mut self, folder: &Path, file: &Path) -> Companions {
        let parent = file.parent().unwrap_or(Path::new(""));
        let key = (folder.to_owned(), parent.to_owned());
        let known = self.folders.entry(key).or_insert_with(|| companions_in(folder, parent));
        known.get(file).cloned().unwrap_or_default()
    }
}

/// Returns the companions of the files in the folder `parent` of a dataset. Files without companions are left out.
fn companions_in(root: &Path, parent: &Path) -> HashMap<PathBuf, Companions> {
    let mut found: HashMap<PathBuf, Companions> = HashMap::new();
    let Ok(folder) = SandboxedDir::open(root) else { return found };
    let names = names_in(&root.join(parent));
    let scan = FolderScan::of_paths(names.iter().map(|name| parent.join(name)));
    let files = FileIndex::new(&scan, &folder);
    let takeout = TakeoutNames::new(&files);
    let parallel = PARALLEL_FOLDERS.iter().filter_map(|name| parallel_folder(parent, name));
    for folder in [parent.to_owned()].into_iter().chain(parallel) {
        let folder = root.join(folder);
        for name in names_in(&folder).iter().filter(|name| is_sidecar(name)) {
            let as_beside = parent.join(name);
            let mut pictures = takeout.pictures_of(&files, &as_beside);
            if pictures.is_empty() {
                pictures = files.pictures_beside(&as_beside);
            }
            add_sidecar(&mut found, root, folder.join(name), &pictures);
        }
    }
    let mut by_stem: HashMap<_, Vec<&Path>> = HashMap::new();
    for file in files.media() {
        by_stem.entry(file.file_stem()).or_default().push(file);
    }
    for pair in by_stem.into_values().filter(|pair| pair.len() > 1) {
        for file in &pair {
            let others = pair.iter().filter(|other| *other != file);
            let with_own = others.flat_map(|other| {
                let own = found.get(*other).map(|it| it.sidecars.clone());
                [root.join(other)].into_iter().chain(own.unwrap_or_default())
            });
            let with_own = with_own.collect();
            found.entry(file.to_path_buf()).or_default().pair = with_own;
        }
    }
    found
}

fn add_sidecar(
    found: &mut HashMap<PathBuf, Companions>,
    root: &Path,
    sidecar: PathBuf,
    pictures: &[&Path],
) {
    if let [picture] = pictures {
        found.entry(picture.to_path_buf()).or_default().sidecars.push(sidecar);
        return;
    }
    let all: Arc<[PathBuf]> = pictures.iter().map(|picture| root.join(picture)).collect();
    for picture in pictures {
        let shared = &mut found.entry(picture.to_path_buf()).or_default().shared_sidecars;
        shared.push((sidecar.clone(), Arc::clone(&all)));
    }
}

/// Returns the names of the files in a folder. A folder that cannot be listed has no companions to offer.
fn names_in(folder: &Path) -> Vec<OsString> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_dir()));
    let mut names: Vec<OsString> = files.map(|entry| entry.file_name()).collect();
    names.sort();
    names
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

    fn shared_names(found: &Companions, root: &Path) -> Vec<String> {
        let paths = found.shared_sidecars.iter().map(|(path, _)| path.clone());
        names(&paths.collect::<Vec<_>>(), root)
    }

    #[test]
    fn sidecars_go_with_their_picture_unless_another_one_shares_them() {
        let folder = tempfile::tempdir().unwrap();
        let root = &folder.path().canonicalize().unwrap();
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
            "b.nef.json",
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
        let expected = ["images/a.TXT", "images/a.jpg.xmp", "labels/a.txt", "Annotations/a.xml"];
        assert_eq!(names(&a.sidecars, root), expected);
        assert!(a.shared_sidecars.is_empty() && a.pair.is_empty());
        let b = finder.find(root, Path::new("b.jpg"));
        assert_eq!(names(&b.sidecars, root), ["b.jpg.xmp"]);
        assert_eq!(shared_names(&b, root), ["b.xmp"]);
        assert_eq!(names(&b.shared_sidecars[0].1, root), ["b.jpg", "b.nef"]);
        assert_eq!(names(&b.pair, root), ["b.nef", "b.nef.json"]);
        assert_eq!(finder.find(root, Path::new("c.jpg")), Companions::default(), "a program");
        fs::write(root.join("c.ts"), [&[0x47][..], &[0; 187]].concat().repeat(4)).unwrap();
        let mut finder = CompanionFinder::default();
        assert_eq!(names(&finder.find(root, Path::new("c.jpg")).pair, root), ["c.ts"]);
        for many in ["classes.jpg", "metadata.png"] {
            assert_eq!(finder.find(root, Path::new(many)), Companions::default(), "{many}");
        }
    }

    #[test]
    fn a_sidecar_that_is_read_under_any_name_goes_with_its_pictures() {
        let folder = tempfile::tempdir().unwrap();
        let root = &folder.path().canonicalize().unwrap();
        let long = "a name of more than 46 characters, which Google cuts off.jpg";
        let cut = format!("{}.json", &long[..46]);
        fs::create_dir_all(root.join("images")).unwrap();
        fs::create_dir_all(root.join("labels")).unwrap();
        let files = [
            "x.png",
            "x.caption.txt",
            "x.label.cls",
            "x.meta.json",
            "x.unknown.txt",
            "y z.png",
            "y%20z.txt",
            "k.left.png",
            "k.right.png",
            "k.txt",
            "k.right.txt",
            "t.jpg",
            "t-edited.jpg",
            "t.jpg.supplemental-me.json",
            long,
            &cut,
            "images/v w.jpg",
            "labels/v%20w.TXT",
        ];
        for file in files {
            fs::write(root.join(file), file).unwrap();
        }
        let mut finder = CompanionFinder::default();
        let mut found = |file: &str| finder.find(root, Path::new(file));
        let of_x = ["x.caption.txt", "x.label.cls", "x.meta.json"];
        assert_eq!(names(&found("x.png").sidecars, root), of_x);
        assert_eq!(names(&found("y z.png").sidecars, root), ["y%20z.txt"]);
        let right = found("k.right.png");
        assert_eq!(names(&right.sidecars, root), ["k.right.txt"]);
        assert_eq!(names(&right.shared_sidecars[0].1, root), ["k.left.png", "k.right.png"]);
        assert!(right.pair.is_empty(), "their names are different");
        assert_eq!(shared_names(&found("k.left.png"), root), ["k.txt"]);
        for file in ["t.jpg", "t-edited.jpg"] {
            assert_eq!(shared_names(&found(file), root), ["t.jpg.supplemental-me.json"]);
        }
        assert_eq!(names(&found(long).sidecars, root), [cut.as_str()]);
        assert_eq!(names(&found("images/v w.jpg").sidecars, root), ["labels/v%20w.TXT"]);
    }
}
