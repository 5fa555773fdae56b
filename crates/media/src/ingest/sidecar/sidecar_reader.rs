//! Finds the files that sidecars refer to, reads sidecars within limits, and collects what the readers of the formats
//! find in them. Each of these readers gets the same `SidecarReader`. Start here to see what a format may do, and how
//! problems become one sentence per file.

use std::{
    cell::OnceCell,
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    ffi::OsStr,
    io::{self, BufReader, Read as _, Take},
    mem,
    path::{Component, Path, PathBuf},
};

use tessera_model::FileKind;
use tessera_parquet::Source;

use super::{
    description::MediaDescription,
    own_columns::{MAX_OWN_COLUMNS, Refusal, RefusedColumns},
};
use crate::ingest::{
    FolderScan, OriginalFiles, SourceFile,
    parquet_images::{ReadFailure, parquet_source},
    scan::METADATA_PARQUET,
};

/// Maximum size of a sidecar that describes many images, in bytes.
pub(crate) const MAX_SHARED_SIDECAR_BYTES: u64 = 64 << 20;
/// Maximum size of a sidecar of one image, and of a list of class names, in bytes.
pub(crate) const MAX_PER_IMAGE_SIDECAR_BYTES: u64 = 1 << 20;

/// The content of all sidecars of a folder. All paths are relative to the folder.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SidecarData {
    /// The descriptions by file. A file that a row names may turn out not to be a media file.
    pub descriptions: BTreeMap<PathBuf, MediaDescription>,
    /// The files that are used as sidecars, including faulty ones. None of them is a media file.
    pub sidecars: BTreeSet<PathBuf>,
    /// The problem of each faulty sidecar. Its valid rows are used nevertheless.
    pub problems: BTreeMap<PathBuf, String>,
}

pub(crate) struct SidecarReader<'a> {
    folder: &'a dyn OriginalFiles,
    pub files: FileIndex<'a>,
    pub data: SidecarData,
    /// The names of all columns of the user's own.
    own_columns: BTreeSet<String>,
    /// The columns of the current sidecar for which there was no room.
    refused: RefusedColumns,
}

impl<'a> SidecarReader<'a> {
    pub fn new(folder: &'a dyn OriginalFiles, files: FileIndex<'a>) -> Self {
        Self {
            folder,
            files,
            data: SidecarData::default(),
            own_columns: BTreeSet::new(),
            refused: RefusedColumns::default(),
        }
    }

    /// Reads a file without its byte order mark. A file that is unreadable or larger than `limit` is reported as a
    /// problem.
    pub(crate) fn read_bytes(&mut self, path: &Path, limit: u64) -> Option<Vec<u8>> {
        let mut bytes =
            self.read_limited(path, limit).map_err(|why| self.report_problem(path, why)).ok()?;
        if bytes.starts_with(b"\xEF\xBB\xBF") {
            bytes.drain(..3);
        }
        Some(bytes)
    }

    /// Like [`SidecarReader::read_bytes`], but for text. Invalid UTF-8 is reported as a problem.
    pub fn read_text(&mut self, path: &Path, limit: u64) -> Option<String> {
        String::from_utf8(self.read_bytes(path, limit)?)
            .map_err(|_| self.report_problem(path, "it is not UTF-8".to_owned()))
            .ok()
    }

    /// Opens a file that is read in parts. A file that is unreadable or larger than `limit` is reported as a problem.
    pub fn open(
        &mut self,
        path: &Path,
        limit: u64,
    ) -> Option<BufReader<Take<Box<dyn SourceFile>>>> {
        let open = || {
            let file = self.folder.open_file(path).map_err(|cause| unreadable(&cause))?;
            let length = file.length().map_err(|cause| unreadable(&cause))?;
            if length > limit {
                Err(too_large(limit))
            } else {
                Ok(BufReader::new(file.take(limit)))
            }
        };
        open().map_err(|why| self.report_problem(path, why)).ok()
    }

    /// Opens a Parquet file, which is read in parts, without a limit on its size. An unreadable file is reported as a
    /// problem.
    pub(crate) fn open_parquet(&mut self, path: &Path) -> Option<Source> {
        let open = || {
            let file = self.folder.open_file(path).map_err(|cause| unreadable(&cause))?;
            let source = parquet_source(file, &ReadFailure::default());
            source.map_err(|cause| unreadable(&cause))
        };
        open().map_err(|why| self.report_problem(path, why)).ok()
    }

