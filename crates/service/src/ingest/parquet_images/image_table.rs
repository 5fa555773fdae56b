//! A Parquet file with a column of images.

use std::path::Path;

use tessera_parquet::{Error, FileColumn, ParquetFile};

use super::row_names::is_image_column;
use crate::ingest::{OriginalFiles as _, SandboxedDir};

pub(super) struct ImageTable {
    pub file: ParquetFile,
    pub column: FileColumn,
}

impl ImageTable {
    /// Opens a file of a folder on this machine.
    pub fn open(folder: &SandboxedDir, path: &Path) -> Result<Self, Error> {
        let file =
            folder.open_file(path)?.on_this_machine().ok_or("it is not on this machine")??;
        let file = ParquetFile::open(file)?;
        let column = file.file_column(is_image_column).ok_or("it has no column of images")?;
        Ok(Self { file, column })
    }
}
