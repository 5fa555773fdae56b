//! A cluster as the interface spells it.

use super::signed_links::SignedLinks;
use crate::{
    retrieval::tag_id,
    store::cluster::{ClusterRecord, StoredPreview},
};
use tessera_model::{DatasetId, EntityType, Granularity};
use tessera_wire::explore::{BoundingBoxBody, ClusterBody, PreviewBody, TagBody};

/// A cluster to be shown, with the scores of its previews, and what they are, when something ranks.
pub struct ScoredCluster {
    /// The cluster.
    pub cluster: ClusterRecord,
    /// What the scores are, and one for each preview.
    pub scores: Option<(&'static str, Vec<f32>)>,
}

/// The body of a cluster.
pub fn cluster_body(
    dataset: DatasetId,
    shown: ScoredCluster,
    entity: EntityType,
    level: Granularity,
    links: &SignedLinks,
) -> ClusterBody {
    let score = |place: usize| shown.scores.as_ref()?.1.get(place).copied().map(f64::from);
    let kind = shown.scores.as_ref().map(|(kind, _)| *kind);
    let ClusterRecord { id, images, videos, objects, previews, labels, tags } = shown.cluster;
    let captions = previews.first().and_then(|portrait| portrait.caption.clone());
    let previews = previews.into_iter().enumerate().map(|(place, portrait)| PreviewBody {
        relevance_score: score(place),
        relevance_score_type: kind,
        ..preview_body(portrait, links)
    });
    let tag = |name: String| TagBody { id: tag_id(dataset, &name), name };
    ClusterBody {
        cluster_id: id,
        r#type: entity.word(),
        n_images: images,
        n_objects: objects,
        n_videos: videos,
        similarity_threshold: level.level().to_string(),
        relevance_score: score(0),
        relevance_score_type: kind,
        previews: previews.collect(),
        labels: (!labels.is_empty()).then_some(labels),
        user_tags: (!tags.is_empty()).then(|| tags.into_iter().map(tag).collect()),
        captions: captions.map(|caption| vec![caption]),
    }
}

/// The body of a preview that nothing ranks.
pub fn preview_body(portrait: StoredPreview, links: &SignedLinks) -> PreviewBody {
    let (media_uri, media_thumb_uri) = links.media_links(&portrait);
    let region = portrait.region;
    PreviewBody {
        r#type: match (region, portrait.video) {
            (Some(_), _) => "OBJECT",
            (None, true) => "VIDEO",
            (None, false) => "IMAGE",
        },
        media_id: portrait.media,
        media_uri,
        media_thumb_uri,
        caption: portrait.caption,
        file_name: portrait.name,
        bounding_box: region.map(|[x, y, width, height]| BoundingBoxBody { x, y, width, height }),
        relevance_score: None,
        relevance_score_type: None,
        width: portrait.width,
        height: portrait.height,
    }
}
