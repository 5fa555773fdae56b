//! Hands files over to other programs: a list of files to a command, or the copy of a picture to the desktop's viewer. A
//! viewer gets a file instead of a link of the service, because a link would be a credential in the process list. The
//! files are removed when the program ends.

use std::{
    collections::VecDeque,
    ffi::OsStr,
    fs, io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Stdio,
    thread,
    time::Duration,
};

use bytes::Bytes;
use parking_lot::Mutex;
use tempfile::TempDir;
use tessera_model::Failure;
use tessera_picture::PictureFormat;
use tokio::sync::oneshot;

use crate::{environment::is_set, subprocess};

/// How many copies of pictures are kept, so that opening many large pictures does not fill the disk. A viewer that is
/// still open may read its file again.
const MAX_COPIES: usize = 8;

#[derive(Default)]
pub(super) struct HandedOverFiles {
    folder: Mutex<Option<Folder>>,
}

struct Folder {
    dir: TempDir,
    /// The number of files that were written.
    count: u32,
    /// The copies of pictures, oldest first.
    copies: VecDeque<PathBuf>,
}

impl HandedOverFiles {
    /// Writes a file that only this user can read. `name` ends the name of the file. Blocks on the disk.
    pub(super) fn write(&self, name: &str, content: &[u8]) -> io::Result<PathBuf> {
        self.with_folder(|folder| folder.write(name, content))
    }

    /// Writes the copy of a picture, and removes the oldest copy if there are too many. Blocks on the disk.
    pub(super) fn write_copy(&self, name: &str, content: &[u8]) -> io::Result<PathBuf> {
        self.with_folder(|folder| {
            if folder.copies.len() >= MAX_COPIES
                && let Some(oldest) = folder.copies.pop_front()
            {
                // A copy that cannot be removed now is removed with its folder.
                let _ = fs::remove_file(oldest);
            }
            let path = folder.write(name, content)?;
            folder.copies.push_back(path.clone());
            Ok(path)
        })
    }

    fn with_folder<T>(&self, work: impl FnOnce(&mut Folder) -> io::Result<T>) -> io::Result<T> {
        let mut folder = self.folder.lock();
        work(match &mut *folder {
            Some(existing) => existing,
            none => {
                let mut builder = tempfile::Builder::new();
                builder.prefix("tessera-").permissions(fs::Permissions::from_mode(0o700));
                let dir = builder.tempdir()?;
                none.insert(Folder { dir, count: 0, copies: VecDeque::new() })
            }
        })
    }
}

impl Folder {
    fn write(&mut self, name: &str, content: &[u8]) -> io::Result<PathBuf> {
        self.count += 1;
        let path = self.dir.path().join(format!("{}-{name}", self.count));
        fs::write(&path, content)?;
        Ok(path)
    }
}

const OPENER_PROGRAM: &str = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
/// How long to wait for an error of the opener. Most openers exit immediately, and some keep
/// running.
const OPENER_TIMEOUT: Duration = Duration::from_secs(3);

/// Writes a copy of a picture that only this user can read. Blocks on the disk.
pub(super) fn copy(bytes: &Bytes, files: &HandedOverFiles) -> Result<PathBuf, Failure> {
    let extension = PictureFormat::detect(bytes).map_or("bin", PictureFormat::extension);
    files
        .write_copy(&format!("picture.{extension}"), bytes)
        .map_err(|error| Failure::local(format!("cannot create a copy for the viewer: {error}")))
}

pub(super) async fn open(path: &Path) -> Result<(), Failure> {
    // An opener would start a terminal program if there is no desktop, but this program owns the
    // terminal.
    if !cfg!(target_os = "macos") && !is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY") {
        let sentence = "cannot open the picture without a desktop session";
        return Err(Failure::local(sentence).with_remedy("Show it in full size, or copy its link"));
    }
    open_with(OPENER_PROGRAM.as_ref(), path).await
}

async fn open_with(opener: &OsStr, path: &Path) -> Result<(), Failure> {
    let to_failure = |reason: String| {
        Failure::local(format!("{} cannot open {}: {reason}", opener.display(), path.display()))
    };
    // The path is absolute, so that no name is parsed as an option.
    let path = path.canonicalize().map_err(|error| to_failure(error.to_string()))?;
    let mut command = subprocess::command(opener);
    command.arg(path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Failure::local(format!(
            "cannot open the picture: {} is not installed",
            opener.display()
        ))
        .with_remedy("Install it, or show the picture in full size"),
        _ => to_failure(error.to_string()),
    })?;
    // The thread is separate, because a viewer may stay open longer than this program.
    let (sender, ended) = oneshot::channel();
    thread::spawn(move || sender.send(child.wait()));
    match tokio::time::timeout(OPENER_TIMEOUT, ended).await {
        Ok(Ok(Ok(status))) if !status.success() => {
            Err(to_failure(format!("it exited with {status}")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use tessera_testing::scripts::write_script;

    use super::*;

    #[test]
    fn files_are_private_and_removed() {
        let files = HandedOverFiles::default();
        let path = files.write("files", b"/a\0").unwrap();
        assert_ne!(files.write("files", b"").unwrap(), path);
        assert_eq!(fs::read(&path).unwrap(), b"/a\0");
        let mode = path.parent().unwrap().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{mode:o}");
        drop(files);
        assert!(!path.exists());
    }

    #[test]
    fn only_the_last_copies_of_pictures_are_kept() {
        let files = HandedOverFiles::default();
        let list = files.write("files", b"/a\0").unwrap();
        let copies: Vec<_> =
            (0..=MAX_COPIES).map(|_| files.write_copy("picture.png", b"").unwrap()).collect();
        assert!(!copies[0].exists());
        assert!(copies[1..].iter().all(|copy| copy.exists()));
        assert!(list.exists(), "a command may still read its list");
    }

    fn opener(folder: &Path, script: &str) -> PathBuf {
        let path = folder.join("opener");
        write_script(&path, script);
        path
    }

    #[tokio::test]
    async fn the_viewer_gets_only_the_path_of_a_copy() {
        let folder = tempfile::tempdir().unwrap();
        let files = HandedOverFiles::default();
        let copy = copy(&Bytes::from_static(b"\x89PNG\r\n\x1a\n"), &files).unwrap();
        assert_eq!(copy.extension(), Some(OsStr::new("png")));
        let output = folder.path().join("output");
        let script = format!("echo \"$# $1\" > {}", output.display());
        open_with(opener(folder.path(), &script).as_os_str(), &copy).await.unwrap();
        let copy = copy.canonicalize().unwrap();
        assert_eq!(fs::read_to_string(output).unwrap(), format!("1 {}\n", copy.display()));
    }

    #[tokio::test]
    async fn a_failing_or_missing_viewer_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let picture = folder.path().join("-a.png");
        fs::write(&picture, "x").unwrap();
        let refusing = opener(folder.path(), "exit 3");
        let failure = open_with(refusing.as_os_str(), &picture).await.unwrap_err();
        assert!(failure.to_string().contains("exit status: 3"), "{failure}");
        let failure = open_with(OsStr::new("no-such-opener"), &picture).await.unwrap_err();
        assert!(failure.to_string().contains("no-such-opener is not installed"), "{failure}");
    }
}
