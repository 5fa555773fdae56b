//! Rules of the basket, over any sequence of steps.

use std::collections::BTreeSet;

use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::{EntityType, Granularity, SelectionItem};

/// Cluster `number` of three members, which are `number * 3` and the two after it.
fn cluster(number: u128) -> Mark {
    let members = (number * 3..number * 3 + 3).map(|member| MediaId(Uuid::from_u128(member)));
    Mark {
        name: SafeText::name("cluster"),
        entity: EntityType::Images,
        granularity: Granularity::DEFAULT,
        what: Marked::Cluster(MarkedCluster {
            id: ClusterId(Uuid::from_u128(number)),
            filters: vec![],
            members: Some(3),
            at_least: false,
            seen: members.collect(),
            exclude: [].into(),
            stale: false,
        }),
    }
}

fn medium(member: u128) -> Mark {
    let within = ClusterId(Uuid::from_u128(member / 3));
    let id = MediaId(Uuid::from_u128(member));
    Mark { what: Marked::Medium(id, Some(within)), ..cluster(0) }
}

#[derive(Clone, Debug)]
enum Key {
    Mark(Vec<u128>),
    MarkOn(Vec<u128>),
    Invert(Vec<u128>),
    Toggle(u128),
    Drop(u128),
    Clear,
    Undo,
    Redo,
}

fn press(basket: &mut Basket, key: &Key) {
    let marks = |numbers: &[u128]| numbers.iter().map(|&n| cluster(n)).collect::<Vec<_>>();
    match key {
        Key::Mark(numbers) => _ = basket.mark(marks(numbers)),
        Key::MarkOn(numbers) => _ = basket.mark_on(marks(numbers)),
        Key::Invert(numbers) => _ = basket.invert(marks(numbers)),
        Key::Toggle(member) => _ = basket.toggle_medium(medium(*member)),
        Key::Drop(number) => {
            basket.remove([MarkId::Cluster(ClusterId(Uuid::from_u128(*number)))]);
        }
        Key::Clear => basket.replace(&Selection::default()),
        Key::Undo => _ = basket.undo(),
        Key::Redo => _ = basket.redo(),
    }
}

fn keys() -> impl Strategy<Value = Vec<Key>> {
    let page = || proptest::sample::subsequence((0u128..6).collect::<Vec<_>>(), 0..6);
    let key = prop_oneof![
        page().prop_map(Key::Mark),
        page().prop_map(Key::MarkOn),
        page().prop_map(Key::Invert),
        (0u128..18).prop_map(Key::Toggle),
        (0u128..6).prop_map(Key::Drop),
        Just(Key::Clear),
        Just(Key::Undo),
        Just(Key::Redo),
    ];
    proptest::collection::vec(key, 0..40)
}

proptest! {
    #[test]
    fn m24_nothing_is_sent_twice_and_the_totals_are_what_is_sent(keys in keys()) {
        let mut basket = Basket::default();
        for key in &keys {
            press(&mut basket, key);
        }
        let (mut media, mut clusters, mut excluded) = (vec![], vec![], 0);
        for item in basket.selection().items() {
            match item {
                SelectionItem::Media(ids) => media.extend(ids),
                SelectionItem::Cluster { cluster, exclude, .. } => {
                    clusters.push(cluster);
                    excluded += exclude.len();
                }
            }
        }
        prop_assert_eq!(media.iter().collect::<BTreeSet<_>>().len(), media.len());
        prop_assert_eq!(clusters.iter().collect::<BTreeSet<_>>().len(), clusters.len());
        for id in &media {
            prop_assert_eq!(basket.selection().holder(*id), None, "also in a cluster");
        }
        let totals = basket.selection().totals();
        prop_assert_eq!((totals.media, totals.clusters), (media.len(), clusters.len()));
        prop_assert_eq!(totals.rows(), (clusters.len() * 3 - excluded + media.len()) as u64);
    }

    #[test]
    fn p37_every_step_can_be_taken_back_and_done_again(keys in keys()) {
        let mut basket = Basket::default();
        for key in &keys {
            press(&mut basket, key);
        }
        let end = basket.selection().clone();
        let mut steps = 0;
        while basket.undo() {
            steps += 1;
        }
        prop_assert!(basket.selection().is_empty());
        for _ in 0..steps {
            prop_assert!(basket.redo());
        }
        if !keys.iter().any(|key| matches!(key, Key::Undo | Key::Redo)) {
            prop_assert_eq!(basket.selection(), &end);
        }
    }
}

#[test]
fn a_cluster_swallows_its_single_marks_and_says_so() {
    let mut basket = Basket::default();
    assert_eq!(basket.toggle_medium(medium(4)), Toggled::Marked);
    assert_eq!(basket.toggle_medium(medium(9)), Toggled::Marked);
    let change = basket.mark([cluster(1), cluster(2)]);
    assert_eq!(change, Change { added: 2, removed: 0, swallowed: 1 });
    assert_eq!(basket.toggle_medium(medium(4)), Toggled::Excluded);
    assert_eq!(basket.selection().totals().rows(), 6);
    assert_eq!(basket.toggle_medium(medium(4)), Toggled::Included);
}

#[test]
fn m16_clusters_of_before_are_in_doubt_until_they_are_told_again() {
    let mut basket = Basket::default();
    basket.mark([cluster(1), cluster(2)]);
    basket.remove([cluster(1).id()]);
    assert_eq!(basket.expire(), 1);
    basket.undo();
    assert_eq!(basket.selection().totals().stale, 2, "undo brings back no certainty");
}
