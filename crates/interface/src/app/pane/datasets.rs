//! Keeps the state of the datasets pane (selected row, filter and order), and what was observed of each dataset since
//! the program started: counts, statuses and status changes.

use std::collections::BTreeMap;

use tessera_model::{Dataset, Status};

use crate::app::prelude::*;
use crate::app::view::sort_filter::ListOptions;

#[derive(Debug)]
pub struct Datasets {
    /// The selected dataset. `None` selects the first one.
    pub(in crate::app) cursor: Option<DatasetId>,
    pub list_options: ListOptions,
    pub auto_refresh: bool,
}

impl Default for Datasets {
    fn default() -> Self {
        Self { cursor: None, list_options: ListOptions::default(), auto_refresh: true }
    }
}

impl Datasets {
    pub(in crate::app) fn toggle_auto_refresh(&mut self, outbox: &mut Outbox) {
        self.auto_refresh = !self.auto_refresh;
        let text = if self.auto_refresh {
            "automatic refresh is on"
        } else {
            "automatic refresh is paused; r refreshes"
        };
        outbox.notify(Level::Success, text);
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusTransition {
    pub seen_at: Uptime,
    pub from: Status,
    pub to: Status,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DatasetHistory {
    /// The last known number of images, and when the service reported it.
    pub images: Option<(u64, Uptime)>,
    pub videos: Option<(u64, Uptime)>,
    /// The last status other than ERROR, and when it was observed.
    pub last_good_status: Option<(Status, Uptime)>,
    /// The status changes, oldest first.
    pub changes: Vec<StatusTransition>,
    status: Option<Status>,
}

#[derive(Debug, Default)]
pub struct ObservedDatasets(BTreeMap<DatasetId, DatasetHistory>);

impl ObservedDatasets {
    const MAX_CHANGES: usize = 50;

    pub fn observe(&mut self, now: Uptime, dataset: &Dataset) {
        let history = self.0.entry(dataset.id).or_default();
        history.images = dataset.n_images.map(|count| (count, now)).or(history.images);
        history.videos = dataset.n_videos.map(|count| (count, now)).or(history.videos);
        if dataset.status != Status::Error {
            history.last_good_status = Some((dataset.status.clone(), now));
        }
        let before = history.status.replace(dataset.status.clone());
        if let Some(from) = before.filter(|from| *from != dataset.status) {
            let to = dataset.status.clone();
            history.changes.push(StatusTransition { seen_at: now, from, to });
            if history.changes.len() > Self::MAX_CHANGES {
                history.changes.remove(0);
            }
        }
    }

    pub fn get(&self, dataset: DatasetId) -> Option<&DatasetHistory> {
        self.0.get(&dataset)
    }
}
