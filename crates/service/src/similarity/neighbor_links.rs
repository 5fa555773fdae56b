//! Which rows are linked by a neighbor graph, in either direction.

use super::{Neighbor, neighbor::insert_nearest};

pub struct NeighborLinks {
    /// Of each row: its neighbors, and the nearest rows that it is a neighbor of.
    all: Vec<Vec<u32>>,
    /// Those that were not linked before.
    new: Vec<Vec<u32>>,
}

impl NeighborLinks {
    /// The links of a graph, all of them new.
    pub fn of(graph: &[Vec<Neighbor>], k: usize) -> Self {
        let all = both_directions(graph, k, |_, _| true);
        Self { new: all.clone(), all }
    }

    /// The links of a graph that was made of the `former` one.
    pub fn since(former: &[Vec<Neighbor>], graph: &[Vec<Neighbor>], k: usize) -> Self {
        let is_new = |row: u32, neighbor: &Neighbor| {
            former[row as usize].iter().all(|known| known.row != neighbor.row)
        };
        Self { all: both_directions(graph, k, |_, _| true), new: both_directions(graph, k, is_new) }
    }

    /// Finds the rows that are two links away from `row`, of which one is new, and some that are nearer.
    pub fn two_links_away(&self, row: u32, found: &mut Vec<u32>) {
        found.clear();
        let (all, new) = (&self.all[row as usize], &self.new[row as usize]);
        found.extend(new);
        found.extend(new.iter().flat_map(|&other| &self.all[other as usize]));
        found.extend(all.iter().flat_map(|&other| &self.new[other as usize]));
        found.sort_unstable();
        found.dedup();
    }
}

/// Of every row: its neighbors that are `included`, and the nearest rows that it is such a neighbor of, half as many
/// as a row has neighbors. A row can be the neighbor of any number of others.
fn both_directions(
    graph: &[Vec<Neighbor>],
    k: usize,
    included: impl Fn(u32, &Neighbor) -> bool,
) -> Vec<Vec<u32>> {
    let mut backward: Vec<Vec<Neighbor>> = vec![Vec::new(); graph.len()];
    for (row, nearest) in (0..).zip(graph) {
        for neighbor in nearest.iter().filter(|neighbor| included(row, neighbor)) {
            let link = Neighbor { row, distance: neighbor.distance };
            insert_nearest(&mut backward[neighbor.row as usize], link, k.div_ceil(2));
        }
    }
    let row_links = |((row, nearest), backward): ((u32, &Vec<Neighbor>), Vec<Neighbor>)| {
        let forward = nearest.iter().filter(|neighbor| included(row, neighbor));
        let links: Vec<u32> = forward.chain(&backward).map(|neighbor| neighbor.row).collect();
        links
    };
    (0..).zip(graph).zip(backward).map(row_links).collect()
}
