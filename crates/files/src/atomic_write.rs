//! Replaces files atomically: a reader finds either the old or the new content, and so does the next start after a
//! crash. The functions differ in what survives a power cut, and in whether the user may edit the file too.

use std::{
    fs::{self, File, OpenOptions, Permissions},
    io::{self, Write as _},
    os::{
        fd::AsFd as _,
        unix::fs::{MetadataExt as _, PermissionsExt as _},
    },
    path::{Path, PathBuf},
};

use tempfile::NamedTempFile;
use walkdir::WalkDir;

use super::{
    create_private_dir_durably, create_shared_dir_durably, if_exists, parent_dir, sync_dir, synced,
    weak_file_system,
};

/// The prefix of the names of unfinished files, which a crash can leave behind.
pub const TEMPORARY_PREFIX: &str = ".new-";

/// Replaces a private file. After a power cut, the new content may be missing or empty, so this function is for files
/// that can be computed again.
pub fn write_atomically(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    write_temporary(path, content.as_ref())?.persist(path)?;
    Ok(())
}

/// Replaces a private file durably, so that it survives a power cut. A symbolic link is replaced, not followed.
pub fn write_durably(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    persist_durably(write_temporary(path, content.as_ref())?, path)
}

/// Replaces a file that the user may edit too, so that it survives a power cut. Missing folders are created as private
/// folders. An existing file keeps its permissions. A symbolic link stays, and the file that it refers to is replaced
/// or created.
pub fn write_user_file(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    let path = write_target(path)?;
    create_private_dir_durably(parent_dir(&path))?;
    persist_with_mode(write_temporary(&path, content.as_ref())?, &path)
}

/// Replaces a file that others may read, so that it survives a power cut. The umask of the user decides who can read
/// it. A symbolic link is replaced, not followed.
pub fn write_shared_file(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    persist_durably(write_shared_temporary(path, content.as_ref())?, path)
}

/// Writes a result into a file that the user named, so that it survives a power cut. The umask of the user decides who
/// can read a new file and enter missing folders. An existing file keeps its permissions. A symbolic link stays, and
/// the file that it refers to is replaced or created. A device, a pipe and an open file such as `/dev/stdout` are
/// written to instead.
pub fn write_result_file(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    if let Some(mut stream) = open_stream(path)? {
        return stream.write_all(content.as_ref());
    }
    let path = write_target(path)?;
    create_shared_dir_durably(parent_dir(&path))?;
    persist_with_mode(write_shared_temporary(&path, content.as_ref())?, &path)
}

/// Opens a device, a pipe or an open file such as `/dev/stdout` for writing. Returns `None` for other files, which are
/// replaced, and for a missing file.
fn open_stream(path: &Path) -> io::Result<Option<File>> {
    let Some(found) = if_exists(fs::metadata(path))? else { return Ok(None) };
    // A file that is opened again has a position of its own, so the next output would overwrite the content.
    for stream in [io::stdout().as_fd(), io::stderr().as_fd()] {
        let stream = File::from(stream.try_clone_to_owned()?);
        let opened = stream.metadata()?;
        if (opened.dev(), opened.ino()) == (found.dev(), found.ino()) {
            return Ok(Some(stream));
        }
    }
    let folder = fs::canonicalize(parent_dir(path))?;
    let is_descriptor =
        folder.ends_with("fd") && ["/proc", "/dev"].iter().any(|it| folder.starts_with(it));
    let is_replaced = found.is_file() && !is_descriptor;
    if is_replaced { Ok(None) } else { OpenOptions::new().append(true).open(path).map(Some) }
}

