//! What a dataset goes through after an addition or a reindex: when that is over, told from the
//! statuses that were seen (M15, M16).
//!
//! The first status after the service accepted may still be the old one, PARTIAL INDEX is not the end
//! when a reindex follows by itself, and a small addition may be over between two looks.

use std::time::Duration;

use crate::{Dataset, Failure, FailureKind, SafeText, Stamp, Status, Work};

/// After this long, a count that rose is taken for the end although no other status was seen.
const UNSEEN: Duration = Duration::from_mins(1);

/// The way of one dataset.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Course {
    /// Its status before the job, where that was seen.
    from: Option<Status>,
    /// Media in it before the job.
    media_before: Option<u64>,
    /// When the service accepted the job.
    accepted: Stamp,
    /// Whether another status than the first was seen since.
    moved: bool,
    /// What was seen last: status, percent, media.
    seen: Option<(Status, Option<u8>, Option<u64>)>,
}

/// What a look at the dataset means.
#[derive(Clone, Debug, PartialEq)]
pub enum Seen {
    /// The job is still going on.
    Going,
    /// It is over: the status the dataset rests in.
    Over(SafeText),
    /// It ended badly.
    Failed(Failure),
}

impl Course {
    /// The beginning, as the dataset was before the job was sent.
    #[must_use]
    pub fn from(dataset: Option<&Dataset>) -> Self {
        Self {
            from: dataset.map(|dataset| dataset.status.clone()),
            media_before: dataset.and_then(media),
            ..Self::default()
        }
    }

    /// A course that was accepted in an earlier run of the program.
    #[must_use]
    pub fn resumed(accepted: Stamp) -> Self {
        Self { accepted, moved: true, ..Self::default() }
    }

    /// The service accepted the job.
    pub fn accept(&mut self, at: Stamp) {
        self.accepted = at;
    }

    /// The dataset was looked at.
    pub fn see(&mut self, work: &Work, at: Stamp, dataset: &Dataset) -> Seen {
        self.seen = Some((dataset.status.clone(), dataset.progress, media(dataset)));
        self.moved |= self.from.as_ref().is_some_and(|from| *from != dataset.status);
        let rose = self.added().is_some_and(|added| added > 0);
        let long = at.saturating_sub(self.accepted) >= UNSEEN;
        let began = self.moved || (long && rose);
        if !began {
            return Seen::Going;
        }
        let rest = || Seen::Over(SafeText::name(dataset.status.word()));
        match (&dataset.status, work) {
            (Status::ReadOnly | Status::Indexing | Status::Other(_), _)
            | (Status::PartialIndex, Work::Reindex) => Seen::Going,
            (Status::PartialIndex, Work::AddMedia(addition)) if addition.auto_reindex => {
                Seen::Going
            }
            (Status::Ready | Status::PartialIndex, _) => rest(),
            (Status::Error, _) => {
                let sentence = format!("the {} ended in ERROR", work.word());
                let failure = Failure::new(FailureKind::Unexpected, sentence);
                Seen::Failed(failure.detail(dataset.error.clone()))
            }
        }
    }

    /// Whether the dataset works on something, as far as it was seen.
    #[must_use]
    pub fn is_moving(&self) -> bool {
        self.seen.as_ref().is_some_and(|(status, ..)| status.is_moving())
    }

    /// The status seen last.
    #[must_use]
    pub fn word(&self) -> &str {
        match &self.seen {
            Some((status, ..)) if self.moved || self.from.is_none() => status.word(),
            // The status from before says nothing about the job.
            _ => "accepted",
        }
    }

    /// Percent of the status seen last.
    #[must_use]
    pub fn percent(&self) -> Option<u8> {
        self.seen.as_ref().and_then(|(status, percent, _)| percent.filter(|_| status.is_moving()))
    }

    /// Media that have come since the job began.
    #[must_use]
    pub fn added(&self) -> Option<u64> {
        let now = self.seen.as_ref()?.2?;
        Some(now.saturating_sub(self.media_before?))
    }
}

fn media(dataset: &Dataset) -> Option<u64> {
    Some(dataset.n_images? + dataset.n_videos.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::{Addition, DatasetId};

    fn dataset(status: &str, images: u64) -> Dataset {
        Dataset {
            id: DatasetId(Uuid::nil()),
            name: SafeText::name("x"),
            status: Status::parse(status),
            status_is_legacy: false,
            legacy_status: None,
            progress: Some(50),
            owner: None,
            created_at: None,
            n_images: Some(images),
            n_videos: None,
            n_objects: None,
            error: None,
        }
    }

    fn addition(auto_reindex: bool) -> Work {
        let text = SafeText::name("x");
        Work::AddMedia(Addition { source: text.clone(), option: text, auto_reindex })
    }

    /// Walks a path, a second a status, and gives the place where it was over.
    fn over(work: &Work, path: &[&str]) -> Option<usize> {
        let mut course = Course::from(Some(&dataset(path[0], 10)));
        (0..).zip(path).find_map(|(second, status)| {
            let seen = course.see(work, Stamp::from_secs(second), &dataset(status, 10));
            let place = usize::try_from(second).unwrap();
            (seen != Seen::Going).then_some(place)
        })
    }

    #[test]
    fn m15_an_addition_is_over_in_partial_index_unless_a_reindex_follows() {
        let path = ["READY", "READY", "READ ONLY", "READ ONLY", "PARTIAL INDEX"];
        assert_eq!(over(&addition(false), &path), Some(4));
        assert_eq!(over(&addition(true), &path), None);
        let path = ["READY", "READ ONLY", "PARTIAL INDEX", "INDEXING", "READY"];
        assert_eq!(over(&addition(true), &path), Some(4));
        let again = ["PARTIAL INDEX", "PARTIAL INDEX", "READ ONLY", "PARTIAL INDEX"];
        assert_eq!(over(&addition(false), &again), Some(3));
    }

    #[test]
    fn m15_one_that_nobody_saw_is_over_when_the_counts_rose_and_a_minute_passed() {
        let mut course = Course::from(Some(&dataset("READY", 10)));
        let mut see = |second, images| {
            course.see(&addition(true), Stamp::from_secs(second), &dataset("READY", images))
        };
        assert_eq!(see(1, 10), Seen::Going);
        assert_eq!(see(100, 10), Seen::Going, "nothing came");
        assert_eq!(see(59, 12), Seen::Going, "too early");
        assert_eq!(see(60, 12), Seen::Over(SafeText::name("READY")));
    }

    #[test]
    fn m16_a_reindex_passes_read_only_and_indexing() {
        let path = ["PARTIAL INDEX", "PARTIAL INDEX", "READ ONLY", "INDEXING", "READY"];
        assert_eq!(over(&Work::Reindex, &path), Some(4));
        assert_eq!(over(&Work::Reindex, &["PARTIAL INDEX", "READY"]), Some(1));
    }

    #[test]
    fn m17_an_error_ends_badly_in_the_words_of_the_service() {
        let mut course = Course::from(Some(&dataset("READY", 1)));
        let broken = Dataset { error: Some(SafeText::detail("disk full")), ..dataset("ERROR", 1) };
        let Seen::Failed(failure) = course.see(&addition(false), Stamp::ZERO, &broken) else {
            panic!("it goes on");
        };
        assert!(failure.to_string().contains("disk full"), "{failure}");
    }
}
