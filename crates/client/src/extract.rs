//! Takes an archive apart: plain files with safe names, below one folder that is held open, so that
//! neither a name nor a link can lead anywhere else. What is refused is named, and the rest comes out.

use std::{
    collections::HashSet,
    fs::{self, File},
    io::{self, Write as _},
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, Mode, OFlags, mkdirat, open, openat, statat, unlinkat},
    io::Errno,
};

use crate::{
    archive::{IMAGES, Member, Trouble, walk},
    inspect::joined,
    part::{Existing, check_room, disk, local},
};
use tessera_model::{Extraction, Failure, member::checked};

/// The file that joins each row of the metadata with the path of its picture.
const ROWS: &str = "rows.jsonl";

/// Takes `archive` apart into `folder`, which is made when it is not there; waits for the disk. With
/// `join`, each row of the metadata is written to `rows.jsonl` in it, as an object on a line, with the
/// path of its picture below the folder as `_path`, or null.
///
/// # Errors
/// [`FailureKind::Local`](tessera_model::FailureKind::Local): before anything is written when a file is
/// there that is to be kept, or when there is no room; and for whatever the disk refuses.
pub fn extract(
    archive: &Path,
    folder: &Path,
    existing: Existing,
    join: bool,
) -> Result<Extraction, Failure> {
    let opened = || File::open(archive).map_err(|error| disk(archive, &error));
    let damaged = |why: String| local(archive, &why);
    let size = plan(opened()?, folder, existing, join).map_err(|stop| stop.told(archive))?;
    let below = Below::open(folder, existing).map_err(|error| disk(folder, &error))?;
    check_room(&below.root, folder, size)?;

    let mut done = Extraction { folder: folder.to_owned(), ..Extraction::default() };
    let mut taken = HashSet::new();
    let mut full = None;
    let walked = walk(opened()?, |member| {
        let name = member.name.clone();
        match below.take(member, &mut taken) {
            Ok(None) => {}
            Ok(Some(bytes)) => {
                done.files += 1;
                done.bytes += bytes;
            }
            Err(Trouble::Member(why)) => done.refused.add(&format!("{name} ({why})")),
            Err(Trouble::Disk(error)) => {
                full = Some(disk(&folder.join(&name), &error));
                return Err(String::new());
            }
        }
        Ok(())
    });
    if let Some(failure) = full {
        return Err(failure);
    }
    walked.map_err(damaged)?;
    if join {
        done.rows = Some(below.join(archive, folder)?);
    }
    Ok(done)
}

/// Why nothing is taken apart.
enum Stop {
    Damaged(String),
    InTheWay(PathBuf),
}

impl Stop {
    fn told(self, archive: &Path) -> Failure {
        match self {
            Self::Damaged(why) => local(archive, &why),
            Self::InTheWay(path) => local(&path, "already exists and is not overwritten")
                .remedy("Choose another folder, or move the old file away"),
        }
    }
}

/// Looks at everything before the first byte is written. Returns the size of it all.
fn plan(file: File, folder: &Path, existing: Existing, join: bool) -> Result<u64, Stop> {
    let free = |path: PathBuf| {
        let kept = existing == Existing::Kept && fs::symlink_metadata(&path).is_ok();
        if kept { Err(Stop::InTheWay(path)) } else { Ok(()) }
    };
    if join {
        free(folder.join(ROWS))?;
    }
    let (mut size, mut stop) = (0_u64, None);
    let walked = walk(file, |member| {
        let wanted = checked(&member.name).ok().filter(|_| !member.is_dir());
        let Some(path) = wanted else { return Ok(()) };
        size = size.saturating_add(member.size());
        free(folder.join(path)).map_err(|found| {
            stop = Some(found);
            String::new()
        })
    });
    match (stop, walked) {
        (Some(stop), _) => Err(stop),
        (None, walked) => walked.map(|()| size).map_err(Stop::Damaged),
    }
}

/// A folder that is held open: everything is named from there, and no link is followed.
struct Below {
    root: OwnedFd,
    existing: Existing,
}

