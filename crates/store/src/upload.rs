//! Records of accepted uploads, which are files next to the staging directories. Uploads exist only in the index
//! folder, so the record of which dataset they belong to must outlive the database.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::indexing_task::BatchOrigin;
use tessera_files::{if_exists, staging};
use tessera_model::DatasetId;

#[derive(Debug, Serialize, Deserialize)]
pub struct UploadRecord {
    pub dataset: DatasetId,
    pub origin: BatchOrigin,
}

impl UploadRecord {
    /// Reads the record of a staging directory. Returns `None` if there is none, or this program did not write it.
    pub fn read(staging: &Path) -> io::Result<Option<Self>> {
        let json = if_exists(fs::read(record_path(staging)))?;
        Ok(json.and_then(|json| serde_json::from_slice(&json).ok()))
    }

    /// Writes the record durably. This accepts the upload.
    pub fn write(&self, staging: &Path) -> io::Result<()> {
        tessera_files::write_durably(&record_path(staging), serde_json::to_vec(self)?)
    }
}

/// Whether an upload was accepted. Such an upload is never removed, whatever the database says.
pub fn is_accepted(staging: &Path) -> bool {
    record_path(staging).try_exists().unwrap_or(true)
}

/// Removes the record of an upload that could not be added after all.
pub fn remove_record(staging: &Path) {
    // An error is ignored, because a record without its staging directory has no effect.
    let _ = fs::remove_file(record_path(staging));
}

/// Returns the folders with the uploaded media of a dataset, the oldest first. Uploads that a process is still adding
/// are omitted.
pub fn folders_of_dataset(uploads: &Path, dataset: DatasetId) -> io::Result<Vec<PathBuf>> {
    let mut accepted = Vec::new();
    for staging in staging::staging_dirs(uploads)? {
        if let Some(record) = UploadRecord::read(&staging)?
            && record.dataset == dataset
            && !staging::is_in_use(&staging)
        {
            let accepted_at = fs::metadata(record_path(&staging))?.modified()?;
            accepted.push((accepted_at, record.origin.media_folder(&staging)));
        }
    }
    accepted.sort();
    Ok(accepted.into_iter().map(|(_, folder)| folder).collect())
}

fn record_path(staging: &Path) -> PathBuf {
    staging.with_extension("json")
}
