//! What filters and rankings read of the members of an index: one column per field, ordered by path.

use std::io::{self, Read, Write};

use super::{
    column_file::{read_column, write_column},
    id_lists::IdLists,
};
use tessera_model::Granularity;
use tessera_store::{
    assignment::{ClusterAssignment, IssueScores},
    media::MediaRecord,
};

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
    /// In the order of [`issue_score_fields`].
    issue_scores: [Vec<f32>; 5],
    /// Variance of the Laplacian.
    pub sharpness: Vec<f32>,
    /// Mean luma, 0.0-1.0.
    pub brightness: Vec<f32>,
    pub perceptual_hashes: Vec<u64>,
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
        let scores = issue_score_fields(&assignment.issue_scores);
        for (column, score) in self.issue_scores.iter_mut().zip(scores) {
            column.push(score);
        }
        self.sharpness.push(media.sharpness);
        self.brightness.push(media.brightness);
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// The memory of the columns whose length is the number of members.
    pub fn memory_bytes(&self) -> usize {
        let ranks = self.cluster_ranks.iter().map(|column| size_of_val(&column[..]));
        let scores = self.issue_scores.iter().map(|column| size_of_val(&column[..]));
        let numbers = [
            &self.uniqueness,
            &self.near_duplicate_similarities,
            &self.sharpness,
            &self.brightness,
        ];
        let numbers = numbers.into_iter().map(|column| size_of_val(&column[..]));
        let columns: usize = ranks.chain(scores).chain(numbers).sum();
        columns
            + size_of_val(&self.rows[..])
            + size_of_val(&self.perceptual_hashes[..])
            + size_of_val(&self.picture_rows[..])
            + size_of_val(&self.videos[..])
    }

    pub fn assignment(&self, member: usize) -> ClusterAssignment {
        let [outlier, mislabel, class_outlier, odd_aspect, odd_size] =
            self.issue_scores.each_ref().map(|column| column[member]);
        ClusterAssignment {
            media: self.rows[member],
            uniqueness: self.uniqueness[member],
            near_duplicate_similarity: self.near_duplicate_similarities[member],
            issue_scores: IssueScores { outlier, mislabel, class_outlier, odd_aspect, odd_size },
            cluster_ranks: self.cluster_ranks.each_ref().map(|column| column[member]),
        }
    }

    /// Puts the members into another order.
    pub fn reorder(&mut self, order: &[u32]) {
        reorder_column(&mut self.rows, order);
        reorder_column(&mut self.picture_rows, order);
        reorder_column(&mut self.videos, order);
        self.cluster_ranks.iter_mut().for_each(|column| reorder_column(column, order));
        reorder_column(&mut self.uniqueness, order);
        reorder_column(&mut self.near_duplicate_similarities, order);
        self.issue_scores.iter_mut().for_each(|column| reorder_column(column, order));
        reorder_column(&mut self.sharpness, order);
        reorder_column(&mut self.brightness, order);
        reorder_column(&mut self.perceptual_hashes, order);
        self.labels = self.labels.reordered(order);
        self.tags = self.tags.reordered(order);
    }

    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        write_column(to, &self.rows)?;
        write_column(to, &self.picture_rows)?;
        write_column(to, &self.videos)?;
        self.cluster_ranks.iter().try_for_each(|column| write_column(to, column))?;
        write_column(to, &self.uniqueness)?;
        write_column(to, &self.near_duplicate_similarities)?;
        self.issue_scores.iter().try_for_each(|column| write_column(to, column))?;
        write_column(to, &self.sharpness)?;
        write_column(to, &self.brightness)?;
        write_column(to, &self.perceptual_hashes)?;
        self.labels.write(to)?;
        self.tags.write(to)
    }

    /// Reads what [`Self::write`] wrote.
    pub fn read(from: &mut impl Read) -> io::Result<Self> {
        let mut columns = Self {
            rows: read_column(from)?,
            picture_rows: read_column(from)?,
            videos: read_column(from)?,
            ..Self::default()
        };
        for column in &mut columns.cluster_ranks {
            *column = read_column(from)?;
        }
        columns.uniqueness = read_column(from)?;
        columns.near_duplicate_similarities = read_column(from)?;
        for column in &mut columns.issue_scores {
            *column = read_column(from)?;
        }
        columns.sharpness = read_column(from)?;
        columns.brightness = read_column(from)?;
        columns.perceptual_hashes = read_column(from)?;
        (columns.labels, columns.tags) = (IdLists::read(from)?, IdLists::read(from)?);
        Ok(columns)
    }
}

fn reorder_column<T: Copy>(column: &mut Vec<T>, order: &[u32]) {
    *column = order.iter().map(|&member| column[member as usize]).collect();
}

fn issue_score_fields(scores: &IssueScores) -> [f32; 5] {
    let IssueScores { outlier, mislabel, class_outlier, odd_aspect, odd_size } = *scores;
    [outlier, mislabel, class_outlier, odd_aspect, odd_size]
}
