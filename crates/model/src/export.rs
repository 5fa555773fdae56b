//! Exports: their options, their state, and the resulting archives.

use std::{
    fmt,
    path::{Path, PathBuf},
    str::FromStr,
    time::Duration,
};

use serde::{Deserialize, Serialize, Serializer};

use crate::{
    ExportTaskId, Failure, FailureKind, Link, PictureSource, SafeText, archive_paths::is_reserved,
    keyword::keyword_enum, text::first_names,
};

keyword_enum!(
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    ExportFormat {
        Json = "json",
        #[default]
        Parquet = "parquet",
        Coco = "coco",
        /// Boxes.
        Yolo = "yolo",
        #[serde(rename = "yolo-segment")]
        YoloSegment = "yolo-segment",
        #[serde(rename = "yolo-pose")]
        YoloPose = "yolo-pose",
        /// Pascal VOC.
        Voc = "voc",
        Csv = "csv",
        /// Images with `metadata.jsonl`.
        ImageFolder = "imagefolder",
        WebDataset = "webdataset",
        /// Parquet with the bytes of the images, as the library `datasets` writes it.
        #[serde(rename = "hf-parquet")]
        HfParquet = "hf-parquet",
    }
);

impl ExportFormat {
    /// Whether the API document has the format. Only a local service writes the others.
    pub fn is_in_api(self) -> bool {
        matches!(self, Self::Json | Self::Parquet)
    }

    /// Whether the format has no form without images.
    pub fn requires_images(self) -> bool {
        !matches!(self, Self::Json | Self::Parquet | Self::Coco | Self::Csv)
    }

    /// Whether the images are inside files with their descriptions, instead of in the folder `images`.
    pub fn embeds_images(self) -> bool {
        matches!(self, Self::WebDataset | Self::HfParquet)
    }

    /// Whether the library `datasets` of Hugging Face reads the archive as an image folder.
    pub fn is_image_folder(self) -> bool {
        matches!(self, Self::Json | Self::Parquet | Self::Csv | Self::ImageFolder)
    }
}

/// What a format omits or changes of the media of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportPreview {
    pub media_count: u64,
    pub omissions: Vec<Omission>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Omission {
    pub count: u64,
    /// What is omitted or changed, with its number.
    pub text: SafeText,
}

impl FromStr for ExportFormat {
    type Err = &'static str;

