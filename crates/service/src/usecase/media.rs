//! Media items: the original file, the thumbnail, the record.

use std::fs::File;

use rustix::io::Errno;

use super::ServiceError;
use crate::{
    Deployment,
    ingest::SandboxedDir,
    store::media::{self, MediaRecord},
};
use tessera_model::MediaId;

pub(crate) struct OriginalFile {
    pub record: MediaRecord,
    pub file: File,
    /// Its first bytes.
    pub head: Vec<u8>,
}

impl Deployment {
    pub(crate) fn media_item(&self, id: MediaId) -> Result<MediaRecord, ServiceError> {
        let found = self.store.read(|c| media::find(c, id))?;
        Ok(found.ok_or_else(ServiceError::media_not_found)?.0)
    }

    pub(crate) fn original(&self, id: MediaId) -> Result<OriginalFile, ServiceError> {
        let found = self.store.read(|c| media::find(c, id))?;
        let (record, folder) = found.ok_or_else(ServiceError::media_not_found)?;
        let open = || {
            let folder = SandboxedDir::open(&folder)?;
            let head = folder.read_first_bytes(&record.path)?;
            Ok::<_, std::io::Error>((folder.open_file(&record.path)?, head))
        };
        let (file, head) = open().map_err(|cause| match Errno::from_io_error(&cause) {
            Some(Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::IO) => {
                ServiceError::internal()
            }
            _ => ServiceError::media_not_found(),
        })?;
        Ok(OriginalFile { record, file, head })
    }

    /// The thumbnail as JPEG.
    pub(crate) fn thumbnail(&self, id: MediaId) -> Result<Vec<u8>, ServiceError> {
        self.store.read(|c| media::thumbnail(c, id))?.ok_or_else(ServiceError::media_not_found)
    }
}
