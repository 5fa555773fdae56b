//! The entries of an export archive.

use std::fs::File;

use super::metadata::MetadataFile;
use crate::{
    archive::{self, ArchiveEntry, ArchiveError, IMAGES_PREFIX},
    name_hasher::NameHasher,
};
use tessera_model::{Inspection, SafeText, export::NameSample, local_files::safe_relative_path};

#[derive(Default)]
pub(super) struct ArchiveListing {
    pub metadata: Option<MetadataFile>,
    /// Number of files below `images/`, and the first of their names.
    pub images: u64,
    pub first_images: Vec<String>,
    /// The names of all, below `images/`.
    pub image_hashes: Vec<u64>,
    pub hasher: NameHasher,
    pub rejected: NameSample,
}

impl ArchiveListing {
    pub(super) fn read(archive: File) -> Result<(Self, MetadataFile), ArchiveError> {
        let mut listing = Self::default();
        archive::for_each_entry(archive, |entry| listing.add(entry))?;
        let metadata = listing.metadata.take().ok_or("no metadata file (.parquet or .json)")?;
        Ok((listing, metadata))
    }

    fn add(&mut self, entry: ArchiveEntry<'_>) -> Result<(), ArchiveError> {
        if entry.is_dir() {
            return Ok(());
        }
        if let Some(image) = image_name(&entry) {
            self.images += 1;
            if self.first_images.len() < Inspection::MAX_NAMED {
                self.first_images.push(image.to_owned());
            }
            self.image_hashes.push(self.hasher.hash(image));
        } else if !is_usable(&entry) {
            self.rejected.add(&entry.name);
        } else if MetadataFile::has_extension(&entry.name) {
            if let Some(MetadataFile { name: other, .. }) = &self.metadata {
                let (one, two) = (SafeText::file_name(other), SafeText::file_name(&entry.name));
                return Err(format!("more than one metadata file: {one}, {two}").into());
            }
            self.metadata = Some(MetadataFile::read(entry)?);
        }
        Ok(())
    }
}

fn is_usable(entry: &ArchiveEntry<'_>) -> bool {
    entry.is_plain() && safe_relative_path(&entry.name).is_ok()
}

/// The name of a picture below `images/`.
pub(super) fn image_name<'a>(entry: &'a ArchiveEntry<'_>) -> Option<&'a str> {
    let image = entry.name.strip_prefix(IMAGES_PREFIX)?;
    (!entry.is_dir() && is_usable(entry)).then_some(image)
}
