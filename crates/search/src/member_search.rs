//! A search of the members of a dataset, and the rule that merges two distances into one score: the distance by our own
//! vectors, and the distance by the user's own model. The search in memory and the search tables of a server share
//! both.

use half::f16;

use tessera_model::{
    Granularity, TagId,
    vql::{Fraction, IssueKind, LabelRule, PropertyFilter},
};

/// What the clusters of a search are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Grouping {
    /// The clusters of a granularity.
    Level(Granularity),
    /// The groups of near-duplicates that are at least so similar. No other members match.
    Duplicates(f32),
}

impl Grouping {
    /// Groups the media that a filter for duplicates finds. Similarities have single precision, so the bound of the
    /// filter is rounded up.
    pub fn of_duplicates(filter: Fraction) -> Self {
        let bound = filter.value().max(f64::EPSILON);
        #[expect(clippy::cast_possible_truncation, reason = "rounded up below")]
        let near = bound as f32;
        Self::Duplicates(if f64::from(near) < bound { near.next_up() } else { near })
    }

    /// Returns the granularity of the clusters. Near-duplicates are together at every granularity, so their groups are
    /// at the finest one.
    pub fn granularity(self) -> Granularity {
        match self {
            Self::Level(level) => level,
            Self::Duplicates(_) => Granularity::FINEST,
        }
    }
}

impl Default for Grouping {
    fn default() -> Self {
        Self::Level(Granularity::default())
    }
}

/// Which members match, and in which order they are returned.
#[derive(Clone, Debug)]
pub struct MemberSearch {
    /// A member matches if all conditions hold.
    pub conditions: Vec<MemberCondition>,
    pub order: MemberOrder,
}

#[derive(Clone, Debug)]
pub enum MemberOrder {
    /// The order of the clusters.
    Browsing,
    /// Orders by the scores of captions, which are given as rows of pictures and their scores.
    Captions(Vec<(i64, f32)>),
    /// Orders by distance. Members without such a vector do not match.
    Distance(MemberDistance),
}

#[derive(Clone, Debug)]
pub enum MemberCondition {
    Labels(LabelRule, Vec<String>),
    /// The member has the tag of this name from a sidecar, or its row is among those that users have given the tag.
    Tag {
        /// The identifier of the name.
        name: TagId,
        by_users: Vec<i64>,
    },
    Issue(IssueRange),
    /// The similarity of the best near-duplicate is at least this.
    NearDuplicate(f64),
    /// The uniqueness is above this.
    Uniqueness(f64),
    /// The picture of the member is one of these rows, or, if `matching` is false, is not.
    Captions {
        pictures: Vec<i64>,
        matching: bool,
    },
    Distance(MemberDistance, DistanceBound),
    Property(PropertyFilter),
    /// The member is one of these rows.
    Rows(Vec<i64>),
    /// At least one of the conditions holds.
    Any(Vec<MemberCondition>),
    Not(Box<MemberCondition>),
    /// Nothing matches.
    Never,
}

/// The range in which the confidence of an issue must be, or must not be.
#[derive(Clone, Copy, Debug)]
pub struct IssueRange {
    pub kind: IssueKind,
    pub min: f64,
    pub max: f64,
    pub within: bool,
}

/// A vector with which members are compared.
#[derive(Clone, Debug, PartialEq)]
pub struct VectorQuery {
    pub of: MemberVector,
    pub vector: Vec<f16>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberVector {
    Descriptor,
    /// The vector of captions and labels.
    Text,
    /// The vector of the user's own model.
    Model,
}

/// The vectors from which a distance is computed.
#[derive(Clone, Debug, PartialEq)]
pub enum DistanceQuery {
    /// The cosine distance from one vector.
    Single(VectorQuery),
    /// The distances from two vectors, merged.
    Merged { builtin: VectorQuery, model: VectorQuery, rule: MergeRule },
}

impl DistanceQuery {
    pub fn vectors(&self) -> Vec<&VectorQuery> {
        match self {
            Self::Single(query) => vec![query],
            Self::Merged { builtin, model, .. } => vec![builtin, model],
        }
    }

