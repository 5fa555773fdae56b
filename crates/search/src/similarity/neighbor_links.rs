//! Which rows are linked by a neighbor graph, in either direction.

use super::{Neighbor, NeighborGraph, row_lists::RowLists};

pub struct NeighborLinks {
    /// Of each row: its neighbors, and the nearest rows that it is a neighbor of.
    all: RowLists<u32>,
    /// Those that were not linked before; `None` if none was.
    new: Option<RowLists<u32>>,
}

impl NeighborLinks {
    /// The links of a graph, all of them new.
    pub fn of(graph: &NeighborGraph, k: usize) -> Self {
        Self { all: both_directions(graph, k, |_, _| true), new: None }
    }

    /// The links of a graph that was made of the `former` one.
    pub fn since(former: &NeighborGraph, graph: &NeighborGraph, k: usize) -> Self {
        let is_new = |row: usize, neighbor: &Neighbor| {
            former[row].iter().all(|known| known.row != neighbor.row)
        };
        let new = both_directions(graph, k, is_new);
        Self { all: both_directions(graph, k, |_, _| true), new: Some(new) }
    }

    /// Finds the rows that are two links away from `row`, of which one is new, and some that are nearer.
    pub fn two_links_away(&self, row: usize, found: &mut Vec<u32>) {
        found.clear();
        let all_new = self.new.as_ref().unwrap_or(&self.all);
        let (all, new) = (&self.all[row], &all_new[row]);
        found.extend(new);
        found.extend(new.iter().flat_map(|&other| &self.all[other as usize]));
        found.extend(all.iter().flat_map(|&other| &all_new[other as usize]));
        found.sort_unstable();
        found.dedup();
    }
}

/// Of every row: its neighbors that are `included`, and the nearest rows that it is such a neighbor of, half as many
/// as a row has neighbors. A row can be the neighbor of any number of others.
fn both_directions(
    graph: &NeighborGraph,
    k: usize,
    included: impl Fn(usize, &Neighbor) -> bool,
) -> RowLists<u32> {
    let mut backward = NeighborGraph::new(graph.len(), k.div_ceil(2));
    for (row, nearest) in graph.iter().enumerate() {
        for neighbor in nearest.iter().filter(|neighbor| included(row, neighbor)) {
            let link = Neighbor { row: row as u32, distance: neighbor.distance };
            backward.insert(neighbor.row as usize, link);
        }
    }
    let mut links = RowLists::with_capacity(graph.len(), 0);
    for (row, (nearest, backward)) in graph.iter().zip(backward.iter()).enumerate() {
        let forward = nearest.iter().filter(|neighbor| included(row, neighbor));
        links.set(row, forward.chain(backward).map(|neighbor| neighbor.row));
    }
    links
}