/// Returns the path of the file that a write to `path` replaces or creates, which is the target of a symbolic link.
///
/// # Errors
/// The folder of a missing target does not exist, or the target is a folder, a device or a pipe.
pub fn write_target(path: &Path) -> io::Result<PathBuf> {
    if let Some(existing) = if_exists(fs::metadata(path))? {
        if !existing.is_file() {
            let reason = "not a regular file, so it is not replaced";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
        }
        return fs::canonicalize(path);
    }
    let Ok(target) = fs::read_link(path) else { return Ok(path.to_owned()) };
    let target = parent_dir(path).join(target);
    if !parent_dir(&target).is_dir() {
        let reason = format!(
            "it is a link to {}, whose folder does not exist; create the folder, or remove the link",
            target.display()
        );
        return Err(io::Error::new(io::ErrorKind::NotFound, reason));
    }
    write_target(&target)
}

fn write_shared_temporary(path: &Path, content: &[u8]) -> io::Result<NamedTempFile> {
    let mut temporary = shared_temporary(path)?;
    temporary.write_all(content)?;
    Ok(temporary)
}

/// Creates a file with a unique name in the folder of `path`. The umask of the user decides who can read it.
pub fn shared_temporary(path: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    let builder = builder.prefix(TEMPORARY_PREFIX).permissions(Permissions::from_mode(0o666));
    builder.tempfile_in(parent_dir(path))
}

/// Writes a new file that survives a power cut. The umask of the user decides who can read the file.
///
/// # Errors
/// `AlreadyExists` if the file exists. An existing file is never overwritten.
pub fn write_new_file(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    let written = file.write_all(content.as_ref()).and_then(|()| synced(file.sync_all()));
    if let Err(error) = written {
        // A part of the content must not look like the whole. The first error is the one to report.
        let _ = fs::remove_file(path);
        return Err(error);
    }
    sync_dir(parent_dir(path))
}

/// Writes the content to a private file with a unique name in the folder of `path`.
fn write_temporary(path: &Path, content: &[u8]) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    let mut temporary = builder.prefix(TEMPORARY_PREFIX).tempfile_in(parent_dir(path))?;
    temporary.write_all(content)?;
    Ok(temporary)
}

/// Replaces a file durably, with the permissions that it has.
fn persist_with_mode(temporary: NamedTempFile, path: &Path) -> io::Result<()> {
    if let Ok(replaced) = fs::metadata(path) {
        weak_file_system::set_mode(temporary.path(), replaced.permissions().mode())?;
    }
    persist_durably(temporary, path)
}

fn persist_durably(temporary: NamedTempFile, path: &Path) -> io::Result<()> {
    synced(temporary.as_file().sync_all())?;
    temporary.persist(path)?;
    sync_dir(parent_dir(path))
}

