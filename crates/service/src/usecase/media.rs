//! Media items: the original file, the thumbnail, the record.

use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::ServiceError;
use crate::Deployment;
use tessera_media::ingest::{SourceFile, is_unavailable, read_first_bytes};
use tessera_model::MediaId;
use tessera_retrieval::stored_pictures::REQUEST_LIMIT;
use tessera_store::{
    media::{self, MediaRecord},
    picture_table::StoredPicture,
};

pub(crate) struct OriginalFile {
    pub record: MediaRecord,
    pub file: Box<dyn SourceFile>,
    /// Its first bytes.
    pub head: Vec<u8>,
}

pub(crate) enum Original {
    File(OriginalFile),
    /// A frame of a video as JPEG.
    Frame(MediaRecord, Vec<u8>),
}

impl Deployment {
    pub(crate) fn media_item(&self, id: MediaId) -> Result<MediaRecord, ServiceError> {
        Ok(self.find_media(id)?.0)
    }

    pub(crate) fn original(&self, id: MediaId) -> Result<Original, ServiceError> {
        let (record, folder) = self.find_media(id)?;
        if record.frame.is_none() {
            return self.open_original(record, &folder).map(Original::File);
        }
        let picture = self.store.read(|c| media::frame_picture(c, record.row))?;
        Ok(Original::Frame(record, self.read_picture(picture)?))
    }

    /// The file of the video that a frame is from.
    pub(crate) fn video(&self, id: MediaId) -> Result<OriginalFile, ServiceError> {
        let (record, folder) = self.find_media(id)?;
        if record.frame.is_none() {
            return Err(ServiceError::media_not_found());
        }
        self.open_original(record, &folder)
    }

    fn find_media(&self, id: MediaId) -> Result<(MediaRecord, PathBuf), ServiceError> {
        self.store.read(|c| media::find(c, id))?.ok_or_else(ServiceError::media_not_found)
    }

    /// The thumbnail as JPEG.
    pub(crate) fn thumbnail(&self, id: MediaId) -> Result<Vec<u8>, ServiceError> {
        self.read_picture(self.store.read(|c| media::thumbnail(c, id))?)
    }

    fn read_picture(&self, picture: Option<StoredPicture>) -> Result<Vec<u8>, ServiceError> {
        let picture = picture.ok_or_else(ServiceError::media_not_found)?;
        self.originals
            .pictures
            .read(picture, REQUEST_LIMIT)
            .map_err(ServiceError::unreadable_picture)
    }

    fn open_original(
        &self,
        record: MediaRecord,
        folder: &Path,
    ) -> Result<OriginalFile, ServiceError> {
        let open = || {
            let mut file = self.originals.open(folder)?.open_file(&record.path)?;
            let head = read_first_bytes(&mut *file)?;
            file.rewind()?;
            Ok::<_, std::io::Error>((file, head))
        };
        let (file, head) = open().map_err(|cause| match Errno::from_io_error(&cause) {
            _ if is_unavailable(&cause) => ServiceError::storage_unreachable(),
            Some(Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::IO) => {
                ServiceError::internal()
            }
            _ => ServiceError::media_not_found(),
        })?;
        Ok(OriginalFile { record, file, head })
    }
}
