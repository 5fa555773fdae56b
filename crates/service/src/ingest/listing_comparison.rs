//! Compares a listing with what is stored, part by part, so that the memory does not depend on their size.

use std::path::{Path, PathBuf};

use super::scan::ScannedFile;
use crate::file_stat::KnownFile;

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
    for part in parts {
        let part = part?;
        for file in &part {
            if bytes(&file.path) <= bytes(&last) {
                return Ok(ListingComparison::Unordered);
            }
            last.clone_from(&file.path);
        }
        for file in part {
            let is_known = known.next().transpose()?.is_some_and(|(path, known)| {
                path == file.path && (known.stat.is_unchanged_in(file.stat))
            });
            if !is_known {
                return Ok(ListingComparison::Different);
            }
        }
    }
    let is_same = known.next().transpose()?.is_none();
    Ok(if is_same { ListingComparison::Same } else { ListingComparison::Different })
}

/// Paths compare by their segments, listings and the store by their bytes.
fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}
