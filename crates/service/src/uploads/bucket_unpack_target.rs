//! Unpacks an archive into a bucket. Each member is an unnamed file until it is complete.

use std::{
    collections::HashSet,
    fs::File,
    io::{self, Seek as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use tessera_files::{create_private_dir, staging::with_suffix};
use tessera_media::{
    ingest::unpack::UnpackTarget,
    object_storage::{BlockingStorage, BucketFolder},
};

pub struct BucketUnpackTarget<'a> {
    storage: &'a BlockingStorage,
    folder: &'a Arc<BucketFolder>,
    /// The prefix of the names of the objects.
    prefix: String,
    scratch: &'a Path,
    taken: HashSet<PathBuf>,
}

impl<'a> BucketUnpackTarget<'a> {
    pub fn new(
        storage: &'a BlockingStorage,
        folder: &'a Arc<BucketFolder>,
        prefix: String,
        scratch: &'a Path,
    ) -> Self {
        Self { storage, folder, prefix, scratch, taken: HashSet::new() }
    }
}

impl UnpackTarget for BucketUnpackTarget<'_> {
    fn disk(&self) -> &Path {
        self.scratch
    }

    /// Nothing is removed, because this run overwrites the objects of an interrupted run.
    fn clear(&mut self) -> io::Result<()> {
        create_private_dir(self.scratch)
    }

    fn create(&mut self, path: &Path) -> io::Result<(PathBuf, File)> {
        let (mut unique, mut number) = (path.to_owned(), 1);
        while !self.taken.insert(unique.clone()) {
            number += 1;
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            unique = path.with_file_name(with_suffix(&name, &number.to_string()));
        }
        Ok((unique, tempfile::tempfile_in(self.scratch)?))
    }

    fn keep(&mut self, path: &Path, mut file: File) -> io::Result<()> {
        file.rewind()?;
        let folder = self.folder.clone();
        let name = format!("{}/{}", self.prefix, path.to_string_lossy());
        self.storage.run(async move { folder.put_file(&name, file).await })
    }

    fn discard(&mut self, _: &Path) -> io::Result<()> {
        Ok(())
    }
}
