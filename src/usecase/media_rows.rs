//! The media items of a dataset, read from the metadata of an export, which every deployment offers. Values that a
//! service does not send are missing, never guessed.

use std::{
    collections::{BTreeMap, HashMap},
    path::{Path, PathBuf},
    time::Instant,
};

use serde_json::Value;
use tessera_client::{Client, ExistingFile, OriginalLookup};
use tessera_model::{
    ArchiveName, DatasetId, ExportFormat, ExportSpec, ExportState, ExportTask, Failure, MediaId,
    SafeText, is_metadata_label,
    polling::{PollTarget, PollingIntervals},
    text::composed,
    vql::IssueKind,
};
use tessera_wire::{export::column, fields::count};

use super::run_blocking;

/// A row of the metadata: an image, or a frame of a video.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MediaRow {
    pub media: Option<MediaId>,
    /// The path in the dataset, or the name of the file if the service sends no path. Not sanitized.
    pub path: String,
    pub is_frame: bool,
    /// The size of the file. For a frame, this is the size of its video, which only this machine knows.
    pub bytes: Option<u64>,
    /// The width and height in pixels.
    pub size: Option<(u64, u64)>,
    pub uniqueness: Option<f64>,
    pub has_caption: bool,
    pub labels: Vec<String>,
    pub tags: Vec<String>,
    /// The labels of the objects.
    pub objects: Vec<String>,
    pub issues: Vec<RowIssue>,
    pub link: Option<String>,
    /// The file of this machine that is or contains the media item: for a frame its video, and for an image inside a
    /// Parquet file this file.
    pub original: Option<PathBuf>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct RowIssue {
    pub kind: String,
    /// From 0 to 1.
    pub confidence: Option<f64>,
    /// The group of near-duplicates.
    pub group: Option<String>,
}

impl MediaRow {
    pub fn read(row: &Value) -> Self {
        let text = |key: &str| row[key].as_str().map(ToOwned::to_owned);
        let path = [column::FILE_PATH, column::FILE_NAME, column::IMAGE_FILENAME];
        let side = |key: &str| count(row, key).filter(|pixels| *pixels > 0);
        Self {
            media: text(column::MEDIA_ID).and_then(|id| id.parse().ok()),
            path: path.into_iter().find_map(text).unwrap_or_default(),
            is_frame: row[column::MEDIA_TYPE] == "video_frame",
            bytes: count(row, column::FILE_SIZE),
            size: side(column::WIDTH).zip(side(column::HEIGHT)),
            uniqueness: row[column::UNIQUENESS_SCORE].as_f64(),
            has_caption: text(column::CAPTION).is_some_and(|caption| !caption.trim().is_empty()),
            labels: texts(&row[column::LABELS], None),
            tags: texts(&row[column::USER_TAGS], None),
            objects: texts(&row[column::OBJECTS], Some("label")),
            issues: list(&row[column::ISSUES]).iter().filter_map(RowIssue::read).collect(),
            link: text(column::URL),
            original: None,
        }
    }

    /// Returns the file of this machine that is the media item itself, which a frame does not have.
    pub fn whole_file(&self) -> Option<&Path> {
        self.original.as_deref().filter(|original| original.ends_with(&self.path))
    }

    pub fn has_issue(&self, kind: IssueKind) -> bool {
        self.issues.iter().any(|issue| issue.kind == kind.as_str())
    }

    /// Returns the labels that say what is shown: those of the media item, or those of its objects if it has none.
    pub fn classes(&self) -> Vec<&str> {
        let own = self.labels.iter().map(String::as_str).filter(|label| !is_metadata_label(label));
        let own: Vec<&str> = own.collect();
        if own.is_empty() { self.objects.iter().map(String::as_str).collect() } else { own }
    }

    /// Returns the path of the file. Frames of a video look as if they were in a folder named like the video.
    pub fn file(&self) -> &str {
        let video = self.path.rsplit_once('/').filter(|_| self.is_frame);
        video.map_or(&self.path, |(video, _)| video)
    }

