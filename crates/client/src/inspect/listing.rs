//! The entries of an export archive.

use std::fs::File;

use super::metadata::MetadataFile;
use crate::archive::{self, ArchiveError, IMAGES_PREFIX};
use tessera_model::{SafeText, archive_path::safe_relative_path, inspection::NameSample};

pub(super) struct ArchiveListing {
    pub metadata: MetadataFile,
    /// Names below `images/`.
    pub images: Vec<String>,
    pub rejected: NameSample,
}

impl ArchiveListing {
    pub(super) fn read(archive: File) -> Result<Self, ArchiveError> {
        let (mut metadata, mut images, mut rejected) = (None, Vec::new(), NameSample::default());
        archive::for_each_entry(archive, |entry| {
            if entry.is_dir() {
                return Ok(());
            }
            let name = entry.name.clone();
            if !entry.is_plain() || safe_relative_path(&name).is_err() {
                rejected.add(&name);
            } else if let Some(image) = name.strip_prefix(IMAGES_PREFIX) {
                images.push(image.to_owned());
            } else if MetadataFile::has_extension(&name) {
                if let Some(MetadataFile { name: other, .. }) = &metadata {
                    let (one, two) = (SafeText::file_name(other), SafeText::file_name(&name));
                    return Err(format!("more than one metadata file: {one}, {two}").into());
                }
                metadata = Some(MetadataFile::read(entry)?);
            }
            Ok(())
        })?;
        let metadata = metadata.ok_or("no metadata file (.parquet or .json)")?;
        Ok(Self { metadata, images, rejected })
    }
}
