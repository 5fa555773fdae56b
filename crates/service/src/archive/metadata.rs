//! Makes the rows of the metadata of an archive, one per media item. `json_document` and `parquet_columns` write the
//! same rows.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    io,
    path::PathBuf,
};

use super::{IMAGES_PREFIX, pictures::UniqueNames};
use crate::{
    links::{FILE_ORIGIN, media_link},
    originals::{Originals, storage_location},
    settings::DeploymentSettings,
    task_error::TaskError,
};
use tessera_media::ingest::{
    OriginalFiles, SourceFile, is_refused, is_unavailable, parquet_images::containing_file,
    read_error_name,
};
use tessera_model::{
    DatasetId, SafeText,
    text::{count_with_noun, first_names},
    vql::IssueKind,
};
use tessera_retrieval::{issues, stored_pictures::StoredPictures};
use tessera_store::{
    Connection, Store, StoreError,
    cluster::StoredPreview,
    dataset::DatasetRecord,
    duplicate_group::DuplicateGroups,
    export::{self, ExportEntry, ExportRecord},
    media::{MediaKind, MediaRecord},
    now_micros,
    source::{self, SourceFolder},
};
use tessera_wire::preview::file_uri;

/// The data from which the archive of an export is made.
#[derive(Clone, Copy)]
pub(crate) struct ArchiveContent<'a> {
    pub connection: &'a Connection,
    pub dataset: &'a DatasetRecord,
    pub export: &'a ExportRecord,
    pub folders: &'a SourceFolders,
    /// Reads the pictures of frames.
    pub pictures: &'a StoredPictures,
    /// Signs the links of the metadata.
    pub links: &'a LinkSigning,
    /// The groups of the near-duplicates that count as an issue.
    pub groups: &'a DuplicateGroups,
}

/// Signs the links in an export. The links expire before the export is deleted, because they are signed before it ends.
/// An archive that was passed on therefore opens no files for longer than the export exists.
pub(crate) struct LinkSigning {
    key: [u8; 32],
    /// The time in Unix seconds.
    expires: u64,
}

impl LinkSigning {
    pub fn new(store: &Store, settings: &DeploymentSettings) -> Result<Self, StoreError> {
        let now = now_micros().unsigned_abs() / 1_000_000;
        let expires = now + settings.export_retention.as_secs();
        Ok(Self { key: store.link_key()?, expires })
    }
}

/// The sources of a dataset by their rows: the open files, or the name of a folder that cannot be opened. Empty if no
/// pictures are written.
#[derive(Default)]
pub(crate) struct SourceFolders(HashMap<i64, Result<Box<dyn OriginalFiles>, String>>);

impl SourceFolders {
    /// Opens the sources. Added folders and uploads may be missing, but not the folder of the dataset, whose disk may
    /// not be connected.
    pub fn open(originals: &Originals, sources: &[SourceFolder]) -> Result<Self, TaskError> {
        let open = |source: &SourceFolder| match originals.open(&source.folder) {
            Ok(files) => Ok((source.row, Ok(files))),
            Err(cause)
                if source.is_dataset_folder || storage_location(&source.folder).is_some() =>
            {
                let (name, why) = (source.public_name(), read_error_name(&cause));
                Err(TaskError::Failed(format!("the folder {name} cannot be opened ({why})")))
            }
            Err(_) => Ok((source.row, Err(source.public_name()))),
        };
        Ok(Self(sources.iter().map(open).collect::<Result<_, _>>()?))
    }

