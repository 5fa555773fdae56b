//! What filters and rankings read of the members of an index: one column per field, ordered by path.

use super::id_lists::IdLists;
use crate::store::{
    assignment::{ClusterAssignment, IssueScores},
    media::MediaRecord,
};
use tessera_model::Granularity;

/// The number in [`MemberColumns::videos`] of a member that is not a frame.
pub const NO_VIDEO: u32 = u32::MAX;

#[derive(Debug, Default)]
pub struct MemberColumns {
    pub rows: Vec<i64>,
    /// The row of the picture that each member is, or is in.
    pub picture_rows: Vec<i64>,
    /// The video that each frame is from, as a number.
    pub videos: Vec<u32>,
    /// The ranks of their clusters at each level.
    pub cluster_ranks: [Vec<u32>; Granularity::LEVELS],
    pub uniqueness: Vec<f32>,
    pub near_duplicate_similarities: Vec<f32>,
    pub issue_scores: Vec<IssueScores>,
    /// Variance of the Laplacian.
    pub sharpness: Vec<f32>,
    /// Mean luma, 0.0-1.0.
    pub brightness: Vec<f32>,
    pub labels: IdLists,
    pub tags: IdLists,
}

impl MemberColumns {
    /// Adds a member, except its labels and tags.
    pub fn push(&mut self, media: &MediaRecord, assignment: &ClusterAssignment, video: u32) {
        self.rows.push(media.row);
        self.picture_rows.push(media.picture_row());
        self.videos.push(video);
        for (ranks, rank) in self.cluster_ranks.iter_mut().zip(assignment.cluster_ranks) {
            ranks.push(rank);
        }
        self.uniqueness.push(assignment.uniqueness);
        self.near_duplicate_similarities.push(assignment.near_duplicate_similarity);
        self.issue_scores.push(assignment.issue_scores);
        self.sharpness.push(media.sharpness);
        self.brightness.push(media.brightness);
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn assignment(&self, member: usize) -> ClusterAssignment {
        ClusterAssignment {
            media: self.rows[member],
            uniqueness: self.uniqueness[member],
            near_duplicate_similarity: self.near_duplicate_similarities[member],
            issue_scores: self.issue_scores[member],
            cluster_ranks: std::array::from_fn(|level| self.cluster_ranks[level][member]),
        }
    }
}