    fn read_limited(&self, path: &Path, limit: u64) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        let file = self.folder.open_file(path).map_err(|cause| unreadable(&cause))?;
        file.take(limit + 1).read_to_end(&mut bytes).map_err(|cause| unreadable(&cause))?;
        if bytes.len() as u64 > limit {
            return Err(too_large(limit));
        }
        Ok(bytes)
    }

    /// Adds the description of a media file. Earlier sidecars take precedence.
    pub(crate) fn add_description(&mut self, media: &Path, mut description: MediaDescription) {
        description.own.retain(|name, _| {
            let is_kept =
                self.own_columns.contains(name) || self.own_columns.len() < MAX_OWN_COLUMNS;
            if is_kept && !self.own_columns.contains(name) {
                self.own_columns.insert(name.clone());
            } else if !is_kept {
                self.refused.add(name, Refusal::TooMany);
            }
            is_kept
        });
        if description == MediaDescription::default() {
            return;
        }
        self.data.descriptions.entry(media.to_owned()).or_default().merge_missing(description);
    }

    pub(crate) fn mark_used(&mut self, path: &Path) {
        self.data.sidecars.insert(path.to_owned());
    }

    /// Records a problem of a sidecar. Only the first problem is kept.
    pub(crate) fn report_problem(&mut self, path: &Path, why: String) {
        self.mark_used(path);
        self.data.problems.entry(path.to_owned()).or_insert(why);
    }

    pub fn report_problems(&mut self, path: &Path, diagnostics: SidecarDiagnostics) {
        self.report_rows(path, diagnostics, Ok(()));
    }

    /// Records the problems of rows, and why further rows were not read.
    pub(crate) fn report_rows(
        &mut self,
        path: &Path,
        diagnostics: SidecarDiagnostics,
        end: Result<(), String>,
    ) {
        let problems: Vec<String> =
            self.summary(diagnostics).into_iter().chain(end.err()).collect();
        if !problems.is_empty() {
            self.report_problem(path, problems.join("; "));
        }
    }

    /// Returns the problems of the rows, and the columns that are not kept.
    pub(crate) fn summary(&mut self, mut diagnostics: SidecarDiagnostics) -> Option<String> {
        let mut refused = mem::take(&mut diagnostics.refused);
        refused.merge(mem::take(&mut self.refused));
        let problems: Vec<String> =
            diagnostics.summary().into_iter().chain(refused.summary()).collect();
        (!problems.is_empty()).then(|| problems.join("; "))
    }
}

fn unreadable(cause: &io::Error) -> String {
    format!("it cannot be read ({})", cause.kind())
}

fn too_large(limit: u64) -> String {
    format!("it is larger than {} MiB", limit >> 20)
}

#[derive(Debug, Default)]
pub(crate) struct SidecarDiagnostics {
    /// The word for a position, such as a line, in the singular and the plural.
    nouns: [&'static str; 2],
    /// The current position, counted from 1.
    position: usize,
    last_reported: usize,
    first_message: Option<String>,
    further_positions: usize,
    /// The columns that are not kept.
    pub refused: RefusedColumns,
}

impl SidecarDiagnostics {
    pub fn new(noun: &'static str, plural: &'static str) -> Self {
        Self { nouns: [noun, plural], ..Self::default() }
    }

    /// Moves to a position, counted from 1.
    pub(crate) fn set_position(&mut self, position: usize) {
        self.position = position;
    }

    pub fn next_position(&mut self) {
        self.position += 1;
    }

    pub fn check(&mut self, result: Result<(), &str>) {
        if let Err(why) = result {
            self.report(why);
        }
    }

    /// Reports a problem at the current position. Each position counts once.
    pub fn report(&mut self, why: &str) {
        if self.first_message.is_none() {
            self.first_message = Some(format!("{} {}: {why}", self.nouns[0], self.position));
        } else if self.position != self.last_reported {
            self.further_positions += 1;
        }
        self.last_reported = self.position;
    }

