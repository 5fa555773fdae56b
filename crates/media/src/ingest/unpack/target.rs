//! Where the members of an archive go.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use tessera_files::{create_private_dir, if_exists, staging::UniqueFiles};

pub trait UnpackTarget {
    /// The folder whose disk the files of [`UnpackTarget::create`] are on.
    fn disk(&self) -> &Path;

    /// Prepares for the first member.
    fn clear(&mut self) -> io::Result<()>;

    /// Creates the file of a member, and returns its path, with a number if the name is taken.
    fn create(&mut self, path: &Path) -> io::Result<(PathBuf, File)>;

    /// Keeps the complete file of a member.
    fn keep(&mut self, path: &Path, file: File) -> io::Result<()>;

    /// Removes the file of a member that is not complete.
    fn discard(&mut self, path: &Path) -> io::Result<()>;
}

/// A folder, which is emptied first.
pub struct UnpackFolder {
    root: PathBuf,
    files: UniqueFiles,
}

impl UnpackFolder {
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), files: UniqueFiles::new(root) }
    }
}

impl UnpackTarget for UnpackFolder {
    fn disk(&self) -> &Path {
        &self.root
    }

    fn clear(&mut self) -> io::Result<()> {
        if_exists(fs::remove_dir_all(&self.root))?;
        create_private_dir(&self.root)
    }

    fn create(&mut self, path: &Path) -> io::Result<(PathBuf, File)> {
        self.files.create(path)
    }

    fn keep(&mut self, _: &Path, _: File) -> io::Result<()> {
        Ok(())
    }

    fn discard(&mut self, path: &Path) -> io::Result<()> {
        fs::remove_file(self.root.join(path))
    }
}
