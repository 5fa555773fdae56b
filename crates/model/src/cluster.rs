//! Clusters, their previews, and what a relevance score means to a person.

use crate::{ClusterId, EntityType, Link, MediaId, Region, SafeText, TagId};

/// A group of media that belong together, with up to nine of them to look at.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// Identifier; valid for the granularity it was found at.
    pub id: ClusterId,
    /// What its members are.
    pub entity: EntityType,
    /// Number of images; `None` when the service did not count (-1) or did not say.
    pub n_images: Option<u64>,
    /// Number of objects.
    pub n_objects: Option<u64>,
    /// Number of videos.
    pub n_videos: Option<u64>,
    /// The clustering threshold: text by the interface, never parsed.
    pub similarity_threshold: Option<SafeText>,
    /// The score of its best member, if the search ranks.
    pub relevance: Option<Relevance>,
    /// Members to look at, best first.
    pub previews: Vec<Preview>,
    /// Labels its members carry.
    pub labels: Vec<SafeText>,
    /// User tags its members carry.
    pub tags: Vec<Tag>,
    /// Captions its members carry.
    pub captions: Vec<SafeText>,
}

impl Cluster {
    /// How many media it holds, by whatever was counted.
    pub fn size(&self) -> Option<u64> {
        let counts = match self.entity {
            EntityType::Objects => [self.n_objects, None],
            EntityType::Images => [self.n_images, self.n_videos],
        };
        counts.into_iter().flatten().reduce(|a, b| a + b)
    }
}

/// A tag that people gave to media.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag {
    /// What filters name it by, if the service says so.
    pub id: Option<TagId>,
    /// What people call it.
    pub name: SafeText,
}

/// One member of a cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Preview {
    /// Identifier, usable as anchor and in exports.
    pub media: MediaId,
    /// The kind as given, for example `IMAGE`.
    pub kind: SafeText,
    /// The original picture.
    pub original: Option<Link>,
    /// The small picture.
    pub thumbnail: Option<Link>,
    /// Caption, if it has one.
    pub caption: Option<SafeText>,
    /// Name of the file.
    pub file_name: SafeText,
    /// The part of the picture that matched, if the service says so.
    pub region: Option<Region>,
    /// Its own score.
    pub relevance: Option<Relevance>,
    /// Size of the original in pixels (width, height).
    pub dimensions: Option<(u32, u32)>,
}

/// What a score measures. Only a known kind has a direction and bands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScoreKind {
    /// `cosine_distance`: lower is closer.
    CosineDistance,
    /// Anything else: shown as a number, never interpreted.
    Other(SafeText),
}

/// A score with its kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Relevance {
    /// The number as given; finite.
    pub score: f64,
    /// What it measures.
    pub kind: ScoreKind,
}

/// What the numbers of a cosine distance mean: pictures and captions have bands of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScoreScale {
    /// Pictures compared with a picture.
    Visual,
    /// Captions compared with a text.
    Caption,
}

impl ScoreScale {
    /// How to read the scores, in a line.
    pub fn legend(self) -> &'static str {
        match self {
            Self::Visual => "lower is closer: same 0 · high ≤.30 · related · loose ≥.50",
            Self::Caption => "lower is closer: strong <.40 · partial ≤.60 · loose >.60",
        }
    }
}

/// A score in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RelevanceBand {
    /// A caption that says it: below 0.4.
    Strong,
    /// A caption that says part of it: 0.4-0.6.
    Partial,
    /// The same picture, or nearly.
    Same,
    /// Highly similar: the interface names 0.1-0.3.
    High,
    /// Between what the interface calls high and loose.
    Related,
    /// Loosely related: 0.5 and above.
    Loose,
}

impl RelevanceBand {
    /// The word shown beside the number.
    pub fn label(self) -> &'static str {
        match self {
            Self::Strong => "strong",
            Self::Partial => "partial",
            Self::Same => "same",
            Self::High => "high",
            Self::Related => "related",
            Self::Loose => "loose",
        }
    }

    /// How many of four marks are filled: the nearer, the more.
    pub fn strength(self) -> usize {
        match self {
            Self::Same | Self::Strong => 4,
            Self::High => 3,
            Self::Related | Self::Partial => 2,
            Self::Loose => 1,
        }
    }
}

impl Relevance {
    /// The band of a score (rules: interface, `GET /api/v1/explore`; caption search parameters).
    /// `None` where the direction is unknown.
    pub fn band(&self, scale: ScoreScale) -> Option<RelevanceBand> {
        if self.kind != ScoreKind::CosineDistance {
            return None;
        }
        Some(match scale {
            ScoreScale::Visual if self.score < 0.005 => RelevanceBand::Same,
            ScoreScale::Visual if self.score <= 0.3 => RelevanceBand::High,
            ScoreScale::Visual if self.score < 0.5 => RelevanceBand::Related,
            ScoreScale::Caption if self.score < 0.4 => RelevanceBand::Strong,
            ScoreScale::Caption if self.score <= 0.6 => RelevanceBand::Partial,
            ScoreScale::Visual | ScoreScale::Caption => RelevanceBand::Loose,
        })
    }
}
