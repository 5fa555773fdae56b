//! Decides from the observed statuses of a dataset whether an addition or a reindex has finished.
//!
//! This needs some care: the first status after the acceptance may still be the old one, PARTIAL INDEX is not final if
//! a reindex follows, and a small addition may finish between two polls.

use std::time::Duration;

use crate::{Dataset, Failure, FailureKind, JobKind, SafeText, Status, Timestamp};

/// After this time, a higher number of media is enough to conclude that the addition finished.
const COUNT_SETTLE_TIME: Duration = Duration::from_mins(1);

/// What a short operation changes in the record of a dataset, even if no poll observes its status: the time of the last
/// change, and the problem that the service reports.
type RecordMarks = (Option<SafeText>, Option<SafeText>);

#[derive(Clone, Debug, Default, PartialEq)]
pub struct TaskTracker {
    status_before: Option<Status>,
    media_before: Option<u64>,
    record_before: Option<RecordMarks>,
    accepted_at: Timestamp,
    /// Whether the dataset shows that the operation has begun.
    status_changed: bool,
    /// The status, the percentage and the number of media.
    last_observed: Option<(Status, Option<u8>, Option<u64>)>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum TaskStatus {
    Running,
    /// The final status of the dataset.
    Finished(SafeText),
    Failed(Failure),
}

impl TaskTracker {
    /// Starts tracking an operation whose request has not been sent yet.
    pub fn starting_from(dataset: Option<&Dataset>) -> Self {
        Self {
            status_before: dataset.map(|dataset| dataset.status.clone()),
            media_before: dataset.and_then(media_count),
            record_before: dataset.map(record_marks),
            ..Self::default()
        }
    }

    /// Resumes a task that was accepted in an earlier run.
    pub fn resume() -> Self {
        Self { status_changed: true, ..Self::default() }
    }

    pub fn accept(&mut self, at: Timestamp) {
        self.accepted_at = at;
    }

    pub fn observe(&mut self, work: &JobKind, at: Timestamp, dataset: &Dataset) -> TaskStatus {
        self.last_observed = Some((dataset.status.clone(), dataset.progress, media_count(dataset)));
        self.status_changed |= self
            .status_before
            .as_ref()
            .is_some_and(|from| *from != dataset.status)
            || self.record_before.as_ref().is_some_and(|before| *before != record_marks(dataset));
        let more_media = self.added_media_count().is_some_and(|added| added > 0);
        let settled = at.saturating_sub(self.accepted_at) >= COUNT_SETTLE_TIME;
        let began = self.status_changed || (settled && more_media);
        if !began {
            return TaskStatus::Running;
        }
        let reindex_follows = match work {
            JobKind::Reindex | JobKind::GetModel(_) => true,
            JobKind::AddMedia(addition) => addition.auto_reindex,
            JobKind::Export(_) => false,
        };
        match &dataset.status {
            Status::ReadOnly | Status::Indexing | Status::Other(_) => TaskStatus::Running,
            Status::PartialIndex if reindex_follows => TaskStatus::Running,
            Status::Ready | Status::PartialIndex if self.added_nothing(work) => {
                failed("the addition added nothing", dataset)
            }
            status @ (Status::Ready | Status::PartialIndex) => {
                TaskStatus::Finished(SafeText::name(status.as_str()))
            }
            Status::Error => failed(&format!("the {} ended in ERROR", work.label()), dataset),
        }
    }

    fn added_nothing(&self, work: &JobKind) -> bool {
        matches!(work, JobKind::AddMedia(_)) && self.added_media_count() == Some(0)
    }

    pub fn is_busy(&self) -> bool {
        self.last_observed.as_ref().is_some_and(|(status, ..)| status.is_busy())
    }

    pub fn status_label(&self) -> &str {
        match &self.last_observed {
            Some((status, ..)) if self.status_changed || self.status_before.is_none() => {
                status.as_str()
            }
            // A status that was observed before the job started says nothing about the job.
            _ => "accepted",
        }
    }

    pub fn percent(&self) -> Option<u8> {
        self.last_observed.as_ref()?.1.filter(|_| self.is_busy())
    }

    pub fn added_media_count(&self) -> Option<u64> {
        let now = self.last_observed.as_ref()?.2?;
        Some(now.saturating_sub(self.media_before?))
    }
}

fn failed(sentence: &str, dataset: &Dataset) -> TaskStatus {
    let failure = Failure::new(FailureKind::Unexpected, sentence);
    TaskStatus::Failed(failure.with_detail(dataset.error.clone()))
}

fn record_marks(dataset: &Dataset) -> RecordMarks {
    (dataset.updated_at.clone(), dataset.error.clone())
}

fn media_count(dataset: &Dataset) -> Option<u64> {
    Some(dataset.n_images? + dataset.n_videos.unwrap_or(0))
}