    pub fn summary(self) -> Option<String> {
        let (first, [noun, plural]) = (self.first_message?, self.nouns);
        Some(match self.further_positions {
            0 => first,
            1 => format!("{first}; 1 more {noun}"),
            more => format!("{first}; {more} more {plural}"),
        })
    }
}

/// Names of image folders that have a parallel folder of sidecars.
const IMAGE_FOLDERS: [&str; 3] = ["images", "JPEGImages", "image_2"];
/// Returns the path of a sidecar in a folder parallel to that of its image.
pub(crate) fn parallel_path(media: &Path, folder: &str, extension: &str) -> Option<PathBuf> {
    let parts: Vec<_> = media.iter().collect();
    let position =
        parts.iter().rposition(|part| IMAGE_FOLDERS.iter().any(|images| part == images))?;
    let mut path: PathBuf = parts[..position].iter().collect();
    path.push(folder);
    path.extend(&parts[position + 1..]);
    Some(path.with_extension(extension))
}

/// Maximum number of folders with the same name in which an image is searched.
const MAX_CANDIDATE_FOLDERS: usize = 8;

pub(crate) struct FileIndex<'a> {
    scan: &'a FolderScan,
    paths: HashSet<&'a Path>,
    /// The only file of each name, or `None` if there are several. Built on demand.
    unique_names: OnceCell<HashMap<&'a OsStr, Option<&'a Path>>>,
    /// The folders of media files by their own name. Built on demand.
    media_folders: OnceCell<HashMap<&'a OsStr, BTreeSet<&'a Path>>>,
}

impl<'a> FileIndex<'a> {
    pub fn new(scan: &'a FolderScan) -> Self {
        let paths = scan.files.iter().map(|file| file.path.as_path()).collect();
        Self { scan, paths, unique_names: OnceCell::new(), media_folders: OnceCell::new() }
    }

    pub fn all(&self) -> impl Iterator<Item = &'a Path> + use<'a> {
        self.scan.files.iter().map(|file| file.path.as_path())
    }

    pub fn media(&self) -> impl Iterator<Item = &'a Path> + use<'a> {
        self.all().filter(|path| is_media(path))
    }

    /// Returns the files with this name, the least nested ones first.
    pub(crate) fn with_name(&self, name: &str) -> Vec<&'a Path> {
        let named = |path: &&Path| path.file_name() == Some(OsStr::new(name));
        let mut paths: Vec<_> = self.all().filter(named).collect();
        paths.sort_by_key(|path| path.components().count());
        paths
    }

    pub fn get(&self, path: &Path) -> Option<&'a Path> {
        self.paths.get(path).copied()
    }

    pub(crate) fn sidecar_beside(&self, media: &Path, extension: &str) -> Option<&'a Path> {
        self.get(&media.with_extension(extension))
    }

    /// Returns the sidecar of a media file in a parallel folder: `labels/b/a.txt` for `images/b/a.jpg`.
    pub(crate) fn sidecar_in_parallel_folder(
        &self,
        media: &Path,
        folder: &str,
        extension: &str,
    ) -> Option<&'a Path> {
        self.get(&parallel_path(media, folder, extension)?)
    }

    /// Finds the media file that a row of `sidecar` calls `name`. The name is relative to the folder of the sidecar or
    /// to the root, or only one file has it. A frame of a video is called as if it were in a folder named like the
    /// video. The error explains why no file was found.
    pub fn resolve(&self, name: &str, sidecar: &Path) -> Result<&'a Path, &'static str> {
        let media = self.resolve_as_written(name, sidecar).or_else(|why| {
            // Tables that were written on Windows contain backslashes.
            let portable = name.trim().replace('\\', "/");
            if portable == name { Err(why) } else { self.resolve_as_written(&portable, sidecar) }
        })?;
        if may_be_sidecar(media) { Err("its file_name is not a media file") } else { Ok(media) }
    }

    fn resolve_as_written(&self, name: &str, sidecar: &Path) -> Result<&'a Path, &'static str> {
        let mut path = PathBuf::new();
        for part in Path::new(name).components() {
            match part {
                Component::Normal(part) => path.push(part),
                Component::CurDir => {}
                _ => return Err("its file_name points outside the folder"),
            }
        }
        let by_path = |path: &Path| {
            let beside = sidecar.parent().and_then(|folder| self.get(&folder.join(path)));
            beside.or_else(|| self.get(path))
        };
        by_path(&path)
            .or_else(|| by_path(path.parent()?))
            .or_else(|| self.in_folder_of_same_name(&path, sidecar))
            .map_or_else(|| self.by_unique_name(&path), Ok)
    }

    /// Finds `train/a.jpg` or `images/train/a.jpg` for `instances_train.json`.
    fn in_folder_of_same_name(&self, path: &Path, sidecar: &Path) -> Option<&'a Path> {
        let folders = self.media_folders.get_or_init(|| {
            let mut folders = HashMap::<_, BTreeSet<_>>::new();
            for folder in self.media().filter_map(Path::parent) {
                if let Some(name) = folder.file_name() {
                    folders.entry(name).or_default().insert(folder);
                }
            }
            folders
        });
        let word = sidecar.file_stem()?.to_str()?.rsplit(['_', '-', '.', ' ']).next()?;
        let named = folders.get(OsStr::new(word))?.iter().take(MAX_CANDIDATE_FOLDERS);
        named.map(|folder| folder.join(path)).find_map(|path| self.get(&path))
    }

    fn by_unique_name(&self, path: &Path) -> Result<&'a Path, &'static str> {
        let unique = self.unique_names.get_or_init(|| {
            let mut unique = HashMap::new();
            for path in self.all() {
                if let Some(name) = path.file_name() {
                    unique.entry(name).and_modify(|only| *only = None).or_insert(Some(path));
                }
            }
            unique
        });
        match path.file_name().and_then(|name| unique.get(name)) {
            Some(Some(path)) => Ok(path),
            Some(None) => Err("its file_name matches several files in the folder"),
            None => Err("its file_name is not in the folder"),
        }
    }
}

