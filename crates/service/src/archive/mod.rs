//! Writes the archive of an export, a ZIP file. The pictures come first, because the metadata after them names only
//! pictures that could be read.

mod image_names;
mod json_document;
mod local_files;
mod metadata;
mod missing_pictures;
mod parquet_columns;
mod parquet_table;

use std::{
    io::{self, Read as _, Write as _},
    sync::atomic::{AtomicBool, Ordering},
};

use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

use self::image_names::{UniqueNames, names_a_split};
use crate::task_error::TaskError;
use tessera_media::ingest::{disk_quota::ClaimedFile, is_unavailable};
use tessera_model::ExportFormat;
use tessera_retrieval::stored_pictures::TASK_LIMIT;
use tessera_store::{
    export,
    media::{MediaRecord, frame_picture},
};

pub(crate) use metadata::{ArchiveContent, LinkSigning, SourceFolders};
pub(crate) use missing_pictures::MissingPictures;

/// The folder in which an archive has its pictures.
const IMAGES_PREFIX: &str = "images/";
/// Keeps all files together for the library `datasets` of Hugging Face. Without this card, the library would
/// divide the files by names such as `test_01.jpg`, and find no metadata for them.
const DATASET_CARD: &str = "---\nconfigs:\n- config_name: default\n  data_files:\n  - split: train\n    path: \"**\"\n---\n";

/// The share of the progress that copying pictures takes.
const PICTURES_SHARE: f64 = 0.9;

type Zip<'a> = ZipWriter<ArchiveFile<'a>>;

/// The file of an archive. After an error, it discards everything that is written, because a dropped `ZipWriter` tries
/// to finish the archive, and prints to the terminal if that fails.
struct ArchiveFile<'a> {
    file: &'a mut ClaimedFile,
    failed: &'a AtomicBool,
}

impl io::Write for ArchiveFile<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.failed.load(Ordering::Relaxed) {
            return Ok(bytes.len());
        }
        self.file.write(bytes).inspect_err(|_| self.failed.store(true, Ordering::Relaxed))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl io::Seek for ArchiveFile<'_> {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// Writes an archive. Reports the progress (0.0-1.0), and returns the pictures that the archive lacks.
pub(crate) fn write(
    content: &ArchiveContent,
    file: &mut ClaimedFile,
    mut report: impl FnMut(f64) -> Result<(), TaskError>,
) -> Result<MissingPictures, TaskError> {
    let failed = AtomicBool::new(false);
    let mut zip = ZipWriter::new(ArchiveFile { file, failed: &failed });
    let missing = write_members(content, &mut zip, &mut report)
        .inspect_err(|_| failed.store(true, Ordering::Relaxed))?;
    zip.finish()?;
    if failed.load(Ordering::Relaxed) {
        return Err(TaskError::archive(io::ErrorKind::WriteZero.into()));
    }
    Ok(missing)
}

fn write_members(
    content: &ArchiveContent,
    zip: &mut Zip,
    report: &mut impl FnMut(f64) -> Result<(), TaskError>,
) -> Result<MissingPictures, TaskError> {
    let mut pictures = WrittenPictures::default();
    report(0.0)?;
    if content.export.spec.include_images {
        pictures = write_pictures(content, zip, |part| report(part * PICTURES_SHARE))?;
    }
    report(PICTURES_SHARE)?;
    let missing = pictures.missing;
    // The size is unknown, so there must be room for more than 4 GiB.
    let options = SimpleFileOptions::default().large_file(true);
    match content.export.spec.format {
        ExportFormat::Json => {
            zip.start_file("metadata.json", options)?;
            json_document::write_json(content, zip, &missing)?;
        }
        ExportFormat::Parquet => {
            // The columns of Parquet are already compressed.
            let stored = options.compression_method(CompressionMethod::Stored);
            zip.start_file("metadata.parquet", stored)?;
            parquet_columns::write_parquet(content, zip, &missing)?;
        }
    }
    if pictures.name_a_split {
        zip.start_file("README.md", SimpleFileOptions::default())?;
        zip.write_all(DATASET_CARD.as_bytes()).map_err(TaskError::archive)?;
    }
    Ok(missing)
}

