//! Summarizes the media items of a dataset: how many there are, what they show, and what is wrong with them. Also lists
//! what the last indexing of a local dataset could not read, or not completely. Folders are expected to contain other
//! files, so only pictures, videos, sidecars and folders that cannot be listed count.

use std::{collections::HashSet, path::Path};

use serde_json::{Value, json};
use tessera_model::{
    Dataset, ShellCommand, SkippedFile, is_metadata_label, text::grouped_with_noun, vql::IssueKind,
};

use super::{
    leaks::{FolderLeaks, leaks_between_folders},
    media_rows::{MediaRow, duplicate_groups, most_frequent},
};

/// The issues that a summary counts. Near-duplicates are counted as groups.
const COUNTED: [IssueKind; 8] = [
    IssueKind::Blur,
    IssueKind::Dark,
    IssueKind::Bright,
    IssueKind::Outliers,
    IssueKind::OddAspect,
    IssueKind::OddSize,
    IssueKind::Mislabels,
    IssueKind::LabelOutlier,
];

pub struct DatasetSummary<'a> {
    pub images: usize,
    pub frames: usize,
    /// The size of the files, as far as it is known.
    pub bytes: u64,
    pub with_caption: usize,
    pub formats: Vec<(String, u64)>,
    /// The smallest, the median and the largest picture, as width and height.
    pub sizes: Option<[(u64, u64); 3]>,
    pub labels: Vec<(&'a str, u64)>,
    pub objects: Vec<(&'a str, u64)>,
    pub tags: Vec<(&'a str, u64)>,
    /// The media items with an issue. Kinds without any are missing.
    pub issues: Vec<(IssueKind, Vec<&'a MediaRow>)>,
    /// The groups of near-duplicates, the largest first, the best row of a group first.
    pub duplicates: Vec<Vec<&'a MediaRow>>,
    /// The leaks between folders that are sets.
    pub leaks: Vec<FolderLeaks<'a>>,
    pub unread: UnreadFiles,
}

impl<'a> DatasetSummary<'a> {
    pub fn new(rows: &'a [MediaRow], unread: UnreadFiles) -> Self {
        let frames = rows.iter().filter(|row| row.is_frame).count();
        let mut videos = HashSet::new();
        let is_file = |row: &&'a MediaRow| !row.is_frame || videos.insert(row.file());
        let files: Vec<&MediaRow> = rows.iter().filter(is_file).collect();
        let formats: Vec<String> = files.iter().map(|row| extension(row.file())).collect();
        let counted = |kind: IssueKind| {
            let found: Vec<&MediaRow> = rows.iter().filter(|row| row.has_issue(kind)).collect();
            (!found.is_empty()).then_some((kind, found))
        };
        let duplicates = duplicate_groups(rows);
        let labels = rows.iter().flat_map(|row| &row.labels).map(String::as_str);
        let mut labels = most_frequent(labels);
        // What a camera says about many pictures follows what they show.
        labels.sort_by_key(|(label, _)| is_metadata_label(label));
        Self {
            images: rows.len() - frames,
            frames,
            bytes: total_bytes(files.iter().copied()),
            with_caption: rows.iter().filter(|row| row.has_caption).count(),
            formats: most_frequent(formats.iter().map(String::as_str))
                .into_iter()
                .map(|(name, count)| (name.to_owned(), count))
                .collect(),
            sizes: sizes(rows),
            labels,
            objects: most_frequent(rows.iter().flat_map(|row| &row.objects).map(String::as_str)),
            tags: most_frequent(rows.iter().flat_map(|row| &row.tags).map(String::as_str)),
            issues: COUNTED.into_iter().filter_map(counted).collect(),
            leaks: leaks_between_folders(rows, &duplicates),
            duplicates,
            unread,
        }
    }

    /// Returns the number of near-duplicates beyond the best of each group, and the size of their files.
    pub fn redundant(&self) -> (usize, u64) {
        let further = || self.duplicates.iter().flat_map(|group| &group[1..]);
        let bytes = total_bytes(further().copied().filter(|row| !row.is_frame));
        (further().count(), bytes)
    }
}

/// Sums the sizes, which are whatever the service sends.
fn total_bytes<'a>(rows: impl Iterator<Item = &'a MediaRow>) -> u64 {
    rows.filter_map(|row| row.bytes).fold(0, u64::saturating_add)
}

fn extension(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or_default();
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let extension = extension.to_ascii_lowercase();
    if extension == "jpg" { "jpeg".to_owned() } else { extension }
}

fn sizes(rows: &[MediaRow]) -> Option<[(u64, u64); 3]> {
    let mut sizes: Vec<(u64, u64)> = rows.iter().filter_map(|row| row.size).collect();
    sizes.sort_by_key(|(width, height)| (width.saturating_mul(*height), *width));
    Some([*sizes.first()?, sizes[sizes.len() / 2], *sizes.last()?])
}

#[derive(Debug, Default)]
pub struct UnreadFiles {
    pub media: Vec<SkippedFile>,
    pub sidecars: Vec<SkippedFile>,
    /// Folders that cannot be listed.
    pub folders: Vec<SkippedFile>,
}

impl UnreadFiles {
    pub fn new(mut skipped: Vec<SkippedFile>) -> Self {
        let media = skipped.extract_if(.., |it| it.is_media()).collect();
        let folders = skipped.extract_if(.., |it| it.is_unlisted()).collect();
        skipped.retain(SkippedFile::is_sidecar);
        Self { media, sidecars: skipped, folders }
    }

    pub fn all(&self) -> impl Iterator<Item = &SkippedFile> {
        self.media.iter().chain(&self.sidecars).chain(&self.folders)
    }

    /// Returns the number of each kind of files that there are.
    pub fn counts(&self) -> Vec<String> {
        let kinds = [
            (&self.media, "picture or video", "pictures or videos"),
            (&self.sidecars, "annotation file", "annotation files"),
            (&self.folders, "folder", "folders"),
        ];
        let kinds = kinds.into_iter().filter(|(files, ..)| !files.is_empty());
        kinds.map(|(files, one, many)| grouped_with_noun(files.len() as u64, one, many)).collect()
    }

    /// Returns a warning with the first file of each kind, or `None` if everything was read. `command` lists all files.
    pub fn warning(&self, dataset: &Dataset, command: &ShellCommand) -> Option<String> {
        let first = [self.media.first(), self.sidecars.first(), self.folders.first()];
        let first = first.into_iter().flatten();
        let first: Vec<String> = first.map(|it| format!("{}: {}", it.file, it.reason)).collect();
        let verb = if self.all().count() == 1 { "was" } else { "were" };
        (!first.is_empty()).then(|| {
            format!(
                "{} of {} {verb} not read, or not completely, such as {}; `{command}` lists all",
                self.counts().join(" and "),
                dataset.name,
                first.join(", and "),
            )
        })
    }

    /// Returns the pictures and videos, and the folders that may contain some, as rows, which have no media item.
    /// `folder` is that of the dataset.
    pub fn media_rows(&self, folder: Option<&Path>) -> Vec<MediaRow> {
        // An archive is not a folder.
        let original = |it: &SkippedFile| {
            folder.map(|folder| folder.join(it.file.received())).filter(|file| file.exists())
        };
        let row = |it: &SkippedFile| MediaRow {
            path: it.file.received().to_owned(),
            original: original(it),
            ..MediaRow::default()
        };
        self.media.iter().chain(&self.folders).map(row).collect()
    }

    pub fn describe(&self) -> Value {
        let row = |it: &SkippedFile| json!({ "path": it.file, "reason": it.reason });
        self.all().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use tessera_model::{FileKind, SafeText, file_kind::UNLISTED};

    use super::*;
    use crate::usecase::media_rows::RowIssue;

    #[test]
    fn media_are_counted_by_what_is_known() {
        let issue = |kind: &str, group: Option<&str>| RowIssue {
            kind: kind.to_owned(),
            confidence: None,
            group: group.map(ToOwned::to_owned),
        };
        let row = |path: &str, bytes, width, issues| MediaRow {
            path: path.to_owned(),
            bytes: Some(bytes),
            size: Some((width, 10)),
            issues,
            labels: vec!["sea".to_owned()],
            ..MediaRow::default()
        };
        let copy = || vec![issue("duplicates", Some("g")), issue("blur", None)];
        let frame = |number| MediaRow {
            is_frame: true,
            labels: vec!["iso:100".to_owned(); 2],
            ..row(&format!("f.mp4/f_{number}.jpg"), 900, 2, Vec::new())
        };
        let rows = [
            row("a.JPG", 5, 3, copy()),
            row("b/c.jpeg", 7, 1, copy()),
            row("d", 9, 2, Vec::new()),
            frame(1),
            frame(2),
        ];
        let summary = DatasetSummary::new(&rows, UnreadFiles::default());
        assert_eq!((summary.images, summary.frames, summary.bytes), (3, 2, 921));
        assert_eq!(
            summary.formats,
            [("jpeg", 2), ("", 1), ("mp4", 1)].map(|(name, count)| (name.to_owned(), count))
        );
        assert_eq!(summary.sizes, Some([(1, 10), (2, 10), (3, 10)]));
        assert_eq!(summary.labels, [("sea", 3), ("iso:100", 4)]);
        assert_eq!(summary.redundant(), (1, 7));
        let issues: Vec<_> =
            summary.issues.iter().map(|(kind, rows)| (*kind, rows.len())).collect();
        assert_eq!(issues, [(IssueKind::Blur, 2)]);
        let huge = [u64::MAX, u64::MAX].map(|bytes| row("e", bytes, 1, copy()));
        let summary = DatasetSummary::new(&huge, UnreadFiles::default());
        assert_eq!((summary.bytes, summary.redundant()), (u64::MAX, (1, u64::MAX)));
        assert_eq!(DatasetSummary::new(&[], UnreadFiles::default()).sizes, None);
    }

    #[test]
    fn a_file_that_was_not_read_has_its_path_on_this_machine() {
        let folder = tempfile::tempdir().unwrap();
        let here = "he\u{202e}re.jpg";
        std::fs::write(folder.path().join(here), "").unwrap();
        let skipped = |name: &str, reason: &str| SkippedFile {
            file: SafeText::name(name),
            reason: SafeText::name(reason),
            kind: FileKind::from_name(name),
            is_excluded: false,
        };
        let unread = UnreadFiles::new(vec![
            skipped(here, "damaged"),
            skipped("archive.zip/a.jpg", "damaged"),
            skipped("closed", UNLISTED),
        ]);
        let rows = unread.media_rows(Some(folder.path()));
        let originals: Vec<_> = rows.into_iter().map(|row| row.original).collect();
        assert_eq!(originals, [Some(folder.path().join(here)), None, None]);
    }
}
