//! Clusters a dataset, or a batch of media by itself, at every granularity, and makes the pages that
//! show it. Everything is computed first and written in the transaction that ends the operation.

use std::{cmp::Reverse, collections::HashMap, collections::HashSet};

use rusqlite::Transaction;

use super::{End, Workshop, progress::Progress};
use crate::{
    cluster::{Clustering, cluster, from_centre, odd_aspects, odd_sizes, outliers, suspect},
    index::{DIMENSION, Keypoints},
    search::{Neighbour, Pair, Vectors, graph, near_duplicates},
    store::{
        cluster::{self as clusters, Cluster, Doubts, Place, Portrait},
        intake,
        media::{self, Kind, Look, Media},
    },
};
use tessera_model::{DatasetId, EntityType, Granularity};

/// Neighbours of each media that clustering looks at.
const NEIGHBOURS: usize = 24;
/// Most previews of a cluster.
pub const PREVIEWS: usize = 9;
/// Most labels or tags of a cluster.
const NAMES: usize = 8;

/// Part of the progress that the images make up; objects are the rest.
const IMAGES: f64 = 0.8;
/// Part of the progress of each that its neighbour graph makes up; near-duplicates are the rest.
const GRAPH: f64 = 0.6;

/// What is clustered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The whole dataset; its clusters are replaced.
    Everything,
    /// The new media of one source; their clusters follow those that are there.
    Batch(i64),
}

impl Scope {
    /// Media that have a place keep it when more come into the same folder.
    fn takes(self, look: &Look) -> bool {
        match self {
            Self::Everything => true,
            Self::Batch(source) => look.media.source == source && look.place.is_none(),
        }
    }
}

/// The clusters of a dataset or of a batch, ready to be written.
pub struct Arrangement {
    dataset: DatasetId,
    scope: Scope,
    parts: Vec<Part>,
}

/// The clusters of an entity type.
struct Part {
    entity: EntityType,
    first: [u32; Granularity::LEVELS],
    levels: [Vec<Cluster>; Granularity::LEVELS],
    places: Vec<Place>,
}

/// What clusters show of a media.
struct Member {
    row: i64,
    picture: i64,
    kind: Kind,
    /// Pixels of itself: of an object, those of its part of the picture.
    size: (u32, u32),
    portrait: Portrait,
    labels: Vec<String>,
    tags: Vec<String>,
}

impl From<Media> for Member {
    fn from(media: Media) -> Self {
        Self {
            row: media.row,
            picture: media.picture(),
            kind: media.kind,
            size: media.own_size(),
            portrait: Portrait::from(&media),
            labels: media.labels,
            tags: media.tags,
        }
    }
}

impl Arrangement {
    /// Computes the clusters of a scope.
    ///
    /// # Errors
    /// Stopped, the store failed, or there is nothing at all to cluster.
    pub fn of(
        shop: &Workshop,
        dataset: DatasetId,
        scope: Scope,
        progress: &Progress,
    ) -> Result<Self, End> {
        let mut parts = Vec::new();
        for (entity, progress) in [
            (EntityType::Images, progress.part(0.0, IMAGES)),
            (EntityType::Objects, progress.part(IMAGES, 1.0)),
        ] {
            shop.go_on()?;
            parts.extend(Part::of(shop, dataset, scope, entity, &progress)?);
        }
        if parts.is_empty() && scope == Scope::Everything {
            return Err(End::Failed(nothing_left(shop, dataset)?));
        }
        Ok(Self { dataset, scope, parts })
    }

    /// Writes it.
    ///
    /// # Errors
    /// The store failed.
    pub fn write(&self, transaction: &Transaction) -> rusqlite::Result<()> {
        if self.scope == Scope::Everything {
            clusters::forget(transaction, self.dataset)?;
        }
        for Part { entity, first, levels, places } in &self.parts {
            clusters::add(transaction, self.dataset, *entity, *first, levels, places)?;
        }
        Ok(())
    }
}

impl Part {
    /// `None` when the scope has nothing of this type.
    fn of(
        shop: &Workshop,
        dataset: DatasetId,
        scope: Scope,
        entity: EntityType,
        progress: &Progress,
    ) -> Result<Option<Self>, End> {
        let mut vectors = Vectors::new(DIMENSION);
        let mut keypoints = Vec::new();
        let mut members: Vec<Member> = Vec::new();
        shop.store.read(|c| {
            media::looks(c, dataset, entity, |look| {
                if scope.takes(&look) {
                    vectors.push(&look.descriptor);
                    keypoints.push(Keypoints::from_bytes(look.keypoints));
                    members.push(look.media.into());
                }
            })
        })?;
        if members.is_empty() {
            return Ok(None);
        }
        let first = match scope {
            Scope::Everything => [0; Granularity::LEVELS],
            Scope::Batch(_) => shop.store.read(|c| clusters::counts(c, dataset, entity))?,
        };
        let near = |share: f32| progress.tell(f64::from(share) * GRAPH);
        let graph = graph(&vectors, NEIGHBOURS, near).ok_or(End::Stopped)?;
        let same = |share: f32| progress.tell(GRAPH + f64::from(share) * (1.0 - GRAPH));
        let twins = near_duplicates(&keypoints, &graph, same).ok_or(End::Stopped)?;
        // A tenth of a gigabyte at a hundred thousand media, and of no more use.
        drop(keypoints);
        let clustering = cluster(&vectors, &graph, &twins);
        let mut ranks = vec![first; members.len()];
        let mut levels = [const { Vec::new() }; Granularity::LEVELS];
        for (index, level) in (0..).map_while(Granularity::new).enumerate() {
            for (rank, group) in (first[index]..).zip(groups(&clustering.levels[index])) {
                for &member in &group {
                    ranks[member as usize][index] = rank;
                }
                levels[index].push(shown(dataset, level, &vectors, &members, &group));
            }
        }
        let places = places(&members, &graph, &twins, &clustering, ranks);
        Ok(Some(Self { entity, first, levels, places }))
    }
}

