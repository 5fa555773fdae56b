//! Reads sidecars within limits, and collects what the readers of the formats find in them. Each of these readers gets
//! the same `SidecarReader`. Start here to see what a format may do, and how problems become one sentence per file.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    ffi::OsStr,
    io::{self, BufReader, ErrorKind, Read},
    mem,
    path::{Path, PathBuf},
    sync::Arc,
};

use tessera_files::read_at_most;
use tessera_parquet::Source;

use super::{
    description::{MediaDescription, Parts},
    diagnostics::SidecarDiagnostics,
    extra_columns::{MAX_EXTRA_COLUMNS, Refusal, RefusedColumns},
    file_index::FileIndex,
    row_findings::RowFindings,
};
use crate::ingest::{
    OriginalFiles, documents,
    parquet_images::parquet_source,
    read_error_name,
    text_encoding::{to_utf8, utf8_reader},
    unrecognized::pointer_reason,
};

/// Maximum size of a sidecar that describes many images, in bytes.
pub(crate) const MAX_SHARED_SIDECAR_BYTES: u64 = 64 << 20;
/// Maximum size of a sidecar of one image, and of a list of class names, in bytes.
pub(crate) const MAX_PER_IMAGE_SIDECAR_BYTES: u64 = 1 << 20;

pub(super) const NOT_UTF_8: &str = "it is not UTF-8; save it as UTF-8";
/// The number of bytes by which a pointer to a file is recognized.
const POINTER_BYTES: u64 = 64;

/// The content of all sidecars of a folder. All paths are relative to the folder.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SidecarData {
    /// The descriptions by file. A file that a row names may turn out not to be a media file.
    pub descriptions: BTreeMap<PathBuf, MediaDescription>,
    /// The files that are used as sidecars, including faulty ones. None of them is a media file.
    pub sidecars: BTreeSet<PathBuf>,
    /// The sidecar that the boxes of each file come from.
    pub box_sidecars: HashMap<PathBuf, Arc<Path>>,
    /// The problem of each faulty sidecar. Its valid rows are used nevertheless.
    pub problems: BTreeMap<PathBuf, String>,
    /// The files that could not be read now, which says nothing about their content: faulty sidecars, and pictures
    /// whose orientation was needed.
    pub unread: BTreeSet<PathBuf>,
    /// Whether one of these files is a sidecar, which may describe any picture.
    pub lacks_sidecars: bool,
    /// Why the source could not be reached. The data is then not complete.
    pub failure: Option<(ErrorKind, String)>,
}

impl SidecarData {
    /// Whether nothing that is known about a picture is taken away, because the picture or a sidecar that may describe
    /// it could not be read.
    pub fn keeps_known(&self, picture: &Path) -> bool {
        self.lacks_sidecars || self.unread.contains(picture)
    }

    /// Adds a problem to those of a sidecar, once.
    pub(super) fn add_problem(&mut self, sidecar: &Path, why: String) {
        match self.problems.get_mut(sidecar) {
            None => _ = self.problems.insert(sidecar.to_owned(), why),
            Some(known) if !known.contains(&why) => *known = format!("{known}; {why}"),
            Some(_) => {}
        }
    }
}

/// The sidecar that each part of a description comes from.
type Origins = Parts<Option<Arc<Path>>>;

pub(crate) struct SidecarReader<'a> {
    folder: &'a dyn OriginalFiles,
    pub files: FileIndex<'a>,
    pub data: SidecarData,
    /// The names of all columns of the user's own.
    extra_columns: BTreeSet<String>,
    /// The columns of the current sidecar for which there was no room.
    refused: RefusedColumns,
    findings: RowFindings,
    /// The sidecar that was read last, shared by all media files that it describes.
    latest: Arc<Path>,
    /// The sidecars that the parts of the description of each media file come from.
    origins: HashMap<PathBuf, Origins>,
}

impl<'a> SidecarReader<'a> {
    pub fn new(folder: &'a dyn OriginalFiles, files: FileIndex<'a>) -> Self {
        Self {
            folder,
            files,
            data: SidecarData::default(),
            extra_columns: BTreeSet::new(),
            refused: RefusedColumns::default(),
            findings: RowFindings::default(),
            latest: Path::new("").into(),
            origins: HashMap::new(),
        }
    }

    /// Reads a text, which is converted to UTF-8. A file that is unreadable or larger than `limit` is reported as a
    /// problem.
    pub(crate) fn read_bytes(&mut self, path: &Path, limit: u64) -> Option<Vec<u8>> {
        let bytes = self.read_limited(path, limit);
        bytes.map(to_utf8).map_err(|why| self.report_unread(path, why)).ok()
    }

