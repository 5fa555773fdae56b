//! Hierarchical clustering of vectors, and outlier and mislabel scores.

#![expect(clippy::cast_precision_loss, reason = "a few members")]

use half::f16;
use proptest::prelude::*;
use tessera_search::{
    cluster::{
        Clustering, aspect_ratio_scores, by_centrality, cluster,
        issue_scores::{class_outlier_scores, mislabel_scores},
        outlier_scores, size_scores,
    },
    similarity::{self, DuplicatePair, Neighbor, NeighborGraph, Vectors},
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

/// Rows on a line; each has the `k` nearest others as neighbors.
fn line(positions: &[f32], k: usize) -> NeighborGraph {
    let near = |row: usize| {
        let others = (0..).zip(positions).filter(|(other, _)| *other as usize != row);
        let mut nearest: Vec<Neighbor> = others
            .map(|(other, position)| Neighbor {
                row: other,
                distance: (position - positions[row]).abs(),
            })
            .collect();
        nearest.sort_by(Neighbor::order);
        nearest.truncate(k);
        nearest
    };
    (0..positions.len()).map(near).collect()
}

#[test]
fn a_wrong_label_among_agreeing_neighbors_gets_a_high_score() {
    let graph = line(&[0.0, 0.01, 0.02, 0.03, 0.04, 0.05, 0.5, 0.51], 4);
    let labels: [&[&str]; 8] =
        [&["cat"], &["cat"], &["dog"], &["cat"], &["cat"], &[], &["dog"], &["dog"]];
    let found = mislabel_scores(&labels, &graph);
    assert!(found[2] > 0.9, "{found:?}");
    assert!(found[0] < 0.3 && found[3] < 0.3, "{found:?}");
    assert!(found[5].abs() < f32::EPSILON, "no label cannot be wrong");
}

#[test]
fn an_item_far_from_the_others_of_its_label_gets_a_high_score() {
    let graph = line(&[0.0, 0.02, 0.04, 0.06, 0.08, 0.9, 0.91], 6);
    let mut labels: [&[&str]; 7] = [&["cat"]; 7];
    labels[6] = &["dog"];
    let found = class_outlier_scores(&labels, &graph);
    assert!(found[5] > 0.9, "{found:?}");
    assert!(found[..5].iter().all(|&confidence| confidence < 0.5), "{found:?}");
    assert!(found[6].abs() < f32::EPSILON, "one dog has no usual distance");
}

#[test]
fn panoramas_and_icons_are_outliers_and_portrait_photographs_are_not() {
    let mut sizes = vec![(500, 375); 20];
    sizes.extend([(375, 500), (480, 400), (2000, 300), (32, 32)]);
    let (aspects, areas) = (aspect_ratio_scores(&sizes), size_scores(&sizes));
    assert!(aspects[0] < 0.01 && aspects[20] < 0.01 && aspects[21] < 0.3);
    assert!(aspects[22] > 0.8 && aspects[23] < 0.5);
    assert!(areas[0] < 0.01 && areas[22] < 0.5 && areas[23] > 0.8);
}

#[test]
fn diverse_aspect_ratios_have_no_outliers() {
    let sizes: Vec<(u32, u32)> = (1..40).map(|step| (100 * step, 400)).collect();
    let aspects = aspect_ratio_scores(&sizes);
    assert!(aspects.iter().all(|&odd| odd < 0.5), "{aspects:?}");
}

#[test]
fn a_row_far_from_all_others_is_an_outlier() {
    let at = |distance| vec![Neighbor { row: 0, distance }; 10];
    let usual = (0_u8..30).map(|step| at(0.3 + f32::from(step) * 0.004));
    let outliers = outlier_scores(&usual.chain([at(0.9)]).collect());
    assert!(outliers[..30].iter().all(|&odd| odd < 0.3));
    assert!(outliers[30] > 0.8);
}

#[test]
fn empty_datasets_have_no_outliers() {
    assert!(
        outlier_scores(&NeighborGraph::default()).is_empty() && aspect_ratio_scores(&[]).is_empty()
    );
    assert_eq!(size_scores(&[(0, 0)]), [0.0]);
    assert_eq!(outlier_scores(&NeighborGraph::new(1, 0)), [0.0]);
}