fn is_media(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    FileKind::from_name(&name).is_media()
}

pub(crate) const METADATA_JSONL: &str = "metadata.jsonl";
pub(crate) const METADATA_CSV: &str = "metadata.csv";
/// The metadata in the archive of an export.
pub(crate) const METADATA_JSON: &str = "metadata.json";
pub(crate) const CVAT_XML: &str = "annotations.xml";
/// Files with the class names for YOLO boxes, in the order in which they are tried.
pub(crate) const CLASS_NAME_FILES: [&str; 7] = [
    "data.yaml",
    "data.yml",
    "dataset.yaml",
    "dataset.yml",
    "classes.txt",
    "obj.names",
    "_darknet.labels",
];
/// The COCO file in every folder of a Roboflow export.
const ROBOFLOW_COCO: &str = "_annotations.coco.json";
/// The usual folder of COCO files that are not in the root.
const COCO_FOLDER: &str = "annotations";

/// Whether a file has the name of a sidecar. Rows of tables cannot describe such a file as a media file.
fn may_be_sidecar(path: &Path) -> bool {
    let ends = |end: &str| path.extension().is_some_and(|extension| extension == end);
    describes_many(path)
        || ends("txt")
        || ends("xml")
        || ends("cls")
        || open_images_table(path).is_some()
        || may_be_coco(path)
}

/// Whether a file of this name describes many images, or names the classes of many.
pub(crate) fn describes_many(path: &Path) -> bool {
    is_named(path, &[METADATA_JSONL, METADATA_PARQUET, METADATA_CSV, METADATA_JSON])
        || is_named(path, &CLASS_NAME_FILES)
}

pub(crate) fn may_be_coco(path: &Path) -> bool {
    let folder = path.parent().and_then(Path::file_name);
    path.extension().is_some_and(|extension| extension == "json")
        && (folder.is_none_or(|folder| folder.eq_ignore_ascii_case(COCO_FOLDER))
            || is_named(path, &[ROBOFLOW_COCO]))
}

/// The tables of Open Images: boxes, labels that people checked, and names of classes. The name of a table begins with
/// a version and with the part of the images that it covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpenImagesTable {
    Boxes,
    Labels,
    ClassNames,
}

pub(crate) fn open_images_table(path: &Path) -> Option<OpenImagesTable> {
    let name = path.file_name()?.to_str()?.strip_suffix(".csv")?;
    let contains = |word| name.contains(word);
    if name.ends_with("annotations-bbox") {
        Some(OpenImagesTable::Boxes)
    } else if contains("annotations-human-imagelabels") {
        Some(OpenImagesTable::Labels)
    } else {
        contains("class-descriptions").then_some(OpenImagesTable::ClassNames)
    }
}

fn is_named(path: &Path, names: &[&str]) -> bool {
    path.file_name().is_some_and(|name| names.iter().any(|known| name == *known))
}
