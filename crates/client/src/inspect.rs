//! Inspects the archive of an export. This file counts rows, columns and scores, finds rows and pictures without a
//! counterpart, joins rows with their pictures, and reads single pictures. Nothing is written to paths from the
//! archive.

use std::{
    collections::{HashSet, hash_map::RandomState},
    fs::File,
    hash::BuildHasher as _,
    io::Write,
    path::Path,
};

use bytes::Bytes;
use serde_json::Value;

use crate::{
    bounded_unpack::{ArchiveEntry, ArchiveError, IMAGES_PREFIX, for_each_entry, into_failure},
    image_folder_row::image_folder_row,
    metadata_rows::{INSPECTED_COLUMNS, MetadataFile, SCORE_COLUMN, find_picture},
    part_file::disk_failure,
};
use tessera_model::{
    ExportFormat, Failure, Inspection, MAX_PICTURE_BYTES, PictureSource, SafeText,
    archive_paths::safe_relative_path, export::NameSample,
};
use tessera_wire::{export::column, fields::number, preview::read_row_frame};

/// Inspects an archive. Blocks on the disk.
pub fn inspect_archive(path: &Path) -> Result<Inspection, Failure> {
    inspect(path).map_err(|error| {
        into_failure(path, error).with_remedy("Check that it is an export archive")
    })
}

fn inspect(path: &Path) -> Result<Inspection, ArchiveError> {
    let mut listing = ArchiveListing::read(File::open(path)?)?;
    let source =
        |name: &String| PictureSource::Entry(path.into(), format!("{IMAGES_PREFIX}{name}"));
    let mut inspection = Inspection {
        path: path.to_owned(),
        bytes: path.metadata().map_or(0, |metadata| metadata.len()),
        metadata_file: SafeText::file_name(listing.metadata_name()?),
        annotation_files: listing.other_files,
        format: export_format(listing.metadata_name()?),
        images: listing.images,
        first_images: listing.first_images.iter().map(source).collect(),
        unsafe_entries: std::mem::take(&mut listing.rejected),
        ..Inspection::default()
    };
    // Annotations in other formats are not read row by row.
    let Some(metadata) = listing.metadata else { return Ok(inspection) };
    listing.image_hashes.sort_unstable();
    listing.image_hashes.dedup();
    let index =
        |name: &str| listing.image_hashes.binary_search(&listing.hasher.hash_one(name)).ok();
    let mut has_row = vec![false; listing.image_hashes.len()];
    let mut videos = HashSet::new();
    let columns = metadata.for_each_row(Some(INSPECTED_COLUMNS), |row| {
        inspection.rows += 1;
        if let Some(frame) = read_row_frame(&row) {
            inspection.frames += 1;
            videos.insert(listing.hasher.hash_one(frame.video.as_str()));
        }
        count_score(&mut inspection, number(&row, SCORE_COLUMN));
        match find_picture(&row, index) {
            Some(Ok(index)) => has_row[index] = true,
            Some(Err(name)) => inspection.rows_without_file.add(name),
            None => {}
        }
        Ok(())
    })?;
    inspection.videos = videos.len() as u64;
    inspection.columns = columns.iter().map(|name| SafeText::name(name)).collect();
    if has_row.contains(&false) {
        // The names are read again, because they are not kept.
        for_each_entry(File::open(path)?, |entry| {
            if let Some(name) = image_name(&entry)
                && let Some(index) = index(name)
                && !std::mem::replace(&mut has_row[index], true)
            {
                inspection.files_without_row.add(name);
            }
            Ok(())
        })?;
    }
    Ok(inspection)
}

fn count_score(inspection: &mut Inspection, score: Option<f64>) {
    match score.filter(|score| (0.0..=1.0).contains(score)) {
        Some(score) => {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "from 0.0 to 10.0"
            )]
            let bin = (score * 10.0) as usize;
            inspection.uniqueness[bin.min(Inspection::BINS - 1)] += 1;
        }
        None => inspection.unscored += 1,
    }
}

#[derive(Default)]
pub(super) struct ArchiveListing {
    pub metadata: Option<MetadataFile>,
    /// The first file of an export in another format, and the number of such files.
    other_metadata: Option<String>,
    other_files: u64,
    /// The number of files below `images/`.
    pub images: u64,
    pub first_images: Vec<String>,
    /// The hashes of the names of all files below `images/`.
    pub image_hashes: Vec<u64>,
    pub hasher: RandomState,
    pub rejected: NameSample,
}

impl ArchiveListing {
    fn read(archive: File) -> Result<Self, ArchiveError> {
        let mut listing = Self::default();
        for_each_entry(archive, |entry| listing.add(entry))?;
        Ok(listing)
    }

