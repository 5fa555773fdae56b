use std::collections::BTreeSet;

use uuid::Uuid;

use crate::cluster::empty_cluster;
use tessera_model::{basket::*, *};

fn media(number: u128) -> MediaId {
    MediaId(Uuid::from_u128(number))
}

fn cluster_id(number: u128) -> ClusterId {
    ClusterId(Uuid::from_u128(number))
}

/// A cluster without filters, which is the whole cluster.
fn part(number: u128) -> ClusterPart {
    ClusterPart::new(cluster_id(number), &[])
}

fn ids(numbers: &[u128]) -> BTreeSet<MediaId> {
    numbers.iter().map(|&number| media(number)).collect()
}

fn entry(content: EntryContent) -> SelectionEntry {
    SelectionEntry {
        name: SafeText::name("van.jpg"),
        entity: EntityType::Objects,
        granularity: Granularity::DEFAULT,
        content,
    }
}

fn item(number: u128, within: Option<u128>) -> SelectionEntry {
    entry(EntryContent::MediaItem(media(number), within.map(part)))
}

/// A cluster with this number of members, the first of which are previewed.
fn selected(number: u128, member_count: Option<u64>, previewed: &[u128]) -> SelectedCluster {
    SelectedCluster {
        id: cluster_id(number),
        filters: vec![],
        member_count,
        count_is_minimum: false,
        previewed: previewed.iter().map(|number| media(*number)).collect(),
        excluded: BTreeSet::new(),
        stale: false,
    }
}

fn cluster(cluster: SelectedCluster) -> SelectionEntry {
    entry(EntryContent::Cluster(cluster))
}

fn selection(entries: impl IntoIterator<Item = SelectionEntry>) -> Selection {
    entries.into_iter().collect()
}

#[test]
fn totals_add_up_clusters_items_and_what_is_not_counted() {
    let excluding = SelectedCluster { excluded: ids(&[1, 2]), ..selected(1, Some(9), &[1, 2, 3]) };
    let at_least = SelectedCluster { count_is_minimum: true, ..selected(2, Some(4), &[4]) };
    let uncounted =
        SelectedCluster { excluded: ids(&[7]), stale: true, ..selected(3, None, &[5, 6, 7]) };
    let both = SelectedCluster { count_is_minimum: true, stale: true, ..selected(4, None, &[]) };
    let all = [excluding, at_least, uncounted, both].map(cluster);
    let totals = selection(all.into_iter().chain([item(20, None), item(21, None)])).totals();
    let expected = SelectionTotals {
        clusters: 4,
        media: 2,
        excluded: 3,
        members: 9 + 4 + 1,
        previewed: 7,
        uncounted: 3,
        stale: 2,
    };
    assert_eq!(totals, expected);
    assert_eq!((totals.entries(), totals.export_rows()), (6, 14 - 3 + 2));
    assert_eq!(selection([]).totals(), SelectionTotals::default());
}

#[test]
fn more_items_may_be_excluded_than_a_service_counts() {
    let totals = SelectionTotals { members: 1, excluded: 3, media: 2, ..Default::default() };
    assert_eq!(totals.export_rows(), 2);
}

#[test]
fn a_summary_names_only_what_is_selected() {
    for (clusters, media, summary) in [
        (0, 0, "0 media items"),
        (0, 1, "1 media item"),
        (1, 0, "1 cluster"),
        (3, 0, "3 clusters"),
        (3, 9, "3 clusters, 9 media items"),
        (1, 1, "1 cluster, 1 media item"),
    ] {
        let totals = SelectionTotals { clusters, media, ..Default::default() };
        assert_eq!(totals.summary().as_str(), summary);
    }
}

#[test]
fn the_number_of_rows_is_a_minimum_while_a_cluster_is_not_counted() {
    for (uncounted, sign) in [(0, "≈"), (1, "≥"), (2, "≥")] {
        let totals = SelectionTotals { uncounted, ..Default::default() };
        assert_eq!(totals.estimate_sign(), sign);
    }
}

