//! The files of a folder as sidecars refer to them: by path, by name, or by lying beside them.

use std::{
    cell::OnceCell,
    collections::{BTreeSet, HashMap, HashSet},
    ffi::OsStr,
    path::{Component, Path, PathBuf},
};

use super::is_candidate;
use crate::ingest::Survey;

/// Files taken for media by their extension, in lower case, when no row names them.
const MEDIA: &[&str] = &[
    "jpg", "jpeg", "jpe", "jfif", "png", "webp", "gif", "bmp", "avi", "m4v", "mkv", "mov", "mp4",
    "webm",
];
/// Folders of pictures beside which lie folders of their sidecars.
const IMAGES: [&str; 2] = ["images", "JPEGImages"];
/// Most folders of one name in which a picture is looked for.
const HOMES: usize = 8;

/// The files a walk saw.
pub struct Files<'a> {
    survey: &'a Survey,
    paths: HashSet<&'a Path>,
    /// The only file of each name, `None` where there are several; made when it is needed.
    only: OnceCell<HashMap<&'a OsStr, Option<&'a Path>>>,
    /// The folders of media by their own name; made when it is needed.
    folders: OnceCell<HashMap<&'a OsStr, BTreeSet<&'a Path>>>,
}

impl<'a> Files<'a> {
    /// The files of a walk.
    #[must_use]
    pub fn new(survey: &'a Survey) -> Self {
        let paths = survey.files.iter().map(|found| found.path.as_path()).collect();
        Self { survey, paths, only: OnceCell::new(), folders: OnceCell::new() }
    }

    /// All paths.
    pub fn all(&self) -> impl Iterator<Item = &'a Path> + use<'a> {
        self.survey.files.iter().map(|found| found.path.as_path())
    }

    /// What is a media by its extension.
    pub fn media(&self) -> impl Iterator<Item = &'a Path> + use<'a> {
        self.all().filter(|path| is_media(path))
    }

    /// The files of this name, those in the fewest folders first.
    #[must_use]
    pub fn called(&self, name: &str) -> Vec<&'a Path> {
        let named = |path: &&Path| path.file_name() == Some(OsStr::new(name));
        let mut found: Vec<_> = self.all().filter(named).collect();
        found.sort_by_key(|path| path.components().count());
        found
    }

    /// The file at this path, if there is one.
    #[must_use]
    pub fn at(&self, path: &Path) -> Option<&'a Path> {
        self.paths.get(path).copied()
    }

    /// The sidecar with this extension beside a media.
    #[must_use]
    pub fn beside(&self, media: &Path, extension: &str) -> Option<&'a Path> {
        self.at(&media.with_extension(extension))
    }

    /// The sidecar of a media in a folder of sidecars: `labels/b/a.txt` for `images/b/a.jpg`.
    #[must_use]
    pub fn opposite(&self, media: &Path, folder: &str, extension: &str) -> Option<&'a Path> {
        let parts: Vec<_> = media.iter().collect();
        let place = parts.iter().rposition(|part| IMAGES.iter().any(|images| part == images))?;
        let mut path: PathBuf = parts[..place].iter().collect();
        path.push(folder);
        path.extend(&parts[place + 1..]);
        self.at(&path.with_extension(extension))
    }

    /// The media a row of `sidecar` calls `name`: relative to the sidecar's folder or the whole
    /// one, or the only file of that name.
    ///
    /// # Errors
    /// There is none such; the sentence says why.
    pub fn named(&self, name: &str, sidecar: &Path) -> Result<&'a Path, &'static str> {
        // Tables written on Windows.
        let name = name.trim().replace('\\', "/");
        let mut path = PathBuf::new();
        for part in Path::new(&name).components() {
            match part {
                Component::Normal(part) => path.push(part),
                Component::CurDir => {}
                _ => return Err("its file_name leads out of the folder"),
            }
        }
        let near = sidecar.parent().and_then(|folder| self.at(&folder.join(&path)));
        let found = near.or_else(|| self.at(&path)).or_else(|| self.in_namesake(&path, sidecar));
        let found = match found {
            Some(found) => found,
            None => self.by_name(&path)?,
        };
        if is_candidate(found) { Err("its file_name is no picture") } else { Ok(found) }
    }

    /// The media in a folder that the sidecar is named after: `train/a.jpg` or
    /// `images/train/a.jpg` for `instances_train.json`.
    fn in_namesake(&self, path: &Path, sidecar: &Path) -> Option<&'a Path> {
        let folders = self.folders.get_or_init(|| {
            let mut folders = HashMap::<_, BTreeSet<_>>::new();
            for folder in self.media().filter_map(Path::parent) {
                if let Some(name) = folder.file_name() {
                    folders.entry(name).or_default().insert(folder);
                }
            }
            folders
        });
        let word = sidecar.file_stem()?.to_str()?.rsplit(['_', '-', '.', ' ']).next()?;
        let homes = folders.get(OsStr::new(word))?.iter().take(HOMES);
        homes.map(|home| home.join(path)).find_map(|path| self.at(&path))
    }

    fn by_name(&self, path: &Path) -> Result<&'a Path, &'static str> {
        let only = self.only.get_or_init(|| {
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
            Some(None) => Err("its file_name fits several files of the folder"),
            None => Err("its file_name is no picture of the folder"),
        }
    }
}