    /// Returns the vectors whose nearest members include the best results.
    pub fn candidates(&self) -> Vec<&VectorQuery> {
        match self {
            Self::Single(query) => vec![query],
            Self::Merged { model, rule: MergeRule::Weighted, .. } => vec![model],
            Self::Merged { builtin, model, rule: MergeRule::BuiltinFirst } => vec![builtin, model],
        }
    }
}

/// The distances of members from a query. Some distances are known beforehand, and count if they are smaller.
#[derive(Clone, Debug, PartialEq)]
pub struct MemberDistance {
    pub query: DistanceQuery,
    /// Rows of copies of the query's picture, and their distances.
    pub copies: Vec<(i64, f32)>,
    /// Rows of pictures whose names contain words of the query's text, and their distances.
    pub names: Vec<(i64, f32)>,
    /// Rows of pictures whose captions contain words of the query's text, and the factors of their distances.
    pub factors: Vec<(i64, f32)>,
}

impl From<DistanceQuery> for MemberDistance {
    fn from(query: DistanceQuery) -> Self {
        Self { query, copies: Vec::new(), names: Vec::new(), factors: Vec::new() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DistanceBound {
    /// The member has such a vector.
    Exists,
    Below(f64),
    /// One minus the distance is at least this value.
    SimilarityFrom(f64),
}

/// Share of the model in the similarity of pictures. Measured with EfficientNet-Lite0: both together find more changed
/// copies (recall .85) than the model alone (.80) or our descriptor alone (.20), and keep the categories of the model.
pub const MODEL_SHARE: f32 = 0.85;
/// Captions that are nearer than this contain words of the query, or related words. The bands of the API begin at the
/// same value.
pub const CAPTION_LIMIT: f32 = 0.6;
/// The factor that maps the distances of a model (0 to 2) to a range above the distances of captions.
pub const MODEL_SCALE: f32 = 0.2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeRule {
    /// For pictures: both distances, weighted. Without a vector of the model, only our own distance counts.
    Weighted,
    /// For texts: captions that match come first, in their order, so that a model cannot make caption search worse. The
    /// model ranks everything else.
    BuiltinFirst,
}

impl MergeRule {
    /// Returns the score of a member. The distance of a missing vector is infinite.
    pub fn score(self, builtin: f32, model: f32) -> f32 {
        match self {
            Self::Weighted if model.is_finite() && builtin.is_finite() => {
                MODEL_SHARE * model + (1.0 - MODEL_SHARE) * builtin
            }
            Self::BuiltinFirst if builtin < CAPTION_LIMIT => builtin,
            Self::BuiltinFirst if model.is_finite() => CAPTION_LIMIT + MODEL_SCALE * model,
            Self::Weighted | Self::BuiltinFirst => builtin,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: f32 = f32::INFINITY;

    #[test]
    fn a_model_changes_neither_the_order_nor_the_place_of_matching_captions() {
        let matching = [0.0, 0.2, 0.59];
        for builtin in matching {
            for model in [0.0, 0.7, 2.0, NONE] {
                assert_eq!(
                    MergeRule::BuiltinFirst.score(builtin, model).total_cmp(&builtin),
                    std::cmp::Ordering::Equal
                );
            }
        }
        for builtin in [0.6, 0.7, 1.7, NONE] {
            let mut last = CAPTION_LIMIT;
            for model in [0.0, 0.1, 0.7, 1.0, 2.0] {
                let score = MergeRule::BuiltinFirst.score(builtin, model);
                assert!(score >= last && score <= 1.0, "{builtin} {model} {score}");
                last = score;
            }
        }
        assert!(!MergeRule::BuiltinFirst.score(NONE, NONE).is_finite());
    }

    #[test]
    fn pictures_without_a_vector_of_the_model_keep_our_score() {
        let score = |builtin, model| MergeRule::Weighted.score(builtin, model);
        assert!((score(0.4, NONE) - 0.4).abs() < 1e-6);
        assert!((score(0.4, 0.2) - 0.23).abs() < 1e-6);
        assert!((score(0.0, 0.0)).abs() < 1e-6);
    }
}
