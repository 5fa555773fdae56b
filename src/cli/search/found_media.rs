//! Collects the media items that a search finds, over all its pages, merges them into one order, closest first or by
//! their files, and prints the paths of their files.

use std::{cmp::Ordering, collections::HashSet, os::unix::ffi::OsStrExt as _};

use crate::cli::prelude::*;
use crate::usecase::{MemberReader, WantedMembers};
use tessera_client::Client;
use tessera_model::{
    Cluster, ClusterId, ClusterPart, EntityType, EntryContent, FileOrder, FileSortKey, Fraction,
    MediaId, Preview, Relevance, ScoreKind, SelectionEntry, search_form,
};

/// A media item that a search has found.
pub struct FoundMedia {
    pub preview: Preview,
    pub cluster: ClusterId,
    pub entity: EntityType,
    /// The page of clusters that contains the cluster.
    pub page: u32,
}

impl FoundMedia {
    pub fn entry(&self, search: &Search) -> SelectionEntry {
        SelectionEntry {
            name: self.preview.title(),
            entity: self.entity,
            granularity: search.granularity,
            content: EntryContent::MediaItem(
                self.preview.media,
                Some(ClusterPart::new(self.cluster, &search.filters)),
            ),
        }
    }

    fn score(&self) -> Option<f64> {
        self.preview.relevance.as_ref().map(|relevance| relevance.score)
    }
}

/// Compares two files as the service does that sorts clusters by the file of each that comes first. Files without the
/// property come last in both directions.
fn compare_files(one: &Preview, other: &Preview, order: FileOrder) -> Ordering {
    let key = |preview: &Preview| {
        let path =
            preview.original_path.as_deref().map(|path| path.as_os_str().as_bytes().to_vec());
        let uri = || preview.original_uri.as_ref().map(|uri| uri.as_str().as_bytes().to_vec());
        let text = |text: &SafeText| (0, text.as_str().to_owned(), Vec::new());
        match order.by {
            FileSortKey::Name => {
                let name = search_form(preview.file_name.as_str());
                Some((0, name, path.or_else(uri).unwrap_or_default()))
            }
            FileSortKey::Path => path.or_else(uri).map(|path| (0, String::new(), path)),
            FileSortKey::Bytes => {
                preview.file.bytes.map(|bytes| (bytes, String::new(), Vec::new()))
            }
            FileSortKey::Date => preview.file.date.as_ref().map(text),
        }
    };
    match (key(one), key(other)) {
        (Some(one), Some(other)) if order.reversed => other.cmp(&one),
        (Some(one), Some(other)) => one.cmp(&other),
        (one, other) => one.is_none().cmp(&other.is_none()),
    }
}

/// What a collection is sorted by, what it stops at, and what it omits.
#[derive(Clone, Copy, Debug, Default)]
pub struct MediaLimits {
    /// The order of files, or `None` if the closest media items come first.
    pub order: Option<FileOrder>,
    pub count: Option<usize>,
    pub max_score: Option<Fraction>,
    /// Whether to keep only the first media item of each file.
    pub one_per_file: bool,
}

pub struct MediaCollector<'a> {
    pub reader: MemberReader<'a>,
    limits: MediaLimits,
    /// Media items that may come after media items of later pages.
    pending: Vec<FoundMedia>,
    /// Whether higher scores are closer, or `None` before the first scores.
    is_descending: Option<bool>,
    known_media: HashSet<MediaId>,
    known_files: HashSet<PathBuf>,
    /// The number of media items that were returned.
    pub returned: usize,
    /// Whether media items were omitted because of the limit.
    pub is_cut: bool,
}

impl<'a> MediaCollector<'a> {
    pub fn new(client: &'a Client, limits: MediaLimits) -> Self {
        // The closest media items of all are among the closest of each cluster. Several of them can be in one file.
        let wanted = WantedMembers {
            count: limits.count.filter(|_| !limits.one_per_file),
            max_score: limits.max_score.filter(|_| limits.order.is_none()),
        };
        Self {
            reader: MemberReader::new(client, wanted),
            limits,
            pending: Vec::new(),
            is_descending: None,
            known_media: HashSet::new(),
            known_files: HashSet::new(),
            returned: 0,
            is_cut: false,
        }
    }

    /// Adds the members of the clusters of a page. Returns the media items that no media item of a later page can
    /// precede, in their order.
    pub async fn add_page(&mut self, clusters: &[Cluster], search: &Search) -> Vec<FoundMedia> {
        let members = self.reader.members(clusters, search).await;
        if self.is_descending.is_none() {
            self.is_descending = is_descending(clusters);
        }
        for (cluster, members) in clusters.iter().zip(members) {
            let is_listed = cluster.size().is_none_or(|size| size <= members.len() as u64);
            self.is_cut |= !is_listed && self.limits.count.is_some_and(|it| it <= members.len());
            let found = |preview| FoundMedia {
                preview,
                cluster: cluster.id,
                entity: cluster.entity,
                page: search.page,
            };
            let mut found: Vec<FoundMedia> = members.into_iter().map(found).collect();
            found.retain(|it| {
                let score = it.preview.relevance.as_ref();
                let limit = self.limits.max_score.zip(score);
                !limit.is_some_and(|(max, score)| score.is_beyond(max))
                    && self.known_media.insert(it.preview.media)
            });
            self.pending.append(&mut found);
        }
        let ready = match self.limits.order {
            Some(order) => self.sort_by_file(order, clusters.last()),
            None => self.sort_by_score(clusters.last()),
        };
        self.take(ready)
    }