    pub(super) fn file(&self, media: &MediaRecord) -> io::Result<Box<dyn SourceFile>> {
        match self.0.get(&media.source) {
            Some(Ok(folder)) => folder.open_file(&media.path),
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }

    /// Returns the name of the folder of a picture, if the folder cannot be opened.
    pub(super) fn unopened(&self, media: &MediaRecord) -> Option<String> {
        self.0.get(&media.source)?.as_ref().err().cloned()
    }
}

/// One row of the metadata, independent of the format.
pub(crate) struct MetadataRow {
    pub entry: ExportEntry,
    pub objects: Vec<ExportEntry>,
    /// The name of the picture below `images/`, if it is included.
    pub image: Option<String>,
    /// The path of the picture relative to the metadata: in an archive with pictures the path in the archive, and
    /// otherwise the path in the dataset. `None` if the picture could not be read.
    pub file_name: Option<String>,
    /// The signed link to the original in the service, or the URI of its file.
    pub url: Option<String>,
}

/// Returns the groups of the near-duplicates that count as an issue.
#[expect(clippy::cast_possible_truncation, reason = "a constant that both types represent")]
pub(crate) fn counted_duplicates(
    connection: &Connection,
    dataset: DatasetId,
) -> tessera_store::Result<DuplicateGroups> {
    DuplicateGroups::find(connection, dataset, issues::DEFAULT_MIN_CONFIDENCE as f32)
}

/// A quality issue that counts.
pub(super) struct DetectedIssue {
    pub kind: &'static str,
    pub confidence: f64,
    /// The group of near-duplicates. Other issues have none.
    pub group: Option<String>,
}

pub(super) fn issue_list(entry: &ExportEntry) -> Vec<DetectedIssue> {
    let Some(assignment) = &entry.assignment else {
        return Vec::new();
    };
    let found = issues::detected_issues(entry.media.sharpness, entry.media.brightness, assignment);
    let issue = |(kind, confidence): (IssueKind, f64)| {
        let group = entry.duplicate_group.filter(|_| kind == IssueKind::Duplicates);
        DetectedIssue { kind: kind.as_str(), confidence, group: group.map(|id| id.to_string()) }
    };
    found.map(issue).collect()
}

/// Returns the label of an object.
pub(super) fn object_label(media: &MediaRecord) -> &str {
    media.labels.first().map(String::as_str).unwrap_or_default()
}

/// Returns the box of an object in pixels: left, top, width, height. Other media have none. A millionth of a pixel is
/// more precise than any box, and hides the error of computing with fractions.
pub(super) fn bounding_box(media: &MediaRecord) -> Option<[f64; 4]> {
    let (width, height) = (f64::from(media.width), f64::from(media.height));
    let region = media.region?;
    let sides = [region.x * width, region.y * height, region.width * width, region.height * height];
    Some(sides.map(|side| (side * 1e6).round() / 1e6))
}

pub(crate) fn uniqueness(entry: &ExportEntry) -> Option<f64> {
    entry.assignment.map(|assignment| assignment.uniqueness.into())
}

/// How the metadata refers to originals.
enum OriginalLinks {
    /// Links to the service.
    Service,
    /// URIs of files in the folders of the sources, by their rows.
    Files(HashMap<i64, PathBuf>),
}

impl OriginalLinks {
    fn new(content: &ArchiveContent) -> Result<Self, TaskError> {
        if content.export.origin != FILE_ORIGIN {
            return Ok(Self::Service);
        }
        let sources = source::of_dataset(content.connection, content.dataset.id)?;
        let local = sources.into_iter().filter(|it| storage_location(&it.folder).is_none());
        Ok(Self::Files(local.map(|source| (source.row, source.folder)).collect()))
    }

