//! Orders the matching members of a search by a property of their files.

use std::cmp::Ordering;

use tessera_model::{FileOrder, FileSortKey, search_form, vql::ItemValue};

use crate::property_columns::PropertyColumns;

/// Returns the position of each member in an order of files. Members that do not match have no meaningful position.
/// Equal files keep the order of browsing, so that pages never repeat or skip a cluster.
pub fn file_positions(columns: &PropertyColumns, mask: &[bool], order: FileOrder) -> Vec<u32> {
    let path = |member| {
        let mut path = String::new();
        columns.path(member, &mut path);
        path
    };
    let sorted = match order.by {
        FileSortKey::Name => {
            let key = |member| Some((search_form(columns.name(member)), path(member)));
            sorted_by(mask, order, key)
        }
        FileSortKey::Path => sorted_by(mask, order, |member| Some(path(member))),
        FileSortKey::Bytes => sorted_by(mask, order, |member| Some(columns.sizes[member])),
        FileSortKey::Date => sorted_by(mask, order, |member| match columns.date(member) {
            Some(ItemValue::Date(date)) => Some(date),
            _ => None,
        }),
    };
    let mut positions = vec![u32::MAX; mask.len()];
    for (position, member) in (0..).zip(sorted) {
        positions[member] = position;
    }
    positions
}

/// Sorts the matching members. Members without a key come last.
fn sorted_by<K: Ord>(
    mask: &[bool],
    order: FileOrder,
    key: impl Fn(usize) -> Option<K>,
) -> Vec<usize> {
    let matching = mask.iter().enumerate().filter(|(_, matches)| **matches);
    let mut keyed: Vec<(Option<K>, usize)> =
        matching.map(|(member, _)| (key(member), member)).collect();
    keyed.sort_by(|(one, _), (other, _)| match (one, other) {
        (Some(one), Some(other)) if order.reversed => other.cmp(one),
        (Some(one), Some(other)) => one.cmp(other),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    });
    keyed.into_iter().map(|(_, member)| member).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDERS: [FileSortKey; 2] = [FileSortKey::Bytes, FileSortKey::Date];

    fn order_of(keys: &[Option<i64>], mask: &[bool], reversed: bool) -> Vec<usize> {
        ORDERS
            .map(|by| sorted_by(mask, FileOrder { by, reversed }, |member| keys[member]))
            .into_iter()
            .reduce(|one, other| {
                assert_eq!(one, other);
                one
            })
            .unwrap_or_default()
    }

    #[test]
    fn equal_members_keep_their_order_and_those_without_a_key_come_last() {
        let keys = [Some(3), None, Some(1), Some(3), Some(9), Some(2)];
        let mask = [true, true, true, true, false, true];
        assert_eq!(order_of(&keys, &mask, false), [2, 5, 0, 3, 1]);
        assert_eq!(order_of(&keys, &mask, true), [0, 3, 5, 2, 1]);
    }
}