    /// Like [`SidecarReader::read_bytes`], but for text. Invalid UTF-8 is reported as a problem.
    pub fn read_text(&mut self, path: &Path, limit: u64) -> Option<String> {
        String::from_utf8(self.read_bytes(path, limit)?)
            .map_err(|_| self.report_problem(path, NOT_UTF_8.to_owned()))
            .ok()
    }

    /// Like [`SidecarReader::read_text`], but for JSON, also as Python writes it.
    pub(crate) fn read_json(&mut self, path: &Path, limit: u64) -> Option<String> {
        self.read_text(path, limit).map(documents::repaired)
    }

    pub(super) fn folder(&self) -> &'a dyn OriginalFiles {
        self.folder
    }

    /// Reports that a file is larger than `limit`.
    pub(super) fn report_size(&mut self, path: &Path, limit: u64) {
        self.report_problem(path, too_large(limit));
    }

    /// Opens a text that is read in parts, as UTF-8 if it is in Unicode. A file that is unreadable or larger than
    /// `limit` is reported as a problem.
    pub fn open(&mut self, path: &Path, limit: u64) -> Option<BufReader<Box<dyn Read>>> {
        let open = || {
            self.check_pointer(path)?;
            let file = self.folder.open_file(path)?;
            if file.length()? > limit {
                Err(too_large(limit).into())
            } else {
                Ok(BufReader::new(utf8_reader(file.take(limit))?))
            }
        };
        open().map_err(|why| self.report_unread(path, why)).ok()
    }

    /// Opens a Parquet file, which is read in parts, without a limit on its size. An unreadable file is reported as a
    /// problem.
    pub(crate) fn open_parquet(&mut self, path: &Path) -> Option<Source> {
        let open = || {
            self.check_pointer(path)?;
            let file = self.folder.open_file(path)?;
            Ok(parquet_source(file)?)
        };
        open().map_err(|why| self.report_unread(path, why)).ok()
    }

    fn read_limited(&self, path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
        let bytes = read_at_most(self.folder.open_file(path)?, limit + 1)?;
        if bytes.len() as u64 > limit {
            return Err(too_large(limit).into());
        }
        pointer_reason(&bytes).map_or(Ok(bytes), |why| Err(why.to_owned().into()))
    }

    /// Fails if a file is only a pointer to the real file.
    fn check_pointer(&self, path: &Path) -> Result<(), ReadError> {
        let head = read_at_most(self.folder.open_file(path)?, POINTER_BYTES)?;
        pointer_reason(&head).map_or(Ok(()), |why| Err(why.to_owned().into()))
    }

    /// Adds the description of a media file. Earlier sidecars take precedence, and further ones of the same format
    /// extend them.
    pub(crate) fn add_description(
        &mut self,
        media: &Path,
        sidecar: &Path,
        description: MediaDescription,
    ) {
        self.add_row(media, sidecar, description, false);
    }

    /// Adds the description in a row. An export has several rows for the frames of a video, which do not extend each
    /// other.
    pub(super) fn add_row(
        &mut self,
        media: &Path,
        sidecar: &Path,
        mut description: MediaDescription,
        is_export: bool,
    ) {
        let mut limits: BTreeSet<_> = description.reached_limits().collect();
        self.limit_columns(&mut description);
        if description == MediaDescription::default() {
            return;
        }
        let has = description.stated_parts();
        let known = self.data.descriptions.entry(media.to_owned()).or_default();
        let origins = self.origins.entry(media.to_owned()).or_default();
        let is_of_sidecar = |origin: &Option<Arc<Path>>| origin.as_deref() == Some(sidecar);
        let is_of_format = |other: &Arc<Path>| has_same_format(other, sidecar);
        let extends = Parts {
            caption: !is_export && is_of_sidecar(&origins.caption),
            labels: !is_export && is_of_sidecar(&origins.labels),
            objects: !is_export && origins.objects.as_ref().is_some_and(is_of_format),
        };
        if let Some(other) =
            origins.objects.as_ref().filter(|other| extends.objects && ***other != *sidecar)
            && has.objects
            && description.has_scores() != known.has_scores()
        {
            self.findings.add_predicted(sidecar, Arc::clone(other));
        }
        let is_of_same_file = extends.objects && is_of_sidecar(&origins.objects);
        let known_limits: Vec<_> = known.reached_limits().collect();
        let (unused, further) = known.merge(description, &extends, is_of_same_file);
        if is_of_same_file && unused.objects {
            self.findings.add_other_unit(sidecar);
        }
        limits.extend(known.reached_limits().filter(|limit| !known_limits.contains(limit)));
        self.findings.add_limits(sidecar, limits);
        self.findings.add_further_objects(sidecar, further);
        // The folder that gives a label is not a sidecar.
        if self.data.sidecars.contains(sidecar)
            && let Some(used) = used_instead(origins, &unused, sidecar, media)
        {
            self.findings.add_unused(sidecar, used);
        }
        if *self.latest != *sidecar {
            self.latest = sidecar.into();
        }
        let parts = [
            (&mut origins.caption, has.caption),
            (&mut origins.labels, has.labels),
            (&mut origins.objects, has.objects),
        ];
        for (origin, _) in parts.into_iter().filter(|(_, has_part)| *has_part) {
            origin.get_or_insert_with(|| Arc::clone(&self.latest));
        }
    }

    /// Drops the columns that exceed the limit together with those of other rows and sidecars.
    fn limit_columns(&mut self, description: &mut MediaDescription) {
        description.extra_columns.retain(|name, _| {
            let is_kept =
                self.extra_columns.contains(name) || self.extra_columns.len() < MAX_EXTRA_COLUMNS;
            if is_kept && !self.extra_columns.contains(name) {
                self.extra_columns.insert(name.clone());
            } else if !is_kept {
                self.refused.add(name, Refusal::TooMany);
            }
            is_kept
        });
    }

    /// Returns what was read, with the problems of all sidecars.
    pub(super) fn finish(mut self) -> SidecarData {
        let problems = self.findings.problems();
        problems.for_each(|(sidecar, why)| self.data.add_problem(&sidecar, why));
        let origins = self.origins.into_iter();
        self.data.box_sidecars =
            origins.filter_map(|(media, origins)| Some((media, origins.objects?))).collect();
        self.data
    }

    pub(crate) fn mark_used(&mut self, path: &Path) {
        self.data.sidecars.insert(path.to_owned());
    }

    /// Adds a problem to those of a file, which is a sidecar.
    pub(crate) fn report_problem(&mut self, path: &Path, why: String) {
        self.mark_used(path);
        self.data.add_problem(path, why);
    }

    fn report_unread(&mut self, path: &Path, error: ReadError) {
        let why = match error {
            ReadError::Content(why) => why,
            ReadError::Io(cause) => unreadable(&cause),
        };
        self.report_problem(path, why);
    }

    pub fn report_problems(&mut self, path: &Path, diagnostics: SidecarDiagnostics) {
        self.report_rows(path, diagnostics, Ok(()));
    }

    /// Reports the problems of rows, the columns that are not kept, and why further rows were not read.
    pub(crate) fn report_rows(
        &mut self,
        path: &Path,
        mut diagnostics: SidecarDiagnostics,
        end: Result<(), String>,
    ) {
        let mut refused = mem::take(&mut diagnostics.refused);
        refused.merge(mem::take(&mut self.refused));
        let rows = diagnostics.summary().into_iter();
        let problems: Vec<String> = rows.chain(refused.summary()).chain(end.err()).collect();
        if !problems.is_empty() {
            self.report_problem(path, problems.join("; "));
        }
    }
}