    /// Returns the link to an original. An original in a bucket or inside a Parquet file has no file of its own.
    fn link(&self, content: &ArchiveContent, media: &MediaRecord) -> Option<String> {
        match self {
            Self::Service => {
                let StoredPreview { media, version, .. } = StoredPreview::from(media);
                let origin = &content.export.origin;
                let LinkSigning { key, expires } = content.links;
                Some(media_link(key, origin, media, &version, "original", Some(*expires)))
            }
            Self::Files(folders) => {
                let folder = folders.get(&media.source)?;
                let file = folder.join(&media.path);
                (containing_file(folder, &media.path) == file).then(|| file_uri(&file))
            }
        }
    }
}

/// Returns the address of the dataset, or the URI of its folder.
pub(super) fn dataset_url(content: &ArchiveContent) -> String {
    match content.export.origin.as_str() {
        FILE_ORIGIN => file_uri(&content.dataset.folder),
        origin => format!("{origin}/api/v1/dataset/{}", content.dataset.id),
    }
}

/// Names files by their paths in the dataset. An added file with the path of an earlier file of the export is named by
/// its own folder, too, so that readers of the export can distinguish the two.
struct DatasetPaths {
    sources: Vec<SourceFolder>,
    /// The latest path, and the source of its first file.
    latest: (PathBuf, i64),
}

impl DatasetPaths {
    fn new(content: &ArchiveContent) -> Result<Self, TaskError> {
        let sources = source::of_dataset(content.connection, content.dataset.id)?;
        Ok(Self { sources, latest: (PathBuf::new(), 0) })
    }

    /// Returns the name of a file. The files come in the order of their paths.
    fn name(&mut self, media: &MediaRecord) -> String {
        if self.latest.0 != media.path {
            self.latest = (media.path.clone(), media.source);
        }
        let path = media.file_path();
        let is_first = self.latest.1 == media.source;
        let find = || self.sources.iter().find(|source| source.row == media.source);
        let own = if is_first { None } else { find() };
        own.map_or(path.clone(), |source| format!("{}/{path}", source.public_name()))
    }
}

/// Calls `each` with every row. The pictures in the rows have the names that they have in the archive.
pub(crate) fn for_each_row(
    content: &ArchiveContent,
    missing: &MissingPictures,
    mut each: impl FnMut(MetadataRow) -> Result<(), TaskError>,
) -> Result<(), TaskError> {
    let mut names = UniqueNames::of(content.export.spec.format);
    let links = OriginalLinks::new(content)?;
    let mut paths = DatasetPaths::new(content)?;
    let with_objects = content.dataset.n_objects > 0;
    export::for_each_entry(content.connection, content.export, content.groups, |entry| {
        let with_images = content.export.spec.include_images;
        let image = with_images
            .then(|| names.unique(&entry.media.file_name()))
            .filter(|_| !missing.contains(entry.media.row));
        let file_name = if with_images {
            image.as_ref().map(|image| format!("{IMAGES_PREFIX}{image}"))
        } else {
            Some(paths.name(&entry.media))
        };
        let url = links.link(content, &entry.media);
        let picture = entry.media.row;
        let ArchiveContent { connection, export, groups, .. } = content;
        let objects =
            with_objects.then(|| export::object_entries(connection, export.id, groups, picture));
        let objects = objects.transpose()?.unwrap_or_default();
        each(MetadataRow { entry, objects, image, file_name, url })
    })
}

/// Returns the media type in the spelling of hosted services.
pub(super) fn media_type(kind: MediaKind) -> &'static str {
    match kind {
        MediaKind::Image => "image",
        MediaKind::Frame => "video_frame",
        MediaKind::Object => "object",
    }
}

/// Returns the name of the video from which a frame was taken, and the time of the frame in seconds.
pub(super) fn video_info(media: &MediaRecord) -> Option<(String, f64)> {
    let name = media.path.file_name().unwrap_or_default();
    media.frame.map(|frame| (name.to_string_lossy().into_owned(), frame.seconds))
}

/// The categories of the objects in an export: all labels of objects in the dataset, in alphabetical order.
pub(super) struct Categories(Vec<String>);

impl Categories {
    pub(super) fn of(content: &ArchiveContent) -> Result<Self, TaskError> {
        Ok(Self(export::object_labels(content.connection, content.dataset.id)?))
    }

    /// Returns the labels in the order of their numbers.
    pub(super) fn labels(&self) -> &[String] {
        &self.0
    }

