//! A folder whose Parquet files are folders of images.

use std::{
    io::{self, Cursor, ErrorKind},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use tessera_parquet::Error;

use super::{
    image_table::ImageTable,
    row_names::{is_parquet, row_of},
};
use crate::ingest::{OriginalFiles, SandboxedDir, SourceFile};

/// Rows that are read ahead when one is opened after the other: all of a page is unpacked for each.
const ROWS_AHEAD: usize = 64;

pub struct ParquetFolder {
    folder: SandboxedDir,
    /// The Parquet file from which an image was opened last.
    current: Mutex<Option<OpenParquet>>,
}

struct OpenParquet {
    path: PathBuf,
    table: ImageTable,
    /// The row of the first of `images`, from 0.
    first: u64,
    images: Vec<Option<Vec<u8>>>,
}

impl ParquetFolder {
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { folder: SandboxedDir::open(path)?, current: Mutex::new(None) })
    }

    fn open_row(&self, parquet: &Path, row: u64) -> Result<Box<dyn SourceFile>, Error> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let open = match current.take().filter(|open| open.path == parquet) {
            Some(open) => current.insert(open),
            None => current.insert(OpenParquet::open(&self.folder, parquet)?),
        };
        let image = open.image(row - 1)?.ok_or("the row has no image")?;
        Ok(Box::new(RowFile(Cursor::new(image))))
    }
}

impl OriginalFiles for ParquetFolder {
    fn open_file(&self, relative: &Path) -> io::Result<Box<dyn SourceFile>> {
        let row = relative.parent().filter(|parent| is_parquet(parent)).zip(row_of(relative));
        let Some((parquet, row)) = row else { return self.folder.open_file(relative) };
        match self.folder.open_file(relative) {
            // It is not a folder but a file.
            Err(cause) if cause.kind() == ErrorKind::NotADirectory => {
                self.open_row(parquet, row).map_err(io::Error::other)
            }
            opened => opened,
        }
    }
}

impl OpenParquet {
    fn open(folder: &SandboxedDir, path: &Path) -> Result<Self, Error> {
        let table = ImageTable::open(folder, path)?;
        Ok(Self { path: path.to_owned(), table, first: 0, images: Vec::new() })
    }

    fn image(&mut self, row: u64) -> Result<Option<Vec<u8>>, Error> {
        let position = |first: u64| usize::try_from(row.checked_sub(first)?).ok();
        let known = position(self.first).and_then(|at| self.images.get(at));
        if let Some(image) = known {
            return Ok(image.clone());
        }
        let is_next = row == self.first + self.images.len() as u64;
        // Not both at the same time.
        self.images = Vec::new();
        let count = if is_next { ROWS_AHEAD } else { 1 };
        self.images = self.table.file.files(self.table.column, row, count)?;
        self.first = row;
        Ok(self.images.first().cloned().flatten())
    }
}

/// An image in memory.
struct RowFile(Cursor<Vec<u8>>);

impl io::Read for RowFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl io::Seek for RowFile {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

impl SourceFile for RowFile {
    fn length(&self) -> io::Result<u64> {
        Ok(self.0.get_ref().len() as u64)
    }
}
