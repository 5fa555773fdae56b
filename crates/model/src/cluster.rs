//! Clusters with their previews, and the relevance scores by which clusters and previews are ranked.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use crate::{
    ClusterId, EntityType, Link, MediaId, Region, SafeText, TagId, VideoFrame,
    keyword::text_enum,
    picture_source::frames_and_videos,
    text::grouped_with_noun,
    vql::{ColumnValue, Fraction},
};

/// A group of similar media items, with up to nine previews.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// The id is valid only at the granularity at which the cluster was found.
    pub id: ClusterId,
    pub entity: EntityType,
    /// `None` if the service did not count images (-1) or did not send the field.
    pub n_images: Option<u64>,
    pub n_objects: Option<u64>,
    /// The videos from which the frames were taken.
    pub n_videos: Option<u64>,
    pub n_frames: Option<u64>,
    /// Free text from the service, which is never parsed.
    pub similarity_threshold: Option<SafeText>,
    /// The score of the best member, if the search ranks.
    pub relevance: Option<Relevance>,
    /// The best preview comes first.
    pub previews: Vec<Preview>,
    pub labels: Vec<SafeText>,
    pub tags: Vec<Tag>,
    pub captions: Vec<SafeText>,
}

impl Cluster {
    /// The number of members: images and frames, or objects. If the service does not count frames, the number of videos
    /// is added instead.
    pub fn size(&self) -> Option<u64> {
        let counts = match self.entity {
            EntityType::Objects => [self.n_objects, None],
            EntityType::Images => [self.n_images, self.n_frames.or(self.n_videos)],
        };
        counts.into_iter().flatten().reduce(u64::saturating_add)
    }

    /// Summarizes the members of a cluster that contains frames: `1 image, 12 frames, 3 videos`.
    pub fn contents_with_frames(&self) -> Option<String> {
        let frames = self.n_frames.filter(|frames| *frames > 0)?;
        let frames = frames_and_videos(frames, self.n_videos);
        Some(match self.n_images {
            None | Some(0) => frames,
            Some(images) => format!("{}, {frames}", grouped_with_noun(images, "image", "images")),
        })
    }

    pub fn caption(&self) -> Option<&SafeText> {
        self.captions.first().or_else(|| self.previews.first()?.caption.as_ref())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag {
    /// The identifier used in filters, if the service sends it.
    pub id: Option<TagId>,
    pub name: SafeText,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Preview {
    pub media: MediaId,
    /// The kind as received, for example `IMAGE`.
    pub kind: SafeText,
    pub original: Option<Link>,
    pub thumbnail: Option<Link>,
    pub caption: Option<SafeText>,
    pub file_name: SafeText,
    /// The path or URI of the original file, as received, without a query.
    pub original_uri: Option<SafeText>,
    /// The file of this machine that is or contains the original, if the service runs in this process. The path is not
    /// sanitized, because it names a file.
    pub original_path: Option<PathBuf>,
    /// The video and the time, if the media item is a frame of a video.
    pub frame: Option<VideoFrame>,
    /// The part of the picture that matched, if the service sends it.
    pub region: Option<Region>,
    pub relevance: Option<Relevance>,
    /// The labels of the media item, which only a local service sends.
    pub labels: Vec<SafeText>,
    /// The tags of the media item, which only a local service sends.
    pub tags: Vec<SafeText>,
    /// The rating, 1 to 5, or 0 without one.
    pub rating: u8,
    /// Width and height of the original in pixels.
    pub dimensions: Option<(u32, u32)>,
    pub file: FileFacts,
    /// The columns of the user's own, which only a local service sends.
    pub extra_columns: BTreeMap<SafeText, ColumnValue>,
}

/// What is known about the file of a media item, which only a local service sends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileFacts {
    pub bytes: Option<u64>,
    /// The day on which the picture was taken, or else on which the file was changed.
    pub date: Option<SafeText>,
    pub camera: Option<SafeText>,
}

impl Preview {
    /// Returns the file name. For a frame, returns the time and the name of its video.
    pub fn title(&self) -> SafeText {
        self.frame.as_ref().map_or_else(|| self.file_name.clone(), VideoFrame::title)
    }

    /// Returns the file of this machine that is the original. A video or a Parquet file only contains originals.
    pub fn original_file(&self) -> Option<&Path> {
        let path = self.original_path.as_deref()?;
        let name = SafeText::file_name(path.file_name()?.to_str()?);
        (self.frame.is_none() && name == self.file_name).then_some(path)
    }
}

/// What a score measures. Only the known kinds have a direction and bands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScoreKind {
    /// Lower is closer.
    CosineDistance,
    /// Shown as a number, never interpreted.
    Other(SafeText),
}

impl ScoreKind {
    /// The name of the cosine distance, from 0 (same) to 2 (opposite), in the API.
    pub const COSINE_DISTANCE: &str = "cosine_distance";
}

#[derive(Clone, Debug, PartialEq)]
pub struct Relevance {
    pub score: f64,
    pub kind: ScoreKind,
    /// Whether the words of a folder or file name matched, and not a caption or a picture.
    pub by_name: bool,
}

impl Relevance {
    /// Returns whether the score is at or beyond a maximum. A score of an unknown kind has no direction, so it is never
    /// beyond.
    pub fn is_beyond(&self, max: Fraction) -> bool {
        self.kind == ScoreKind::CosineDistance && self.score >= max.value()
    }
}

text_enum! {
    /// The bands by which a cosine distance is read. Image searches and caption searches have different bands.
    pub enum ScoreScale: legend {
        Visual = "lower is closer: same 0 · high ≤.30 · related · loose ≥.50",
        Caption = "lower is closer: strong <.40 · partial ≤.60 · loose >.60",
    }
}

text_enum! {
    #[derive(PartialOrd, Ord)]
    pub enum RelevanceBand: label {
        Strong = "strong",
        Partial = "partial",
        Same = "same",
        High = "high",
        Related = "related",
        Loose = "loose",
        /// The words of a folder or file name matched, whatever the score.
        ByName = "by name",
    }
}

impl RelevanceBand {
    /// The number of filled dots, out of four.
    pub fn strength(self) -> usize {
        match self {
            Self::Same | Self::Strong => 4,
            Self::High => 3,
            Self::Related | Self::Partial | Self::ByName => 2,
            Self::Loose => 1,
        }
    }
}

impl Relevance {
    pub fn new(score: f64, kind: ScoreKind) -> Self {
        Self { score, kind, by_name: false }
    }

    /// Returns the band of a score, by the bounds that the API names, or `None` if it is not known whether lower scores
    /// are closer.
    pub fn band(&self, scale: ScoreScale) -> Option<RelevanceBand> {
        if self.kind != ScoreKind::CosineDistance {
            return None;
        }
        Some(match scale {
            _ if self.by_name => RelevanceBand::ByName,
            ScoreScale::Visual if self.score < 0.005 => RelevanceBand::Same,
            ScoreScale::Visual if self.score <= 0.3 => RelevanceBand::High,
            ScoreScale::Visual if self.score < 0.5 => RelevanceBand::Related,
            ScoreScale::Caption if self.score < 0.4 => RelevanceBand::Strong,
            ScoreScale::Caption if self.score <= 0.6 => RelevanceBand::Partial,
            ScoreScale::Visual | ScoreScale::Caption => RelevanceBand::Loose,
        })
    }
}
