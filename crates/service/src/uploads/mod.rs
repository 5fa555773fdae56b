//! Keeps the uploads that were accepted, in the index folder or in the bucket of the deployment, with a record of each.
//! Uploads exist nowhere else, so the record of which dataset they belong to must outlive the database.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

use tessera_files::{
    if_exists,
    staging::{self, ARCHIVE_FILE_NAME, StagingDir},
    sync_dir, sync_tree, write_durably,
};
use tessera_media::ingest::archive_readers::{
    ArchiveKind, UnpackError, UnpackLimits, UnpackReport, unpack,
};
use tessera_model::DatasetId;
use tessera_store::upload::{self, UploadRecord};

mod bucket_uploads;

pub(crate) use bucket_uploads::BucketUploads;

/// The record of the members of an archive that were skipped.
const SKIPPED_MEMBERS: &str = "skipped.json";

/// The members of an archive that were not unpacked, each with the reason. A damaged archive is one of them.
pub(crate) type SkippedMembers = Vec<(PathBuf, String)>;

/// Returns the record of the members that were skipped, if there are any.
fn skipped_members(
    report: UnpackReport,
    kind: ArchiveKind,
) -> Result<Option<Vec<u8>>, UnpackError> {
    let whole = PathBuf::from(format!("{ARCHIVE_FILE_NAME}{}", kind.as_str()));
    let skipped = report.skipped.into_iter();
    let mut members: SkippedMembers =
        skipped.map(|(name, reason)| (PathBuf::from(name.as_str()), reason.to_owned())).collect();
    if let Some(damage) = report.damage_reason {
        members.push((whole, damage.to_owned()));
    } else if report.unreported > 0 {
        members.push((whole, format!("{} more members were passed over", report.unreported)));
    }
    let record = (!members.is_empty()).then(|| serde_json::to_vec(&members)).transpose();
    record.map_err(|cause| UnpackError::Io(cause.into()))
}

#[derive(Debug)]
pub(crate) struct AcceptedUploads {
    /// The folder in which uploads arrive. Without a bucket, they stay there.
    local: PathBuf,
    bucket: Option<BucketUploads>,
}

impl AcceptedUploads {
    pub fn new(local: PathBuf, bucket: Option<BucketUploads>) -> Self {
        Self { local, bucket }
    }

    /// Accepts what arrived in a staging directory, which survives a crash from now on. Returns the location of the
    /// files.
    pub(crate) fn accept(&self, staging: &Path, record: &UploadRecord) -> io::Result<PathBuf> {
        if let Some(bucket) = &self.bucket {
            return bucket.accept(staging, record);
        }
        sync_tree(staging)?;
        record.write(staging)?;
        Ok(record.origin.media_folder(staging))
    }

    /// Ends the acceptance, because the files now belong to a dataset.
    pub(crate) fn settle(&self, staging: StagingDir) {
        match &self.bucket {
            Some(bucket) => bucket.settle(staging.path()),
            None => drop(staging.keep()),
        }
    }

    /// Withdraws an upload that could not be added after all.
    pub(crate) fn withdraw(&self, staging: &Path) {
        match &self.bucket {
            Some(bucket) => bucket.withdraw(staging),
            None => upload::remove_record(staging),
        }
    }

    /// Whether a location belongs to an upload.
    pub(crate) fn contains(&self, location: &Path) -> bool {
        location.starts_with(&self.local)
            || self.bucket.as_ref().is_some_and(|bucket| bucket.contains(location))
    }

    /// Returns the record of the archive whose files are at a location.
    pub(crate) fn record_of_unpacked(&self, location: &Path) -> io::Result<Option<UploadRecord>> {
        let Some(upload) = location.parent() else { return Ok(None) };
        match self.bucket_of(location) {
            Some(bucket) => bucket.read_record(upload),
            None => UploadRecord::read(upload),
        }
    }

