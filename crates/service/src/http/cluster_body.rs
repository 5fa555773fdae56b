//! Clusters and previews as JSON bodies.

use super::signed_links::SignedLinks;
use crate::usecase::ScoredCluster;
use tessera_model::DatasetId;
use tessera_retrieval::tag_id;
use tessera_store::{cluster::ClusterRecord, preview::StoredPreview};
use tessera_wire::explore::{BoundingBoxBody, ClusterBody, PreviewBody, TagBody};

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
        relevance_score_type: kind,
        ..preview_body(preview, links)
    });
    let tag = |name: String| TagBody { id: tag_id(dataset, &name), name };
    ClusterBody {
        cluster_id: id,
        r#type: entity.as_str(),
        n_images: counts.images,
        n_objects: counts.objects,
        n_videos: counts.videos,
        n_frames: counts.frames,
        similarity_threshold: level.level().to_string(),
        relevance_score: score(0),
        relevance_score_type: kind,
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
        },
        media_id: preview.media,
        image_id: links.with_image_names.then_some(preview.media),
        image_uri: links.with_image_names.then(|| media_uri.clone()),
        media_uri,
        media_thumb_uri,
        file_name: preview.name(),
        original_uri: preview.path,
        video_uri: video_uri.unwrap_or_default(),
        frame_timestamp: preview.frame.map(|frame| frame.seconds),
        caption: preview.caption,
        bounding_box: region.map(|[x, y, width, height]| BoundingBoxBody { x, y, width, height }),
        relevance_score: None,
        relevance_score_type: None,
        width: preview.width,
        height: preview.height,
    }
}