    /// Returns the media items that remain after the last page.
    pub fn finish(&mut self) -> Vec<FoundMedia> {
        self.take(self.pending.len())
    }

    /// Sorts the pending media items. Returns the number of those that precede all later ones.
    fn sort_by_file(&mut self, order: FileOrder, last: Option<&Cluster>) -> usize {
        self.pending.sort_by(|a, b| compare_files(&a.preview, &b.preview, order));
        // The service sorts clusters by their first member, which is also their first preview.
        let bound = last.and_then(|cluster| cluster.previews.first());
        bound.map_or(0, |bound| {
            let precedes = |found: &FoundMedia| compare_files(&found.preview, bound, order).is_le();
            self.pending.partition_point(precedes)
        })
    }

    /// Sorts the pending media items. Returns the number of those that precede all later ones.
    fn sort_by_score(&mut self, last: Option<&Cluster>) -> usize {
        let is_descending = self.is_descending == Some(true);
        let key = |score: f64| if is_descending { -score } else { score };
        let rank = |found: &FoundMedia| found.score().map_or(f64::INFINITY, key);
        // Media items without a score keep the order of the service, because the sort is stable.
        self.pending.sort_by(|a, b| rank(a).total_cmp(&rank(b)));
        // The service ranks clusters by their closest member.
        let bound = last.and_then(|cluster| cluster.relevance.as_ref());
        bound.map_or(self.pending.len(), |bound| {
            self.pending.partition_point(|found| rank(found) <= key(bound.score))
        })
    }

    pub fn is_full(&self) -> bool {
        self.limits.count.is_some_and(|limit| self.returned >= limit)
    }

    /// Returns the first pending media items, up to the limit.
    fn take(&mut self, ready: usize) -> Vec<FoundMedia> {
        let mut ready: Vec<FoundMedia> = self.pending.drain(..ready).collect();
        if self.limits.one_per_file {
            ready.retain(|found| match &found.preview.original_path {
                Some(file) => self.known_files.insert(file.clone()),
                None => true,
            });
        }
        if let Some(limit) = self.limits.count {
            let room = limit.saturating_sub(self.returned);
            self.is_cut |= ready.len() > room || (ready.len() == room && !self.pending.is_empty());
            ready.truncate(room);
        }
        self.returned += ready.len();
        ready
    }
}

/// Returns whether the service ranks from high scores to low ones. Only the direction of distances is documented, so
/// that of other scores is taken from the order of the clusters, or of the previews of a single cluster.
fn is_descending(clusters: &[Cluster]) -> Option<bool> {
    let of_clusters = clusters.iter().filter_map(|cluster| cluster.relevance.as_ref());
    let previews = clusters.first().map_or(&[][..], |cluster| &cluster.previews);
    let of_previews = previews.iter().filter_map(|preview| preview.relevance.as_ref());
    first_and_last(of_clusters)
        .or_else(|| first_and_last(of_previews))
        .map(|(first, last)| first.kind != ScoreKind::CosineDistance && first.score > last.score)
}

/// Returns the first and the last of several scores that are not all equal.
fn first_and_last<'a>(
    scores: impl DoubleEndedIterator<Item = &'a Relevance>,
) -> Option<(&'a Relevance, &'a Relevance)> {
    let mut scores = scores;
    let (first, last) = (scores.next()?, scores.next_back()?);
    (first.score.total_cmp(&last.score).is_ne()).then_some((first, last))
}

pub struct PathPrinter {
    /// Whether each path ends with NUL instead of a line break.
    ends_with_null: bool,
    without_file: usize,
    with_line_break: usize,
}

impl PathPrinter {
    pub fn new(context: &Context, ends_with_null: bool) -> CliResult<Self> {
        if context.out.is_machine() || context.global.csv {
            let message = "--paths prints only paths; remove --json, --jsonl, --csv and --jq";
            return Err(CliError::usage(message));
        }
        Ok(Self { ends_with_null, without_file: 0, with_line_break: 0 })
    }

    pub fn print(&mut self, context: &Context, found: &[FoundMedia]) -> CliResult<()> {
        let mut bytes = Vec::new();
        for found in found {
            match found.preview.original_path.as_deref() {
                Some(path) => self.append(path, &mut bytes),
                None => self.without_file += 1,
            }
        }
        // Only other programs get the paths unchanged, because a path could control the terminal.
        if !bytes.is_empty() && !context.out.write_raw(&bytes)? {
            let text = String::from_utf8_lossy(&bytes).replace('\0', "\n");
            context.out.print_text(PrintableText::lines(&text).as_str())?;
        }
        Ok(())
    }

    fn append(&mut self, path: &Path, bytes: &mut Vec<u8>) {
        let path = path.as_os_str().as_bytes();
        if !self.ends_with_null && path.contains(&b'\n') {
            self.with_line_break += 1;
            return;
        }
        bytes.extend_from_slice(path);
        bytes.push(if self.ends_with_null { b'\0' } else { b'\n' });
    }

    /// Warns about the paths that could not be printed. Returns whether all paths were printed.
    pub fn report(&self, context: &Context) -> bool {
        if self.without_file > 0 {
            let media = count_with_noun(self.without_file, "media item has", "media items have");
            context.messages.warn(format!("{media} no path on this machine"));
        }
        if self.with_line_break > 0 {
            let paths = count_with_noun(self.with_line_break, "path has", "paths have");
            context.messages.warn(format!("{paths} a line break and cannot be a line; use -0"));
        }
        self.without_file == 0 && self.with_line_break == 0
    }
}
