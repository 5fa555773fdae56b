//! What a dataset goes through after an addition or a reindex: when that is over, told from the
//! statuses that were seen.
//!
//! The first status after the service accepted may still be the old one, PARTIAL INDEX is not the end
//! when a reindex follows by itself, and a small addition may be over between two looks.

use std::time::Duration;

use crate::{Dataset, Failure, FailureKind, JobKind, SafeText, Status, Timestamp};

/// After this long, a count that rose is taken for the end although no other status was seen.
const COUNT_SETTLE_TIME: Duration = Duration::from_mins(1);

/// The way of one dataset.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OperationTracker {
    /// Its status before the job, where that was seen.
    status_before: Option<Status>,
    /// Media in it before the job.
    media_before: Option<u64>,
    /// When the service accepted the job.
    accepted_at: Timestamp,
    /// Whether another status than the first was seen since.
    status_changed: bool,
    /// What was seen last: status, percent, media.
    last_observed: Option<(Status, Option<u8>, Option<u64>)>,
}

/// What a look at the dataset means.
#[derive(Clone, Debug, PartialEq)]
pub enum OperationStatus {
    /// The job is still going on.
    Running,
    /// It is over: the status the dataset rests in.
    Finished(SafeText),
    /// It ended badly.
    Failed(Failure),
}

impl OperationTracker {
    /// The beginning, as the dataset was before the job was sent.
    pub fn starting_from(dataset: Option<&Dataset>) -> Self {
        Self {
            status_before: dataset.map(|dataset| dataset.status.clone()),
            media_before: dataset.and_then(media_count),
            ..Self::default()
        }
    }

    /// A course that was accepted in an earlier run of the program.
    pub fn resume(accepted_at: Timestamp) -> Self {
        Self { accepted_at, status_changed: true, ..Self::default() }
    }

    /// The service accepted the job.
    pub fn accept(&mut self, at: Timestamp) {
        self.accepted_at = at;
    }

    /// The dataset was looked at.
    pub fn observe(&mut self, work: &JobKind, at: Timestamp, dataset: &Dataset) -> OperationStatus {
        self.last_observed = Some((dataset.status.clone(), dataset.progress, media_count(dataset)));
        self.status_changed |=
            self.status_before.as_ref().is_some_and(|from| *from != dataset.status);
        let rose = self.media_added().is_some_and(|added| added > 0);
        let long = at.saturating_sub(self.accepted_at) >= COUNT_SETTLE_TIME;
        let began = self.status_changed || (long && rose);
        if !began {
            return OperationStatus::Running;
        }
        let rest = || OperationStatus::Finished(SafeText::name(dataset.status.word()));
        match (&dataset.status, work) {
            (Status::ReadOnly | Status::Indexing | Status::Other(_), _)
            | (Status::PartialIndex, JobKind::Reindex) => OperationStatus::Running,
            (Status::PartialIndex, JobKind::AddMedia(addition)) if addition.auto_reindex => {
                OperationStatus::Running
            }
            (Status::Ready | Status::PartialIndex, _) => rest(),
            (Status::Error, _) => {
                let sentence = format!("the {} ended in ERROR", work.label());
                let failure = Failure::new(FailureKind::Unexpected, sentence);
                OperationStatus::Failed(failure.with_detail(dataset.error.clone()))
            }
        }
    }

    /// Whether the dataset works on something, as far as it was seen.
    pub fn is_busy(&self) -> bool {
        self.last_observed.as_ref().is_some_and(|(status, ..)| status.is_busy())
    }

    /// The status seen last.
    pub fn status_label(&self) -> &str {
        match &self.last_observed {
            Some((status, ..)) if self.status_changed || self.status_before.is_none() => {
                status.word()
            }
            // The status from before says nothing about the job.
            _ => "accepted",
        }
    }

    /// Percent of the status seen last.
    pub fn percent(&self) -> Option<u8> {
        self.last_observed
            .as_ref()
            .and_then(|(status, percent, _)| percent.filter(|_| status.is_busy()))
    }

    /// Media that have come since the job began.
    pub fn media_added(&self) -> Option<u64> {
        let now = self.last_observed.as_ref()?.2?;
        Some(now.saturating_sub(self.media_before?))
    }
}

fn media_count(dataset: &Dataset) -> Option<u64> {
    Some(dataset.n_images? + dataset.n_videos.unwrap_or(0))
}
