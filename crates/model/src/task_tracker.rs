//! Decides from the observed statuses of a dataset whether an addition or a reindex has finished.
//!
//! This needs some care: the first status after the acceptance may still be the old one, PARTIAL INDEX is not final if
//! a reindex follows, and a small addition may finish between two polls. A reindex that the service gives up leaves the
//! dataset in PARTIAL INDEX, and the operation then ends with a failure.
//!
//! Times of the service are only compared with each other for equality, because its clock and ours may differ.

use std::time::Duration;

use crate::{Dataset, Failure, FailureKind, JobKind, SafeText, Status, Timestamp};

/// After this time, a higher number of media is enough to conclude that the addition finished.
const COUNT_SETTLE_TIME: Duration = Duration::from_mins(1);

/// After this time, a changed record is enough to conclude that the operation finished. A service may note in the record
/// that it has accepted an operation, and change the status a moment later.
const RECORD_SETTLE_TIME: Duration = Duration::from_secs(15);

/// After this time, an operation whose dataset has not changed at all is over, because a service may keep no time of the
/// last change, or only the second of it.
const UNOBSERVED_TIME: Duration = Duration::from_mins(10);

/// What a short operation changes in the record of a dataset, even if no poll observes its status: the time of the last
/// change, and the problem that the service reports.
type RecordMarks = (Option<SafeText>, Option<SafeText>);

#[derive(Clone, Debug, Default, PartialEq)]
pub struct TaskTracker {
    status_before: Option<Status>,
    media_before: Option<u64>,
    record_before: Option<RecordMarks>,
    /// Whether the service changes the status of a dataset together with the rest of its record.
    changes_at_once: bool,
    accepted_at: Timestamp,
    status_changed: bool,
    /// How often the dataset was busy with the operation and then in PARTIAL INDEX.
    times_partial: u8,
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
            record_before: dataset
                .map(|dataset| (dataset.updated_at.clone(), dataset.error.clone())),
            ..Self::default()
        }
    }

    /// Starts tracking an operation of a local service in this process.
    pub fn of_local_service(dataset: &Dataset) -> Self {
        Self { changes_at_once: true, ..Self::starting_from(Some(dataset)) }
    }

    /// Resumes a task that was accepted in an earlier run.
    pub fn resume(accepted_at: Timestamp) -> Self {
        Self { accepted_at, status_changed: true, ..Self::default() }
    }

    pub fn accept(&mut self, at: Timestamp) {
        self.accepted_at = at;
    }

    pub fn observe(&mut self, work: &JobKind, at: Timestamp, dataset: &Dataset) -> TaskStatus {
        if self.is_busy() && self.status_changed && dataset.status == Status::PartialIndex {
            self.times_partial = self.times_partial.saturating_add(1);
        }
        self.last_observed = Some((dataset.status.clone(), dataset.progress, media_count(dataset)));
        self.status_changed |=
            self.status_before.as_ref().is_some_and(|from| *from != dataset.status);
        let more_media = self.added_media_count().is_some_and(|added| added > 0);
        let settle_time = match self.has_changed_record(dataset) {
            true if self.changes_at_once => Duration::ZERO,
            true => RECORD_SETTLE_TIME,
            false if more_media => COUNT_SETTLE_TIME,
            false => UNOBSERVED_TIME,
        };
        if !self.status_changed && at.saturating_sub(self.accepted_at) < settle_time {
            return TaskStatus::Running;
        }
        let waited = at.saturating_sub(self.accepted_at);
        // How often the dataset is in PARTIAL INDEX before the reindex that follows, if one does.
        let times_before = match work {
            JobKind::Reindex | JobKind::GetModel(_) => Some(0),
            JobKind::AddMedia(addition) => addition.auto_reindex.then_some(1),
            JobKind::Export(_) => None,
        };
        match &dataset.status {
            Status::ReadOnly | Status::Indexing | Status::Other(_) => TaskStatus::Running,
            Status::PartialIndex
                if times_before.is_some_and(|before| self.times_partial > before) =>
            {
                failed(&format!("the {} ended in PARTIAL INDEX", work.label()), dataset)
            }
            Status::PartialIndex
                if *work == JobKind::Reindex && self.was_given_up(waited, dataset) =>
            {
                failed(
                    "the dataset is still PARTIAL INDEX; the reindex did not take place",
                    dataset,
                )
            }
            Status::PartialIndex if times_before.is_some() => TaskStatus::Running,
            Status::Ready | Status::PartialIndex if self.added_nothing(work) => {
                failed("the addition added nothing", dataset)
            }
            status @ (Status::Ready | Status::PartialIndex) => {
                TaskStatus::Finished(SafeText::name(status.as_str()))
            }
            Status::Error => failed(&format!("the {} ended in ERROR", work.label()), dataset),
        }
    }

    /// Whether a reindex is over although the dataset was not busy at any poll: the service reports another problem, or
    /// has had enough time to begin.
    fn was_given_up(&self, waited: Duration, dataset: &Dataset) -> bool {
        let has_problem = self
            .record_before
            .as_ref()
            .is_some_and(|(_, before)| dataset.error.is_some() && *before != dataset.error);
        let has_ended = self.changes_at_once && self.has_changed_record(dataset);
        has_ended || has_problem && waited >= RECORD_SETTLE_TIME || waited >= UNOBSERVED_TIME
    }

    fn added_nothing(&self, work: &JobKind) -> bool {
        matches!(work, JobKind::AddMedia(_)) && self.added_media_count() == Some(0)
    }

    /// Whether the record has another time of the last change, or another problem. A time that only one of two records
    /// has says nothing, because a service may leave it out of a list.
    fn has_changed_record(&self, dataset: &Dataset) -> bool {
        self.record_before.as_ref().is_some_and(|(updated_at, error)| {
            let times = updated_at.as_ref().zip(dataset.updated_at.as_ref());
            *error != dataset.error || times.is_some_and(|(before, now)| before != now)
        })
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

fn media_count(dataset: &Dataset) -> Option<u64> {
    Some(dataset.n_images?.saturating_add(dataset.n_videos.unwrap_or(0)))
}