    /// Parses the keyword in any case.
    fn from_str(raw: &str) -> Result<Self, Self::Err> {
        Self::from_keyword(&raw.trim().to_lowercase()).ok_or(
            "expected json, parquet, coco, yolo, yolo-segment, yolo-pose, voc, csv, imagefolder, webdataset or hf-parquet",
        )
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportSpec {
    pub file_name: ArchiveName,
    #[serde(rename = "export_format")]
    pub format: ExportFormat,
    pub include_images: bool,
}

/// The name of an archive: one file name that is safe to create, ending in `.zip`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String")]
pub struct ArchiveName(String);

impl ArchiveName {
    /// Sanitizes a name: keeps the last path component without control characters, reserved characters, and leading
    /// dots and dashes, and truncates it to 200 bytes.
    pub fn new(raw: &str) -> Self {
        let base = raw.rsplit(['/', '\\']).next().unwrap_or_default();
        let mut stem: String = base
            .chars()
            .map(|c| if c.is_control() || r#"<>:"|?*"#.contains(c) { '_' } else { c })
            .filter(|&c| SafeText::name(c.encode_utf8(&mut [0; 4])).as_str().chars().eq([c]))
            .collect();
        if stem.to_lowercase().ends_with(".zip") {
            stem.truncate(stem.len() - 4);
        }
        while stem.len() > 190 {
            stem.pop();
        }
        let stem = stem.trim_start_matches(['.', '-', ' ']).trim_end_matches(['.', ' ']);
        let stem = if stem.is_empty() || is_reserved(stem) { "export" } else { stem };
        Self(format!("{stem}.zip"))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for ArchiveName {
    fn from(raw: String) -> Self {
        Self::new(&raw)
    }
}

impl fmt::Debug for ArchiveName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExportState {
    /// The status as received. Empty if the service sent none.
    Running(SafeText),
    /// The export is complete. The archive can be downloaded once the service sends a link.
    Completed,
    /// FAILED, REJECTED, CANCELLED or another word for failure, as received.
    Failed(SafeText),
}

impl ExportState {
    /// Parses a status. Unknown words count as running.
    pub fn parse(raw: &str) -> Self {
        match raw.trim().to_uppercase().as_str() {
            "COMPLETED" => Self::Completed,
            "FAILED" | "FAILURE" | "ERROR" | "REJECTED" | "CANCELED" | "CANCELLED" | "ABORTED" => {
                Self::Failed(SafeText::name(raw.trim()))
            }
            _ => Self::Running(SafeText::name(raw.trim())),
        }
    }

    pub fn as_str(&self) -> &str {
        match self {
            Self::Running(word) if word.is_empty() => "PENDING",
            Self::Running(word) | Self::Failed(word) => word.as_str(),
            Self::Completed => "COMPLETED",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct ExportTask {
    pub id: ExportTaskId,
    pub state: ExportState,
    /// Percent.
    pub progress: Option<u8>,
    /// A time-limited link to the archive, present once the export is completed.
    pub download: Option<Link>,
    pub message: Option<SafeText>,
}

impl ExportTask {
    /// Whether the export has failed, or its archive can be downloaded.
    pub fn has_ended(&self) -> bool {
        match &self.state {
            // Without a link, a completed export cannot be downloaded yet.
            ExportState::Completed => self.download.is_some(),
            ExportState::Failed(_) => true,
            ExportState::Running(_) => false,
        }
    }

    /// Why the export ended without an archive, or `None` if it may still produce one.
    pub fn failure(&self) -> Option<Failure> {
        let ExportState::Failed(state) = &self.state else { return None };
        let sentence = format!("the export ended with {state}");
        Some(Failure::new(FailureKind::Rejected, sentence).with_detail(self.message.clone()))
    }

    /// How long a completed export may have no link.
    pub const LINK_TIMEOUT: Duration = Duration::from_mins(10);

    /// Why an export that is completed cannot be downloaded, after the time in which its link had to arrive.
    pub fn missing_link() -> Failure {
        let sentence = "the export is complete, but the service provides no download link";
        Failure::new(FailureKind::Unexpected, sentence)
            .with_remedy("Try again later, or start the export again")
    }

    /// What a completed export lacks. A service has nothing else to say about an export that is whole.
    pub fn shortfall(&self) -> Option<&SafeText> {
        self.message.as_ref().filter(|_| self.state == ExportState::Completed)
    }
}

/// A verified archive on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Archive {
    #[serde(serialize_with = "write_path")]
    pub path: PathBuf,
    pub bytes: u64,
    /// Entries whose checksums were verified.
    pub entries: usize,
    /// Entries below `images/`.
    pub images: usize,
}

/// Writes a path that need not be Unicode.
pub(crate) fn write_path<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extraction {
    pub folder: PathBuf,
    pub files: u64,
    pub bytes: u64,
    /// The number of files that share their space with the originals.
    pub shared_files: u64,
    /// Entries that were skipped, each with the reason.
    pub rejected_entries: NameSample,
    /// The file that joins rows of metadata with their pictures, if requested.
    pub index_file: Option<PathBuf>,
    /// Why the index file, or the table of an image folder, could not be written.
    pub index_failure: Option<Failure>,
}

/// The contents of an export archive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inspection {
    pub path: PathBuf,
    pub bytes: u64,
    pub metadata_file: SafeText,
    /// The number of files beside `images/`, if not [`Self::has_rows`].
    pub annotation_files: u64,
    /// The format, as far as the names of the files show it: the formats of YOLO have the same names.
    pub format: ExportFormat,
    /// The number of rows of the metadata, if [`Self::has_rows`].
    pub rows: u64,
    pub columns: Vec<SafeText>,
    /// The number of rows by `uniqueness_score`, in ten bins from 0.0 to 1.0.
    pub uniqueness: [u64; Inspection::BINS],
    /// Rows without a `uniqueness_score` from 0.0 to 1.0.
    pub unscored: u64,
    /// The number of rows that are frames.
    pub frames: u64,
    pub videos: u64,
    /// Files below `images/`.
    pub images: u64,
    /// At most [`Inspection::MAX_NAMED`].
    pub first_images: Vec<PictureSource>,
    /// Files that rows name but the archive lacks.
    pub rows_without_file: NameSample,
    /// Files that no row names.
    pub files_without_row: NameSample,
    /// Entries with unsafe names, which are never opened.
    pub unsafe_entries: NameSample,
}

/// A count, and the first [`Inspection::MAX_NAMED`] names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameSample {
    pub count: u64,
    pub first: Vec<SafeText>,
}

impl NameSample {
    pub fn add(&mut self, name: &str) {
        self.count += 1;
        if self.first.len() < Inspection::MAX_NAMED {
            self.first.push(SafeText::file_name(name));
        }
    }

    /// Returns the first names, and the number of the others: `a, b and 3 more`.
    pub fn listed(&self) -> String {
        first_names(&self.first, usize::try_from(self.count).unwrap_or(usize::MAX), 5)
    }
}

impl Inspection {
    pub const BINS: usize = 10;
    pub const MAX_NAMED: usize = 200;

    /// Whether the metadata has rows that were read. Formats of other programs are not read.
    pub fn has_rows(&self) -> bool {
        self.format.is_in_api()
    }

    /// Returns the number of pictures, or `None` if they are inside files that are not read.
    pub fn image_count(&self) -> Option<u64> {
        (!self.format.embeds_images()).then_some(self.images)
    }
}
