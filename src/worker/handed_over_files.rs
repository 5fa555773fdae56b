//! Files for other programs, such as the copy of a picture for a viewer, or a list of files for a command. They are
//! removed when the program ends.

use std::{
    fs, io,
    os::unix::fs::PermissionsExt as _,
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use tempfile::TempDir;

#[derive(Default)]
pub(super) struct HandedOverFiles {
    folder: Mutex<Option<(TempDir, u32)>>,
}

impl HandedOverFiles {
    /// Writes a file that only this user can read. `name` ends the name of the file.
    pub(super) fn write(&self, name: &str, content: &[u8]) -> io::Result<PathBuf> {
        let mut folder = self.folder.lock().unwrap_or_else(PoisonError::into_inner);
        let (folder, count) = match &mut *folder {
            Some(existing) => existing,
            none => {
                let mut builder = tempfile::Builder::new();
                builder.prefix("tessera-").permissions(fs::Permissions::from_mode(0o700));
                none.insert((builder.tempdir()?, 0))
            }
        };
        *count += 1;
        let path = folder.path().join(format!("{count}-{name}"));
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
}
