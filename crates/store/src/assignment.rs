//! The clusters and scores of each media item, as the latest clustering computed them.

use super::prelude::*;
use tessera_model::Granularity;

/// The confidence (0.0-1.0) that a media item has each issue.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct IssueScores {
    /// The item is far from all other items.
    pub outlier: f32,
    /// The item has a wrong label.
    pub mislabel: f32,
    /// The item is far from the other items with its label.
    pub class_outlier: f32,
    /// The item has an unusual aspect ratio.
    pub odd_aspect: f32,
    /// The item is unusually large or small.
    pub odd_size: f32,
}

#[derive(Clone, Copy, Debug)]
pub struct ClusterAssignment {
    /// Row number of the media item.
    pub media: i64,
    /// The uniqueness, from 0.0 (has duplicates) to 1.0 (unlike anything else).
    pub uniqueness: f32,
    /// The similarity to the best near-duplicate, 0.0-1.0, or 0.0 if there is none.
    pub near_duplicate_similarity: f32,
    pub issue_scores: IssueScores,
    /// The rank of the item's cluster at each level.
    pub cluster_ranks: [u32; Granularity::LEVELS],
    /// The position in the order of the groups of near-duplicates, or `None` without near-duplicates.
    pub duplicate_position: Option<u32>,
    /// The maximum similarity at which the item is in the group of the previous position, or 0.0 if it never is.
    pub duplicate_link: f32,
}

/// The columns that [`read_assignment`] reads, for a table called `place`.
pub(super) const ASSIGNMENT_COLUMNS: &str =
    "place.uniqueness, place.twin, place.outlier, place.mislabel, place.stranger, place.odd_aspect,
     place.odd_size, place.rank_0, place.rank_1, place.rank_2, place.rank_3, place.rank_4,
     place.twin_order, place.twin_link, require(coalesce(place.intact, place.media IS NULL))";

pub(crate) const ASSIGNMENT_COLUMN_COUNT: usize = 15;

/// Reads an assignment. Returns `None` if the media item is not clustered, in which case all columns are null.
pub(super) fn read_assignment(
    row: &Row,
    first: usize,
    media: i64,
) -> Result<Option<ClusterAssignment>> {
    let Some(uniqueness) = row.get(first)? else {
        return Ok(None);
    };
    let mut cluster_ranks = [0; Granularity::LEVELS];
    for (level, rank) in cluster_ranks.iter_mut().enumerate() {
        *rank = row.get(first + 7 + level)?;
    }
    let issue_scores = IssueScores {
        outlier: row.get(first + 2)?,
        mislabel: row.get(first + 3)?,
        class_outlier: row.get(first + 4)?,
        odd_aspect: row.get(first + 5)?,
        odd_size: row.get(first + 6)?,
    };
    Ok(Some(ClusterAssignment {
        media,
        uniqueness,
        near_duplicate_similarity: row.get(first + 1)?,
        issue_scores,
        cluster_ranks,
        duplicate_position: row.get(first + 12)?,
        duplicate_link: row.get(first + 13)?,
    }))
}

const UPSERT_ASSIGNMENT: &str =
    "INSERT INTO place VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14,
       ?15)
     ON CONFLICT (media) DO UPDATE SET
       uniqueness = excluded.uniqueness, twin = excluded.twin, outlier = excluded.outlier,
       mislabel = excluded.mislabel, stranger = excluded.stranger,
       odd_aspect = excluded.odd_aspect, odd_size = excluded.odd_size,
       rank_0 = excluded.rank_0, rank_1 = excluded.rank_1, rank_2 = excluded.rank_2,
       rank_3 = excluded.rank_3, rank_4 = excluded.rank_4,
       twin_order = excluded.twin_order, twin_link = excluded.twin_link";

pub fn upsert_all(connection: &Connection, assignments: &[ClusterAssignment]) -> Result<()> {
    query::execute_each(connection, UPSERT_ASSIGNMENT, assignments, |assignment, run| {
        let [finest, finer, middle, coarser, coarsest] = assignment.cluster_ranks;
        let scores = assignment.issue_scores;
        run(params![
            assignment.media,
            assignment.uniqueness,
            assignment.near_duplicate_similarity,
            scores.outlier,
            scores.mislabel,
            scores.class_outlier,
            scores.odd_aspect,
            scores.odd_size,
            finest,
            finer,
            middle,
            coarser,
            coarsest,
            assignment.duplicate_position,
            assignment.duplicate_link,
        ])
    })
}
