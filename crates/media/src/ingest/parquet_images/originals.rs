//! The files of a dataset whose Parquet files are folders of images.

use std::{
    io::{self, Cursor, ErrorKind},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use super::{
    image_table::ImageTable,
    row_names::{is_parquet, row_of},
};
use crate::ingest::{OriginalFiles, SourceFile};

/// Rows that are read ahead when one is opened after the other: all of a page is unpacked for each.
const ROWS_AHEAD: usize = 64;

pub struct ParquetOriginals {
    /// Where the Parquet files, and all others, are.
    files: Box<dyn OriginalFiles>,
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

impl ParquetOriginals {
    pub fn new(files: Box<dyn OriginalFiles>) -> Self {
        Self { files, current: Mutex::new(None) }
    }

    fn open_row(&self, parquet: &Path, row: u64) -> io::Result<Box<dyn SourceFile>> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let open = match current.take().filter(|open| open.path == parquet) {
            Some(open) => current.insert(open),
            None => current.insert(OpenParquet::open(&*self.files, parquet)?),
        };
        let image = open.image(row - 1)?.ok_or_else(|| io::Error::other("the row has no image"))?;
        Ok(Box::new(RowFile(Cursor::new(image))))
    }
}

impl OriginalFiles for ParquetOriginals {
    fn open_file(&self, relative: &Path) -> io::Result<Box<dyn SourceFile>> {
        let row = relative.parent().filter(|parent| is_parquet(parent)).zip(row_of(relative));
        let Some((parquet, row)) = row else { return self.files.open_file(relative) };
        if self.is_remote() {
            // The parent is hardly ever a folder, and opening what does not exist is a request for each row.
            return match self.open_row(parquet, row) {
                Err(cause) if cause.kind() == ErrorKind::NotFound => self.files.open_file(relative),
                opened => opened,
            };
        }
        match self.files.open_file(relative) {
            // It is not a folder but a file.
            Err(cause) if cause.kind() == ErrorKind::NotADirectory => self.open_row(parquet, row),
            opened => opened,
        }
    }

    fn is_remote(&self) -> bool {
        self.files.is_remote()
    }
}

impl OpenParquet {
    fn open(files: &dyn OriginalFiles, path: &Path) -> io::Result<Self> {
        let table = ImageTable::open(files, path)?;
        Ok(Self { path: path.to_owned(), table, first: 0, images: Vec::new() })
    }

    fn image(&mut self, row: u64) -> io::Result<Option<Vec<u8>>> {
        let position = |first: u64| usize::try_from(row.checked_sub(first)?).ok();
        let known = position(self.first).and_then(|at| self.images.get(at));
        if let Some(image) = known {
            return Ok(image.clone());
        }
        // Threads that open rows in order may do so out of order.
        let next = self.first + self.images.len() as u64;
        let is_next = match self.images.len() {
            0 => row == next,
            _ => (next..next + ROWS_AHEAD as u64 / 2).contains(&row),
        };
        // Not both at the same time.
        self.images = Vec::new();
        let (first, count) = if is_next { (next, ROWS_AHEAD) } else { (row, 1) };
        self.images = self.table.images(first, count)?;
        self.first = first;
        match position(first).and_then(|at| self.images.get(at)) {
            Some(image) => Ok(image.clone()),
            // Large images: fewer rows are read ahead.
            None => Ok(self.table.images(row, 1)?.remove(0)),
        }
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
