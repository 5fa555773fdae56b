//! Extracts archives: regular files with safe names, below one folder that is opened once, so that
//! neither a name nor a link can lead elsewhere. Rejected entries are listed, and the rest is
//! extracted.

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
    archive::{ArchiveEntry, EntryError, IMAGES_PREFIX, for_each_entry},
    inspect::write_joined_rows,
    part_file::{ExistingFile, check_room, disk_failure, local_failure},
};
use tessera_model::{Extraction, Failure, archive_path::safe_relative_path};

/// Joins each metadata row with the path of its picture.
const ROWS_FILE: &str = "rows.jsonl";

/// Extracts `archive` into `folder`, which is created if necessary. Blocks on the disk. With
/// `join`, writes each metadata row to `rows.jsonl` as one JSON object per line, with the relative
/// path of its picture as `_path`, or null.
///
/// # Errors Before anything is written: an existing file that is kept, or too little disk space.
/// Later: disk errors.
pub fn extract(
    archive: &Path,
    folder: &Path,
    existing: ExistingFile,
    join: bool,
) -> Result<Extraction, Failure> {
    let opened = || File::open(archive).map_err(|error| disk_failure(archive, &error));
    let damaged = |why: String| local_failure(archive, &why);
    let size = check_and_measure(opened()?, folder, existing, join)
        .map_err(|stop| stop.into_failure(archive))?;
    let below =
        TargetFolder::open(folder, existing).map_err(|error| disk_failure(folder, &error))?;
    check_room(&below.root, folder, size)?;

    let mut done = Extraction { folder: folder.to_owned(), ..Extraction::default() };
    let mut taken = HashSet::new();
    let mut full = None;
    let walked = for_each_entry(opened()?, |member| {
        let name = member.name.clone();
        match below.extract_entry(member, &mut taken) {
            Ok(None) => {}
            Ok(Some(bytes)) => {
                done.files += 1;
                done.bytes += bytes;
            }
            Err(EntryError::Invalid(why)) => done.rejected_entries.add(&format!("{name} ({why})")),
            Err(EntryError::Disk(error)) => {
                full = Some(disk_failure(&folder.join(&name), &error));
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
        done.index_file = Some(below.write_rows(archive, folder)?);
    }
    Ok(done)
}

/// Why nothing is extracted.
enum ExtractError {
    Damaged(String),
    AlreadyExists(PathBuf),
}

impl ExtractError {
    fn into_failure(self, archive: &Path) -> Failure {
        match self {
            Self::Damaged(why) => local_failure(archive, &why),
            Self::AlreadyExists(path) => {
                local_failure(&path, "already exists and is not overwritten")
                    .with_remedy("Choose another folder, or move the old file away")
            }
        }
    }
}

/// Checks all entries before anything is written, and returns their total size.
fn check_and_measure(
    file: File,
    folder: &Path,
    existing: ExistingFile,
    join: bool,
) -> Result<u64, ExtractError> {
    let free = |path: PathBuf| {
        let kept = existing == ExistingFile::Keep && fs::symlink_metadata(&path).is_ok();
        if kept { Err(ExtractError::AlreadyExists(path)) } else { Ok(()) }
    };
    if join {
        free(folder.join(ROWS_FILE))?;
    }
    let (mut size, mut stop) = (0_u64, None);
    let walked = for_each_entry(file, |member| {
        let wanted = safe_relative_path(&member.name).ok().filter(|_| !member.is_dir());
        let Some(path) = wanted else { return Ok(()) };
        size = size.saturating_add(member.size());
        free(folder.join(path)).map_err(|found| {
            stop = Some(found);
            String::new()
        })
    });
    match (stop, walked) {
        (Some(stop), _) => Err(stop),
        (None, walked) => walked.map(|()| size).map_err(ExtractError::Damaged),
    }
}

/// A folder that is kept open: all paths are relative to it, and no link is followed.
struct TargetFolder {
    root: OwnedFd,
    existing: ExistingFile,
}

impl TargetFolder {
    fn open(folder: &Path, existing: ExistingFile) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let root = open(folder, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Self { root, existing })
    }

    /// Writes an entry and returns its size, or `None` for a directory, which is created with its
    /// files. `taken` contains the lower-case names so far, for case-insensitive file systems.
    fn extract_entry(
        &self,
        member: ArchiveEntry<'_>,
        taken: &mut HashSet<String>,
    ) -> Result<Option<u64>, EntryError> {
        let refused = |why: &str| Err(EntryError::Invalid(why.to_owned()));
        let path = match safe_relative_path(&member.name) {
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
            Err(error) => return Err(EntryError::Disk(error.into())),
        };
        let copied = member.copy_to(&mut file, u64::MAX);
        if copied.is_err() {
            remove(&directory, &path).map_err(|error| EntryError::Disk(error.into()))?;
        }
        copied.map(Some)
    }

    /// Creates a file and its parent directories. Returns the innermost directory with it.
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
        if self.existing == ExistingFile::Replace {
            remove(&directory, path)?;
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let name = path.file_name().unwrap_or_default();
        let file = openat(&directory, name, flags, Mode::from_raw_mode(0o666))?;
        Ok((directory, file.into()))
    }

    /// Whether a picture with this name was extracted.
    fn has(&self, image: &str) -> bool {
        safe_relative_path(&format!("{IMAGES_PREFIX}{image}"))
            .is_ok_and(|path| statat(&self.root, path, AtFlags::SYMLINK_NOFOLLOW).is_ok())
    }

    /// Writes the metadata rows with the paths of their pictures.
    fn write_rows(&self, archive: &Path, folder: &Path) -> Result<PathBuf, Failure> {
        let target = folder.join(ROWS_FILE);
        let refused = |error: io::Error| disk_failure(&target, &error);
        let (_, file) = self.create(Path::new(ROWS_FILE)).map_err(|error| refused(error.into()))?;
        let mut out = io::BufWriter::new(file);
        write_joined_rows(archive, |image| self.has(image), &mut out)?;
        out.flush().map_err(refused)?;
        Ok(target)
    }
}

/// Removes a file if it exists; of a link, only the link itself.
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
    use crate::test_zip::{ZipMember, stored_member, zip_bytes};
    use tessera_model::FailureKind;

    /// Names that must be rejected on every system.
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

    /// A working folder with an archive.
    struct ExtractFixture(TempDir);

    impl ExtractFixture {
        fn new(members: &[ZipMember]) -> Self {
            let home = tempfile::tempdir().unwrap();
            fs::create_dir(home.path().join("deep")).unwrap();
            fs::write(home.path().join("x.zip"), zip_bytes(members)).unwrap();
            Self(home)
        }

        fn folder(&self) -> PathBuf {
            self.0.path().join("deep/into")
        }

        fn extract(&self, existing: ExistingFile) -> Result<Extraction, Failure> {
            extract(&self.0.path().join("x.zip"), &self.folder(), existing, false)
        }

        /// All files in the working folder except the archive, sorted.
        fn files(&self) -> Vec<String> {
            let all = walkdir::WalkDir::new(self.0.path()).sort_by_file_name().into_iter();
            let files = all.map(Result::unwrap).filter(|entry| !entry.file_type().is_dir());
            let below = |path: &Path| path.strip_prefix(self.0.path()).unwrap().to_owned();
            let names = files.map(|entry| below(entry.path()).to_str().unwrap().to_owned());
            names.filter(|name| name != "x.zip").collect()
        }
    }

    #[test]
    fn hostile_names_are_refused_and_listed() {
        let mut members: Vec<ZipMember> =
            HOSTILE.iter().map(|name| stored_member(name, b"evil")).collect();
        members.push(stored_member(&"n".repeat(300), b"evil"));
        members.push(stored_member(&"d/".repeat(40), b""));
        members.push(stored_member(&format!("{}x", "d/".repeat(40)), b"evil"));
        members.push(stored_member("images/good.jpg", b"good"));
        let place = ExtractFixture::new(&members);
        let done = place.extract(ExistingFile::Keep).unwrap();
        assert_eq!(place.files(), ["deep/into/images/good.jpg"]);
        assert_eq!((done.files, done.bytes), (1, 4));
        assert_eq!(done.rejected_entries.count, members.len() as u64 - 1);
        let first = done.rejected_entries.first.iter().map(tessera_model::SafeText::as_str);
        assert!(first.clone().any(|name| name == "../evil (its name leads out of the folder)"));
        assert!(first.into_iter().all(|name| !name.contains(['\u{1b}', '\n'])));
        assert!(!Path::new("/tmp/evil").exists());
    }

    #[test]
    fn links_and_devices_and_what_would_go_through_them_stay_out() {
        let kind =
            |name: &str, mode, bytes: &[u8]| ZipMember { mode, ..stored_member(name, bytes) };
        let place = ExtractFixture::new(&[
            kind("link", 0o120_777, b"/"),
            kind("fifo", 0o010_644, b""),
            kind("device", 0o020_644, b""),
            stored_member("link/file", b"below"),
            stored_member("a.jpg", b"a"),
            stored_member("A.JPG", b"clash"),
            stored_member("a.jpg", b"twice"),
            stored_member("a.jpg/b", b"a file is in the way"),
            stored_member("link", b"a directory is in the way"),
        ]);
        let done = place.extract(ExistingFile::Keep).unwrap();
        assert_eq!(place.files(), ["deep/into/a.jpg", "deep/into/link/file"]);
        assert_eq!(done.rejected_entries.count, 7, "{:?}", done.rejected_entries.first);
        assert_eq!(fs::read(place.folder().join("a.jpg")).unwrap(), b"a");
    }

    #[test]
    fn a_link_in_the_folder_is_not_followed() {
        let place = ExtractFixture::new(&[
            stored_member("images/a.jpg", b"a"),
            stored_member("b.json", b"[]"),
        ]);
        let outside = tempfile::tempdir().unwrap();
        fs::create_dir(place.folder()).unwrap();
        symlink(outside.path(), place.folder().join("images")).unwrap();
        fs::write(outside.path().join("mine"), "mine").unwrap();
        symlink(outside.path().join("mine"), place.folder().join("b.json")).unwrap();
        let done = place.extract(ExistingFile::Replace).unwrap();
        assert_eq!((done.files, done.rejected_entries.count), (1, 1));
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
        assert_eq!(fs::read(outside.path().join("mine")).unwrap(), b"mine");
        assert_eq!(fs::read(place.folder().join("b.json")).unwrap(), b"[]");
    }

    #[test]
    fn nothing_is_written_when_one_file_is_there() {
        let place = ExtractFixture::new(&[
            stored_member("a.json", b"[]"),
            stored_member("images/b.jpg", b"new"),
        ]);
        fs::create_dir_all(place.folder().join("images")).unwrap();
        fs::write(place.folder().join("images/b.jpg"), "mine").unwrap();
        let failure = place.extract(ExistingFile::Keep).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Local);
        assert!(failure.to_string().contains("b.jpg: already exists"), "{failure}");
        assert_eq!(place.files(), ["deep/into/images/b.jpg"]);
        place.extract(ExistingFile::Replace).unwrap();
        assert_eq!(fs::read(place.folder().join("images/b.jpg")).unwrap(), b"new");
    }

    #[test]
    fn rows_are_joined_with_the_paths_of_their_pictures() {
        let rows = br#"{"media_items": [{"image_filename": "a.jpg", "z": 1, "a": [2]},
            {"image_filename": "gone.jpg"}, {"image_filename": "../x.zip"}, {"other": null}]}"#;
        let place = ExtractFixture::new(&[
            stored_member("m.json", rows),
            stored_member("images/a.jpg", b"a"),
        ]);
        let archive = place.0.path().join("x.zip");
        let done = extract(&archive, &place.folder(), ExistingFile::Keep, true).unwrap();
        let text = fs::read_to_string(done.index_file.unwrap()).unwrap();
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
