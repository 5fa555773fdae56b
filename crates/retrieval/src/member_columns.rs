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
    checked_file::{read_column, write_column},
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
    pub labels: IdLists,
    pub tags: IdLists,
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

    /// Returns the memory of the columns that have one value per member.
    pub fn memory_bytes(&self) -> usize {
        let ranks = self.cluster_ranks.iter().map(|column| size_of_val(&column[..]));
        let scores = self.issue_scores.iter().map(|column| size_of_val(&column[..]));
        let numbers = [
            &self.uniqueness,
            &self.near_duplicate_similarities,
            &self.duplicate_links,
            &self.sharpness,
            &self.brightness,
        ];
        let numbers = numbers.into_iter().map(|column| size_of_val(&column[..]));
        let columns: usize = ranks.chain(scores).chain(numbers).sum();
        columns
            + size_of_val(&self.rows[..])
            + size_of_val(&self.duplicate_positions[..])
            + size_of_val(&self.perceptual_hashes[..])
            + size_of_val(&self.picture_rows[..])
            + size_of_val(&self.videos[..])
            + self.properties.memory_bytes()
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
        reorder_column(&mut self.rows, order);
        reorder_column(&mut self.picture_rows, order);
        reorder_column(&mut self.videos, order);
        self.cluster_ranks.iter_mut().for_each(|column| reorder_column(column, order));
        reorder_column(&mut self.uniqueness, order);
        reorder_column(&mut self.near_duplicate_similarities, order);
        reorder_column(&mut self.duplicate_positions, order);
        reorder_column(&mut self.duplicate_links, order);
        self.issue_scores.iter_mut().for_each(|column| reorder_column(column, order));
        reorder_column(&mut self.sharpness, order);
        reorder_column(&mut self.brightness, order);
        reorder_column(&mut self.perceptual_hashes, order);
        self.labels = self.labels.reordered(order);
        self.tags = self.tags.reordered(order);
        self.properties = self.properties.reordered(order);
    }

    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        write_column(to, &self.rows)?;
        write_column(to, &self.picture_rows)?;
        write_column(to, &self.videos)?;
        self.cluster_ranks.iter().try_for_each(|column| write_column(to, column))?;
        write_column(to, &self.uniqueness)?;
        write_column(to, &self.near_duplicate_similarities)?;
        write_column(to, &self.duplicate_positions)?;
        write_column(to, &self.duplicate_links)?;
        self.issue_scores.iter().try_for_each(|column| write_column(to, column))?;
        write_column(to, &self.sharpness)?;
        write_column(to, &self.brightness)?;
        write_column(to, &self.perceptual_hashes)?;
        self.labels.write(to)?;
        self.tags.write(to)?;
        self.properties.write(to)
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
        columns.duplicate_positions = read_column(from)?;
        columns.duplicate_links = read_column(from)?;
        for column in &mut columns.issue_scores {
            *column = read_column(from)?;
        }
        columns.sharpness = read_column(from)?;
        columns.brightness = read_column(from)?;
        columns.perceptual_hashes = read_column(from)?;
        (columns.labels, columns.tags) = (IdLists::read(from)?, IdLists::read(from)?);
        columns.properties = PropertyColumns::read(from)?;
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

/// A list of numbers for each member. All lists are in one allocation.
#[derive(Debug)]
pub struct IdLists {
    /// The start of the list of each member, and the end of the last list.
    starts: Vec<u32>,
    ids: Vec<u32>,
}

impl Default for IdLists {
    fn default() -> Self {
        Self { starts: vec![0], ids: Vec::new() }
    }
}

impl IdLists {
    /// Adds the list of the next member.
    pub fn push(&mut self, ids: impl IntoIterator<Item = u32>) {
        self.ids.extend(ids);
        self.starts.push(u32::try_from(self.ids.len()).unwrap_or(u32::MAX));
    }

    pub fn of(&self, member: usize) -> &[u32] {
        &self.ids[self.starts[member] as usize..self.starts[member + 1] as usize]
    }

    pub fn of_mut(&mut self, member: usize) -> &mut [u32] {
        &mut self.ids[self.starts[member] as usize..self.starts[member + 1] as usize]
    }

    /// Returns the lists of the members in `order`.
    pub fn reordered(&self, order: &[u32]) -> Self {
        let mut lists = Self::default();
        for &member in order {
            lists.push(self.of(member as usize).iter().copied());
        }
        lists
    }

    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        write_column(to, &self.starts)?;
        write_column(to, &self.ids)
    }

    pub fn read(from: &mut impl Read) -> io::Result<Self> {
        Ok(Self { starts: read_column(from)?, ids: read_column(from)? })
    }
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

    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        write_column(to, &serde_json::to_vec(&self.0)?)
    }

    pub fn read(from: &mut impl Read) -> io::Result<Self> {
        Ok(Self(serde_json::from_slice(&read_column::<u8>(from)?)?))
    }
}