    /// Returns the name of the metadata file, or of the first file of an export in another format.
    fn metadata_name(&self) -> Result<&str, ArchiveError> {
        let metadata = self.metadata.as_ref().map(|metadata| &metadata.name);
        let name = metadata.or(self.other_metadata.as_ref());
        Ok(name.ok_or("no metadata file (.parquet or .json)")?)
    }

    fn add(&mut self, entry: ArchiveEntry<'_>) -> Result<(), ArchiveError> {
        if entry.header.is_dir() {
            return Ok(());
        }
        if let Some(image) = image_name(&entry) {
            self.images += 1;
            if self.first_images.len() < Inspection::MAX_NAMED {
                self.first_images.push(image.to_owned());
            }
            self.image_hashes.push(self.hasher.hash_one(image));
        } else if !is_usable(&entry) {
            self.rejected.add(&entry.name);
        } else if !export_format(&entry.name).is_in_api() {
            self.other_files += 1;
            self.other_metadata.get_or_insert(entry.name);
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

/// Returns the format to which a file with this name belongs. Files without a format of their own belong to JSON or
/// Parquet.
pub(super) fn export_format(name: &str) -> ExportFormat {
    let starts = [
        ("annotations/", ExportFormat::Coco),
        ("Annotations/", ExportFormat::Voc),
        ("labels/", ExportFormat::Yolo),
        ("data/train-", ExportFormat::HfParquet),
        ("shard-", ExportFormat::WebDataset),
    ];
    match name {
        "data.yaml" => ExportFormat::Yolo,
        "metadata.csv" => ExportFormat::Csv,
        "metadata.jsonl" => ExportFormat::ImageFolder,
        _ => match starts.iter().find(|(start, _)| name.starts_with(start)) {
            Some((_, format)) => *format,
            None if name.to_ascii_lowercase().ends_with(".json") => ExportFormat::Json,
            None => ExportFormat::Parquet,
        },
    }
}

fn is_usable(entry: &ArchiveEntry<'_>) -> bool {
    entry.is_plain() && safe_relative_path(&entry.name).is_ok()
}

/// Returns the name of a picture below `images/`.
pub(super) fn image_name<'a>(entry: &'a ArchiveEntry<'_>) -> Option<&'a str> {
    let image = entry.name.strip_prefix(IMAGES_PREFIX)?;
    (!entry.header.is_dir() && is_usable(entry)).then_some(image)
}

fn metadata_of(archive: &Path) -> Result<MetadataFile, ArchiveError> {
    let metadata = ArchiveListing::read(File::open(archive)?)?.metadata;
    Ok(metadata.ok_or("no metadata file (.parquet or .json)")?)
}

/// Writes one JSON object per line: what `convert` makes of a row and of the path of its picture, if that is known.
pub(crate) fn write_joined_rows(
    archive: &Path,
    has: impl Fn(&str) -> bool,
    convert: impl Fn(Value, Option<String>) -> Value,
    out: &mut impl Write,
    target: &Path,
) -> Result<(), Failure> {
    let write = |row: Value| {
        let path = |image: &str| has(image).then(|| format!("{IMAGES_PREFIX}{image}"));
        let picture = find_picture(&row, path).and_then(Result::ok);
        let row = convert(row, picture);
        writeln!(out, "{row}").map_err(|error| disk_failure(target, &error).into())
    };
    let written = || metadata_of(archive)?.for_each_row(None, write).map(drop);
    written().map_err(|error: ArchiveError| into_failure(archive, error))
}

/// Calls `visit` with each row of the metadata in an archive, in the form of the Parquet columns. Blocks on the disk.
pub fn read_metadata(archive: &Path, mut visit: impl FnMut(Value)) -> Result<(), Failure> {
    let as_columns = |row: Value| {
        let is_typed = row.get(column::METADATA_ITEMS).is_some();
        let name = row[column::FILE_NAME].as_str().map(ToOwned::to_owned);
        visit(if is_typed { image_folder_row(row, name) } else { row });
        Ok(())
    };
    let read = || -> Result<(), ArchiveError> {
        metadata_of(archive)?.for_each_row(None, as_columns).map(drop)
    };
    read().map_err(|error| into_failure(archive, error))
}

/// Returns the bytes of a picture in an archive. Blocks on the disk.
pub fn read_entry(path: &Path, name: &str) -> Result<Bytes, Failure> {
    read(path, name).map_err(|error| {
        let name_in_archive = format!("{} in {}", SafeText::file_name(name), path.display());
        Failure::local(format!("{name_in_archive}: {error}"))
    })
}

fn read(path: &Path, name: &str) -> Result<Bytes, ArchiveError> {
    let mut bytes = None;
    for_each_entry(File::open(path)?, |entry| {
        if bytes.is_none() && entry.name == name {
            let mut picture = Vec::new();
            entry.copy_to(&mut picture, MAX_PICTURE_BYTES as u64)?;
            bytes = Some(picture.into());
        }
        Ok(())
    })?;
    bytes.ok_or_else(|| "the archive does not contain this entry".into())
}
