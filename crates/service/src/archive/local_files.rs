//! Finds the files of this machine behind an export, for programs on the same machine that would otherwise copy them.

use std::path::PathBuf;

use crate::{Deployment, originals::storage_location};
use tessera_media::ingest::parquet_images::containing_file;
use tessera_model::{ExportTaskId, MediaId};
use tessera_store::media;

impl Deployment {
    /// Returns the file of a finished archive. Returns `None` if there is no archive, or if it is in a bucket.
    pub fn archive_file(&self, export: ExportTaskId) -> Option<PathBuf> {
        let path = self.store.export_archive_path(export.0);
        path.is_file().then_some(path)
    }

    /// Returns the file that is or contains the original of a media item: the video of a frame, or the Parquet file of
    /// an image in it. Returns `None` if the original is in a bucket.
    pub fn original_path(&self, id: MediaId) -> Option<PathBuf> {
        let (folder, path) = self.store.read(|c| media::location(c, id)).ok()??;
        storage_location(&folder).is_none().then(|| containing_file(&folder, &path))
    }

    /// Returns the original of a media item. Returns `None` if the original is not a whole file of this machine: a frame
    /// of a video, an image inside a Parquet file, an object in a bucket, or a file that is gone.
    pub fn original_file(&self, id: MediaId) -> Option<PathBuf> {
        let (media, folder) = self.store.read(|c| media::find(c, id)).ok()??;
        let is_whole_file = media.frame.is_none() && storage_location(&folder).is_none();
        let path = folder.join(&media.path);
        let is_file = |path: &PathBuf| path.symlink_metadata().is_ok_and(|it| it.is_file());
        Some(path).filter(|path| is_whole_file && is_file(path))
    }
}
