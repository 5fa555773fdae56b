//! Finds the files that go with a picture or video when it is moved: its sidecars, and files with the same name and
//! another extension, such as the raw file of a JPEG. The file index of the sidecars decides by name which pictures a
//! sidecar describes. A JSON or XML file that is named only like a sample is opened, because it can be an annotation
//! file of many pictures.

use std::{
    collections::{HashMap, HashSet},
    ffi::{OsStr, OsString},
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use tessera_model::FileKind;

use super::{
    FolderScan, SandboxedDir,
    sidecar::{
        FileIndex, PARALLEL_FOLDERS, TakeoutNames, describes_many, has_sample_part,
        may_describe_sample, parallel_folder,
    },
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
    /// The companions of each file, first by the folder of the dataset and the folder of the file, and then by the path
    /// of the file.
    folders: HashMap<(PathBuf, PathBuf), HashMap<PathBuf, Companions>>,
    /// The media files whose name does not say that they are media.
    recognized: HashSet<PathBuf>,
}

impl CompanionFinder {
    /// Notes a media file of the dataset, which is given by its path below a folder. A file whose name says nothing
    /// counts as media only if it was noted, because opening all such files of a folder can take minutes.
    pub fn note_media(&mut self, folder: &Path, file: &Path) {
        if FileKind::from_name(&file.to_string_lossy()) == FileKind::Other {
            self.recognized.insert(folder.join(file));
        }
    }

    /// Finds the companions of a file, which is given by its path below the folder of the dataset.
    pub fn find(&mut self, folder: &Path, file: &Path) -> Companions {
        let parent = file.parent().unwrap_or(Path::new(""));
        let key = (folder.to_owned(), parent.to_owned());
        let recognized = &self.recognized;
        let is_recognized = |file: &Path| recognized.contains(&folder.join(file));
        let known = self.folders.entry(key);
        let known = known.or_insert_with(|| companions_in(folder, parent, is_recognized));
        known.get(file).cloned().unwrap_or_default()
    }
}

/// Returns the companions of the files in the folder `parent` of a dataset. Files without companions are omitted.
fn companions_in(
    root: &Path,
    parent: &Path,
    is_recognized: impl Fn(&Path) -> bool,
) -> HashMap<PathBuf, Companions> {
    let mut found: HashMap<PathBuf, Companions> = HashMap::new();
    let (sidecars, others): (Vec<_>, Vec<_>) =
        names_in(&root.join(parent)).into_iter().partition(|name| is_sidecar(name));
    let scan = FolderScan::of_paths(others.iter().map(|name| parent.join(name)));
    let files = FileIndex::with_media(&scan, is_recognized);
    let takeout = TakeoutNames::new(&files);
    for name in sidecars {
        let sidecar = parent.join(&name);
        // A document of another program can have the name that Takeout gives to the document of another picture.
        let mut pictures = takeout.pictures_of(&files, &sidecar);
        let beside = files.same_name_beside(&sidecar);
        pictures.extend(if beside.is_empty() {
            described_sample(&files, root, &sidecar)
        } else {
            beside
        });
        pictures.sort();
        pictures.dedup();
        add_sidecar(&mut found, root, root.join(&sidecar), &pictures);
    }
    for folder in parallel_folders(root, parent) {
        for name in names_in(&folder).iter().filter(|name| is_sidecar(name)) {
            let pictures = files.same_name_beside(&parent.join(name));
            add_sidecar(&mut found, root, folder.join(name), &pictures);
        }
    }
    add_pairs(&mut found, root, &files);
    found
}

/// Returns the folders of sidecars that are parallel to a folder of pictures. A disk that ignores case has one folder
/// under several of these names.
fn parallel_folders(root: &Path, parent: &Path) -> Vec<PathBuf> {
    let id = |folder: &Path| fs::metadata(folder).ok().map(|it| (it.dev(), it.ino()));
    let mut known = HashSet::from([id(&root.join(parent))]);
    let folders = PARALLEL_FOLDERS.iter().filter_map(|name| parallel_folder(parent, name));
    folders.map(|folder| root.join(folder)).filter(|folder| known.insert(id(folder))).collect()
}

/// Returns the pictures of the sample that a sidecar describes. JSON and XML with the name of a sample alone is opened,
/// because an annotation file can have this name.
fn described_sample<'a>(files: &FileIndex<'a>, root: &Path, sidecar: &Path) -> Vec<&'a Path> {
    let mut sample = files.sample_of(sidecar);
    let is_described = || {
        let folder = SandboxedDir::open(root);
        folder.is_ok_and(|folder| may_describe_sample(&folder, sidecar))
    };
    if !(sample.is_empty() || has_sample_part(sidecar) || is_described()) {
        sample.clear();
    }
    sample
}

