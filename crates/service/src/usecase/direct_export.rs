//! Exports without a task: the metadata as JSON, and the media identifiers as CSV. Both are written to an
//! unnamed file first, so that memory does not grow with the dataset.

use std::{
    fs::File,
    io::{BufWriter, Seek as _, Write as _},
};

use super::{ServiceError, export::new_export};
use crate::{
    Deployment,
    archive::{self, ArchiveContent, SourceFolders},
};
use tessera_media::ingest::disk_quota::ClaimedFile;
use tessera_model::{ArchiveName, DatasetId, EntityType, ExportFormat, ExportSpec, Operation};
use tessera_store::{dataset::DatasetRecord, media};

const PAGE_SIZE: usize = 10_000;

impl Deployment {
    /// `metadata.json` of the whole dataset.
    pub(crate) fn metadata_file(
        &self,
        id: DatasetId,
        origin: String,
    ) -> Result<File, ServiceError> {
        self.spool(id, |record, file| {
            let spec = ExportSpec {
                file_name: ArchiveName::new(&record.name),
                format: ExportFormat::Json,
                include_images: false,
            };
            let export = new_export(record, spec, origin);
            let folders = SourceFolders::default();
            let written = self.store.read(|connection| {
                let content = ArchiveContent {
                    connection,
                    dataset: record,
                    export: &export,
                    folders: &folders,
                    pictures: &self.originals.pictures,
                    link_key: self.store.link_key(),
                };
                Ok(archive::write_metadata_json(&content, file))
            })?;
            written.map_err(|_| ServiceError::internal())
        })
    }

    /// File name and identifier of every image and frame, as CSV.
    pub(crate) fn media_id_file(&self, id: DatasetId) -> Result<File, ServiceError> {
        self.spool(id, |record, file| {
            let failed = |_| ServiceError::internal();
            let mut table = csv::Writer::from_writer(file);
            table.write_record(["filename", "media_id"]).map_err(failed)?;
            for page in 0.. {
                let skip = page * PAGE_SIZE as u64;
                let items = self
                    .store
                    .read(|c| media::page(c, record.id, EntityType::Images, skip, PAGE_SIZE))?;
                if items.is_empty() {
                    break;
                }
                for item in items {
                    table.write_record([item.file_name(), item.id.to_string()]).map_err(failed)?;
                }
            }
            table.flush().map_err(ServiceError::export_file)
        })
    }

    /// An unnamed file with what `write` writes of a dataset that can be exported.
    fn spool(
        &self,
        id: DatasetId,
        write: impl FnOnce(&DatasetRecord, &mut BufWriter<ClaimedFile>) -> Result<(), ServiceError>,
    ) -> Result<File, ServiceError> {
        let record = self.require_ready(id, Operation::Export)?;
        self.require_disk_space()?;
        let folder = self.store.exports_dir();
        let file = tempfile::tempfile_in(&folder).map_err(ServiceError::export_file)?;
        let claim = self.settings.disk.claim_in(&folder);
        let mut file = BufWriter::new(ClaimedFile::new(file, claim));
        write(&record, &mut file)?;
        file.flush().map_err(ServiceError::export_file)?;
        file.rewind().map_err(ServiceError::export_file)?;
        Ok(file.into_inner().map_err(|_| ServiceError::internal())?.file)
    }
}
