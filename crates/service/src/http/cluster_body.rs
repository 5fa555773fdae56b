//! Clusters and previews as JSON bodies.

use super::signed_links::SignedLinks;
use crate::usecase::ScoredCluster;
use tessera_model::DatasetId;
use tessera_retrieval::tag_id;
use tessera_store::{cluster::ClusterRecord, preview::StoredPreview};
use tessera_wire::{
    explore::{ClusterBody, TagBody},
    preview::{BoundingBoxBody, PreviewBody},
};

pub fn cluster_body(
    dataset: DatasetId,
    ScoredCluster { entity, level, cluster, scores }: ScoredCluster,
    links: &SignedLinks,
) -> ClusterBody {
    let score = |at: usize| scores.as_ref()?.values.get(at).copied().map(f64::from);
    let kind = scores.as_ref().map(|scores| scores.kind);
    let ClusterRecord { id, counts, previews, labels, tags } = cluster;
    let captions = previews.first().and_then(|preview| preview.caption.clone());
    let previews = previews.into_iter().enumerate().map(|(at, preview)| PreviewBody {
        relevance_score: score(at),
        relevance_score_type: kind.map(Into::into),
        ..preview_body(preview, links)
    });
    let tag = |name: String| TagBody { id: Some(tag_id(dataset, &name)), name };
    ClusterBody {
        cluster_id: id,
        r#type: entity.as_str(),
        n_images: Some(counts.images),
        n_objects: Some(counts.objects),
        n_videos: Some(counts.videos),
        n_frames: Some(counts.frames),
        similarity_threshold: Some(level.level().to_string()),
        relevance_score: score(0),
        relevance_score_type: kind.map(Into::into),
        previews: previews.collect(),
        labels: (!labels.is_empty()).then_some(labels),
        user_tags: (!tags.is_empty()).then(|| tags.into_iter().map(tag).collect()),
        captions: captions.map(|caption| vec![caption]),
    }
}

pub fn preview_body(preview: StoredPreview, links: &SignedLinks) -> PreviewBody {
    let (media_uri, media_thumb_uri, video_uri) = links.media_links(&preview);
    let region = preview.region;
    PreviewBody {
        r#type: match (region, preview.frame) {
            (Some(_), _) => "OBJECT",
            (None, Some(_)) => "VIDEO",
            (None, None) => "IMAGE",
        }
        .into(),
        media_id: preview.media,
        image_id: links.with_image_names.then_some(preview.media),
        image_uri: links.with_image_names.then(|| media_uri.clone()),
        media_uri: Some(media_uri),
        media_thumb_uri: Some(media_thumb_uri),
        file_name: preview.name(),
        original_uri: Some(preview.path),
        video_uri: Some(video_uri.unwrap_or_default()),
        frame_timestamp: preview.frame.map(|frame| frame.seconds),
        caption: preview.caption,
        bounding_box: region.map(|[x, y, width, height]| BoundingBoxBody { x, y, width, height }),
        relevance_score: None,
        relevance_score_type: None,
        width: Some(preview.width),
        height: Some(preview.height),
    }
}
