//! Compares a listing with what is stored, part by part, so that the memory does not depend on their size.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use super::{
    parquet_images::{is_parquet, is_row_of, row_of},
    scan::ScannedFile,
};
use crate::file_stat::{FileStat, KnownFile};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListingComparison {
    Same,
    Different,
    /// The parts are not in the order of the bytes of their paths, in which not every service lists.
    Unordered,
}

/// Compares the parts of a listing with the files that are known, both in the order of the bytes of their
/// paths. Reads no further than to the first difference.
pub fn compare_listing<E>(
    parts: impl Iterator<Item = Result<Vec<ScannedFile>, E>>,
    mut known: impl Iterator<Item = Result<(PathBuf, KnownFile), E>>,
) -> Result<ListingComparison, E> {
    let mut last = PathBuf::new();
    let mut tables = HashMap::new();
    for part in parts {
        let part = part?;
        for file in &part {
            if bytes(&file.path) <= bytes(&last) {
                return Ok(ListingComparison::Unordered);
            }
            last.clone_from(&file.path);
        }
        for file in part {
            if is_parquet(&file.path) {
                tables.insert(file.path.clone(), file.stat);
            }
            let known = next_object(&mut known, &tables)?;
            let is_known = known.is_some_and(|(path, known)| {
                path == file.path && (known.stat.is_unchanged_in(file.stat))
            });
            if !is_known {
                return Ok(ListingComparison::Different);
            }
        }
    }
    let is_same = next_object(&mut known, &tables)?.is_none();
    Ok(if is_same { ListingComparison::Same } else { ListingComparison::Different })
}

/// The next known file that is an object, and not an image in a Parquet file that is unchanged.
fn next_object<E>(
    known: &mut impl Iterator<Item = Result<(PathBuf, KnownFile), E>>,
    tables: &HashMap<PathBuf, FileStat>,
) -> Result<Option<(PathBuf, KnownFile)>, E> {
    for file in known {
        let (path, file) = file?;
        let table = path.parent().and_then(|parent| tables.get(parent));
        let is_row =
            row_of(&path).is_some() && table.is_some_and(|table| is_row_of(*table, file.stat));
        if !is_row {
            return Ok(Some((path, file)));
        }
    }
    Ok(None)
}

/// Paths compare by their segments, listings and the store by their bytes.
fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}