/// Returns the other sidecar whose part is used instead of a differing one of `sidecar`. A sidecar of a single picture
/// differs from those of other formats without a finding.
fn used_instead(
    origins: &Origins,
    unused: &Parts<bool>,
    sidecar: &Path,
    media: &Path,
) -> Option<Arc<Path>> {
    let is_single = is_named_like(sidecar, media);
    let is_reported =
        |used: &&Arc<Path>| ***used != *sidecar && (has_same_format(used, sidecar) || !is_single);
    let used = [
        origins.caption.as_ref().filter(|_| unused.caption),
        origins.labels.as_ref().filter(|_| unused.labels),
        origins.objects.as_ref().filter(|_| unused.objects),
    ];
    used.into_iter().flatten().find(is_reported).cloned()
}

/// The reason why a sidecar is not read.
enum ReadError {
    Io(io::Error),
    /// The message says what is wrong with the content.
    Content(String),
}

impl From<io::Error> for ReadError {
    fn from(cause: io::Error) -> Self {
        Self::Io(cause)
    }
}

impl From<String> for ReadError {
    fn from(why: String) -> Self {
        Self::Content(why)
    }
}

/// Whether a sidecar is named like a media file: `a.xml` or `a.jpg.xmp` for `a.jpg`.
fn is_named_like(sidecar: &Path, media: &Path) -> bool {
    let stem = media.file_stem().unwrap_or_default().as_encoded_bytes();
    sidecar.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(stem))
}

/// Whether two sidecars have the same extension, so that both can be read together.
fn has_same_format(one: &Path, other: &Path) -> bool {
    let extension = |path: &Path| path.extension().map(OsStr::to_ascii_lowercase);
    extension(one) == extension(other)
}

pub(super) fn unreadable(cause: &io::Error) -> String {
    format!("it cannot be read ({})", read_error_name(cause))
}

fn too_large(limit: u64) -> String {
    format!("it is larger than {} MiB", limit >> 20)
}
