//! What a search of members asks for, independent of SQL.

use half::f16;

use super::MergeRule;
use tessera_model::{
    TagId,
    vql::{IssueKind, LabelRule},
};

/// Which members match, and in which order.
#[derive(Clone, Debug)]
pub struct MemberSearch {
    /// All of them hold.
    pub conditions: Vec<MemberCondition>,
    pub order: MemberOrder,
}

#[derive(Clone, Debug)]
pub enum MemberOrder {
    /// That of the clusters.
    Browsing,
    /// By the scores of captions: rows of pictures, and their scores.
    Captions(Vec<(i64, f32)>),
    /// By distance; members without such a vector do not match.
    Distance(MemberDistance),
}

#[derive(Clone, Debug)]
pub enum MemberCondition {
    Labels(LabelRule, Vec<String>),
    /// Has all of these.
    Tags(Vec<TagId>),
    Issue(IssueRange),
    /// The similarity of the best near-duplicate is at least this.
    NearDuplicate(f64),
    /// The uniqueness is above this.
    Uniqueness(f64),
    /// Its picture is, or is not, one of these rows.
    Captions {
        pictures: Vec<i64>,
        matching: bool,
    },
    Distance(MemberDistance, DistanceBound),
    /// Nothing matches.
    Never,
}

/// The confidence of an issue is, or is not, in a range.
#[derive(Clone, Copy, Debug)]
pub struct IssueRange {
    pub kind: IssueKind,
    pub min: f64,
    pub max: f64,
    pub within: bool,
}

/// A vector to compare members with.
#[derive(Clone, Debug, PartialEq)]
pub struct VectorQuery {
    pub of: MemberVector,
    pub vector: Vec<f16>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberVector {
    Descriptor,
    /// Of captions and labels.
    Embedding,
    /// Of the user's own model.
    Model,
}

impl MemberVector {
    /// The name of the column.
    pub(super) fn column(self) -> &'static str {
        match self {
            Self::Descriptor => "descriptor",
            Self::Embedding => "embedding",
            Self::Model => "model_vector",
        }
    }
}

/// What a score is computed of.
#[derive(Clone, Debug, PartialEq)]
pub enum DistanceQuery {
    /// The cosine distance from one vector.
    Single(VectorQuery),
    /// The distances from two vectors, merged.
    Merged { own: VectorQuery, model: VectorQuery, rule: MergeRule },
}

impl DistanceQuery {
    pub fn vectors(&self) -> Vec<&VectorQuery> {
        match self {
            Self::Single(query) => vec![query],
            Self::Merged { own, model, .. } => vec![own, model],
        }
    }

    /// The vectors whose nearest members include the best ones.
    pub fn candidates(&self) -> Vec<&VectorQuery> {
        match self {
            Self::Single(query) => vec![query],
            Self::Merged { model, rule: MergeRule::Weighted, .. } => vec![model],
            Self::Merged { own, model, rule: MergeRule::OwnFirst } => vec![own, model],
        }
    }
}

/// The distances of members from a query; those of copies of its picture are known, and count if they are smaller.
#[derive(Clone, Debug, PartialEq)]
pub struct MemberDistance {
    pub query: DistanceQuery,
    /// Rows of media, and their distances.
    pub copies: Vec<(i64, f32)>,
}

impl From<DistanceQuery> for MemberDistance {
    fn from(query: DistanceQuery) -> Self {
        Self { query, copies: Vec::new() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DistanceBound {
    /// There is such a vector.
    Exists,
    Below(f64),
    AtMost(f64),
    /// One minus the distance is at least this.
    SimilarityFrom(f64),
}
