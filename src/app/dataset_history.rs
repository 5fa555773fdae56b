//! What was seen of each dataset while the program ran: the counts it told last, the last status
//! that was no error, and how its status changed.

use std::{collections::BTreeMap, time::Duration};

use crate::app::Uptime;
use tessera_model::{Dataset, DatasetId, Status};

/// A status that followed another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusTransition {
    /// When it was seen.
    pub seen_at: Uptime,
    /// Before.
    pub from: Status,
    /// After.
    pub to: Status,
}

/// What was seen of one dataset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DatasetHistory {
    /// Number of images it told last, and when.
    pub images: Option<(u64, Uptime)>,
    /// Number of videos it told last, and when.
    pub videos: Option<(u64, Uptime)>,
    /// The last status other than ERROR, and when it was seen.
    pub last_good_status: Option<(Status, Uptime)>,
    /// The changes of its status, oldest first.
    pub changes: Vec<StatusTransition>,
    status: Option<Status>,
}

/// What was seen of all datasets.
#[derive(Debug, Default)]
pub struct ObservedDatasets(BTreeMap<DatasetId, DatasetHistory>);

impl ObservedDatasets {
    /// Changes kept of one dataset.
    const MAX_CHANGES: usize = 50;

    /// Looks at a dataset as it is now.
    pub fn observe(&mut self, now: Uptime, dataset: &Dataset) {
        let past = self.0.entry(dataset.id).or_default();
        past.images = dataset.n_images.map(|count| (count, now)).or(past.images);
        past.videos = dataset.n_videos.map(|count| (count, now)).or(past.videos);
        if dataset.status != Status::Error {
            past.last_good_status = Some((dataset.status.clone(), now));
        }
        let before = past.status.replace(dataset.status.clone());
        if let Some(from) = before.filter(|from| *from != dataset.status) {
            past.changes.push(StatusTransition { seen_at: now, from, to: dataset.status.clone() });
            if past.changes.len() > Self::MAX_CHANGES {
                past.changes.remove(0);
            }
        }
    }

    /// What was seen of one dataset.
    #[must_use]
    pub fn get(&self, dataset: DatasetId) -> Option<&DatasetHistory> {
        self.0.get(&dataset)
    }
}

/// How long ago something was, in a word or two.
#[must_use]
pub fn format_age(age: Duration) -> String {
    match age.as_secs() {
        0 => "now".to_owned(),
        seconds @ 1..60 => format!("{seconds} s ago"),
        seconds @ 60..3600 => format!("{} min ago", seconds / 60),
        seconds => format!("{} h ago", seconds / 3600),
    }
}
