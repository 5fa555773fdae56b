//! The entries of an export archive, and its metadata file.

use std::{
    fs::File,
    io::{BufReader, Read as _, Seek as _},
    path::Path,
};

use bytes::Bytes;
use tessera_model::{
    Failure, FailureKind, SafeText, archive_path::safe_relative_path, inspection::NameSample,
};
use zip::ZipArchive;

use super::{metadata_json, metadata_parquet};
use crate::archive::{self, ArchiveEntry, IMAGES_PREFIX};

const MAX_METADATA_BYTES: u64 = 2 << 30;
const MAX_PICTURE_BYTES: u64 = 64 << 20;
/// The two columns that the interface guarantees.
pub(super) const SCORE_COLUMN: &str = "uniqueness_score";
pub(super) const FILE_COLUMN: &str = "image_filename";

/// Receives the metadata row by row.
pub(super) trait RowVisitor {
    fn visit_columns(&mut self, names: Vec<String>);
    /// Receives a row: its score and the name of its picture, if present.
    fn visit_row(&mut self, score: Option<f64>, file: Option<&str>);
}

/// The entries of an archive.
pub(super) struct ArchiveListing {
    pub metadata: MetadataFile,
    pub images: Vec<String>,
    pub refused: NameSample,
}

/// The only metadata file of an archive, copied to a temporary file because Parquet needs to seek.
pub(super) struct MetadataFile {
    pub name: String,
    pub file: File,
}

impl ArchiveListing {
    pub(super) fn read(archive: File) -> Result<Self, String> {
        let (mut found, mut images, mut refused) = (None, Vec::new(), NameSample::default());
        archive::for_each_entry(archive, |entry| {
            if entry.is_dir() {
                return Ok(());
            }
            let name = entry.name.clone();
            if !entry.is_plain() || safe_relative_path(&name).is_err() {
                refused.add(&name);
            } else if let Some(image) = name.strip_prefix(IMAGES_PREFIX) {
                images.push(image.to_owned());
            } else if has_extension(&name, ".parquet") || has_extension(&name, ".json") {
                if let Some(MetadataFile { name: other, .. }) = &found {
                    let (one, two) = (SafeText::file_name(other), SafeText::file_name(&name));
                    return Err(format!("more than one metadata file: {one}, {two}"));
                }
                found =
                    Some(MetadataFile::read(entry).map_err(|why| prefix_file_name(&name, &why))?);
            }
            Ok(())
        })?;
        let metadata = found.ok_or("no metadata file (.parquet or .json)")?;
        Ok(Self { metadata, images, refused })
    }
}

impl MetadataFile {
    fn read(entry: ArchiveEntry<'_>) -> Result<Self, String> {
        let name = entry.name.clone();
        let mut file = tempfile::tempfile().map_err(|error| error.to_string())?;
        entry.copy_to(&mut file, MAX_METADATA_BYTES).map_err(|error| error.to_string())?;
        file.rewind().map_err(|error| error.to_string())?;
        Ok(Self { name, file })
    }

    pub(super) fn text(&mut self) -> Result<String, String> {
        let mut text = String::new();
        let read = self.file.read_to_string(&mut text);
        read.map(|_| text).map_err(|error| error.to_string())
    }

    /// Passes its rows to `out`, in order.
    pub(super) fn visit_rows(mut self, out: &mut impl RowVisitor) -> Result<(), String> {
        let read = if has_extension(&self.name, ".json") {
            self.text().and_then(|text| metadata_json::read_rows(&text, out))
        } else {
            metadata_parquet::read_rows(self.file, out)
        };
        read.map_err(|why| prefix_file_name(&self.name, &why))
    }
}

pub(super) fn prefix_file_name(name: &str, why: &str) -> String {
    format!("{}: {why}", SafeText::file_name(name))
}

/// Compares the extension, ignoring case. The interface document does not name the JSON file.
pub(super) fn has_extension(name: &str, end: &str) -> bool {
    name.to_ascii_lowercase().ends_with(end)
}

/// Returns the bytes of a picture in an archive. Blocks on the disk.
///
/// # Errors
/// The entry does not exist or cannot be read.
pub fn read_entry(path: &Path, name: &str) -> Result<Bytes, Failure> {
    let to_failure = |reason: String| {
        let name_in_archive = format!("{} in {}", SafeText::file_name(name), path.display());
        Failure::new(FailureKind::Local, format!("{name_in_archive}: {reason}"))
    };
    let file = File::open(path).map_err(|error| to_failure(error.to_string()))?;
    let mut archive =
        ZipArchive::new(BufReader::new(file)).map_err(|error| to_failure(error.to_string()))?;
    let entry = archive.by_name(name).map_err(|error| to_failure(error.to_string()))?;
    let mut bytes = Vec::new();
    let read = entry.take(MAX_PICTURE_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| to_failure(error.to_string()))?;
    if bytes.len() as u64 > MAX_PICTURE_BYTES {
        return Err(to_failure(format!("larger than {} MiB", MAX_PICTURE_BYTES >> 20)));
    }
    Ok(bytes.into())
}