    /// Returns the group of near-duplicates, if there is one.
    pub fn duplicate_group(&self) -> Option<&str> {
        let of_duplicates = |issue: &&RowIssue| issue.kind == IssueKind::Duplicates.as_str();
        self.issues.iter().find(of_duplicates)?.group.as_deref()
    }

    /// Returns the number of pixels, or 0 if it is unknown.
    pub fn pixels(&self) -> u64 {
        self.size.map_or(0, |(width, height)| width.saturating_mul(height))
    }

    /// Whether the file is in a folder of the dataset, which a name without slashes at its ends stands for.
    pub fn is_in_folder(&self, folder: &str) -> bool {
        let (path, folder) = (composed(&self.path), composed(folder.trim_matches('/')));
        path.strip_prefix(&*folder).is_some_and(|rest| rest.starts_with('/'))
    }
}

impl RowIssue {
    fn read(issue: &Value) -> Option<Self> {
        Some(Self {
            kind: issue["type"].as_str()?.to_owned(),
            confidence: issue["confidence"].as_f64(),
            group: issue["group"].as_str().map(ToOwned::to_owned),
        })
    }
}

/// Reads the metadata of all media items of a dataset. `follow` waits until the export of the metadata has ended.
pub async fn fetch<E: From<Failure> + Send + 'static>(
    client: &Client,
    dataset: DatasetId,
    originals: Option<OriginalLookup>,
    follow: impl AsyncFnOnce(&ExportSpec, ExportTask) -> Result<ExportTask, E>,
) -> Result<Vec<MediaRow>, E> {
    let folder = tempfile::tempdir()
        .map_err(|error| Failure::local(format!("cannot create a temporary folder: {error}")))?;
    let spec = ExportSpec {
        file_name: ArchiveName::new("metadata"),
        format: ExportFormat::Parquet,
        include_images: false,
    };
    let started = client.start_export(dataset, &spec).await;
    let task = started.map_err(without_export)?;
    let id = task.id;
    if let Some(failure) = follow(&spec, task).await?.failure() {
        return Err(failure.into());
    }
    let archive = folder.path().join("metadata.zip");
    client.download(dataset, id, &archive, ExistingFile::Keep, &mut |_, _| {}).await?;
    let read = move || {
        let mut rows = Vec::new();
        let mut sizes: HashMap<PathBuf, Option<u64>> = HashMap::new();
        tessera_client::read_metadata(&archive, |row| {
            let mut row = MediaRow::read(&row);
            row.original = row.media.zip(originals.as_ref()).and_then(|(id, find)| find(id));
            if row.is_frame {
                // All frames of a video have the same file.
                row.bytes = row.original.clone().and_then(|video| {
                    let size = |video: &PathBuf| Some(video.metadata().ok()?.len());
                    *sizes.entry(video).or_insert_with_key(size)
                });
            }
            rows.push(row);
        })?;
        // The folder exists until the archive has been read.
        drop(folder);
        Ok(rows)
    };
    run_blocking(read).await
}

/// Says what the export is for, because the user has not started it. A second one would do no harm.
fn without_export(failure: Failure) -> Failure {
    let sentence = format!("cannot read the metadata of the dataset: {}", failure.message);
    let remedy = failure.remedy.clone().filter(|_| !failure.may_have_taken_effect());
    Failure { message: SafeText::detail(&sentence), remedy, ..failure }
}