impl Below {
    fn open(folder: &Path, existing: Existing) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let root = open(folder, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Self { root, existing })
    }

    /// Writes a member, and returns its size; `None` for a directory, which comes with its files.
    /// `taken` are the names so far, for disks on which upper and lower case are the same.
    fn take(
        &self,
        member: Member<'_>,
        taken: &mut HashSet<String>,
    ) -> Result<Option<u64>, Trouble> {
        let refused = |why: &str| Err(Trouble::Member(why.to_owned()));
        let path = match checked(&member.name) {
            Ok(path) => path,
            Err(why) => return refused(why),
        };
        if member.is_dir() {
            return Ok(None);
        }
        if path.as_os_str().is_empty() {
            return refused("it has no name");
        }
        if !member.is_plain() {
            return refused("a link, or no regular file");
        }
        if !taken.insert(path.to_string_lossy().to_lowercase()) {
            return refused("an entry before has the same name, at least in another case");
        }
        let (directory, mut file) = match self.create(&path) {
            Ok(created) => created,
            Err(Errno::EXIST | Errno::NOTDIR | Errno::ISDIR | Errno::LOOP) => {
                return refused("something else is in its place");
            }
            Err(error) => return Err(Trouble::Disk(error.into())),
        };
        let copied = member.copy(&mut file, u64::MAX);
        if copied.is_err() {
            remove(&directory, &path).map_err(|error| Trouble::Disk(error.into()))?;
        }
        copied.map(Some)
    }

    /// Makes a file, and the directories that it lies in. Returns the innermost with it.
    fn create(&self, path: &Path) -> Result<(OwnedFd, File), Errno> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut directory = openat(&self.root, ".", flags, Mode::empty())?;
        for part in path.parent().into_iter().flat_map(Path::components) {
            match mkdirat(&directory, part.as_os_str(), Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error),
            }
            directory = openat(&directory, part.as_os_str(), flags, Mode::empty())?;
        }
        if self.existing == Existing::Replaced {
            remove(&directory, path)?;
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let name = path.file_name().unwrap_or_default();
        let file = openat(&directory, name, flags, Mode::from_raw_mode(0o666))?;
        Ok((directory, file.into()))
    }

    /// Whether a picture of this name came out.
    fn has(&self, image: &str) -> bool {
        checked(&format!("{IMAGES}{image}"))
            .is_ok_and(|path| statat(&self.root, path, AtFlags::SYMLINK_NOFOLLOW).is_ok())
    }

    /// Writes the rows with the paths of their pictures.
    fn join(&self, archive: &Path, folder: &Path) -> Result<PathBuf, Failure> {
        let target = folder.join(ROWS);
        let refused = |error: io::Error| disk(&target, &error);
        let (_, file) = self.create(Path::new(ROWS)).map_err(|error| refused(error.into()))?;
        let mut out = io::BufWriter::new(file);
        joined(archive, |image| self.has(image), &mut out)?;
        out.flush().map_err(refused)?;
        Ok(target)
    }
}

