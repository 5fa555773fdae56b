//! The data of media items that clustering needs. The data is in columns, because records of all media items take five
//! times as much memory, and each label or tag is stored only once. What a cluster shows of its members is read when
//! the cluster is written.

use std::{
    cmp::Reverse,
    collections::{HashMap, HashSet},
    ops::{Range, RangeInclusive},
    path::PathBuf,
};

use tessera_model::{DatasetId, EntityType, Granularity, MediaId, is_metadata_label};
use tessera_search::similarity::RowLists;
use tessera_store::{
    Transaction,
    cluster::{self as clusters, ClusterRecord, MemberCounts, StoredPreview},
    media::{MediaKind, MediaRecord},
};

#[derive(Default)]
pub(crate) struct ClusteredMedia {
    /// The row numbers of the media, in the order of their paths.
    pub rows: Vec<i64>,
    pub ids: Vec<MediaId>,
    origins: Vec<MemberOrigin>,
    /// The width and height in pixels. For an object, this is the size of its region.
    pub sizes: Vec<(u32, u32)>,
    pub labels: NameLists,
    /// The labels of the user's own model.
    model_labels: NameLists,
    pub tags: NameLists,
    /// The positions of the members, in the order of their row numbers.
    by_row: Vec<u32>,
}

/// The image or video to which a member belongs, which a cluster counts only once.
enum MemberOrigin {
    Image,
    Frame {
        video: u32,
    },
    /// An object, with the row number of its image.
    Object {
        image: i64,
    },
}

impl ClusteredMedia {
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the position of a media item by its row number.
    pub fn position(&self, row: i64) -> Option<u32> {
        let found = self.by_row.binary_search_by_key(&row, |at| self.rows[*at as usize]);
        found.ok().map(|found| self.by_row[found])
    }

    /// Returns the first and the last row number of a range of the members, which are in the order of row numbers here.
    /// Returns `None` if the range is empty.
    pub(crate) fn rows_in_order(&self, positions: Range<usize>) -> Option<RangeInclusive<i64>> {
        let (first, last) = (self.by_row.get(positions.start)?, positions.end.checked_sub(1)?);
        let last = self.by_row.get(last)?;
        Some(self.rows[*first as usize]..=self.rows[*last as usize])
    }

    /// Returns the most frequent labels of the members at these positions. Labels of the dataset come first, then
    /// labels of the model, and finally labels that say nothing about what a picture shows.
    pub(crate) fn frequent_labels(&self, positions: &[u32]) -> Vec<String> {
        let mut labels = self.labels.most_frequent(positions);
        let shown = labels.iter().take_while(|label| !is_metadata_label(label)).count();
        let mut by_model = self.model_labels.most_frequent_first(positions);
        by_model.retain(|label| !labels.contains(label));
        labels.splice(shown..shown, by_model);
        labels.truncate(MAX_FREQUENT);
        labels
    }

    /// Counts the members at these positions.
    pub fn count(&self, positions: &[u32]) -> MemberCounts {
        let mut counts = MemberCounts::default();
        let (mut images, mut videos) = (HashSet::new(), HashSet::new());
        for &position in positions {
            match self.origins[position as usize] {
                MemberOrigin::Image => _ = images.insert(self.rows[position as usize]),
                MemberOrigin::Frame { video } => {
                    counts.frames += 1;
                    videos.insert(video);
                }
                MemberOrigin::Object { image } => {
                    counts.objects += 1;
                    images.insert(image);
                }
            }
        }
        (counts.images, counts.videos) = (images.len() as u64, videos.len() as u64);
        counts
    }
}

/// Collects members, which must arrive in the order of their paths.
#[derive(Default)]
pub(crate) struct MediaCollector {
    members: ClusteredMedia,
    /// The number of each video, by source and path.
    videos: HashMap<(i64, PathBuf), u32>,
}

impl MediaCollector {
    pub fn push(&mut self, media: MediaRecord) {
        let origin = self.origin_of(&media);
        let members = &mut self.members;
        members.rows.push(media.row);
        members.ids.push(media.id);
        members.origins.push(origin);
        members.sizes.push(media.cropped_size());
        members.labels.push(media.labels);
        members.model_labels.push(media.model_labels);
        members.tags.push(media.tags);
    }

    fn origin_of(&mut self, media: &MediaRecord) -> MemberOrigin {
        match (media.kind, media.video_file()) {
            (MediaKind::Object, _) => MemberOrigin::Object { image: media.picture_row() },
            (MediaKind::Frame, Some((source, path))) => {
                let next = u32::try_from(self.videos.len()).unwrap_or(u32::MAX);
                let video = *self.videos.entry((source, path.to_owned())).or_insert(next);
                MemberOrigin::Frame { video }
            }
            (MediaKind::Image | MediaKind::Frame, _) => MemberOrigin::Image,
        }
    }

    pub fn finish(self) -> ClusteredMedia {
        let mut members = self.members;
        members.by_row = (0..).take(members.len()).collect();
        members.by_row.sort_unstable_by_key(|position| members.rows[*position as usize]);
        members
    }
}

/// The number of clusters on a page, because the statement that reads previews is made for a page.
const CLUSTERS_AT_A_TIME: usize = 100;

/// The clusters at a level, largest first.
pub(crate) struct ClusterLevel {
    pub granularity: Granularity,
    /// The rank of the first cluster.
    pub first_rank: u32,
    /// The positions of the members of each cluster, lowest first.
    pub members: RowLists<u32>,
    /// The members that are shown, most central first.
    pub previews: RowLists<u32>,
}

