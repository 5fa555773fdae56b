//! What is asked of a dataset: browse it, rank it by an anchor or by a caption, keep what passes
//! the filters.

use std::collections::HashSet;

use crate::{
    Cluster, ClusterId, DatasetId, Filter, Fraction, MediaId, Operation, QueryText, ScoreScale,
};

/// What the members of a cluster are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum EntityType {
    /// Whole images.
    #[default]
    Images,
    /// Objects found in images.
    Objects,
}

impl EntityType {
    /// The word on the wire and on screen.
    pub fn word(self) -> &'static str {
        match self {
            Self::Images => "IMAGES",
            Self::Objects => "OBJECTS",
        }
    }

    /// The other one.
    pub fn toggled(self) -> Self {
        match self {
            Self::Images => Self::Objects,
            Self::Objects => Self::Images,
        }
    }

    /// Reads the wire's word, any case.
    pub fn parse(raw: &str) -> Option<Self> {
        match raw.trim().to_uppercase().as_str() {
            "IMAGES" | "IMAGE" => Some(Self::Images),
            "OBJECTS" | "OBJECT" => Some(Self::Objects),
            _ => None,
        }
    }
}

/// How coarse the clusters are: 0 (finest) to 4. The wire calls it `threshold`; on screen that
/// word stands for three different numbers, so it is never used there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Granularity(u8);

impl Granularity {
    /// Number of levels.
    pub const LEVELS: usize = 5;
    /// What a dataset opens with: coarse enough that a page shows groups, not single media.
    pub const DEFAULT: Self = Self(2);

    /// A level 0-4.
    pub fn new(level: u8) -> Option<Self> {
        (usize::from(level) < Self::LEVELS).then_some(Self(level))
    }

    /// The number on the wire, 0-4.
    pub fn level(self) -> u8 {
        self.0
    }

    /// One level finer, or the same at the end.
    pub fn finer(self) -> Self {
        Self(self.0.saturating_sub(1))
    }

    /// One level coarser, or the same at the end.
    pub fn coarser(self) -> Self {
        Self::new(self.0 + 1).unwrap_or(self)
    }
}

impl Default for Granularity {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Where an anchor comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AnchorKind {
    /// A query image that was uploaded.
    Upload,
    /// An image of the dataset.
    Media,
}

impl AnchorKind {
    /// The word on the wire.
    pub fn word(self) -> &'static str {
        match self {
            Self::Upload => "UPLOAD",
            Self::Media => "MEDIA",
        }
    }

    /// Reads the wire's word, any case.
    pub fn parse(raw: &str) -> Option<Self> {
        match raw.trim().to_uppercase().as_str() {
            "UPLOAD" => Some(Self::Upload),
            "MEDIA" => Some(Self::Media),
            _ => None,
        }
    }
}

/// The image that others are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Anchor {
    /// The registered upload or the image of the dataset.
    pub media: MediaId,
    /// Which of the two it is.
    pub kind: AnchorKind,
}

/// What selects and orders the clusters.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Query {
    /// No query: the clusters of the dataset, largest first as the service gives them.
    Browse,
    /// Ranked by likeness to an anchor.
    Similar(Anchor),
    /// Ranked by what their captions mean.
    Caption {
        /// What is meant.
        text: QueryText,
        /// Keeps only scores below it. Called so on screen: `threshold` stands for three numbers.
        max_score: Option<Fraction>,
    },
}

impl Query {
    /// How the scores of its answers are read.
    pub fn score_scale(&self) -> ScoreScale {
        match self {
            Self::Caption { .. } => ScoreScale::Caption,
            Self::Browse | Self::Similar(_) => ScoreScale::Visual,
        }
    }
}

/// One page of one question. Equal values have equal answers until the dataset changes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Search {
    /// The dataset asked.
    pub dataset: DatasetId,
    /// What selects and orders.
    pub query: Query,
    /// What a medium must be besides; all of them hold (rule: interface, `vql`).
    pub filters: Vec<Filter>,
    /// Images or objects.
    pub entity: EntityType,
    /// How coarse the clusters are. For an uploaded anchor this must be the value it was
    /// registered with (rule: interface, `GET /api/v1/explore`).
    pub granularity: Granularity,
    /// Page number, 0-based; a page holds up to [`Page::SIZE`] clusters.
    pub page: u32,
}

impl Search {
    /// The first page of a dataset without a query.
    pub fn browse(dataset: DatasetId) -> Self {
        Self {
            dataset,
            query: Query::Browse,
            filters: Vec::new(),
            entity: EntityType::default(),
            granularity: Granularity::DEFAULT,
            page: 0,
        }
    }

    /// What the rules of the dataset's status must allow for it.
    pub fn required_operation(&self) -> Operation {
        match self.query {
            Query::Similar(_) => Operation::VisualSearch,
            Query::Caption { .. } => Operation::TextSearch,
            Query::Browse if !self.filters.is_empty() => Operation::TextSearch,
            Query::Browse => Operation::Read,
        }
    }
}

/// One page of clusters.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Page {
    /// The clusters in the order of the service, without repetitions.
    pub clusters: Vec<Cluster>,
    /// Rows that could not be read and were left out.
    pub skipped: usize,
    /// Clusters that an earlier page already showed and that were left out.
    pub repeated: usize,
}

impl Page {
    /// Clusters a full page holds (rule: interface, Limits).
    pub const SIZE: usize = 100;

    /// Whether another page may follow: the service gives no total.
    pub fn may_have_next(&self) -> bool {
        self.clusters.len() + self.skipped + self.repeated >= Self::SIZE
    }

    /// Leaves out the clusters that were seen before, counts them, and adds the others to `seen`.
    pub fn drop_repeated(&mut self, seen: &mut HashSet<ClusterId>) {
        let all = self.clusters.len();
        self.clusters.retain(|cluster| seen.insert(cluster.id));
        self.repeated += all - self.clusters.len();
    }

    /// Whether it answers a caption search with scores that its max score should have left out.
    /// Public documents give both directions of it: this service then means the other one.
    pub fn violates_max_score(&self, search: &Search) -> bool {
        let Query::Caption { max_score: Some(bound), .. } = &search.query else { return false };
        let mut scores = self.clusters.iter().filter_map(|cluster| cluster.relevance.as_ref());
        scores.any(|relevance| relevance.score > bound.value())
    }
}
