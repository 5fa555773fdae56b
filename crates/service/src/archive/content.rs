//! What an archive is made of.

use std::{collections::HashMap, io};

use crate::originals::Originals;
use tessera_media::ingest::{OriginalFiles, SourceFile};
use tessera_retrieval::stored_pictures::PictureStore;
use tessera_store::{
    Connection, dataset::DatasetRecord, export::ExportRecord, media::MediaRecord,
    source::SourceFolder,
};

#[derive(Clone, Copy)]
pub(crate) struct ArchiveContent<'a> {
    pub connection: &'a Connection,
    pub dataset: &'a DatasetRecord,
    pub export: &'a ExportRecord,
    pub folders: &'a SourceFolders,
    /// Reads the pictures of frames.
    pub pictures: &'a PictureStore,
    /// Signs the links of the metadata.
    pub link_key: &'a [u8; 32],
}

/// The open sources of a dataset, by the row of their source; empty if no pictures are written.
#[derive(Default)]
pub(crate) struct SourceFolders(HashMap<i64, Box<dyn OriginalFiles>>);

impl SourceFolders {
    pub fn open(originals: &Originals, sources: &[SourceFolder]) -> io::Result<Self> {
        let open = |source: &SourceFolder| Ok((source.row, originals.open(&source.folder)?));
        Ok(Self(sources.iter().map(open).collect::<io::Result<_>>()?))
    }

    pub(super) fn file(&self, media: &MediaRecord) -> io::Result<Box<dyn SourceFile>> {
        let folder = self.0.get(&media.source).ok_or(io::ErrorKind::NotFound)?;
        folder.open_file(&media.path)
    }
}
