//! The archive of an export: a ZIP with `images/` if requested, and the metadata last, because it
//! names the pictures that could be read. It is streamed, so memory does not grow with the dataset.

mod error;
mod json;
mod parquet;
mod unique_names;

use std::{
    collections::{HashMap, HashSet},
    fs::File,
    io::{self, Read as _, Write as _},
};

use rusqlite::Connection;
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

use crate::{
    ingest::SandboxedDir,
    issues,
    store::{
        dataset::DatasetRecord,
        export::{self, ExportEntry, ExportRecord},
        media::MediaRecord,
        preview::StoredPreview,
        source::SourceFolder,
    },
};
pub(crate) use error::ArchiveError;
use tessera_model::ExportFormat;
use unique_names::UniqueNames;

/// Share of the progress for copying pictures.
const PICTURES_SHARE: f64 = 0.9;

#[derive(Clone, Copy)]
pub(crate) struct ArchiveContent<'a> {
    /// A snapshot of the store.
    pub connection: &'a Connection,
    pub dataset: &'a DatasetRecord,
    pub export: &'a ExportRecord,
    pub folders: &'a SourceFolders,
}

/// The open folders of a dataset, by the row of their source; empty if no pictures are written.
#[derive(Default)]
pub(crate) struct SourceFolders(HashMap<i64, SandboxedDir>);

impl SourceFolders {
    pub fn open(sources: &[SourceFolder]) -> io::Result<Self> {
        let open = |source: &SourceFolder| Ok((source.row, SandboxedDir::open(&source.folder)?));
        Ok(Self(sources.iter().map(open).collect::<io::Result<_>>()?))
    }

    fn file(&self, media: &MediaRecord) -> io::Result<File> {
        let folder = self.0.get(&media.source).ok_or(io::ErrorKind::NotFound)?;
        folder.open_file(&media.path)
    }
}

/// A row of the metadata.
struct MetadataRow {
    entry: ExportEntry,
    objects: Vec<ExportEntry>,
    /// Its name below `images/`, if it is included.
    image: Option<String>,
    /// The URL in the service; requires a login.
    url: String,
}

/// The quality issues of a media item with their confidence.
fn issue_list(entry: &ExportEntry) -> Vec<(&'static str, f64)> {
    let Some(assignment) = &entry.assignment else {
        return Vec::new();
    };
    let found = issues::detected_issues(entry.media.sharpness, entry.media.brightness, assignment);
    found.map(|(kind, confidence)| (kind.as_str(), confidence)).collect()
}

fn uniqueness(entry: &ExportEntry) -> Option<f64> {
    entry.assignment.map(|assignment| assignment.uniqueness.into())
}

type Zip<'a> = ZipWriter<&'a File>;

/// Writes the archive into `file` and reports the progress, 0.0-1.0. Returns how many pictures
/// could not be read.
pub(crate) fn write(
    content: &ArchiveContent,
    file: &File,
    mut report: impl FnMut(f64) -> Result<(), ArchiveError>,
) -> Result<usize, ArchiveError> {
    let mut zip = ZipWriter::new(file);
    let mut missing = HashSet::new();
    report(0.0)?;
    if content.export.spec.include_images {
        missing = write_pictures(content, &mut zip, |part| report(part * PICTURES_SHARE))?;
    }
    report(PICTURES_SHARE)?;
    // The size is unknown, so leave room for more than 4 GiB.
    let options = SimpleFileOptions::default().large_file(true);
    match content.export.spec.format {
        ExportFormat::Json => {
            zip.start_file("metadata.json", options)?;
            json::write(content, &mut zip, &missing)?;
        }
        ExportFormat::Parquet => {
            // Its columns are already compressed.
            let stored = options.compression_method(CompressionMethod::Stored);
            zip.start_file("metadata.parquet", stored)?;
            parquet::write(content, &mut zip, &missing)?;
        }
    }
    zip.finish()?;
    Ok(missing.len())
}

/// Writes only the metadata, as JSON.
pub(crate) fn write_metadata_json(
    content: &ArchiveContent,
    out: &mut impl io::Write,
) -> Result<(), ArchiveError> {
    json::write(content, out, &HashSet::new())
}

/// Copies the pictures. Returns the rows of those that could not be read.
fn write_pictures(
    content: &ArchiveContent,
    zip: &mut Zip,
    mut report: impl FnMut(f64) -> Result<(), ArchiveError>,
) -> Result<HashSet<i64>, ArchiveError> {
    let mut names = UniqueNames::default();
    let mut missing = HashSet::new();
    let mut done = 0.0;
    #[expect(clippy::cast_precision_loss, reason = "a progress, not a count")]
    let all = content.export.media_count.max(1) as f64;
    export::for_each_entry(content.connection, content.export, |entry| {
        let name = names.unique(&entry.media.file_name());
        if !write_picture(content.folders, &entry.media, &name, zip)? {
            missing.insert(entry.media.row);
        }
        done += 1.0;
        report(f64::min(done / all, 1.0))
    })?;
    Ok(missing)
}

/// Copies one picture unchanged. Returns `false` if it could not be read.
fn write_picture(
    folders: &SourceFolders,
    media: &MediaRecord,
    name: &str,
    zip: &mut Zip,
) -> Result<bool, ArchiveError> {
    let Ok(mut file) = folders.file(media) else {
        return Ok(false);
    };
    // Pictures are already compressed; one may have grown since it was indexed.
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .large_file(file.metadata().is_ok_and(|metadata| metadata.len() > u64::from(u32::MAX / 2)));
    zip.start_file(format!("images/{name}"), options)?;
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(true),
            Ok(length) => zip.write_all(&buffer[..length])?,
            Err(_) => {
                zip.abort_file()?;
                return Ok(false);
            }
        }
    }
}

/// Calls `each` with every row of the metadata, with the picture names of [`write_pictures`].
fn for_each_row(
    content: &ArchiveContent,
    missing: &HashSet<i64>,
    mut each: impl FnMut(MetadataRow) -> Result<(), ArchiveError>,
) -> Result<(), ArchiveError> {
    let mut names = UniqueNames::default();
    let origin = &content.export.origin;
    let with_objects = content.dataset.n_objects > 0;
    export::for_each_entry(content.connection, content.export, |entry| {
        let image = content
            .export
            .spec
            .include_images
            .then(|| names.unique(&entry.media.file_name()))
            .filter(|_| !missing.contains(&entry.media.row));
        let StoredPreview { media, version, .. } = StoredPreview::from(&entry.media);
        let url = format!("{origin}/media/{media}/{version}/original");
        let picture = entry.media.row;
        let objects = with_objects.then(|| export::object_entries(content.connection, picture));
        let objects = objects.transpose()?.unwrap_or_default();
        each(MetadataRow { entry, objects, image, url })
    })
}