/// Makes the files below a folder durable, including their names.
pub fn sync_tree(root: &Path) -> io::Result<()> {
    for entry in WalkDir::new(root) {
        let entry = entry?;
        if entry.file_type().is_dir() {
            sync_dir(entry.path())?;
        } else if entry.file_type().is_file() {
            synced(File::open(entry.path())?.sync_all())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::{
        env,
        os::{
            fd::AsRawFd as _,
            unix::fs::{FileTypeExt as _, symlink},
        },
        process::{Command, Stdio},
        thread,
    };

    use rustix::fs::{CWD, FileType, Mode};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_symlink_to_a_user_file_is_kept_and_its_target_keeps_its_mode() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("dotfiles.toml"), folder.path().join("config.toml"));
        write_user_file(&real, "old").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o644)).unwrap();
        symlink(&real, &link).unwrap();
        write_user_file(&link, "new").unwrap();
        assert_eq!(fs::read_to_string(&real).unwrap(), "new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(mode(&real), 0o644);
    }

    #[test]
    fn the_missing_target_of_a_link_is_created_in_an_existing_folder_only() {
        let folder = tempfile::tempdir().unwrap();
        let (dotfiles, link) = (folder.path().join("dotfiles"), folder.path().join("config.toml"));
        symlink("between.toml", &link).unwrap();
        symlink("dotfiles/config.toml", folder.path().join("between.toml")).unwrap();
        let refused = write_user_file(&link, "new").unwrap_err().to_string();
        assert!(refused.contains("dotfiles/config.toml"), "{refused}");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        fs::create_dir(&dotfiles).unwrap();
        write_user_file(&link, "new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(dotfiles.join("config.toml")).unwrap(), "new");
    }

    #[test]
    fn new_folders_and_files_are_private_and_existing_folders_stay() {
        let folder = tempfile::tempdir().unwrap();
        let shared = folder.path().join("shared");
        fs::create_dir(&shared).unwrap();
        fs::set_permissions(&shared, fs::Permissions::from_mode(0o755)).unwrap();
        let path = shared.join("a/b/config.toml");
        write_user_file(&path, "new").unwrap();
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        assert_eq!((mode(&shared.join("a")), mode(&shared)), (0o700, 0o755));
    }

    #[test]
    fn a_private_file_replaces_a_link_and_an_open_file() {
        let folder = tempfile::tempdir().unwrap();
        let (other, path) = (folder.path().join("other"), folder.path().join("login"));
        let writers: [fn(&Path, &'static str) -> io::Result<()>; 2] =
            [write_durably, write_atomically];
        for write in writers {
            fs::write(&other, "other").unwrap();
            let _ = fs::remove_file(&path);
            symlink(&other, &path).unwrap();
            write(&path, "first").unwrap();
            assert_eq!(fs::read_to_string(&other).unwrap(), "other");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
            write(&path, "second").unwrap();
            assert_eq!(
                (fs::read_to_string(&path).unwrap().as_str(), mode(&path)),
                ("second", 0o600)
            );
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "a temporary file was left");
    }

    #[test]
    fn a_pipe_takes_results_and_is_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        // Each pipe has one reader. A program that another test starts may still hold the reader of an earlier pipe for
        // a moment, and would take what is written there.
        for is_link in [false, true] {
            let pipe = folder.path().join(format!("pipe {is_link}"));
            rustix::fs::mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
            symlink(&pipe, &link).unwrap();
            let path = if is_link { link.clone() } else { pipe.clone() };
            let reader = thread::spawn(move || fs::read_to_string(pipe).unwrap());
            write_result_file(&path, "new").unwrap();
            assert_eq!(reader.join().unwrap(), "new");
            let refused = write_user_file(&path, "new").unwrap_err().to_string();
            assert_eq!(refused, "not a regular file, so it is not replaced");
            assert!(fs::metadata(&path).unwrap().file_type().is_fifo());
            fs::remove_file(&link).unwrap();
        }
    }

    #[test]
    fn an_open_file_keeps_what_it_has() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        fs::write(&path, "old").unwrap();
        let log = OpenOptions::new().append(true).open(&path).unwrap();
        let named = PathBuf::from(format!("/dev/fd/{}", log.as_raw_fd()));
        write_result_file(&named, "new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "oldnew");
        assert_eq!(log.metadata().unwrap().len(), 6, "the file was replaced");
    }

    /// The environment variable with the path of the file that the test below writes with a limit.
    const LIMITED: &str = "TESSERA_LIMITED_FILE";

    #[test]
    fn a_part_of_a_new_file_is_removed() {
        if let Some(path) = env::var_os(LIMITED) {
            let refused = write_new_file(Path::new(&path), [0; 4096]).unwrap_err();
            return assert_eq!(refused.kind(), io::ErrorKind::FileTooLarge);
        }
        let folder = tempfile::tempdir().unwrap();
        let mut limited = Command::new("sh");
        limited.args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\""]);
        limited.arg(env::current_exe().unwrap()).args(["--exact", "--nocapture"]);
        limited.arg("atomic_write::tests::a_part_of_a_new_file_is_removed");
        limited.env(LIMITED, folder.path().join("new")).stdout(Stdio::piped());
        let output = limited.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{text}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_new_file_never_replaces_another_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("selection.json");
        write_new_file(&path, "first").unwrap();
        let refused = write_new_file(&path, "second").unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&path).unwrap(), "first");
    }
}