/// A cluster of these members, as pages show it.
fn shown(
    dataset: DatasetId,
    level: Granularity,
    vectors: &Vectors,
    members: &[Member],
    group: &[u32],
) -> Cluster {
    let member = |row: u32| &members[row as usize];
    let count = |kind: Kind| group.iter().filter(|&&row| member(row).kind == kind).count() as u64;
    let objects = count(Kind::Object);
    let holding: HashSet<i64> = group.iter().map(|&row| member(row).picture).collect();
    let images = if objects > 0 { holding.len() as u64 } else { count(Kind::Image) };
    Cluster {
        id: clusters::id_of(dataset, level, member(group[0]).portrait.media),
        images,
        videos: count(Kind::Video),
        objects,
        previews: (from_centre(vectors, group).iter().take(PREVIEWS))
            .map(|&row| member(row).portrait.clone())
            .collect(),
        labels: frequent(group.iter().flat_map(|&row| &member(row).labels)),
        tags: frequent(group.iter().flat_map(|&row| &member(row).tags)),
    }
}

fn places(
    members: &[Member],
    graph: &[Vec<Neighbour>],
    twins: &[Pair],
    clustering: &Clustering,
    ranks: Vec<[u32; Granularity::LEVELS]>,
) -> Vec<Place> {
    let doubts = doubts(members, graph);
    let mut nearest_twin = vec![0.0_f32; members.len()];
    for Pair { rows: (one, other), similarity } in twins {
        for row in [*one as usize, *other as usize] {
            nearest_twin[row] = nearest_twin[row].max(*similarity);
        }
    }
    let place = |(row, ranks): (usize, [u32; Granularity::LEVELS])| Place {
        media: members[row].row,
        uniqueness: clustering.uniqueness[row],
        twin: nearest_twin[row],
        doubts: doubts[row],
        ranks,
    };
    ranks.into_iter().enumerate().map(place).collect()
}

fn doubts(members: &[Member], graph: &[Vec<Neighbour>]) -> Vec<Doubts> {
    let labels: Vec<&[String]> = members.iter().map(|member| member.labels.as_slice()).collect();
    let sizes: Vec<(u32, u32)> = members.iter().map(|member| member.size).collect();
    let (outliers, mislabels) = (outliers(graph), suspect::mislabels(&labels, graph));
    let strangers = suspect::strangers(&labels, graph);
    let (odd_aspects, odd_sizes) = (odd_aspects(&sizes), odd_sizes(&sizes));
    let doubts = |row: usize| Doubts {
        outlier: outliers[row],
        mislabel: mislabels[row],
        stranger: strangers[row],
        odd_aspect: odd_aspects[row],
        odd_size: odd_sizes[row],
    };
    (0..members.len()).map(doubts).collect()
}

/// The members of each group, largest group first, equal ones in order of their first member.
fn groups(labels: &[u32]) -> Vec<Vec<u32>> {
    let mut groups: Vec<Vec<u32>> = Vec::new();
    let mut place = HashMap::new();
    for (row, label) in (0..).zip(labels) {
        let group = *place.entry(label).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[group].push(row);
    }
    groups.sort_by_key(|group| Reverse(group.len()));
    groups
}

/// The names that come most often, most frequent first, equal ones in order of the alphabet.
fn frequent<'a>(names: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for name in names {
        *counts.entry(name).or_default() += 1;
    }
    let mut names: Vec<_> = counts.into_iter().collect();
    names.sort_unstable_by_key(|&(name, count)| (Reverse(count), name));
    names.truncate(NAMES);
    names.into_iter().map(|(name, _)| name.to_owned()).collect()
}

/// Why a dataset has no media: what became of the files, with the first of them as an example.
fn nothing_left(shop: &Workshop, dataset: DatasetId) -> Result<String, End> {
    let skipped = shop.store.read(|c| intake::skipped(c, dataset))?;
    let opened = skipped.iter().find(|(_, why)| why.starts_with("broken")).or(skipped.first());
    Ok(match opened {
        None => "there are no pictures left in its folder".to_owned(),
        Some((path, why)) => format!(
            "none of its {} files can be opened as a picture, for example {}: {why}",
            skipped.len(),
            path.display()
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn m49_groups_come_largest_first_and_ties_in_order() {
        let expected = vec![vec![1, 3, 4], vec![0, 2], vec![5]];
        assert_eq!(groups(&[0, 1, 0, 1, 1, 5]), expected);
        assert!(groups(&[]).is_empty());
    }

    #[test]
    fn m47_the_most_frequent_labels_stand_for_a_cluster() {
        let labels = ["sea", "boat", "sky", "boat", "sea", "boat"].map(str::to_owned);
        assert_eq!(frequent(labels.iter()), ["boat", "sea", "sky"]);
        let many: Vec<String> = ('a'..='z').map(String::from).collect();
        assert_eq!(frequent(many.iter()), many[..NAMES]);
        assert!(frequent([].iter()).is_empty());
    }
}
