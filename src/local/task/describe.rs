//! Gives the media of a dataset the captions and labels of the sidecar in its folder.
//!
//! All of it is read whenever the folder is indexed: that is quick beside everything else, and
//! serves a changed sidecar, a new picture and a kill in the middle alike.

use std::{fmt, path::Path};

use super::End;
use crate::{
    local::{
        ingest::{Folder, Found, SIDECAR, Survey, sidecar},
        store::{Store, intake, sidecar as descriptions},
    },
    model::DatasetId,
};

/// The rows of a sidecar that told nothing.
#[derive(Default)]
struct Useless {
    count: usize,
    /// The line of the first, and what is wrong with it.
    first: Option<(usize, &'static str)>,
}

impl Useless {
    fn add(&mut self, line: usize, why: &'static str) {
        self.count += 1;
        self.first.get_or_insert((line, why));
    }
}

/// Why the sidecar is among the skipped files.
impl fmt::Display for Useless {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.count;
        let rows = if count == 1 { "row" } else { "rows" };
        write!(f, "{count} {rows} skipped")?;
        match self.first {
            Some((line, why)) => write!(f, ", the first in line {line}: {why}"),
            None => Ok(()),
        }
    }
}

/// Replaces the captions and labels of a dataset by those of the sidecar that `survey` found;
/// without one there are none. Rows without use are skipped and named, the rest counts.
///
/// # Errors
/// The store failed.
pub fn describe(
    store: &Store,
    dataset: DatasetId,
    folder: &Folder,
    survey: &Survey,
) -> Result<(), End> {
    let mut files = survey.files.iter();
    let Some(Found { path, stamp }) = files.find(|found| found.path == Path::new(SIDECAR)) else {
        return Ok(store.write(|tx| descriptions::forget(tx, dataset))?);
    };
    let bytes = sidecar::read(folder);
    store.write(|tx| {
        descriptions::forget(tx, dataset)?;
        let bytes = match &bytes {
            Ok(bytes) => bytes,
            Err(why) => return intake::skip(tx, dataset, path, Some(*stamp), why),
        };
        let mut useless = Useless::default();
        for (line, row) in sidecar::rows(bytes) {
            match row {
                Ok(told) if descriptions::describe(tx, dataset, &told)? => {}
                Ok(_) => useless.add(line, "its file_name is no picture of the folder"),
                Err(why) => useless.add(line, why),
            }
        }
        if useless.count > 0 {
            intake::skip(tx, dataset, path, Some(*stamp), &useless.to_string())
        } else {
            descriptions::read(tx, dataset, path, *stamp)
        }
    })?;
    Ok(())
}
