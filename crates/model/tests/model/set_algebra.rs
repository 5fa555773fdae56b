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
    let clusters = |loaded: Loaded| -> Vec<Cluster> {
        loaded.iter().map(|(number, members)| cluster(*number, members)).collect()
    };
    let members = |cluster: &Cluster| -> Vec<u128> {
        cluster.previews.iter().map(|preview| preview.media.0.as_u128()).collect()
    };
    let combined = combine(&clusters(a), &clusters(b), operator);
    combined.iter().map(|cluster| (cluster.id.0.as_u128(), members(cluster))).collect()
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
