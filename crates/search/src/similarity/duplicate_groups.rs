//! Groups near-duplicates for every similarity at once. The groups of a similarity are the connected components of the
//! pairs that are at least as similar, so a group of a higher similarity is always within one of a lower similarity.
//!
//! All rows are put into one order in which the members of each group are next to each other (the order of the leaves
//! of a single-linkage dendrogram). Two numbers per row are therefore enough to find the groups of any similarity: the
//! position in the order, and the similarity from which the row is in the group of the row before.

use std::cmp::Reverse;

use super::DuplicatePair;

/// A row with near-duplicates, at its position in the order of groups.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroupedRow {
    pub row: u32,
    /// The maximum similarity at which the row is in the same group as the previous row of the order, or 0.0 if the two
    /// are never in the same group.
    pub link: f32,
}

/// Returns the rows that have near-duplicates, so that each group is contiguous: the largest groups first. The first
/// row of a group is its lowest one.
pub fn order_by_group(pairs: &[DuplicatePair], rows: usize) -> Vec<GroupedRow> {
    let mut lists = GroupLists::new(rows);
    let mut pairs: Vec<&DuplicatePair> = pairs.iter().collect();
    pairs.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then(a.rows.cmp(&b.rows)));
    for DuplicatePair { rows: (one, other), similarity } in pairs {
        lists.join(*one, *other, *similarity);
    }
    lists.order()
}

/// A list of the rows of each group. Groups that are joined have their lists appended to each other.
struct GroupLists {
    /// Leads from a row to the first row of its group.
    parents: Vec<u32>,
    /// The row that follows each row in its list, or the row itself at the end.
    next: Vec<u32>,
    links: Vec<f32>,
    /// The last row and the number of rows, by the first row of a list.
    ends: Vec<(u32, u32)>,
}

impl GroupLists {
    fn new(rows: usize) -> Self {
        let each: Vec<u32> = (0..).take(rows).collect();
        let ends = each.iter().map(|&row| (row, 1)).collect();
        Self { parents: each.clone(), next: each, links: vec![0.0; rows], ends }
    }

    fn first(&mut self, mut row: u32) -> u32 {
        while self.parents[row as usize] != row {
            let above = self.parents[self.parents[row as usize] as usize];
            self.parents[row as usize] = above;
            row = above;
        }
        row
    }

    fn join(&mut self, one: u32, other: u32, similarity: f32) {
        let (one, other) = (self.first(one), self.first(other));
        let (first, appended) = (one.min(other), one.max(other));
        if first == appended {
            return;
        }
        let ((last, count), (new_last, added)) =
            (self.ends[first as usize], self.ends[appended as usize]);
        self.next[last as usize] = appended;
        self.links[appended as usize] = similarity;
        self.parents[appended as usize] = first;
        self.ends[first as usize] = (new_last, count + added);
    }

    fn order(&self) -> Vec<GroupedRow> {
        let of_group =
            |&row: &u32| self.parents[row as usize] == row && self.ends[row as usize].1 > 1;
        let mut firsts: Vec<u32> = (0..).take(self.parents.len()).filter(of_group).collect();
        firsts.sort_by_key(|&row| Reverse(self.ends[row as usize].1));
        let following = |&row: &u32| Some(self.next[row as usize]).filter(|next| *next != row);
        let members = |first: u32| std::iter::successors(Some(first), following);
        let rows = firsts.into_iter().flat_map(members);
        rows.map(|row| GroupedRow { row, link: self.links[row as usize] }).collect()
    }
}