/// Adds the media files of the same name to each other.
fn add_pairs(found: &mut HashMap<PathBuf, Companions>, root: &Path, files: &FileIndex<'_>) {
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
        let mut finder = CompanionFinder::default();
        finder.note_media(root, Path::new("c.ts"));
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

    #[test]
    fn an_annotation_file_with_the_name_of_a_sample_is_not_its_sidecar() {
        let folder = tempfile::tempdir().unwrap();
        let root = &folder.path().canonicalize().unwrap();
        for file in [
            "images/scene.0001.png",
            "images/scene.0002.png",
            "images/scene.json",
            "images/scene.XML",
            "images/scene.txt",
            "images/scene.meta.json",
            "images/scene.0003.caption.txt",
            "images/scene.0001.json",
            "annotations/scene.json",
            "annotations/scene.0001.xml",
            "annotations/scene.meta.json",
        ] {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, file).unwrap();
        }
        let found = CompanionFinder::default().find(root, Path::new("images/scene.0001.png"));
        let own = ["images/scene.0001.json", "annotations/scene.0001.xml"];
        assert_eq!(names(&found.sidecars, root), own);
        assert_eq!(shared_names(&found, root), ["images/scene.meta.json", "images/scene.txt"]);
    }

    #[test]
    fn json_and_xml_with_the_name_of_a_sample_goes_with_it_unless_it_lists_pictures() {
        let folder = tempfile::tempdir().unwrap();
        let root = &folder.path().canonicalize().unwrap();
        for (file, is_of_sample) in [
            (("a.json", r#"{"caption": "a van", "score": NaN}"#), true),
            (("b.JSON", r#"{"imagePath": "b.left.jpg", "shapes": []}"#), true),
            (("c.xml", "<annotation><object/></annotation>"), true),
            (("d.json", r#"{"images": [], "annotations": []}"#), false),
            (("e.json", r#"[{"image": "e.left.jpg", "annotations": []}]"#), false),
            (("f.json", r#"{"g.jpg": {"filename": "g.jpg", "regions": []}}"#), false),
            (("g.xml", "<annotations><image/></annotations>"), false),
            (("h.json", "{"), false),
        ] {
            let (name, text) = file;
            let pictures = ["left", "right"].map(|part| format!("{}.{part}.jpg", &name[..1]));
            fs::write(root.join(name), text).unwrap();
            for picture in &pictures {
                fs::write(root.join(picture), picture).unwrap();
            }
            let found = CompanionFinder::default().find(root, Path::new(&pictures[0]));
            let expected: &[&str] = if is_of_sample { &[name] } else { &[] };
            assert_eq!(shared_names(&found, root), expected);
        }
    }

    #[test]
    fn a_sidecar_whose_cut_off_name_fits_two_pictures_belongs_to_the_picture_of_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let root = &folder.path().canonicalize().unwrap();
        let name = "x".repeat(46);
        let [picture, mask, sidecar] = ["jpg", "png", "json"].map(|end| match end {
            "png" => format!("{name}_mask.png"),
            end => format!("{name}.{end}"),
        });
        for file in [&picture, &mask, &sidecar] {
            fs::write(root.join(file), file).unwrap();
        }
        let mut finder = CompanionFinder::default();
        for (file, expected) in [(&picture, vec![&*sidecar]), (&mask, Vec::new())] {
            let found = finder.find(root, Path::new(file));
            assert_eq!(names(&found.sidecars, root), expected, "{file}");
            assert!(found.shared_sidecars.is_empty());
        }
    }

    #[test]
    fn a_folder_that_has_two_names_gives_each_sidecar_once() {
        let folder = tempfile::tempdir().unwrap();
        let root = &folder.path().canonicalize().unwrap();
        for folder in ["images", "Annotations"] {
            fs::create_dir(root.join(folder)).unwrap();
        }
        fs::write(root.join("images/a.jpg"), "a").unwrap();
        fs::write(root.join("Annotations/a.xml"), "a").unwrap();
        // Without an effect on a disk that ignores case.
        let _ = std::os::unix::fs::symlink("Annotations", root.join("annotations"));
        let found = CompanionFinder::default().find(root, Path::new("images/a.jpg"));
        assert_eq!(found.sidecars.len(), 1, "{found:?}");
    }
}
