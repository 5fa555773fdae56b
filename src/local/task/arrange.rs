//! Clusters a dataset at every granularity and writes the pages that show it.

use std::{cmp::Reverse, collections::HashMap};

use super::End;
use crate::{
    local::{
        cluster::{cluster, from_centre},
        index::DIMENSION,
        search::{Vectors, graph},
        store::{
            Store,
            cluster::{self as clusters, Cluster, Place, Portrait},
            dataset, intake, media,
        },
    },
    model::{DatasetId, Granularity, Status},
};

/// Neighbours of each media that clustering looks at.
const NEIGHBOURS: usize = 24;
/// Most previews of a cluster.
pub const PREVIEWS: usize = 9;
/// Most labels of a cluster.
const LABELS: usize = 8;

/// What clusters show of a media.
struct Member {
    row: i64,
    portrait: Portrait,
    labels: Vec<String>,
}

/// Computes and stores the clusters of a dataset, and makes it READY, in one transaction.
///
/// # Errors
/// The store failed, or there is nothing to cluster.
pub fn arrange(store: &Store, dataset: DatasetId) -> Result<(), End> {
    let mut vectors = Vectors::new(DIMENSION);
    let mut members = Vec::new();
    store.read(|c| {
        media::looks(c, dataset, |media, descriptor, _| {
            vectors.push(descriptor);
            members.push(Member {
                row: media.row,
                portrait: Portrait::from(&media),
                labels: media.labels,
            });
        })
    })?;
    if members.is_empty() {
        return Err(End::Failed(nothing_left(store, dataset)?));
    }
    let clustering = cluster(&vectors, &graph(&vectors, NEIGHBOURS));
    let mut ranks = vec![[0; Granularity::LEVELS]; members.len()];
    let mut levels = [const { Vec::new() }; Granularity::LEVELS];
    for (index, level) in (0..).map_while(Granularity::new).enumerate() {
        for (rank, group) in (0..).zip(groups(&clustering.levels[index])) {
            for &member in &group {
                ranks[member as usize][index] = rank;
            }
            let member = |row: u32| &members[row as usize];
            levels[index].push(Cluster {
                id: clusters::id_of(dataset, level, member(group[0]).portrait.media),
                size: group.len() as u64,
                previews: (from_centre(&vectors, &group).iter().take(PREVIEWS))
                    .map(|&row| member(row).portrait.clone())
                    .collect(),
                labels: frequent(group.iter().flat_map(|&row| &member(row).labels)),
            });
        }
    }
    let places: Vec<Place> = members
        .iter()
        .zip(clustering.uniqueness)
        .zip(ranks)
        .map(|((member, uniqueness), ranks)| Place { media: member.row, uniqueness, ranks })
        .collect();
    store.write(|tx| {
        clusters::replace(tx, dataset, &levels, &places)?;
        dataset::set_status(tx, dataset, &Status::Ready, 100, None)
    })?;
    Ok(())
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

/// The labels that come most often, most frequent first, equal ones in order of the alphabet.
fn frequent<'a>(labels: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for label in labels {
        *counts.entry(label).or_default() += 1;
    }
    let mut labels: Vec<_> = counts.into_iter().collect();
    labels.sort_unstable_by_key(|&(label, count)| (Reverse(count), label));
    labels.truncate(LABELS);
    labels.into_iter().map(|(label, _)| label.to_owned()).collect()
}

/// Why a dataset has no media: what became of the files, with the first of them as an example.
fn nothing_left(store: &Store, dataset: DatasetId) -> Result<String, End> {
    let skipped = store.read(|c| intake::skipped(c, dataset))?;
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
        assert_eq!(frequent(many.iter()), many[..LABELS]);
        assert!(frequent([].iter()).is_empty());
    }
}