    /// Returns the number of a label, counted from 0.
    pub(super) fn number(&self, label: &str) -> u64 {
        self.0.partition_point(|other| other.as_str() < label) as u64
    }
}

/// The pictures that an archive lacks.
#[derive(Debug, Default)]
pub(crate) struct MissingPictures {
    /// The pictures that could not be read, by row.
    pub unreadable: BTreeMap<i64, MediaRecord>,
    /// The folders of unreadable pictures that cannot be opened.
    pub folders: BTreeSet<String>,
    /// The reasons why object storage does not send unreadable pictures.
    pub refusals: BTreeSet<String>,
    /// The pictures whose files have changed since they were indexed, by row.
    pub changed: BTreeMap<i64, MediaRecord>,
    /// The number of selected media items that the dataset no longer has.
    pub removed: u64,
    /// Whether a picture was copied to the archive.
    pub has_copied: bool,
}

/// The number of pictures after which an export fails if object storage has sent none of them.
const REFUSED_AT_START: usize = 32;

/// The maximum number of pictures of a kind that a message names.
const MAX_NAMED: usize = 10;

impl MissingPictures {
    pub fn contains(&self, row: i64) -> bool {
        self.unreadable.contains_key(&row) || self.changed.contains_key(&row)
    }

    /// Adds a picture that cannot be read. Fails if the source of the picture cannot be reached, or has sent none of the
    /// first pictures.
    pub fn add_unreadable(
        &mut self,
        media: &MediaRecord,
        cause: &io::Error,
    ) -> Result<(), TaskError> {
        if is_unavailable(cause) {
            return Err(TaskError::storage(cause));
        }
        self.refusals.extend(is_refused(cause).then(|| cause.to_string()));
        self.unreadable.insert(media.row, media.clone());
        if self.unreadable.len() == REFUSED_AT_START { self.require_some() } else { Ok(()) }
    }

    /// Fails if object storage sends none of the pictures, because then the access key is wrong and not a picture.
    pub fn require_some(&self) -> Result<(), TaskError> {
        match self.refusals.first() {
            Some(reason) if !self.has_copied && self.changed.is_empty() => {
                Err(TaskError::Failed(format!("object storage failed: {reason}")))
            }
            _ => Ok(()),
        }
    }

    /// Describes what is missing, or returns `None` if nothing is.
    pub fn message(&self) -> Option<String> {
        let mut parts = Vec::new();
        if !self.unreadable.is_empty() {
            parts.push(format!(
                "{} could not be read and {} omitted: {}",
                count_with_noun(self.unreadable.len() as u64, "picture", "pictures"),
                if self.unreadable.len() == 1 { "was" } else { "were" },
                sorted_names(&self.unreadable)
            ));
        }
        parts.extend(self.folders.iter().map(|folder| {
            format!("the folder {folder} cannot be opened. Restore it, and export again")
        }));
        parts.extend(self.refusals.iter().map(|reason| format!("object storage says: {reason}")));
        if !self.changed.is_empty() {
            let count = count_with_noun(self.changed.len() as u64, "picture", "pictures");
            parts.push(format!(
                "{count} changed after indexing and {} omitted: {}. Rescan the dataset, and export again",
                if self.changed.len() == 1 { "was" } else { "were" },
                sorted_names(&self.changed)
            ));
        }
        if self.removed > 0 {
            let count =
                count_with_noun(self.removed, "selected media item", "selected media items");
            parts.push(format!(
                "{count} {} not in the dataset any more",
                if self.removed == 1 { "is" } else { "are" }
            ));
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

/// Returns the first names of some pictures in their order, separated by commas. Rows have the order in which the
/// pictures were indexed, which differs between indexes of one folder.
fn sorted_names(pictures: &BTreeMap<i64, MediaRecord>) -> String {
    let mut names: Vec<String> =
        pictures.values().map(|media| SafeText::name(&media.file_path()).to_string()).collect();
    names.sort_unstable();
    first_names(&names, names.len(), MAX_NAMED)
}
