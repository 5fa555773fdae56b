//! Lists the images in the Parquet files of a folder.

use std::path::Path;

use tessera_parquet::Error;

use super::{
    image_table::ImageTable,
    row_names::{is_parquet, row_name},
};
use crate::{
    file_stat::FileStat,
    ingest::{FolderScan, SandboxedDir, ScannedFile, scan::METADATA_PARQUET},
};
use tessera_picture::PictureFormat;

/// Rows of a Parquet file that become files: as many as an archive may contain.
pub const MAX_ROWS: usize = 200_000;

/// Adds the rows of all Parquet files that have a column of images. Those of other files, and of files that cannot be
/// read, have none.
pub fn list_images(folder: &Path, scan: &mut FolderScan) {
    let candidates = scan.files.iter().filter(|file| {
        is_parquet(&file.path) && file.path.file_name().is_some_and(|name| name != METADATA_PARQUET)
    });
    let candidates: Vec<ScannedFile> = candidates.cloned().collect();
    if candidates.is_empty() {
        return;
    }
    let Ok(folder) = SandboxedDir::open(folder) else { return };
    for file in &candidates {
        let Ok(rows) = ImageTable::open(&folder, &file.path).and_then(|table| row_names(&table))
        else {
            continue;
        };
        let stat = row_stat(file.stat);
        let row = |name| ScannedFile { path: file.path.join(name), stat };
        scan.files.extend(rows.into_iter().map(row));
    }
    scan.files.sort_by(|a, b| a.path.cmp(&b.path));
}

/// The size of a row is known when it is read; until then, a change of the Parquet file is one of all rows.
fn row_stat(file: FileStat) -> FileStat {
    FileStat { size: 0, modified: file.modified.wrapping_add(file.size.cast_signed()) }
}

fn row_names(table: &ImageTable) -> Result<Vec<String>, Error> {
    let ImageTable { file, column } = table;
    let rows = usize::try_from(file.count_rows()?)?.min(MAX_ROWS);
    if rows == 0 {
        return Ok(Vec::new());
    }
    let paths = file.file_paths(*column, rows)?;
    let extension = if paths.iter().any(Option::is_none) {
        let first = file.files(*column, 0, 1)?.into_iter().flatten().next().unwrap_or_default();
        PictureFormat::detect(&first).map_or("jpg", PictureFormat::extension)
    } else {
        "jpg"
    };
    let paths = paths.iter().map(Option::as_deref);
    Ok((1..).zip(paths).map(|(row, path)| row_name(row, path, extension)).collect())
}
