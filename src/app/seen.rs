//! What was seen of each dataset while the program ran: the counts it told last, the last status
//! that was no error, and how its status changed.

use std::{collections::BTreeMap, time::Duration};

use crate::app::Moment;
use tessera_model::{Dataset, DatasetId, Status};

/// A status that followed another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// When it was seen.
    pub at: Moment,
    /// Before.
    pub from: Status,
    /// After.
    pub to: Status,
}

/// What was seen of one dataset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Past {
    /// Number of images it told last, and when.
    pub images: Option<(u64, Moment)>,
    /// Number of videos it told last, and when.
    pub videos: Option<(u64, Moment)>,
    /// The last status other than ERROR, and when it was seen.
    pub good: Option<(Status, Moment)>,
    /// The changes of its status, oldest first.
    pub changes: Vec<Change>,
    now: Option<Status>,
}

/// What was seen of all datasets.
#[derive(Debug, Default)]
pub struct Seen(BTreeMap<DatasetId, Past>);

impl Seen {
    /// Changes kept of one dataset.
    const KEPT: usize = 50;

    /// Looks at a dataset as it is now.
    pub fn look(&mut self, now: Moment, dataset: &Dataset) {
        let past = self.0.entry(dataset.id).or_default();
        past.images = dataset.n_images.map(|count| (count, now)).or(past.images);
        past.videos = dataset.n_videos.map(|count| (count, now)).or(past.videos);
        if dataset.status != Status::Error {
            past.good = Some((dataset.status.clone(), now));
        }
        let before = past.now.replace(dataset.status.clone());
        if let Some(from) = before.filter(|from| *from != dataset.status) {
            past.changes.push(Change { at: now, from, to: dataset.status.clone() });
            if past.changes.len() > Self::KEPT {
                past.changes.remove(0);
            }
        }
    }

    /// What was seen of one dataset.
    #[must_use]
    pub fn of(&self, dataset: DatasetId) -> Option<&Past> {
        self.0.get(&dataset)
    }
}

/// How long ago something was, in a word or two.
#[must_use]
pub fn ago(age: Duration) -> String {
    match age.as_secs() {
        0 => "now".to_owned(),
        seconds @ 1..60 => format!("{seconds} s ago"),
        seconds @ 60..3600 => format!("{} min ago", seconds / 60),
        seconds => format!("{} h ago", seconds / 3600),
    }
}
