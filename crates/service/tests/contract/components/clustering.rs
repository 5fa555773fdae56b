//! Hierarchical clustering of vectors.

#![expect(clippy::cast_precision_loss, reason = "a few members")]

use half::f16;
use proptest::prelude::*;
use tessera_search::{
    cluster::{Clustering, by_centrality, cluster},
    similarity::{self, DuplicatePair, Vectors},
};

/// Points on a circle in the first two of sixteen dimensions, by angle in degrees.
fn circle(angles: &[f32]) -> Vectors {
    let mut vectors = Vectors::new(16);
    for angle in angles {
        let mut row = [f16::ZERO; 16];
        row[0] = f16::from_f32(angle.to_radians().cos());
        row[1] = f16::from_f32(angle.to_radians().sin());
        vectors.push(&row);
    }
    vectors
}

fn clustered(vectors: &Vectors) -> Clustering {
    cluster(vectors, &similarity::neighbor_graph(vectors, 16, |_| true).unwrap(), &[])
}

fn groups(labels: &[u32]) -> usize {
    labels.iter().collect::<std::collections::BTreeSet<_>>().len()
}

#[test]
fn a_chain_of_small_steps_is_not_one_group() {
    let angles: Vec<f32> = (0_u8..180).map(f32::from).collect();
    let vectors = circle(&angles);
    let clustering = clustered(&vectors);
    for (labels, threshold) in clustering.levels.iter().zip(clustering.thresholds).take(4) {
        assert!(groups(labels) > 1);
        for root in labels {
            let of_root = |row: &u32| labels[*row as usize] == *root;
            let members: Vec<u32> = (0..180).filter(of_root).collect();
            let widest = members.iter().map(|&a| {
                let away = vectors.distances(vectors.row(a as usize));
                let sum: f32 = members.iter().map(|&b| away[b as usize]).sum();
                sum / members.len() as f32
            });
            assert!(widest.fold(0.0, f32::max) < 2.0 * threshold);
        }
    }
}

#[test]
fn large_tight_groups_are_joined_through_their_means() {
    let near = |center: f32| (0_u8..40).map(move |step| center + f32::from(step) * 0.1);
    let angles: Vec<f32> = near(0.0).chain(near(40.0)).chain(near(170.0)).collect();
    let clustering = clustered(&circle(&angles));
    assert_eq!(groups(&clustering.levels[0]), 3);
    assert_eq!(groups(&clustering.levels[4]), 2);
}

#[test]
fn duplicates_are_not_unique_and_an_outlier_is() {
    let uniqueness = clustered(&circle(&[0.0, 0.0, 1.0, 2.0, 150.0])).uniqueness;
    assert!(uniqueness[0] < 0.05 && uniqueness[1] < 0.05);
    assert!(uniqueness[4] > 0.9);
}

#[test]
fn near_duplicates_share_a_cluster_at_any_distance() {
    let vectors = circle(&[0.0, 90.0, 180.0, 40.0]);
    let graph = similarity::neighbor_graph(&vectors, 3, |_| true).unwrap();
    let pairs = [(0, 2), (2, 3)].map(|rows| DuplicatePair { rows, similarity: 0.7 });
    let clustering = cluster(&vectors, &graph, &pairs);
    assert_eq!(clustering.levels[0], [0, 1, 0, 0]);
}

#[test]
fn members_are_ordered_by_centrality() {
    let vectors = circle(&[0.0, 30.0, 20.0, 70.0]);
    assert_eq!(by_centrality(&vectors, &[0, 1, 2, 3]), [1, 2, 0, 3]);
    assert_eq!(by_centrality(&vectors, &[3]), [3]);
    assert!(by_centrality(&vectors, &[]).is_empty());
}

#[test]
fn few_or_equal_rows_are_clustered() {
    assert!(clustered(&circle(&[])).uniqueness.is_empty());
    assert_eq!(clustered(&circle(&[5.0])).levels, [const { [0] }; 5].map(Vec::from));
    assert_eq!(clustered(&circle(&[5.0; 2])).levels, [const { [0, 0] }; 5].map(Vec::from));
    let same = clustered(&circle(&[7.0; 100]));
    assert!(same.levels.iter().all(|labels| labels.iter().all(|&label| label == 0)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn levels_nest_and_are_named_by_their_lowest_row(
        angles in proptest::collection::vec(0.0_f32..360.0, 0..120),
    ) {
        let vectors = circle(&angles);
        let clustering = clustered(&vectors);
        prop_assert!(clustering.thresholds.is_sorted());
        prop_assert!(clustering.uniqueness.iter().all(|u| (0.0..=1.0).contains(u)));
        for labels in &clustering.levels {
            for (row, &label) in (0..).zip(labels) {
                prop_assert!(label <= row && labels[label as usize] == label);
            }
        }
        for pair in clustering.levels.windows(2) {
            for (row, &fine) in pair[0].iter().enumerate() {
                prop_assert_eq!(pair[1][row], pair[1][fine as usize]);
            }
        }
        prop_assert_eq!(clustering.levels, clustered(&vectors).levels);
    }
}
