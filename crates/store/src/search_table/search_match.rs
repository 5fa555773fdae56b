//! What a search finds.

use crate::cluster::MemberCounts;

/// A cluster with members that match a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClusterMatch {
    /// Its rank at the level, which identifies it in the store.
    pub cluster: u32,
    /// Only of the matching members.
    pub counts: MemberCounts,
    /// The best matching members, best first: row in the store, and score if the query ranks.
    pub best_members: Vec<(i64, Option<f32>)>,
}

/// A member that matches a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SelectedMember {
    /// Its row in the store.
    pub row: i64,
    /// The rank of its cluster.
    pub cluster: u32,
    /// Lower is better; `None` if the query does not rank.
    pub score: Option<f32>,
}
