//! The archive of an export: a ZIP with `images/` where asked for, and the metadata last, so that
//! it tells which pictures really are inside. Streamed: memory does not grow with the dataset.

mod json;
mod names;
mod parquet;

use std::{
    collections::{HashMap, HashSet},
    fs::File,
    io::{self, Read as _, Write as _},
};

use ::parquet::errors::ParquetError;
use rusqlite::Connection;
use zip::{CompressionMethod, ZipWriter, result::ZipError, write::SimpleFileOptions};

use crate::{
    ingest::Folder,
    issues,
    store::{
        cluster::Portrait,
        dataset::Record,
        export::{self, Entry, Export},
        media::Media,
        source::Source,
    },
    task::End,
};
use names::Names;
use tessera_model::ExportFormat;

/// Part of the progress that copying pictures makes up.
const PICTURES: f64 = 0.9;

/// What goes into an archive.
#[derive(Clone, Copy)]
pub(crate) struct Content<'a> {
    /// A snapshot of the store.
    pub connection: &'a Connection,
    /// The dataset exported.
    pub dataset: &'a Record,
    /// What was asked for.
    pub export: &'a Export,
    /// Where the pictures are.
    pub folders: &'a Folders,
}

/// The open folders of a dataset, by the row of their source; none for who writes no pictures.
#[derive(Default)]
pub(crate) struct Folders(HashMap<i64, Folder>);

impl Folders {
    /// Opens the folders of all sources.
    ///
    /// # Errors
    /// One of them is gone or may not be entered.
    pub fn open(sources: &[Source]) -> io::Result<Self> {
        let open = |source: &Source| Ok((source.row, Folder::open(&source.folder)?));
        Ok(Self(sources.iter().map(open).collect::<io::Result<_>>()?))
    }

    /// The file of a media.
    fn file(&self, media: &Media) -> io::Result<File> {
        let folder = self.0.get(&media.source).ok_or(io::ErrorKind::NotFound)?;
        folder.file(&media.path)
    }
}

/// A row of the metadata.
struct Item {
    /// The media with what the clustering says of it.
    entry: Entry,
    /// The objects in it.
    objects: Vec<Entry>,
    /// Its name below `images/`, if it is there.
    image: Option<String>,
    /// Where the service shows it; needs the login.
    url: String,
}

/// The quality issues of a media, in the words of the query language, with their confidence.
fn issues(entry: &Entry) -> Vec<(&'static str, f64)> {
    let Some(place) = &entry.place else {
        return Vec::new();
    };
    let found = issues::found(entry.media.sharpness, entry.media.brightness, place);
    found.map(|(kind, confidence)| (kind.word(), confidence)).collect()
}

/// How unique a media is, 0.0-1.0.
fn uniqueness(entry: &Entry) -> Option<f64> {
    entry.place.map(|place| place.uniqueness.into())
}

type Zip<'a> = ZipWriter<&'a File>;

impl From<ZipError> for End {
    fn from(cause: ZipError) -> Self {
        Self::Failed(format!("the archive could not be written ({cause})"))
    }
}

impl From<ParquetError> for End {
    fn from(cause: ParquetError) -> Self {
        Self::Failed(format!("the metadata could not be written ({cause})"))
    }
}

/// Writes the archive into `file`, telling its progress (0.0-1.0). Returns how many pictures
/// could not be read.
///
/// # Errors
/// The store or the disk failed, or `tell` did.
pub(crate) fn write(
    content: &Content,
    file: &File,
    mut tell: impl FnMut(f64) -> Result<(), End>,
) -> Result<usize, End> {
    let mut zip = ZipWriter::new(file);
    let mut missing = HashSet::new();
    tell(0.0)?;
    if content.export.spec.include_images {
        missing = pictures(content, &mut zip, |part| tell(part * PICTURES))?;
    }
    tell(PICTURES)?;
    // Sizes are unknown beforehand: leave room for more than 4 GiB.
    let options = SimpleFileOptions::default().large_file(true);
    match content.export.spec.format {
        ExportFormat::Json => {
            zip.start_file("metadata.json", options)?;
            json::write(content, &mut zip, &missing)?;
        }
        ExportFormat::Parquet => {
            // Its columns are compressed already.
            let stored = options.compression_method(CompressionMethod::Stored);
            zip.start_file("metadata.parquet", stored)?;
            parquet::write(content, &mut zip, &missing)?;
        }
    }
    zip.finish()?;
    Ok(missing.len())
}

/// Writes only the metadata, as JSON.
///
/// # Errors
/// The store or the disk failed.
pub(crate) fn document(content: &Content, out: &mut impl io::Write) -> Result<(), End> {
    json::write(content, out, &HashSet::new())
}

/// Copies the pictures. Returns the rows of those that could not be read.
fn pictures(
    content: &Content,
    zip: &mut Zip,
    mut tell: impl FnMut(f64) -> Result<(), End>,
) -> Result<HashSet<i64>, End> {
    let mut names = Names::default();
    let mut missing = HashSet::new();
    let mut done = 0.0;
    #[expect(clippy::cast_precision_loss, reason = "a progress, not a count")]
    let all = content.export.entities.max(1) as f64;
    export::entries(content.connection, content.export, |entry| {
        let name = names.unique(&entry.media.file_name());
        if !picture(content.folders, &entry.media, &name, zip)? {
            missing.insert(entry.media.row);
        }
        done += 1.0;
        tell(f64::min(done / all, 1.0))
    })?;
    Ok(missing)
}

/// Copies one picture as it is. `false` if it could not be read.
fn picture(folders: &Folders, media: &Media, name: &str, zip: &mut Zip) -> Result<bool, End> {
    let Ok(mut file) = folders.file(media) else {
        return Ok(false);
    };
    // Pictures are compressed already; one may have grown since it was indexed.
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

/// Calls `each` with every row of the metadata, naming the pictures as [`pictures`] did.
fn items(
    content: &Content,
    missing: &HashSet<i64>,
    mut each: impl FnMut(Item) -> Result<(), End>,
) -> Result<(), End> {
    let mut names = Names::default();
    let origin = &content.export.origin;
    let with_objects = content.dataset.n_objects > 0;
    export::entries(content.connection, content.export, |entry| {
        let image = content
            .export
            .spec
            .include_images
            .then(|| names.unique(&entry.media.file_name()))
            .filter(|_| !missing.contains(&entry.media.row));
        let Portrait { media, version, .. } = Portrait::from(&entry.media);
        let url = format!("{origin}/media/{media}/{version}/original");
        let picture = entry.media.row;
        let objects = with_objects.then(|| export::objects(content.connection, picture));
        let objects = objects.transpose()?.unwrap_or_default();
        each(Item { entry, objects, image, url })
    })
}
