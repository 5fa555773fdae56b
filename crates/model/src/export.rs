//! Exports: what is asked for, what the service says of it, and when it is over.

use std::{fmt, path::PathBuf};

use crate::{ExportTaskId, Link, SafeText, inspection::NameSample};

/// The format of the metadata file in the archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum ExportFormat {
    /// `metadata.json`.
    Json,
    /// `metadata.parquet`.
    #[default]
    Parquet,
}

impl ExportFormat {
    /// The word on the wire and on screen.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Parquet => "parquet",
        }
    }

    /// Reads the wire's word, any case.
    #[must_use]
    pub fn parse(raw: &str) -> Option<Self> {
        match raw.trim().to_lowercase().as_str() {
            "json" => Some(Self::Json),
            "parquet" => Some(Self::Parquet),
            _ => None,
        }
    }
}

/// What is to be exported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportSpec {
    /// Name of the ZIP: one safe component ending in `.zip`.
    pub file_name: ArchiveName,
    /// Format of the metadata.
    pub format: ExportFormat,
    /// Whether the pictures come along.
    pub include_images: bool,
}

/// The name of an archive: a single file name that is safe to create, ending in `.zip`.
#[derive(Clone, PartialEq, Eq)]
pub struct ArchiveName(String);

impl ArchiveName {
    /// Makes a safe name of whatever is given: the last path component, without control or
    /// reserved characters, leading dots or dashes, at most 200 bytes.
    #[must_use]
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
        let reserved = ["con", "prn", "aux", "nul"].contains(&stem.to_lowercase().as_str());
        let stem = if stem.is_empty() || reserved { "export" } else { stem };
        Self(format!("{stem}.zip"))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ArchiveName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

/// Where an export stands, as the service tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExportState {
    /// Not over: the word as it came, or empty when the service gave none.
    Running(SafeText),
    /// The archive can be fetched once a link is there.
    Completed,
    /// Over, without an archive: FAILED, REJECTED or CANCELLED, as it came.
    Failed(SafeText),
}

impl ExportState {
    /// Reads a status word. An unknown word means the work goes on.
    #[must_use]
    pub fn parse(raw: &str) -> Self {
        match raw.trim().to_uppercase().as_str() {
            "COMPLETED" => Self::Completed,
            "FAILED" | "REJECTED" | "CANCELED" | "CANCELLED" => {
                Self::Failed(SafeText::name(raw.trim()))
            }
            _ => Self::Running(SafeText::name(raw.trim())),
        }
    }

    /// The word on screen.
    #[must_use]
    pub fn word(&self) -> &str {
        match self {
            Self::Running(word) if word.is_empty() => "PENDING",
            Self::Running(word) | Self::Failed(word) => word.as_str(),
            Self::Completed => "COMPLETED",
        }
    }
}

/// One answer about an export.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportTask {
    /// Identifier to poll with.
    pub id: ExportTaskId,
    /// Where it stands.
    pub state: ExportState,
    /// Percent done, where the service tells it.
    pub progress: Option<u8>,
    /// A time-limited link to the archive; present with COMPLETED.
    pub download: Option<Link>,
    /// Words of the service about the result.
    pub message: Option<SafeText>,
}

/// What a finished download holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Archive {
    /// Where it is.
    pub path: PathBuf,
    /// Its size in bytes.
    pub bytes: u64,
    /// Entries whose checksums were verified.
    pub entries: usize,
    /// How many of them are pictures below `images/`.
    pub images: usize,
}

/// What came out of an archive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extraction {
    /// The folder that everything lies below.
    pub folder: PathBuf,
    /// Files written.
    pub files: u64,
    /// Bytes written.
    pub bytes: u64,
    /// Entries that were refused, each with the reason.
    pub rejected_entries: NameSample,
    /// The file that joins rows and pictures, if it was asked for.
    pub index_file: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn unknown_states_go_on_and_terminal_ones_end() {
        assert_eq!(
            ExportState::parse("in_progress"),
            ExportState::Running(SafeText::name("in_progress"))
        );
        assert_eq!(ExportState::parse("").word(), "PENDING");
        assert_eq!(ExportState::parse("completed"), ExportState::Completed);
        assert!(matches!(ExportState::parse("REJECTED"), ExportState::Failed(_)));
    }

    #[test]
    fn archive_names_are_single_safe_components() {
        for (raw, safe) in [
            ("photos", "photos.zip"),
            ("a/b/../c.ZIP", "c.zip"),
            ("..", "export.zip"),
            ("-rf", "rf.zip"),
            ("con.zip", "export.zip"),
            ("x\u{1b}[2J\r\n.zip", "x_[2J__.zip"),
        ] {
            assert_eq!(ArchiveName::new(raw).as_str(), safe);
        }
    }

    proptest! {
        #[test]
        fn any_input_gives_one_component(raw in "\\PC*") {
            let name = ArchiveName::new(&raw);
            prop_assert!(name.as_str().len() <= 200 && !name.as_str().contains(['/', '\\', '\0']));
            prop_assert!(name.as_str().rsplit('.').next() == Some("zip") && !name.as_str().starts_with(['.', '-']));
        }
    }
}
