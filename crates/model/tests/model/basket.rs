//! Rules of the basket, over any sequence of steps.

use std::collections::BTreeSet;

use proptest::prelude::*;
use uuid::Uuid;

use tessera_model::{basket::*, *};

/// Cluster `number` of three members, which are `number * 3` and the two after it.
fn cluster(number: u128) -> SelectionEntry {
    let members = (number * 3..number * 3 + 3).map(|member| MediaId(Uuid::from_u128(member)));
    SelectionEntry {
        name: SafeText::name("cluster"),
        entity: EntityType::Images,
        granularity: Granularity::DEFAULT,
        content: EntryContent::Cluster(SelectedCluster {
            id: ClusterId(Uuid::from_u128(number)),
            filters: vec![],
            member_count: Some(3),
            count_is_minimum: false,
            previewed: members.collect(),
            excluded: [].into(),
            stale: false,
        }),
    }
}

fn whole(number: u128) -> ClusterPart {
    ClusterPart::new(ClusterId(Uuid::from_u128(number)), &[])
}

fn media_item(member: u128) -> SelectionEntry {
    let within = whole(member / 3);
    let id = MediaId(Uuid::from_u128(member));
    SelectionEntry { content: EntryContent::MediaItem(id, Some(within)), ..cluster(0) }
}

#[derive(Clone, Debug)]
enum BasketAction {
    Select(Vec<u128>),
    SelectInLastStep(Vec<u128>),
    ToggleClusters(Vec<u128>),
    Toggle(u128),
    Drop(u128),
    Clear,
    Undo,
    Redo,
}

fn press(basket: &mut Basket, key: &BasketAction) {
    let clusters = |numbers: &[u128]| numbers.iter().map(|&n| cluster(n)).collect::<Vec<_>>();
    match key {
        BasketAction::Select(numbers) => _ = basket.select(clusters(numbers)),
        BasketAction::SelectInLastStep(numbers) => {
            _ = basket.select_in_last_step(clusters(numbers));
        }
        BasketAction::ToggleClusters(numbers) => _ = basket.toggle(clusters(numbers)),
        BasketAction::Toggle(member) => _ = basket.toggle_media_item(media_item(*member)),
        BasketAction::Drop(number) => {
            basket.remove([EntryId::Cluster(whole(*number))]);
        }
        BasketAction::Clear => basket.replace(&Selection::default()),
        BasketAction::Undo => _ = basket.undo(),
        BasketAction::Redo => _ = basket.redo(),
    }
}

fn keys() -> impl Strategy<Value = Vec<BasketAction>> {
    let page = || proptest::sample::subsequence((0u128..6).collect::<Vec<_>>(), 0..6);
    let key = prop_oneof![
        page().prop_map(BasketAction::Select),
        page().prop_map(BasketAction::SelectInLastStep),
        page().prop_map(BasketAction::ToggleClusters),
        (0u128..18).prop_map(BasketAction::Toggle),
        (0u128..6).prop_map(BasketAction::Drop),
        Just(BasketAction::Clear),
        Just(BasketAction::Undo),
        Just(BasketAction::Redo),
    ];
    proptest::collection::vec(key, 0..40)
}

proptest! {
    #[test]
    fn no_item_is_sent_twice_and_totals_match_what_is_sent(keys in keys()) {
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
            prop_assert_eq!(basket.selection().cluster_containing(*id, None), None, "also in a cluster");
        }
        let totals = basket.selection().totals();
        prop_assert_eq!((totals.media, totals.clusters), (media.len(), clusters.len()));
        prop_assert_eq!(totals.export_rows(), (clusters.len() * 3 - excluded + media.len()) as u64);
    }

    #[test]
    fn every_step_can_be_undone_and_redone(keys in keys()) {
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
        if !keys.iter().any(|key| matches!(key, BasketAction::Undo | BasketAction::Redo)) {
            prop_assert_eq!(basket.selection(), &end);
        }
    }
}

#[test]
fn a_cluster_absorbs_individually_selected_members() {
    let mut basket = Basket::default();
    assert_eq!(basket.toggle_media_item(media_item(4)), ToggleOutcome::Selected);
    assert_eq!(basket.toggle_media_item(media_item(9)), ToggleOutcome::Selected);
    let change = basket.select([cluster(1), cluster(2)]);
    assert_eq!(change, SelectionChange { added: 2, removed: 0, absorbed: 1 });
    assert_eq!(basket.toggle_media_item(media_item(4)), ToggleOutcome::Excluded);
    assert_eq!(basket.selection().totals().export_rows(), 6);
    assert_eq!(basket.toggle_media_item(media_item(4)), ToggleOutcome::Included);
}

#[test]
fn clusters_are_stale_after_a_recluster_until_confirmed() {
    let mut basket = Basket::default();
    basket.select([cluster(1), cluster(2)]);
    basket.remove([cluster(1).id()]);
    assert_eq!(basket.mark_stale(), 1);
    basket.undo();
    assert_eq!(basket.selection().totals().stale, 2, "undo does not clear the stale flag");
}

/// The numbers of the selected clusters, in the order of selecting.
fn order(basket: &Basket) -> Vec<u128> {
    let entries = basket.selection().ordered_entries();
    entries.iter().filter_map(|entry| Some(entry.cluster()?.id.0.as_u128())).collect()
}

