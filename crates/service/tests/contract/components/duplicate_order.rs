//! The order in which the groups of near-duplicates of every similarity are contiguous.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use tessera_search::similarity::{DuplicatePair, order_by_group};

const ROWS: u32 = 24;

fn pairs() -> impl Strategy<Value = Vec<DuplicatePair>> {
    let pair = (0..ROWS - 1, 1..ROWS, 84..=100_u8).prop_map(|(row, after, percent)| {
        let other = (row + after).min(ROWS - 1);
        DuplicatePair { rows: (row, other), similarity: f32::from(percent) / 100.0 }
    });
    proptest::collection::vec(pair, 0..30)
}

/// Returns the connected components with more than one row, by spreading the lowest row of each.
fn components(pairs: &[DuplicatePair], similarity: f32) -> BTreeSet<Vec<u32>> {
    let mut lowest: Vec<u32> = (0..ROWS).collect();
    for _ in 0..ROWS {
        for DuplicatePair { rows: (one, other), .. } in
            pairs.iter().filter(|pair| pair.similarity >= similarity)
        {
            let shared = lowest[*one as usize].min(lowest[*other as usize]);
            (lowest[*one as usize], lowest[*other as usize]) = (shared, shared);
        }
    }
    let mut groups: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (row, first) in (0..).zip(lowest) {
        groups.entry(first).or_default().push(row);
    }
    groups.into_values().filter(|group| group.len() > 1).collect()
}

proptest! {
    #[test]
    fn groups_are_connected_components_at_every_similarity(pairs in pairs(), percent in 84..=100_u8) {
        let similarity = f32::from(percent) / 100.0;
        let order = order_by_group(&pairs, ROWS as usize);
        let groups = order.chunk_by(|_, next| next.link >= similarity);
        let groups: Vec<Vec<u32>> =
            groups.map(|group| group.iter().map(|it| it.row).collect()).collect();
        prop_assert!(groups.iter().all(|group| group.iter().min() == group.first()));
        let sorted = groups.into_iter().filter(|group| group.len() > 1).map(|mut group| {
            group.sort_unstable();
            group
        });
        prop_assert_eq!(sorted.collect::<BTreeSet<_>>(), components(&pairs, similarity));
        prop_assert!(order.first().is_none_or(|first| first.link == 0.0));
    }
}
