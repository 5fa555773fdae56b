//! Union-find groups of rows, with vector sums that give the exact mean distance of two groups.

use half::f16;

use crate::similarity::Vectors;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct NeighborEdge {
    pub(super) distance: f32,
    pub(super) endpoints: (u32, u32),
}

/// A partition of the rows of `vectors`.
pub struct GroupForest<'a> {
    vectors: &'a Vectors,
    /// The parent of each row in the tree of its group; a root is its own parent.
    parents: Vec<u32>,
    /// Number of members, valid at roots.
    sizes: Vec<u32>,
    /// Sum of the members' vectors, at roots with more than one member; empty elsewhere.
    sums: Vec<Vec<f32>>,
}

impl<'a> GroupForest<'a> {
    /// Every row in its own group.
    pub fn new(vectors: &'a Vectors) -> Self {
        Self {
            vectors,
            parents: (0..).take(vectors.len()).collect(),
            sizes: vec![1; vectors.len()],
            sums: vec![Vec::new(); vectors.len()],
        }
    }

    pub fn join_pairs(&mut self, pairs: impl Iterator<Item = (u32, u32)>) {
        for (one, other) in pairs {
            let (a, b) = (self.root(one), self.root(other));
            if a != b {
                self.join(a.min(b), a.max(b));
            }
        }
    }

    /// Joins the groups along `edges`, in order, if their mean distance is within `threshold`.
    pub fn join_within(&mut self, edges: &[NeighborEdge], threshold: f32) {
        for edge in edges {
            let (a, b) = (self.root(edge.endpoints.0), self.root(edge.endpoints.1));
            if a != b && self.mean_distance(a, b) <= threshold {
                self.join(a.min(b), a.max(b));
            }
        }
    }

    /// Returns the lowest row of the group of every row.
    pub fn group_of_each_row(&mut self) -> Vec<u32> {
        (0..).take(self.parents.len()).map(|row| self.root(row)).collect()
    }

    /// Roots of all groups with more than `members` members, and the directions of their means.
    pub fn means_of_groups_larger_than(&self, members: usize) -> (Vec<u32>, Vectors) {
        let mut means = Vectors::new(self.vectors.dimension());
        let mut roots = Vec::new();
        for (row, sum) in (0..).zip(&self.sums) {
            if !sum.is_empty() && self.sizes[row as usize] as usize > members {
                let length = sum.iter().map(|v| v * v).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
                let mean: Vec<f16> = sum.iter().map(|v| f16::from_f32(v / length)).collect();
                means.push(&mean);
                roots.push(row);
            }
        }
        (roots, means)
    }

    /// Finds the root of a row, with path halving.
    fn root(&mut self, mut row: u32) -> u32 {
        while self.parents[row as usize] != row {
            let above = self.parents[row as usize];
            self.parents[row as usize] = self.parents[above as usize];
            row = above;
        }
        row
    }

    /// Mean cosine distance of two groups: for unit vectors, one product of the sums gives it.
    fn mean_distance(&self, a: u32, b: u32) -> f32 {
        let (a, b) = (a as usize, b as usize);
        let pairs = f64::from(self.sizes[a]) * f64::from(self.sizes[b]);
        let product = match (self.sums[a].as_slice(), self.sums[b].as_slice()) {
            ([], []) => dot(self.vectors.row(a), &to_f32(self.vectors.row(b))),
            ([], sum) => dot(self.vectors.row(a), sum),
            (sum, []) => dot(self.vectors.row(b), sum),
            (one, other) => one.iter().zip(other).map(|(x, y)| x * y).sum(),
        };
        (1.0 - f64::from(product) / pairs) as f32
    }

    /// Joins the group of the root `other` to that of the lower root `root`.
    fn join(&mut self, root: u32, other: u32) {
        let (at, from) = (root as usize, other as usize);
        if self.sums[at].is_empty() {
            self.sums[at] = to_f32(self.vectors.row(at));
        }
        let sum = std::mem::take(&mut self.sums[from]);
        if sum.is_empty() {
            add(&mut self.sums[at], self.vectors.row(from));
        } else {
            self.sums[at].iter_mut().zip(sum).for_each(|(total, value)| *total += value);
        }
        self.sizes[at] += self.sizes[from];
        self.parents[from] = root;
    }
}

fn to_f32(row: &[f16]) -> Vec<f32> {
    row.iter().map(|value| value.to_f32()).collect()
}

pub fn add(sum: &mut [f32], row: &[f16]) {
    sum.iter_mut().zip(row).for_each(|(total, value)| *total += value.to_f32());
}

pub fn dot(row: &[f16], sum: &[f32]) -> f32 {
    row.iter().zip(sum).map(|(a, b)| a.to_f32() * b).sum()
}