/// Removes a file, if there is one; a link itself, not what it leads to.
fn remove(directory: &OwnedFd, path: &Path) -> Result<(), Errno> {
    match unlinkat(directory, path.file_name().unwrap_or_default(), AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use tempfile::TempDir;

    use super::*;
    use crate::zipped::{Raw, stored, zip};
    use tessera_model::FailureKind;

    /// Names that must not become files, whatever the system.
    const HOSTILE: [&str; 40] = [
        "",
        ".",
        "..",
        "...",
        "../evil",
        "../../evil",
        "images/../../evil",
        "images/../evil",
        "/evil",
        "//evil",
        "/tmp/evil",
        "C:\\evil",
        "C:evil",
        "c:/evil",
        "\\evil",
        "\\\\host\\share\\evil",
        "images\\..\\evil",
        "..\\evil",
        "a:b",
        "evil\0.jpg",
        "evil\u{1b}[2J.jpg",
        "evil\n.jpg",
        "evil\u{7f}",
        "evil\u{85}",
        "CON",
        "con.txt",
        "PRN",
        "AUX.jpg",
        "images/nul",
        "NUL .txt",
        "COM1",
        "com9.jpg",
        "LPT1.x",
        "evil.",
        "evil ",
        "evil./x",
        ".. /evil",
        ".hidden",
        ".git/config",
        "__MACOSX/x",
    ];

    /// A folder to work in, with an archive of these members.
    struct Place(TempDir);

    impl Place {
        fn new(members: &[Raw]) -> Self {
            let home = tempfile::tempdir().unwrap();
            fs::create_dir(home.path().join("deep")).unwrap();
            fs::write(home.path().join("x.zip"), zip(members)).unwrap();
            Self(home)
        }

        fn folder(&self) -> PathBuf {
            self.0.path().join("deep/into")
        }

        fn extract(&self, existing: Existing) -> Result<Extraction, Failure> {
            extract(&self.0.path().join("x.zip"), &self.folder(), existing, false)
        }

        /// All files below the place with the archive left out, in order.
        fn files(&self) -> Vec<String> {
            let all = walkdir::WalkDir::new(self.0.path()).sort_by_file_name().into_iter();
            let files = all.map(Result::unwrap).filter(|entry| !entry.file_type().is_dir());
            let below = |path: &Path| path.strip_prefix(self.0.path()).unwrap().to_owned();
            let names = files.map(|entry| below(entry.path()).to_str().unwrap().to_owned());
            names.filter(|name| name != "x.zip").collect()
        }
    }

    #[test]
    fn d13_hostile_names_are_refused_and_listed() {
        let mut members: Vec<Raw> = HOSTILE.iter().map(|name| stored(name, b"evil")).collect();
        members.push(stored(&"n".repeat(300), b"evil"));
        members.push(stored(&"d/".repeat(40), b""));
        members.push(stored(&format!("{}x", "d/".repeat(40)), b"evil"));
        members.push(stored("images/good.jpg", b"good"));
        let place = Place::new(&members);
        let done = place.extract(Existing::Kept).unwrap();
        assert_eq!(place.files(), ["deep/into/images/good.jpg"]);
        assert_eq!((done.files, done.bytes), (1, 4));
        assert_eq!(done.refused.count, members.len() as u64 - 1);
        let first = done.refused.first.iter().map(tessera_model::SafeText::as_str);
        assert!(first.clone().any(|name| name == "../evil (its name leads out of the folder)"));
        assert!(first.into_iter().all(|name| !name.contains(['\u{1b}', '\n'])));
        assert!(!Path::new("/tmp/evil").exists());
    }

    #[test]
    fn d13_links_and_devices_and_what_would_go_through_them_stay_out() {
        let kind = |name: &str, mode, bytes: &[u8]| Raw { mode, ..stored(name, bytes) };
        let place = Place::new(&[
            kind("link", 0o120_777, b"/"),
            kind("fifo", 0o010_644, b""),
            kind("device", 0o020_644, b""),
            stored("link/file", b"below"),
            stored("a.jpg", b"a"),
            stored("A.JPG", b"clash"),
            stored("a.jpg", b"twice"),
            stored("a.jpg/b", b"a file is in the way"),
            stored("link", b"a directory is in the way"),
        ]);
        let done = place.extract(Existing::Kept).unwrap();
        assert_eq!(place.files(), ["deep/into/a.jpg", "deep/into/link/file"]);
        assert_eq!(done.refused.count, 7, "{:?}", done.refused.first);
        assert_eq!(fs::read(place.folder().join("a.jpg")).unwrap(), b"a");
    }

    #[test]
    fn d13_a_link_in_the_folder_is_not_followed() {
        let place = Place::new(&[stored("images/a.jpg", b"a"), stored("b.json", b"[]")]);
        let outside = tempfile::tempdir().unwrap();
        fs::create_dir(place.folder()).unwrap();
        symlink(outside.path(), place.folder().join("images")).unwrap();
        fs::write(outside.path().join("mine"), "mine").unwrap();
        symlink(outside.path().join("mine"), place.folder().join("b.json")).unwrap();
        let done = place.extract(Existing::Replaced).unwrap();
        assert_eq!((done.files, done.refused.count), (1, 1));
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
        assert_eq!(fs::read(outside.path().join("mine")).unwrap(), b"mine");
        assert_eq!(fs::read(place.folder().join("b.json")).unwrap(), b"[]");
    }

    #[test]
    fn d18_nothing_is_written_when_one_file_is_there() {
        let place = Place::new(&[stored("a.json", b"[]"), stored("images/b.jpg", b"new")]);
        fs::create_dir_all(place.folder().join("images")).unwrap();
        fs::write(place.folder().join("images/b.jpg"), "mine").unwrap();
        let failure = place.extract(Existing::Kept).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Local);
        assert!(failure.to_string().contains("b.jpg: already exists"), "{failure}");
        assert_eq!(place.files(), ["deep/into/images/b.jpg"]);
        place.extract(Existing::Replaced).unwrap();
        assert_eq!(fs::read(place.folder().join("images/b.jpg")).unwrap(), b"new");
    }

    #[test]
    fn m25_rows_are_joined_with_the_paths_of_their_pictures() {
        let rows = br#"{"media_items": [{"image_filename": "a.jpg", "z": 1, "a": [2]},
            {"image_filename": "gone.jpg"}, {"image_filename": "../x.zip"}, {"other": null}]}"#;
        let place = Place::new(&[stored("m.json", rows), stored("images/a.jpg", b"a")]);
        let archive = place.0.path().join("x.zip");
        let done = extract(&archive, &place.folder(), Existing::Kept, true).unwrap();
        let text = fs::read_to_string(done.rows.unwrap()).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines,
            [
                r#"{"image_filename":"a.jpg","z":1,"a":[2],"_path":"images/a.jpg"}"#,
                r#"{"image_filename":"gone.jpg","_path":null}"#,
                r#"{"image_filename":"../x.zip","_path":null}"#,
                r#"{"other":null,"_path":null}"#,
            ]
        );
    }
}
