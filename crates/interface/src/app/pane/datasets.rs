//! Keeps the state of the datasets pane (selected row, filter and order), and what was observed of each dataset since
//! the program started: counts, statuses and status changes. Distinguishes datasets of the same name.

use std::collections::BTreeMap;

use tessera_model::{Dataset, Status};

use crate::app::prelude::*;
use crate::app::{bounded_list::push_bounded, view::sort_filter::ListOptions};

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
        let paused = "automatic refresh is paused; r refreshes";
        outbox.toggle(&mut self.auto_refresh, "automatic refresh is on", paused);
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
            let change = StatusTransition { seen_at: now, from, to };
            push_bounded(&mut history.changes, change, Self::MAX_CHANGES);
        }
    }

    pub fn get(&self, dataset: DatasetId) -> Option<&DatasetHistory> {
        self.0.get(&dataset)
    }
}

/// Returns what distinguishes a dataset from others of the same name: the end of the path of its folder, from where
/// the paths differ, or the beginning of its ID. Returns `None` if no other dataset has the name.
pub fn distinction(app: &App, dataset: &Dataset) -> Option<String> {
    let all = app.service_data.dataset_list().iter();
    let is_other = |it: &&Dataset| it.id != dataset.id && it.name == dataset.name;
    let others: Vec<&Dataset> = all.filter(is_other).collect();
    if others.is_empty() {
        return None;
    }
    let folders = &app.setup.dataset_folders;
    let Some(folder) = folders.get(&dataset.id) else { return Some(dataset.id.short()) };
    let others = others.iter().filter_map(|it| folders.get(&it.id));
    let others: Vec<&str> = others.map(SafeText::as_str).collect();
    Some(distinct_end(folder.as_str(), &others, dataset.name.as_str()).to_owned())
}

/// Returns the shortest end of a path, in whole names, that no other path has. The last name of the path is omitted if
/// it is the name of the dataset in all paths.
fn distinct_end<'a>(path: &'a str, others: &[&str], dataset: &str) -> &'a str {
    let without_name = |path: &'a str| path.strip_suffix(dataset)?.strip_suffix('/');
    let is_named = |path: &&str| path.strip_suffix(dataset).is_some_and(|it| it.ends_with('/'));
    let shown = without_name(path).filter(|it| !it.is_empty() && others.iter().all(is_named));
    let shown = shown.unwrap_or(path);
    let is_unique = |start: &usize| !others.iter().any(|other| other.ends_with(&path[*start..]));
    let starts = shown.rmatch_indices('/').map(|(at, _)| at);
    let start = starts.into_iter().find(is_unique).unwrap_or(0);
    shown[start..].trim_start_matches('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_distinguished_by_the_names_in_which_they_differ() {
        for (path, others, shown) in [
            ("/a/2023/photos", &["/a/2024/photos"][..], "2023"),
            ("/2023/x/photos", &["/2024/x/photos", "/a/photos"], "2023/x"),
            ("/a/1/photos", &["/a/11/photos"], "1"),
            ("/photos", &["/a/photos"], "photos"),
            ("/a/photos", &["/photos"], "a"),
            ("/a/one", &["/a/two"], "one"),
            ("/a/photos", &["/a/pictures"], "photos"),
        ] {
            assert_eq!(distinct_end(path, others, "photos"), shown, "{path}");
        }
    }
}