    /// Returns the locations of the uploads of a dataset, the oldest first. Uploads in the bucket whose locations are
    /// known are omitted, because reading a record takes a request.
    pub(crate) fn locations_of_dataset(
        &self,
        dataset: DatasetId,
        known: &[PathBuf],
    ) -> io::Result<Vec<PathBuf>> {
        let mut locations = upload::folders_of_dataset(&self.local, dataset)?;
        if let Some(bucket) = &self.bucket {
            locations.extend(bucket.unknown_locations(dataset, known)?);
        }
        Ok(locations)
    }

    /// Unpacks an archive. On this machine, it is unpacked into the folder `unpacked`, which [`Self::publish`] turns
    /// into its location. Returns whether there was something to unpack, because the archive may have been unpacked
    /// before.
    pub(crate) fn unpack(
        &self,
        location: &Path,
        unpacked: &Path,
        kind: ArchiveKind,
        limits: UnpackLimits,
        stop: &AtomicBool,
    ) -> Result<bool, UnpackError> {
        if let Some(bucket) = self.bucket_of(location) {
            return bucket.unpack(location, (kind, limits), &self.local, stop);
        }
        let archive = location.with_file_name(ARCHIVE_FILE_NAME);
        if !archive.exists() && location.exists() {
            // The process was killed after unpacking, but before the end of the indexing task.
            return Ok(false);
        }
        let report = unpack(&archive, kind, unpacked, limits, stop).inspect_err(|_| {
            // The next run begins again, and a full disk needs the space until then.
            let _ = fs::remove_dir_all(unpacked);
        })?;
        sync_tree(unpacked).map_err(UnpackError::Io)?;
        if let Some(record) = skipped_members(report, kind)? {
            let path = location.with_file_name(SKIPPED_MEMBERS);
            write_durably(&path, record).map_err(UnpackError::Io)?;
        }
        Ok(true)
    }

    /// Returns the members that were skipped when the archive at a location was unpacked. They are recorded beside the
    /// files, because the archive is removed.
    pub(crate) fn skipped_members(&self, location: &Path) -> io::Result<SkippedMembers> {
        let record = match self.bucket_of(location) {
            Some(bucket) => bucket.read_skipped_members(location)?,
            None => if_exists(fs::read(location.with_file_name(SKIPPED_MEMBERS)))?,
        };
        record.map_or(Ok(Vec::new()), |record| Ok(serde_json::from_slice(&record)?))
    }

    /// Turns the folder `unpacked` into the location of the files. Removes the archive, and what previous workers
    /// unpacked. In the bucket, both have already happened.
    pub(crate) fn publish(&self, location: &Path, unpacked: &Path) -> io::Result<()> {
        if self.bucket_of(location).is_some() {
            return Ok(());
        }
        let staging = location.parent().unwrap_or(location);
        for entry in fs::read_dir(staging)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() && entry.path() != unpacked {
                // If a previous worker is still writing the folder, it may stay.
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        fs::rename(unpacked, location)?;
        sync_dir(staging)?;
        fs::remove_file(location.with_file_name(ARCHIVE_FILE_NAME))
    }

    /// Removes uploads that were refused or interrupted, while no other process uses the folder. Whatever cannot be
    /// removed now is removed at the next start.
    pub(crate) fn remove_abandoned_in_folder(&self, needed: &[PathBuf]) {
        let is_needed = |staging: &Path| {
            upload::is_accepted(staging) || needed.iter().any(|needed| needed.starts_with(staging))
        };
        let _ = staging::remove_abandoned(&self.local, is_needed);
    }

    /// Removes what interrupted uploads have left in the bucket, once no process can still be receiving it.
    pub(crate) fn remove_interrupted_in_bucket(&self, needed: &[PathBuf]) {
        if let Some(bucket) = &self.bucket {
            let _ = bucket.remove_interrupted(needed);
        }
    }

    fn bucket_of(&self, location: &Path) -> Option<&BucketUploads> {
        self.bucket.as_ref().filter(|bucket| bucket.contains(location))
    }
}
