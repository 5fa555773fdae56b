use std::collections::BTreeSet;

use proptest::prelude::*;
use uuid::Uuid;

use crate::cluster::{empty_cluster, preview};
use tessera_model::{set_algebra::*, *};

fn cluster(number: u128, members: &[u128]) -> Cluster {
    let member = |&member| Preview { media: MediaId(Uuid::from_u128(member)), ..preview() };
    Cluster {
        id: ClusterId(Uuid::from_u128(number)),
        previews: members.iter().map(member).collect(),
        ..empty_cluster()
    }
}

type Loaded<'a> = &'a [(u128, &'a [u128])];

fn combined(a: Loaded, b: Loaded, operator: SetOperator) -> Vec<(u128, Vec<u128>)> {
    let clusters = |loaded: Loaded| -> Vec<FoundCluster> {
        loaded.iter().map(|(number, members)| found(&[], cluster(*number, members))).collect()
    };
    let combined = combine(&clusters(a), &clusters(b), operator);
    combined.iter().map(|it| (it.cluster.id.0.as_u128(), media(it))).collect()
}

fn media(found: &FoundCluster) -> Vec<u128> {
    found.cluster.previews.iter().map(|preview| preview.media.0.as_u128()).collect()
}

/// A cluster that a search with these filters has found.
fn found(filters: &[Filter], cluster: Cluster) -> FoundCluster {
    let filters = filters.to_vec();
    let search = Search { filters, ..Search::browse(DatasetId(Uuid::nil())) };
    FoundCluster::new(cluster, Members::found_by(&search))
}

/// Cluster 1 is split in the other result, 2 is in both, and 3 shows no previews.
const HERE: Loaded = &[(1, &[11, 12, 13]), (2, &[21]), (3, &[]), (4, &[41])];
const THERE: Loaded = &[(9, &[12, 99]), (2, &[22]), (3, &[]), (5, &[])];

#[test]
fn the_intersection_keeps_what_is_in_both() {
    let expected = [(1, vec![12]), (2, vec![21]), (3, vec![])];
    assert_eq!(combined(HERE, THERE, SetOperator::Intersection), expected);
}

#[test]
fn the_difference_keeps_what_is_only_here() {
    let expected = [(1, vec![11, 13]), (4, vec![41])];
    assert_eq!(combined(HERE, THERE, SetOperator::Difference), expected);
    assert_eq!(combined(HERE, HERE, SetOperator::Difference), []);
}

#[test]
fn the_union_appends_what_is_only_there() {
    let mut expected: Vec<(u128, Vec<u128>)> =
        HERE.iter().map(|(number, members)| (*number, members.to_vec())).collect();
    expected.extend([(9, vec![99]), (5, vec![])]);
    assert_eq!(combined(HERE, THERE, SetOperator::Union), expected);
}

#[test]
fn nothing_combines_like_an_empty_set() {
    let here: Vec<(u128, Vec<u128>)> =
        HERE.iter().map(|(number, members)| (*number, members.to_vec())).collect();
    assert_eq!(combined(HERE, &[], SetOperator::Intersection), []);
    assert_eq!(combined(HERE, &[], SetOperator::Difference), here);
    assert_eq!(combined(HERE, &[], SetOperator::Union), here);
    assert_eq!(combined(&[], HERE, SetOperator::Union), here);
}

/// The members of a dataset of three clusters of three members.
fn members(found: &[FoundCluster]) -> BTreeSet<u128> {
    found.iter().flat_map(media).collect()
}

/// Returns what a search finds of these media items. Without a filter, it finds all of them.
fn search(filter: Option<u8>, media: &BTreeSet<u128>) -> Vec<FoundCluster> {
    let filter = filter.map(|number| Filter::uniqueness(f64::from(number)).unwrap());
    let of_cluster = |number: u128| {
        let members =
            (number * 3..number * 3 + 3).filter(|it| filter.is_none() || media.contains(it));
        let members: Vec<u128> = members.collect();
        (!members.is_empty()).then(|| found(filter.as_slice(), cluster(number, &members)))
    };
    (0..3).filter_map(of_cluster).collect()
}

proptest! {
    /// Every operand is a search with a filter or without one, or the result of an earlier operation.
    #[test]
    fn results_combine_as_sets_of_media(
        filtered in proptest::collection::vec(proptest::collection::btree_set(0..9_u128, 0..9), 2),
        steps in proptest::collection::vec((0..3_usize, 0..9_usize, 0..9_usize), 1..6),
    ) {
        let mut results = vec![search(None, &filtered[0])];
        results.extend((0..).zip(&filtered).map(|(number, media)| search(Some(number), media)));
        for (operator, a, b) in steps {
            let (a, b) = (&results[a % results.len()], &results[b % results.len()]);
            let (here, there) = (members(a), members(b));
            let operator = SetOperator::ALL[operator];
            let expected: BTreeSet<u128> = match operator {
                SetOperator::Difference => &here - &there,
                SetOperator::Intersection => &here & &there,
                SetOperator::Union => &here | &there,
            };
            let combined = combine(a, b, operator);
            let ids: BTreeSet<ClusterId> = combined.iter().map(|it| it.cluster.id).collect();
            prop_assert_eq!(ids.len(), combined.len(), "a cluster is listed once");
            prop_assert_eq!(members(&combined), expected, "{:?} {:?} {:?}", here, operator, there);
            results.push(combined);
        }
    }
}

#[test]
fn each_operator_has_a_sign_and_a_description() {
    let shown = SetOperator::ALL.map(|operator| (operator.symbol(), operator.description()));
    let expected = [
        ("−", "items of these results that are not in those"),
        ("∩", "items that are in both results"),
        ("∪", "items in either"),
    ];
    assert_eq!(shown, expected);
}
