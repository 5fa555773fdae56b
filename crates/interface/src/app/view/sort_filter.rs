//! Filters and sorts what is loaded, without a request. The screen says that this applies only to
//! the loaded part.

use std::cmp::Ordering;

use tessera_model::{Cluster, Dataset, Page, Preview, ScoreKind, VideoFrame, search_form};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListOptions {
    /// Shows only items that contain this text, ignoring case. An empty text shows all items.
    pub filter: String,
    pub order: SortOrder,
    /// Whether neighbors with equal scores are folded into one tile.
    pub fold: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SortOrder {
    pub by: SortKey,
    pub reversed: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SortKey {
    /// The order of the service.
    #[default]
    Service,
    /// The nearest first.
    Score,
    /// The largest first.
    Size,
    Name,
    /// READY first.
    Status,
}

impl SortKey {
    pub const CLUSTERS: &[Self] = &[Self::Service, Self::Score, Self::Size, Self::Name];
    /// The orders of a page whose result is sorted by its files.
    pub const CLUSTERS_OF_SORTED_FILES: &[Self] = &[Self::Service, Self::Score, Self::Size];
    pub const DATASETS: &[Self] = &[Self::Service, Self::Name, Self::Status, Self::Size];
}

impl SortOrder {
    pub fn name(self) -> &'static str {
        match (self.by, self.reversed) {
            (SortKey::Service, false) => "order of the service",
            (SortKey::Service, true) => "order of the service, reversed",
            (SortKey::Score, false) => "score, nearest first",
            (SortKey::Score, true) => "score, farthest first",
            (SortKey::Size, false) => "number of media, most first",
            (SortKey::Size, true) => "number of media, fewest first",
            (SortKey::Name, false) => "name, from A to Z",
            (SortKey::Name, true) => "name, from Z to A",
            (SortKey::Status, false) => "status, READY first",
            (SortKey::Status, true) => "status, READY last",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VisibleCluster {
    pub index: usize,
    /// The indexes of the neighbors with the same score that are folded into this cluster.
    pub folded: Vec<usize>,
}

impl VisibleCluster {
    pub fn contains(&self, index: usize) -> bool {
        self.index == index || self.folded.contains(&index)
    }
}

pub fn filter_and_sort(page: &Page, options: &ListOptions) -> Vec<VisibleCluster> {
    let clusters = &page.clusters;
    let needle = search_form(&options.filter);
    let mut indexes: Vec<usize> =
        (0..clusters.len()).filter(|&index| matches_text(&clusters[index], &needle)).collect();
    sort(&mut indexes, options.order, |by, &a, &b| compare(by, &clusters[a], &clusters[b]));
    let mut visible: Vec<VisibleCluster> = Vec::new();
    for index in indexes {
        match visible.last_mut() {
            Some(last)
                if options.fold && have_equal_scores(&clusters[last.index], &clusters[index]) =>
            {
                last.folded.push(index);
            }
            _ => visible.push(VisibleCluster { index, folded: Vec::new() }),
        }
    }
    visible
}

pub fn filter_and_sort_datasets<'a>(
    list: &'a [Dataset],
    options: &ListOptions,
) -> Vec<&'a Dataset> {
    let needle = search_form(&options.filter);
    let matches = |dataset: &&Dataset| search_form(dataset.name.as_str()).contains(&needle);
    let size = |dataset: &Dataset| dataset.media_count().or(dataset.file_count());
    let mut visible: Vec<&Dataset> = list.iter().filter(matches).collect();
    sort(&mut visible, options.order, |by, a, b| match by {
        SortKey::Name => by_name(a.name.as_str(), b.name.as_str()),
        SortKey::Size => size(b).cmp(&size(a)),
        SortKey::Status => a.status.cmp(&b.status),
        SortKey::Service | SortKey::Score => Ordering::Equal,
    });
    visible
}

/// Sorts stably, so that equal elements keep the order of the service in both directions.
fn sort<T>(things: &mut [T], order: SortOrder, compare: impl Fn(SortKey, &T, &T) -> Ordering) {
    match order {
        SortOrder { by: SortKey::Service, reversed: false } => {}
        SortOrder { by: SortKey::Service, reversed: true } => things.reverse(),
        SortOrder { by, reversed: false } => things.sort_by(|a, b| compare(by, a, b)),
        SortOrder { by, reversed: true } => things.sort_by(|a, b| compare(by, b, a)),
    }
}

fn compare(by: SortKey, a: &Cluster, b: &Cluster) -> Ordering {
    match by {
        SortKey::Score => score(a).total_cmp(&score(b)),
        SortKey::Size => b.size().cmp(&a.size()),
        SortKey::Name => by_name(name(a), name(b)).then(time(a).total_cmp(&time(b))),
        SortKey::Service | SortKey::Status => Ordering::Equal,
    }
}

/// Returns the distance of a cluster. A cluster without a score is the farthest.
fn score(cluster: &Cluster) -> f64 {
    cluster.relevance.as_ref().map_or(f64::INFINITY, |relevance| relevance.score)
}

/// Returns the name of the first file, or the name of its video if the file is a frame.
fn name(cluster: &Cluster) -> &str {
    let first = cluster.previews.first();
    let frame = first.and_then(|preview| preview.frame.as_ref());
    let file_name = || first.map_or("", |preview| preview.file_name.as_str());
    frame.map_or_else(file_name, VideoFrame::video_name)
}

/// Returns the time of the first frame in its video.
fn time(cluster: &Cluster) -> f64 {
    let frame = cluster.previews.first().and_then(|preview| preview.frame.as_ref());
    frame.and_then(|frame| frame.seconds).unwrap_or(0.0)
}

fn by_name(a: &str, b: &str) -> Ordering {
    search_form(a).cmp(&search_form(b))
}

/// Returns whether the names of files and videos, captions, labels or tags of a cluster contain `needle`, which is in
/// its search form.
fn matches_text(cluster: &Cluster, needle: &str) -> bool {
    if needle.is_empty() {
        return true;
    }
    let previews = cluster.previews.iter();
    let captions = previews.clone().filter_map(|preview| preview.caption.as_ref());
    let tags = cluster.tags.iter().map(|tag| &tag.name);
    let texts = [&cluster.captions, &cluster.labels].into_iter().flatten().chain(tags);
    previews.into_iter().any(|preview| has_name(preview, needle))
        || captions.chain(texts).any(|text| search_form(text.as_str()).contains(needle))
}

/// Returns whether the name of a file or of its video contains `needle`, which is in its search form.
pub fn has_name(preview: &Preview, needle: &str) -> bool {
    let video = preview.frame.as_ref().map(|frame| &frame.video);
    let mut names = [Some(&preview.file_name), video].into_iter().flatten();
    names.any(|name| search_form(name.as_str()).contains(needle))
}

/// Scores that differ by less than this are shown as equal.
const SCORE_TOLERANCE: f64 = 0.000_5;

fn have_equal_scores(a: &Cluster, b: &Cluster) -> bool {
    match (&a.relevance, &b.relevance) {
        (Some(a), Some(b)) => a.kind == b.kind && (a.score - b.score).abs() < SCORE_TOLERANCE,
        _ => false,
    }
}

/// Returns whether the direction of every score on a page is known, so that the scores can be
/// sorted.
pub fn can_sort_by_score(page: &Page) -> bool {
    let mut scores = page.clusters.iter().filter_map(|cluster| cluster.relevance.as_ref());
    let known = scores.clone().all(|relevance| relevance.kind == ScoreKind::CosineDistance);
    known && scores.next().is_some()
}
