//! Outlier and mislabel scores.

use tessera_search::{
    cluster::{
        aspect_ratio_scores,
        issue_scores::{class_outlier_scores, mislabel_scores},
        outlier_scores, size_scores,
    },
    similarity::{Neighbor, NeighborGraph},
};

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
