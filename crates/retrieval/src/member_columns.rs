//! The columns of the members of an index that filters and rankings read. There is one column per field, and the
//! members are ordered by path. Labels and tags are numbers of a name table, because most media items share a few
//! names.

use std::{
    collections::HashMap,
    io::{self, Read, Write},
};

use tessera_model::Granularity;
use tessera_store::{
    assignment::{ClusterAssignment, IssueScores},
    media::MediaRecord,
};

use crate::{
    columns::{Column, Lists, read_column},
    property_columns::PropertyColumns,
};

/// The value in [`MemberColumns::videos`] for a member that is not a frame.
pub const NO_VIDEO: u32 = u32::MAX;

/// The value in [`MemberColumns::duplicate_positions`] for a member without near-duplicates.
pub const NO_DUPLICATES: u32 = u32::MAX;

/// The columns of the members of an index.
#[derive(Debug, Default)]
pub struct MemberColumns {
    pub rows: Vec<i64>,
    /// The row of the picture that each member is, or that contains the member.
    pub picture_rows: Vec<i64>,
    /// The number of the video from which each frame was taken.
    pub videos: Vec<u32>,
    /// The rank of each member's cluster at each level.
    pub cluster_ranks: [Vec<u32>; Granularity::LEVELS],
    pub uniqueness: Vec<f32>,
    pub near_duplicate_similarities: Vec<f32>,
    /// The positions in the order of the groups of near-duplicates.
    pub duplicate_positions: Vec<u32>,
    /// The maximum similarity at which each member is in the group of the previous position.
    pub duplicate_links: Vec<f32>,
    /// The issue scores, in the order of [`issue_score_fields`].
    issue_scores: [Vec<f32>; 5],
    /// The inverse of the variance of the width of edges.
    pub sharpness: Vec<f32>,
    /// Mean luma, 0.0-1.0.
    pub brightness: Vec<f32>,
    pub perceptual_hashes: Vec<u64>,
    pub labels: Lists<u32>,
    pub tags: Lists<u32>,
    pub properties: PropertyColumns,
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
        self.duplicate_positions.push(assignment.duplicate_position.unwrap_or(NO_DUPLICATES));
        self.duplicate_links.push(assignment.duplicate_link);
        let scores = issue_score_fields(&assignment.issue_scores);
        for (column, score) in self.issue_scores.iter_mut().zip(scores) {
            column.push(score);
        }
        self.sharpness.push(media.sharpness);
        self.brightness.push(media.brightness);
        self.properties.push(media);
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns the columns in the order in which a file contains them. The properties of files follow.
    fn columns_mut(&mut self) -> [&mut dyn Column; 14] {
        [
            &mut self.rows,
            &mut self.picture_rows,
            &mut self.videos,
            &mut self.cluster_ranks,
            &mut self.uniqueness,
            &mut self.near_duplicate_similarities,
            &mut self.duplicate_positions,
            &mut self.duplicate_links,
            &mut self.issue_scores,
            &mut self.sharpness,
            &mut self.brightness,
            &mut self.perceptual_hashes,
            &mut self.labels,
            &mut self.tags,
        ]
    }

    pub fn memory_bytes(&mut self) -> usize {
        let columns: usize = self.columns_mut().iter().map(|column| column.memory_bytes()).sum();
        columns + self.properties.memory_bytes()
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
            duplicate_position: Some(self.duplicate_positions[member])
                .filter(|position| *position != NO_DUPLICATES),
            duplicate_link: self.duplicate_links[member],
        }
    }

    /// Reorders the members.
    pub fn reorder(&mut self, order: &[u32]) {
        self.columns_mut().into_iter().for_each(|column| column.reorder(order));
        self.properties = self.properties.reordered(order);
    }

    pub fn write(&mut self, to: &mut dyn Write) -> io::Result<()> {
        self.columns_mut().into_iter().try_for_each(|column| column.write(to))?;
        self.properties.write(to)
    }

    /// Reads what [`Self::write`] wrote.
    pub fn read(from: &mut dyn Read) -> io::Result<Self> {
        let mut columns = Self::default();
        columns.columns_mut().into_iter().try_for_each(|column| column.read(from))?;
        columns.properties = PropertyColumns::read(from)?;
        Ok(columns)
    }
}

fn issue_score_fields(scores: &IssueScores) -> [f32; 5] {
    let IssueScores { outlier, mislabel, class_outlier, odd_aspect, odd_size } = *scores;
    [outlier, mislabel, class_outlier, odd_aspect, odd_size]
}

/// The number of each label and tag.
#[derive(Debug, Default)]
pub struct NameTable(HashMap<String, u32>);

impl NameTable {
    /// Returns the numbers of names. A new name gets the next number.
    pub fn add(&mut self, names: impl IntoIterator<Item = String>) -> impl Iterator<Item = u32> {
        names.into_iter().map(|name| {
            let next = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
            *self.0.entry(name).or_insert(next)
        })
    }

    /// Replaces all numbers.
    pub fn renumber(&mut self, mut new: impl FnMut(u32) -> u32) {
        self.0.values_mut().for_each(|id| *id = new(*id));
    }

    pub fn id(&self, name: &str) -> Option<u32> {
        self.0.get(name).copied()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, u32)> {
        self.0.iter().map(|(name, &id)| (name.as_str(), id))
    }

    pub fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        serde_json::to_vec(&self.0)?.write(to)
    }

    pub fn read(from: &mut dyn Read) -> io::Result<Self> {
        Ok(Self(serde_json::from_slice(&read_column::<Vec<u8>>(from)?)?))
    }
}
