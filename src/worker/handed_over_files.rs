//! Files for other programs, such as the copy of a picture for a viewer, or a list of files for a command. The files
//! are removed when the program ends.

use std::{
    collections::VecDeque,
    fs, io,
    os::unix::fs::PermissionsExt as _,
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use tempfile::TempDir;

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
        let mut folder = self.folder.lock().unwrap_or_else(PoisonError::into_inner);
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

#[cfg(test)]
mod tests {
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
}