pub(crate) fn write_metadata_json(
    content: &ArchiveContent,
    out: &mut impl io::Write,
) -> Result<(), TaskError> {
    json_document::write_json(content, out, &MissingPictures::default())
}

#[derive(Default)]
struct WrittenPictures {
    missing: MissingPictures,
    /// Whether the name of a picture looks like the name of a split.
    name_a_split: bool,
}

fn write_pictures(
    content: &ArchiveContent,
    zip: &mut Zip,
    mut report: impl FnMut(f64) -> Result<(), TaskError>,
) -> Result<WrittenPictures, TaskError> {
    let mut names = UniqueNames::default();
    let mut written = WrittenPictures::default();
    let mut done = 0.0;
    #[expect(clippy::cast_precision_loss, reason = "a progress, not a count")]
    let all = content.export.media_count.max(1) as f64;
    export::for_each_entry(content.connection, content.export, |entry| {
        let name = names.unique(&entry.media.file_name());
        match write_picture(content, &entry.media, &name, zip)? {
            WrittenPicture::Complete => {}
            WrittenPicture::Unreadable => drop(written.missing.unreadable.insert(entry.media.row)),
            WrittenPicture::Changed => {
                written.missing.changed.insert(entry.media.row, entry.media);
            }
        }
        written.name_a_split |= names_a_split(&name);
        done += 1.0;
        report(f64::min(done / all, 1.0))
    })?;
    Ok(written)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WrittenPicture {
    Complete,
    Unreadable,
    /// The file is not the indexed one any more.
    Changed,
}

/// Copies one picture unchanged. The hash of what is copied decides whether the file is still the indexed one, so that
/// no other picture gets the caption and labels of the indexed one.
fn write_picture(
    content: &ArchiveContent,
    media: &MediaRecord,
    name: &str,
    zip: &mut Zip,
) -> Result<WrittenPicture, TaskError> {
    if media.frame.is_some() {
        let Some(picture) = frame_picture(content.connection, media.row)? else {
            return Ok(WrittenPicture::Unreadable);
        };
        let jpeg = match content.pictures.read(picture, TASK_LIMIT) {
            Ok(jpeg) => jpeg,
            Err(cause) if is_unavailable(&cause) => return Err(TaskError::storage(&cause)),
            Err(_) => return Ok(WrittenPicture::Unreadable),
        };
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        zip.start_file(format!("{IMAGES_PREFIX}{name}"), options)?;
        zip.write_all(&jpeg).map_err(TaskError::archive)?;
        return Ok(WrittenPicture::Complete);
    }
    let file = match content.folders.file(media) {
        Ok(file) => file,
        Err(cause) if is_unavailable(&cause) => return Err(TaskError::storage(&cause)),
        Err(_) => return Ok(WrittenPicture::Unreadable),
    };
    if file.length().is_ok_and(|length| length != media.size) {
        return Ok(WrittenPicture::Changed);
    }
    // A picture is already compressed. One byte more than the indexed size shows that the file is growing.
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .large_file(media.size > u64::from(u32::MAX / 2));
    zip.start_file(format!("{IMAGES_PREFIX}{name}"), options)?;
    let outcome = copy_indexed(&mut file.take(media.size + 1), media, zip)?;
    if outcome != WrittenPicture::Complete {
        zip.abort_file()?;
    }
    Ok(outcome)
}

fn copy_indexed(
    file: &mut impl io::Read,
    media: &MediaRecord,
    zip: &mut Zip,
) -> Result<WrittenPicture, TaskError> {
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer) {
            Ok(0) if hasher.finalize() == media.content_hash => {
                return Ok(WrittenPicture::Complete);
            }
            Ok(0) => return Ok(WrittenPicture::Changed),
            Ok(length) => {
                hasher.update(&buffer[..length]);
                zip.write_all(&buffer[..length]).map_err(TaskError::archive)?;
            }
            Err(cause) if is_unavailable(&cause) => return Err(TaskError::storage(&cause)),
            Err(_) => return Ok(WrittenPicture::Unreadable),
        }
    }
}
