//! Lists the images in the Parquet files of a dataset.

use std::io;

use super::{
    image_table::ImageTable,
    row_names::{is_parquet, row_name},
};
use crate::{
    file_stat::FileStat,
    ingest::{FolderScan, OriginalFiles, ScannedFile, is_unavailable, scan::METADATA_PARQUET},
};
use tessera_picture::PictureFormat;

/// Rows of a Parquet file that become files: as many as an archive may contain.
pub const MAX_ROWS: usize = 200_000;

/// Adds the rows of all Parquet files that have a column of images. Those of other files, and of files that are
/// damaged, have none. Fails if object storage does.
pub fn list_images(files: &dyn OriginalFiles, scan: &mut FolderScan) -> io::Result<()> {
    let candidates = scan.files.iter().filter(|file| {
        is_parquet(&file.path) && file.path.file_name().is_some_and(|name| name != METADATA_PARQUET)
    });
    let candidates: Vec<ScannedFile> = candidates.cloned().collect();
    for file in &candidates {
        let rows = match ImageTable::open(files, &file.path).and_then(|table| row_names(&table)) {
            Ok(rows) => rows,
            Err(cause) if is_unavailable(&cause) => return Err(cause),
            Err(_) => continue,
        };
        let stat = row_stat(file.stat);
        let row = |name| ScannedFile { path: file.path.join(name), stat };
        scan.files.extend(rows.into_iter().map(row));
    }
    scan.files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(())
}

/// Whether a file that was indexed can be a row of a Parquet file that a scan found, and has not changed since.
pub fn is_row_of(parquet: FileStat, indexed: FileStat) -> bool {
    indexed.is_unchanged_in(row_stat(parquet))
}

/// The size of a row is known when it is read; until then, a change of the Parquet file is one of all rows.
fn row_stat(file: FileStat) -> FileStat {
    FileStat { size: 0, modified: file.modified.wrapping_add(file.size.cast_signed()) }
}

fn row_names(table: &ImageTable) -> io::Result<Vec<String>> {
    let rows = usize::try_from(table.count_rows()?).unwrap_or(MAX_ROWS).min(MAX_ROWS);
    if rows == 0 {
        return Ok(Vec::new());
    }
    let paths = table.paths(rows)?;
    let extension = if paths.iter().any(Option::is_none) {
        let first = table.images(0, 1)?.into_iter().flatten().next().unwrap_or_default();
        PictureFormat::detect(&first).map_or("jpg", PictureFormat::extension)
    } else {
        "jpg"
    };
    let paths = paths.iter().map(Option::as_deref);
    Ok((1..).zip(paths).map(|(row, path)| row_name(row, path, extension)).collect())
}