impl ClusterLevel {
    pub fn write(
        &self,
        transaction: &Transaction,
        dataset: DatasetId,
        entity: EntityType,
        members: &ClusteredMedia,
    ) -> tessera_store::Result<()> {
        let clusters: Vec<usize> = (0..self.members.len()).collect();
        let ranks = (self.first_rank..).step_by(CLUSTERS_AT_A_TIME);
        for (rank, clusters) in ranks.zip(clusters.chunks(CLUSTERS_AT_A_TIME)) {
            let shown = clusters.iter().flat_map(|&cluster| &self.previews[cluster]);
            let shown: Vec<i64> = shown.map(|&member| members.rows[member as usize]).collect();
            let mut previews = clusters::previews_of(transaction, dataset, &shown)?;
            let record = |&cluster: &usize| self.record(cluster, dataset, members, &mut previews);
            let records: Vec<ClusterRecord> = clusters.iter().map(record).collect();
            clusters::insert(transaction, dataset, entity, self.granularity, rank, &records)?;
        }
        Ok(())
    }

    fn record(
        &self,
        cluster: usize,
        dataset: DatasetId,
        members: &ClusteredMedia,
        previews: &mut HashMap<i64, StoredPreview>,
    ) -> ClusterRecord {
        let group = &self.members[cluster];
        let shown = self.previews[cluster].iter();
        ClusterRecord {
            id: clusters::cluster_id(dataset, self.granularity, members.ids[group[0] as usize]),
            counts: members.count(group),
            previews: shown
                .filter_map(|&member| previews.remove(&members.rows[member as usize]))
                .collect(),
            labels: members.frequent_labels(group),
            tags: members.tags.most_frequent(group),
        }
    }
}

/// The maximum number of names of a cluster.
const MAX_FREQUENT: usize = 8;

/// The labels or tags of many media items.
#[derive(Default)]
pub(crate) struct NameLists {
    names: Vec<String>,
    numbers: HashMap<String, u32>,
    /// The numbers of the names of each row.
    lists: RowLists<u32>,
}

impl NameLists {
    /// Appends a row.
    pub fn push(&mut self, names: Vec<String>) {
        let Self { names: known, numbers, lists } = self;
        lists.push(names.into_iter().map(|name| {
            let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
            *numbers.entry(name).or_insert_with_key(|name| {
                known.push(name.clone());
                next
            })
        }));
    }

    /// Returns the numbers of those names of each row that say what a picture shows.
    pub(crate) fn without_metadata(&self) -> RowLists<u32> {
        let is_metadata: Vec<bool> =
            self.names.iter().map(|name| is_metadata_label(name)).collect();
        let mut lists = RowLists::default();
        for list in self.lists.iter() {
            lists.push(list.iter().copied().filter(|number| !is_metadata[*number as usize]));
        }
        lists
    }

    /// Returns the most frequent names of these rows. Names that say what a picture shows come first. Equally frequent
    /// names are in alphabetical order.
    pub(crate) fn most_frequent(&self, rows: &[u32]) -> Vec<String> {
        let mut names = self.counted(rows);
        names
            .sort_unstable_by_key(|&(name, count)| (is_metadata_label(name), Reverse(count), name));
        names.truncate(MAX_FREQUENT);
        names.into_iter().map(|(name, _)| name.to_owned()).collect()
    }

    /// Returns all names of these rows, the most frequent ones first. Equally frequent names are in the order in which
    /// they occur, so that a class of a model precedes its hypernyms.
    pub(crate) fn most_frequent_first(&self, rows: &[u32]) -> Vec<String> {
        let mut names = self.counted(rows);
        names.sort_by_key(|&(_, count)| Reverse(count));
        names.into_iter().map(|(name, _)| name.to_owned()).collect()
    }

    /// Returns the names of these rows in the order in which they occur, with their numbers of occurrences.
    fn counted(&self, rows: &[u32]) -> Vec<(&str, usize)> {
        let mut counted: Vec<(&str, usize)> = Vec::new();
        let mut positions: HashMap<u32, usize> = HashMap::new();
        for &number in rows.iter().flat_map(|row| &self.lists[*row as usize]) {
            let position = *positions.entry(number).or_insert(counted.len());
            match counted.get_mut(position) {
                Some((_, count)) => *count += 1,
                None => counted.push((self.names[number as usize].as_str(), 1)),
            }
        }
        counted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one_row_each(names: impl IntoIterator<Item = String>) -> (NameLists, Vec<u32>) {
        let mut lists = NameLists::default();
        names.into_iter().for_each(|name| lists.push(vec![name]));
        let rows = (0..).take(lists.lists.len()).collect();
        (lists, rows)
    }

    #[test]
    fn most_frequent_names_come_first() {
        let labels = ["sea", "boat", "sky", "boat", "sea", "boat"].map(str::to_owned);
        let (lists, rows) = one_row_each(labels);
        assert_eq!(lists.most_frequent(&rows), ["boat", "sea", "sky"]);
        assert_eq!(lists.most_frequent(&rows[..1]), ["sea"]);
        assert!(lists.most_frequent(&[]).is_empty());
        let many: Vec<String> = ('a'..='z').map(String::from).collect();
        let (lists, rows) = one_row_each(many.clone());
        assert_eq!(lists.most_frequent(&rows), many[..MAX_FREQUENT]);
    }
}