#[test]
fn later_pages_of_a_selection_are_undone_with_its_first() {
    let mut basket = Basket::default();
    basket.select([cluster(3)]);
    basket.select([cluster(1)]);
    let change = basket.select_in_last_step([cluster(1), cluster(2), cluster(4)]);
    assert_eq!(change, SelectionChange { added: 2, removed: 0, absorbed: 0 });
    assert_eq!(order(&basket), [3, 1, 2, 4]);
    assert!(basket.undo());
    assert_eq!(order(&basket), [3]);
    assert!(basket.redo());
    assert_eq!(order(&basket), [3, 1, 2, 4]);
    // Without a step before it, it is one of its own.
    let mut basket = Basket::default();
    basket.select_in_last_step([cluster(5)]);
    assert!(basket.undo() && basket.selection().is_empty());
}

#[test]
fn toggling_selects_what_is_not_selected_and_reports_both() {
    let mut basket = Basket::default();
    basket.select([cluster(1), cluster(2)]);
    let change = basket.toggle([cluster(1), cluster(2), cluster(3)]);
    assert_eq!(change, SelectionChange { added: 1, removed: 2, absorbed: 0 });
    assert_eq!(order(&basket), [3]);
}

#[test]
fn a_replaced_selection_comes_back_whole_with_one_undo() {
    let mut basket = Basket::default();
    basket.select([cluster(2), cluster(1)]);
    let other: Selection = [cluster(4), cluster(1), cluster(3)].into_iter().collect();
    basket.replace(&other);
    assert_eq!(order(&basket), [4, 1, 3]);
    assert!(basket.undo());
    assert_eq!(order(&basket), [2, 1]);
}

#[test]
fn undo_and_redo_are_possible_as_long_as_there_are_steps() {
    let mut basket = Basket::default();
    let possible = |basket: &Basket| (basket.can_undo(), basket.can_redo());
    assert_eq!(possible(&basket), (false, false));
    basket.select([cluster(1)]);
    assert_eq!(possible(&basket), (true, false));
    basket.undo();
    assert_eq!(possible(&basket), (false, true));
    assert!(!basket.undo(), "nothing to undo");
    basket.redo();
    assert_eq!(possible(&basket), (true, false));
    assert!(!basket.redo(), "nothing to redo");
}

#[test]
fn the_last_200_steps_can_be_undone() {
    let mut basket = Basket::default();
    for number in 0..203 {
        basket.select([cluster(number)]);
    }
    let undone = std::iter::from_fn(|| basket.undo().then_some(())).count();
    assert_eq!((undone, order(&basket)), (200, vec![0, 1, 2]));
}

#[test]
fn clusters_that_the_service_returns_again_are_no_longer_stale() {
    let mut basket = Basket::default();
    basket.select([cluster(1), cluster(2), cluster(3)]);
    basket.mark_stale();
    let returned = [1, 3, 4].map(|number| Cluster {
        id: ClusterId(Uuid::from_u128(number)),
        ..crate::cluster::empty_cluster()
    });
    assert_eq!(basket.confirm_clusters(&returned), 2);
    assert_eq!(basket.selection().totals().stale, 1);
    assert_eq!(basket.confirm_clusters(&returned), 0, "they are confirmed already");
}

#[test]
fn toggling_reports_what_became_of_an_item_or_a_cluster() {
    let mut basket = Basket::default();
    for (entry, outcome) in [
        (media_item(4), ToggleOutcome::Selected),
        (media_item(4), ToggleOutcome::Deselected),
        (cluster(1), ToggleOutcome::Selected),
        (media_item(4), ToggleOutcome::Excluded),
        (media_item(4), ToggleOutcome::Included),
        (cluster(1), ToggleOutcome::Deselected),
        (media_item(4), ToggleOutcome::Selected),
        // It absorbs the item.
        (cluster(1), ToggleOutcome::Selected),
    ] {
        assert_eq!(basket.toggle_media_item(entry.clone()), outcome, "{:?}", entry.id());
    }
    assert_eq!(order(&basket), [1]);
    assert_eq!(basket.selection().len(), 1);
}

/// The selected members of the first clusters.
fn members(selection: &Selection) -> BTreeSet<u128> {
    let is_selected = |member: &u128| {
        let id = MediaId(Uuid::from_u128(*member));
        selection.includes_item(id, Some(&whole(member / 3)))
    };
    (0..12).filter(is_selected).collect()
}

/// A cluster without some of its members, or a media item.
fn entry() -> impl Strategy<Value = SelectionEntry> {
    let clusters = (0..4_u128, proptest::collection::btree_set(0..3_u128, 0..3));
    let clusters = clusters.prop_map(|(number, left_out)| {
        let mut entry = cluster(number);
        if let EntryContent::Cluster(cluster) = &mut entry.content {
            let ids = left_out.into_iter().map(|it| MediaId(Uuid::from_u128(number * 3 + it)));
            cluster.excluded = ids.collect();
        }
        entry
    });
    prop_oneof![clusters, (0..12_u128).prop_map(media_item)]
}

proptest! {
    #[test]
    fn entries_are_added_and_subtracted_as_sets(
        changes in proptest::collection::vec((entry(), any::<bool>()), 0..8),
        within in any::<bool>(),
    ) {
        let mut basket = Basket::default();
        let mut expected = BTreeSet::new();
        for (mut entry, adds) in changes {
            let alone = members(&[entry.clone()].into_iter().collect());
            // Another granularity found the item in another cluster.
            if let (EntryContent::MediaItem(_, cluster), false) = (&mut entry.content, within) {
                *cluster = Some(whole(99));
            }
            if adds {
                expected.extend(alone);
                basket.add(entry.clone());
                prop_assert!(basket.selection().includes(&entry));
            } else {
                expected.retain(|member| !alone.contains(member));
                basket.subtract(&entry);
            }
            prop_assert_eq!(members(basket.selection()), expected.clone());
        }
    }
}