#[test]
fn single_items_are_sent_as_one_item_before_the_clusters() {
    let filters = vec![Filter::uniqueness(0.5).unwrap()];
    let filtered = SelectedCluster {
        filters: filters.clone(),
        excluded: ids(&[5, 4]),
        ..selected(2, Some(3), &[])
    };
    let all = selection([cluster(filtered), item(9, None), item(8, Some(1))]);
    assert_eq!((all.len(), all.is_empty()), (3, false));
    let expected = [
        SelectionItem::Media(vec![media(9), media(8)]),
        SelectionItem::Cluster {
            cluster: cluster_id(2),
            entity: EntityType::Objects,
            filters,
            exclude: vec![media(4), media(5)],
        },
    ];
    assert_eq!(all.items(), expected);
    let clusters_only = selection([cluster(selected(1, None, &[]))]);
    assert!(matches!(clusters_only.items()[..], [SelectionItem::Cluster { .. }]));
    let none = selection([]);
    assert_eq!((none.items(), none.len(), none.is_empty()), (vec![], 0, true));
}

#[test]
fn an_entry_is_found_by_what_it_is() {
    let all = selection([item(1, None), cluster(selected(1, Some(2), &[3, 2]))]);
    let (item_id, in_cluster) = (EntryId::MediaItem(media(1)), EntryId::Cluster(part(1)));
    let ordered: Vec<EntryId> = all.ordered_entries().into_iter().map(SelectionEntry::id).collect();
    assert_eq!(ordered, [item_id, in_cluster]);
    assert_eq!(all.get(&ordered[0]), Some(&item(1, None)));
    assert_eq!(all.get(&EntryId::MediaItem(media(2))), None);
    // The previews keep their order, because the first one stands for the cluster.
    assert_eq!(all.cluster(&part(1)), Some(&selected(1, Some(2), &[3, 2])));
    assert_eq!(all.cluster(&part(2)), None);
}

#[test]
fn an_entry_is_shown_by_its_item_or_a_previewed_member() {
    for (shown, representative) in [
        (item(4, Some(1)), Some(media(4))),
        (cluster(selected(1, None, &[3, 2])), Some(media(3))),
        (cluster(selected(1, Some(9), &[])), None),
    ] {
        assert_eq!(shown.representative(), representative);
    }
}

#[test]
fn a_cluster_contains_what_it_previews_and_what_was_excluded_from_it() {
    let excluding = SelectedCluster { excluded: ids(&[5]), ..selected(2, None, &[4]) };
    let all = selection([cluster(selected(1, None, &[1])), cluster(excluding), item(9, Some(1))]);
    for (number, within) in [(1, Some(1)), (4, Some(2)), (5, Some(2)), (9, None), (7, None)] {
        assert_eq!(all.cluster_containing(media(number), None), within.map(cluster_id), "{number}");
    }
}

#[test]
fn a_cluster_absorbs_items_that_it_previews_or_that_were_seen_in_it() {
    let mut basket = Basket::new(selection([
        item(1, Some(1)),
        item(2, Some(2)),
        item(3, None),
        item(4, Some(2)),
    ]));
    let change = basket.select([cluster(selected(1, Some(9), &[3, 4]))]);
    assert_eq!(change, SelectionChange { added: 1, removed: 0, absorbed: 3 });
    let left: Vec<EntryId> =
        basket.selection().ordered_entries().into_iter().map(SelectionEntry::id).collect();
    assert_eq!(left, [EntryId::MediaItem(media(2)), EntryId::Cluster(part(1))]);
}

#[test]
fn selecting_one_after_another_gives_the_selection_of_the_list() {
    let all = || [3, 1, 2].map(|number| cluster(selected(number, Some(1), &[])));
    let mut basket = Basket::default();
    basket.select(all());
    assert_eq!(basket.selection(), &selection(all()));
    let mut one_by_one = Basket::default();
    for entry in all() {
        one_by_one.select([entry]);
    }
    assert_eq!(one_by_one.selection(), &selection(all()));
}

