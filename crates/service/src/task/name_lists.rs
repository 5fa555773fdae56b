//! The labels or tags of many media items. Each name is stored only once.

use std::{cmp::Reverse, collections::HashMap};

use tessera_model::is_metadata_label;
use tessera_search::similarity::RowLists;

/// The maximum number of names of a cluster.
pub(crate) const MAX_FREQUENT: usize = 8;

#[derive(Default)]
pub(crate) struct NameLists {
    names: Vec<String>,
    numbers: HashMap<String, u32>,
    /// The numbers of the names of each row.
    lists: RowLists<u32>,
}

impl NameLists {
    /// Appends a row.
    pub fn push(&mut self, names: Vec<String>) {
        let Self { names: known, numbers, lists } = self;
        lists.push(names.into_iter().map(|name| {
            let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
            *numbers.entry(name).or_insert_with_key(|name| {
                known.push(name.clone());
                next
            })
        }));
    }

    /// Returns the numbers of those names of each row that say what a picture shows.
    pub(crate) fn without_metadata(&self) -> RowLists<u32> {
        let is_metadata: Vec<bool> =
            self.names.iter().map(|name| is_metadata_label(name)).collect();
        let mut lists = RowLists::default();
        for list in self.lists.iter() {
            lists.push(list.iter().copied().filter(|number| !is_metadata[*number as usize]));
        }
        lists
    }

    /// Returns the most frequent names of these rows. Names that say what a picture shows come first. Equally frequent
    /// names are in alphabetical order.
    pub(crate) fn most_frequent(&self, rows: &[u32]) -> Vec<String> {
        let mut names = self.counted(rows);
        names
            .sort_unstable_by_key(|&(name, count)| (is_metadata_label(name), Reverse(count), name));
        names.truncate(MAX_FREQUENT);
        names.into_iter().map(|(name, _)| name.to_owned()).collect()
    }

    /// Returns all names of these rows, the most frequent ones first. Equally frequent names are in the order in which
    /// they occur, so that a class of a model precedes its hypernyms.
    pub(crate) fn most_frequent_first(&self, rows: &[u32]) -> Vec<String> {
        let mut names = self.counted(rows);
        names.sort_by_key(|&(_, count)| Reverse(count));
        names.into_iter().map(|(name, _)| name.to_owned()).collect()
    }

    /// Returns the names of these rows in the order in which they occur, with their numbers of occurrences.
    fn counted(&self, rows: &[u32]) -> Vec<(&str, usize)> {
        let mut counted: Vec<(&str, usize)> = Vec::new();
        let mut positions: HashMap<u32, usize> = HashMap::new();
        for &number in rows.iter().flat_map(|row| &self.lists[*row as usize]) {
            let position = *positions.entry(number).or_insert(counted.len());
            match counted.get_mut(position) {
                Some((_, count)) => *count += 1,
                None => counted.push((self.names[number as usize].as_str(), 1)),
            }
        }
        counted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one_row_each(names: impl IntoIterator<Item = String>) -> (NameLists, Vec<u32>) {
        let mut lists = NameLists::default();
        names.into_iter().for_each(|name| lists.push(vec![name]));
        let rows = (0..).take(lists.lists.len()).collect();
        (lists, rows)
    }

    #[test]
    fn most_frequent_names_come_first() {
        let labels = ["sea", "boat", "sky", "boat", "sea", "boat"].map(str::to_owned);
        let (lists, rows) = one_row_each(labels);
        assert_eq!(lists.most_frequent(&rows), ["boat", "sea", "sky"]);
        assert_eq!(lists.most_frequent(&rows[..1]), ["sea"]);
        assert!(lists.most_frequent(&[]).is_empty());
        let many: Vec<String> = ('a'..='z').map(String::from).collect();
        let (lists, rows) = one_row_each(many.clone());
        assert_eq!(lists.most_frequent(&rows), many[..MAX_FREQUENT]);
    }
}