fn is_media(path: &Path) -> bool {
    let extension = path.extension().and_then(OsStr::to_str);
    extension
        .is_some_and(|extension| MEDIA.iter().any(|media| media.eq_ignore_ascii_case(extension)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ingest::Found, store::intake::Stamp};

    fn survey(paths: &[&str]) -> Survey {
        let stamp = Stamp { size: 1, modified: 1 };
        let files = paths.iter().map(|path| Found { path: path.into(), stamp }).collect();
        Survey { files, passed_over: Vec::new() }
    }

    #[test]
    fn a_name_is_found_near_the_sidecar_at_the_root_in_its_namesake_or_when_it_is_the_only_one() {
        let survey = survey(&[
            "1.jpg",
            "a/1.jpg",
            "a/b/2.jpg",
            "images/train/3.jpg",
            "images/val/3.jpg",
            "notes.txt",
            "x/4",
            "x/y.jpg/5.jpg",
        ]);
        let files = Files::new(&survey);
        let none = Err("its file_name is no picture of the folder");
        let outside = Err("its file_name leads out of the folder");
        for (name, sidecar, expected) in [
            ("1.jpg", "metadata.csv", Ok("1.jpg")),
            (" ./1.jpg ", "a/metadata.csv", Ok("a/1.jpg")),
            ("a\\b\\2.jpg", "metadata.csv", Ok("a/b/2.jpg")),
            ("a/b/2.jpg", "annotations/all.json", Ok("a/b/2.jpg")),
            ("2.jpg", "annotations/all.json", Ok("a/b/2.jpg")),
            ("elsewhere/2.jpg", "metadata.csv", Ok("a/b/2.jpg")),
            ("3.jpg", "annotations/instances_train.json", Ok("images/train/3.jpg")),
            ("3.jpg", "annotations/val.json", Ok("images/val/3.jpg")),
            ("3.jpg", "all.json", Err("its file_name fits several files of the folder")),
            ("4", "metadata.csv", Ok("x/4")),
            ("y.jpg", "metadata.csv", none),
            ("9.jpg", "metadata.csv", none),
            ("", "metadata.csv", none),
            ("notes.txt", "metadata.csv", Err("its file_name is no picture")),
            ("../1.jpg", "a/metadata.csv", outside),
            ("a/../1.jpg", "metadata.csv", outside),
            ("/1.jpg", "metadata.csv", outside),
        ] {
            let found = files.named(name, Path::new(sidecar));
            assert_eq!(found, expected.map(Path::new), "{name} in {sidecar}");
        }
    }

    #[test]
    fn sidecars_lie_beside_or_in_the_opposite_folder() {
        let survey = survey(&["labels/train/a.txt", "v/Annotations/b.xml", "images/c.txt"]);
        let files = Files::new(&survey);
        let opposite = |media: &str, folder, extension| {
            files.opposite(Path::new(media), folder, extension).map(|path| path.to_str().unwrap())
        };
        assert_eq!(opposite("images/train/a.jpg", "labels", "txt"), Some("labels/train/a.txt"));
        assert_eq!(
            opposite("v/JPEGImages/b.jpg", "Annotations", "xml"),
            Some("v/Annotations/b.xml")
        );
        assert_eq!(opposite("train/a.jpg", "labels", "txt"), None);
        assert_eq!(opposite("images/train/b.jpg", "labels", "txt"), None);
        let beside = files.beside(Path::new("images/c.PNG"), "txt");
        assert_eq!(beside, Some(Path::new("images/c.txt")));
    }

    #[test]
    fn media_are_told_by_extension() {
        let survey = survey(&["a.JPG", "b.txt", "c", "d.webm", "e.jpg.txt"]);
        let media: Vec<_> = Files::new(&survey).media().collect();
        assert_eq!(media, [Path::new("a.JPG"), Path::new("d.webm")]);
    }
}
