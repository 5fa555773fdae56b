//! Whether the deployment can do its work, and how much of it is unfinished.

use super::ServiceError;
use crate::Deployment;
use tessera_files::staging::create_staging_dir;
use tessera_store::{
    lease::{self, LeaseCounts},
    workload::{self, UnfinishedTasks},
};

impl Deployment {
    /// Fails if the store cannot be read or, where media may be added, not be written.
    pub(crate) fn check_store(&self) -> Result<(), ServiceError> {
        self.unfinished_tasks()?;
        if self.settings.add_media && self.settings.write_access {
            self.store.check_writable()?;
            let uploads = create_staging_dir(&self.store.uploads_dir());
            uploads.map_err(|_| {
                ServiceError::Failed("Uploads cannot be stored; check free disk space")
            })?;
        }
        Ok(())
    }

    pub(crate) fn unfinished_tasks(&self) -> Result<Vec<UnfinishedTasks>, ServiceError> {
        Ok(self.store.read(workload::unfinished_tasks)?)
    }

    pub(crate) fn lease_counts(&self) -> Result<LeaseCounts, ServiceError> {
        Ok(self.store.read(lease::counts)?)
    }

    /// What uploads and exports may still write, in bytes.
    pub(crate) fn available_disk_space(&self) -> Result<u64, ServiceError> {
        let available = self.settings.disk.available(&self.store.exports_dir());
        available.map_err(ServiceError::export_file)
    }
}