#[test]
fn what_is_selected_from_a_search_keeps_its_filters_and_previews() {
    let preview = |number, name| Preview {
        media: media(number),
        file_name: SafeText::file_name(name),
        ..crate::cluster::preview()
    };
    let found = Cluster {
        id: cluster_id(5),
        n_images: Some(7),
        previews: vec![preview(2, "van.jpg"), preview(1, "bus.jpg")],
        ..empty_cluster()
    };
    let dataset = DatasetId(Uuid::nil());
    let query = Query::Caption { text: QueryText::new("a van").unwrap(), max_score: None };
    let filters = vec![Filter::uniqueness(0.5).unwrap()];
    let granularity = Granularity::new(4).unwrap();
    let search = Search { query, filters: filters.clone(), granularity, ..Search::browse(dataset) };
    let expected = SelectedCluster {
        filters,
        // A caption search counts only the members it found.
        count_is_minimum: true,
        ..selected(5, Some(7), &[2, 1])
    };
    let entry = cluster_entry(&found, &search);
    assert_eq!((entry.name.as_str(), entry.granularity), ("van.jpg", granularity));
    assert_eq!(entry.cluster(), Some(&expected));
    let browsed = cluster_entry(&found, &Search::browse(dataset));
    assert_eq!(browsed.cluster(), Some(&selected(5, Some(7), &[2, 1])));
    let without_preview = Cluster { previews: vec![], ..found.clone() };
    assert_eq!(cluster_entry(&without_preview, &search).name.as_str(), "00000000");
    let item = media_item_entry(&found.previews[1], &found, &search);
    assert_eq!((item.name.as_str(), item.entity), ("bus.jpg", EntityType::Images));
    let seen_in = ClusterPart::new(cluster_id(5), &search.filters);
    assert_eq!(item.content, EntryContent::MediaItem(media(1), Some(seen_in)));
}

/// The part of cluster 1 that a search with this filter finds.
fn found(uniqueness: f64, previewed: &[u128]) -> SelectionEntry {
    let filters = vec![Filter::uniqueness(uniqueness).unwrap()];
    cluster(SelectedCluster { filters, ..selected(1, Some(previewed.len() as u64), previewed) })
}

#[test]
fn searches_select_their_own_parts_of_a_cluster() {
    let (x, y) = (found(0.1, &[1, 2]), found(0.2, &[3]));
    let whole = cluster(selected(1, Some(3), &[1, 2, 3]));
    let mut basket = Basket::default();
    for entry in [&x, &y, &x] {
        basket.select([entry.clone()]);
    }
    assert_eq!(basket.selection(), &selection([x.clone(), y.clone()]), "nothing is absorbed");
    assert_eq!(basket.selection().totals().export_rows(), 3);
    assert_eq!(basket.selection().items().len(), 2, "each part is sent with its filters");
    assert_eq!(basket.toggle([y.clone()]).removed, 1);
    assert!(basket.selection().includes(&x) && !basket.selection().includes(&y));
    assert_eq!(basket.select([whole.clone()]).added, 1);
    assert_eq!(basket.selection().ordered_entries(), [&whole], "it contains its parts");
    assert_eq!(basket.select([y]), SelectionChange::default(), "and a part changes nothing");
}

#[test]
fn a_member_is_excluded_only_from_parts_that_may_contain_it() {
    let (x, y) = (found(0.1, &[1, 2]), found(0.2, &[2, 3]));
    let seen_in = |entry: &SelectionEntry| entry.cluster().map(SelectedCluster::part);
    let member = |number, within| entry(EntryContent::MediaItem(media(number), within));
    let mut basket = Basket::new(selection([x.clone()]));
    assert_eq!(basket.toggle_media_item(member(3, seen_in(&y))), ToggleOutcome::Selected);
    assert_eq!(basket.toggle_media_item(member(9, seen_in(&x))), ToggleOutcome::Excluded);
    basket.select([y.clone()]);
    assert_eq!(basket.toggle_media_item(member(2, seen_in(&y))), ToggleOutcome::Excluded);
    assert!(!basket.selection().includes_item(media(2), seen_in(&x).as_ref()), "it is in both");
    basket.subtract(&y);
    let left: Vec<u128> =
        (1..10).filter(|number| basket.selection().includes_item(media(*number), None)).collect();
    assert_eq!(left, [1]);
    basket.add(y);
    assert!(basket.selection().includes_item(media(2), None));
}
