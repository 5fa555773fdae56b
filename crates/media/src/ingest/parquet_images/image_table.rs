//! A Parquet file with a column of images.

use std::{io, path::Path};

use tessera_parquet::{Error, FileColumn, ParquetFile};

use super::{
    parquet_source::{ReadFailure, parquet_source},
    row_names::is_image_column,
};
use crate::ingest::OriginalFiles;

pub(super) struct ImageTable {
    file: ParquetFile,
    column: FileColumn,
    failure: ReadFailure,
}

impl ImageTable {
    pub fn open(folder: &dyn OriginalFiles, path: &Path) -> io::Result<Self> {
        let failure = ReadFailure::default();
        let source = parquet_source(folder.open_file(path)?, &failure)?;
        let open = || {
            let file = ParquetFile::open(source)?;
            let column = file.file_column(is_image_column).ok_or("it has no column of images")?;
            Ok((file, column))
        };
        let (file, column) = open().map_err(|cause| failure.described(cause))?;
        Ok(Self { file, column, failure })
    }

    pub fn count_rows(&self) -> io::Result<u64> {
        self.described(self.file.count_rows())
    }

    /// The paths of the first `count` rows; `None` where there is none.
    pub fn paths(&self, count: usize) -> io::Result<Vec<Option<Vec<u8>>>> {
        self.described(self.file.file_paths(self.column, count))
    }

    /// The images of up to `count` rows from row `first` on, from 0; at least one.
    pub fn images(&self, first: u64, count: usize) -> io::Result<Vec<Option<Vec<u8>>>> {
        self.described(self.file.files(self.column, first, count))
    }

    fn described<T>(&self, read: Result<T, Error>) -> io::Result<T> {
        read.map_err(|cause| self.failure.described(cause))
    }
}
