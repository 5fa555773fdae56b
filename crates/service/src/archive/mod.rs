//! Writes the archive of an export, a ZIP file. The pictures come first, because the metadata after them names only
//! pictures that could be read.

mod coco;
mod embedding_writer;
mod export_preview;
mod hugging_face;
mod json_document;
mod metadata;
mod parquet_columns;
mod parquet_table;
mod pictures;
mod text_tables;
mod voc;
mod web_dataset;
mod yolo;

use std::{
    io::{self, Write as _},
    sync::atomic::{AtomicBool, Ordering},
};

use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

use self::pictures::{WrittenPictures, write_pictures};
use crate::task_error::TaskError;
use tessera_media::ingest::disk_quota::ClaimedFile;
use tessera_model::ExportFormat;

pub(crate) use embedding_writer::EmbeddingWriter;
pub(crate) use export_preview::PreviewBuilder;
pub(crate) use metadata::{
    ArchiveContent, LinkSigning, MissingPictures, SourceFolders, counted_duplicates,
};

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
    let spec = &content.export.spec;
    report(0.0)?;
    match spec.format {
        ExportFormat::WebDataset => return web_dataset::write_shards(content, zip, report),
        ExportFormat::HfParquet => return hugging_face::write_files(content, zip, report),
        _ => {}
    }
    let mut pictures = WrittenPictures::default();
    if spec.include_images {
        pictures = write_pictures(content, zip, |part| report(part * PICTURES_SHARE))?;
    }
    report(PICTURES_SHARE)?;
    let missing = pictures.missing;
    write_metadata(content, zip, &missing)?;
    if pictures.name_a_split && spec.format.is_image_folder() {
        zip.start_file("README.md", SimpleFileOptions::default())?;
        zip.write_all(DATASET_CARD.as_bytes()).map_err(TaskError::archive)?;
    }
    Ok(missing)
}

/// Writes what describes the pictures, in the format of the export.
fn write_metadata(
    content: &ArchiveContent,
    zip: &mut Zip,
    missing: &MissingPictures,
) -> Result<(), TaskError> {
    // The size is unknown, so there must be room for more than 4 GiB.
    let options = SimpleFileOptions::default().large_file(true);
    match content.export.spec.format {
        ExportFormat::Json => {
            zip.start_file("metadata.json", options)?;
            json_document::write_json(content, zip, missing)
        }
        ExportFormat::Csv => {
            zip.start_file("metadata.csv", options)?;
            text_tables::write_csv(content, zip, missing)
        }
        ExportFormat::ImageFolder => {
            zip.start_file("metadata.jsonl", options)?;
            text_tables::write_jsonl(content, zip, missing)
        }
        ExportFormat::Coco => coco::write_coco(content, zip, missing),
        ExportFormat::Voc => voc::write_voc(content, zip, missing),
        ExportFormat::Yolo | ExportFormat::YoloSegment | ExportFormat::YoloPose => {
            yolo::write_yolo(content, zip, missing)
        }
        // These two archives have the pictures and their descriptions in the same files, and are written already.
        ExportFormat::WebDataset | ExportFormat::HfParquet => Ok(()),
        ExportFormat::Parquet => {
            // The columns of Parquet are already compressed.
            let stored = options.compression_method(CompressionMethod::Stored);
            zip.start_file("metadata.parquet", stored)?;
            parquet_columns::write_parquet(content, zip, missing)
        }
    }
}

pub(crate) fn write_metadata_json(
    content: &ArchiveContent,
    out: &mut impl io::Write,
) -> Result<(), TaskError> {
    json_document::write_json(content, out, &MissingPictures::default())
}
