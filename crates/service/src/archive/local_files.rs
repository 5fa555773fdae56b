//! Finds the files of this machine behind an export, for programs on the same machine that would otherwise copy them.

use std::path::{Path, PathBuf};

use crate::{Deployment, originals::storage_location};
use tessera_media::ingest::{SandboxedDir, parquet_images::containing_file};
use tessera_model::{ExportTaskId, MediaId};
use tessera_store::media::{self, MediaRecord};

impl Deployment {
    /// Returns the file of a finished archive. Returns `None` if there is no archive, or if it is in a bucket.
    pub fn archive_file(&self, export: ExportTaskId) -> Option<PathBuf> {
        let path = self.store.export_archive_path(export.0);
        path.is_file().then_some(path)
    }

    /// Returns the file that is or contains the original of a media item: the video of a frame, or the Parquet file of
    /// an image in it. Returns `None` if the original is in a bucket, or has changed since it was indexed.
    pub fn original_path(&self, id: MediaId) -> Option<PathBuf> {
        let (media, folder) = self.store.read(|c| media::find(c, id)).ok()??;
        let file = containing_file(&folder, &media.path);
        let is_whole_file = file == folder.join(&media.path);
        let is_current = !is_whole_file || is_current(&media, &folder);
        (storage_location(&folder).is_none() && is_current).then_some(file)
    }

    /// Returns the original of a media item. Returns `None` if the original is not a whole file of this machine: a frame
    /// of a video, an image inside a Parquet file, an object in a bucket, or a file that is gone or has changed.
    pub fn original_file(&self, id: MediaId) -> Option<PathBuf> {
        let (media, folder) = self.store.read(|c| media::find(c, id)).ok()??;
        let is_whole_file = media.frame.is_none() && storage_location(&folder).is_none();
        let is_current = is_whole_file && is_current(&media, &folder);
        is_current.then(|| folder.join(&media.path))
    }
}

/// Whether the file of a media item is a file below its folder, and still the indexed one by its size and time.
fn is_current(media: &MediaRecord, folder: &Path) -> bool {
    let opened = SandboxedDir::open(folder)
        .and_then(|files| media.indexed_content().open(&files, &media.path, 0));
    opened.is_ok()
}