/// Waits until an export is completed or has failed.
pub async fn follow_export(
    client: &Client,
    dataset: DatasetId,
    task: ExportTask,
) -> Result<ExportTask, Failure> {
    let begun = Instant::now();
    loop {
        let export = client.export_status(dataset, task.id).await?;
        // The download waits for the link of an export that is completed, with a time limit.
        if !matches!(export.state, ExportState::Running(_)) {
            return Ok(export);
        }
        let target = PollTarget::Export(begun.elapsed());
        tokio::time::sleep(PollingIntervals::default().interval(target, 0)).await;
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Returns the texts in a list, or those of a field of the objects in it.
fn texts(value: &Value, field: Option<&str>) -> Vec<String> {
    let text = |item: &Value| field.map_or(item, |field| &item[field]).as_str().map(str::to_owned);
    list(value).iter().filter_map(text).collect()
}

/// Returns the groups of near-duplicates with at least two rows: the largest group first, the best row of a group first.
/// A row is better if it has more pixels, then more bytes, then the first path.
pub fn duplicate_groups(rows: &[MediaRow]) -> Vec<Vec<&MediaRow>> {
    let mut groups = HashMap::<&str, Vec<&MediaRow>>::new();
    for row in rows {
        if let Some(group) = row.duplicate_group() {
            groups.entry(group).or_default().push(row);
        }
    }
    let mut groups: Vec<_> = groups.into_values().filter(|group| group.len() > 1).collect();
    for group in &mut groups {
        group.sort_by(|a, b| {
            (b.pixels(), b.bytes).cmp(&(a.pixels(), a.bytes)).then_with(|| a.path.cmp(&b.path))
        });
    }
    groups.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a[0].path.cmp(&b[0].path)));
    groups
}

/// Counts names, the most frequent first, then by name.
pub fn most_frequent<'a>(names: impl Iterator<Item = &'a str>) -> Vec<(&'a str, u64)> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for name in names {
        *counts.entry(name).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    // The sort is stable, so equal counts stay in the order of their names.
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_row_has_what_the_service_sends() {
        let row = MediaRow::read(&json!({
            "media_id": "0c6a8fc5-0000-4000-8000-000000000001", "media_type": "image",
            "file_path": "land/a.jpg", "file_name": "images/a.jpg", "file_size": 300, "width": 20,
            "height": 10, "uniqueness_score": 0.5, "caption": " ", "labels": ["sea"], "user_tags": [],
            "objects": [{"label": "boat"}, {"label": null}], "url": "https://service/a.jpg",
            "issues": [{"type": "duplicates", "confidence": 0.9, "group": "g"}, {"type": 3}],
        }));
        assert_eq!((row.path.as_str(), row.pixels(), row.bytes), ("land/a.jpg", 200, Some(300)));
        assert_eq!((row.labels.len(), row.objects.len(), row.issues.len()), (1, 1, 1));
        assert!(!row.has_caption && row.has_issue(IssueKind::Duplicates));
        assert!(
            MediaRow { path: "e\u{301}/a.png".to_owned(), ..row.clone() }.is_in_folder("\u{e9}")
        );
        assert!(row.is_in_folder("/land/") && !row.is_in_folder("lan") && !row.is_in_folder(""));
        assert_eq!(row.duplicate_group(), Some("g"));
        let classes = |labels: &[&str]| {
            let labels = labels.iter().map(|label| (*label).to_owned()).collect();
            MediaRow { labels, ..row.clone() }.classes().join(" ")
        };
        assert_eq!(classes(&["iso:100", "sea"]), "sea");
        assert_eq!(classes(&["iso:100", "rating:4"]), "boat");
        let minimal = MediaRow::read(&json!({"uniqueness_score": "x", "image_filename": "a.jpg"}));
        assert_eq!(minimal, MediaRow { path: "a.jpg".to_owned(), ..MediaRow::default() });
    }

    #[test]
    fn groups_begin_with_the_best_row_and_the_largest_group() {
        let row = |path: &str, group: &str, width| MediaRow {
            path: path.to_owned(),
            size: Some((width, 10)),
            issues: vec![RowIssue {
                kind: "duplicates".to_owned(),
                confidence: None,
                group: Some(group.to_owned()),
            }],
            ..MediaRow::default()
        };
        let rows = [
            row("d", "two", 9),
            row("a", "three", 9),
            row("b", "three", 30),
            row("c", "three", 9),
            row("e", "two", 9),
            row("f", "one", 9),
            MediaRow::default(),
        ];
        let groups = duplicate_groups(&rows);
        let paths: Vec<Vec<&str>> = groups
            .iter()
            .map(|group| group.iter().map(|row| row.path.as_str()).collect())
            .collect();
        assert_eq!(paths, [vec!["b", "a", "c"], vec!["d", "e"]]);
    }
}
