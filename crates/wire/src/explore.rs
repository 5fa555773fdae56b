//! `GET explore` and `POST search-image-similarity`: clusters, previews and anchors.

use std::collections::HashSet;

use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::{
    fields::Fields,
    lenient::{count, first_text, names, number, parsed, required, text},
    video::{read_frame, read_original_uri},
};
use tessera_model::{
    Anchor, AnchorKind, Cluster, ClusterId, Link, MediaId, Page, Preview, Region, Relevance,
    SafeText, ScoreKind, Tag, TagId,
};

/// The Explore response as a service writes it.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ExploreBody {
    /// At most 100 clusters.
    #[schema(max_items = 100)]
    pub clusters: Vec<ClusterBody>,
    /// Metadata of the response.
    pub metadata: MetadataBody,
}

/// The `metadata` of an Explore response.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct MetadataBody {
    /// Whether the response was computed by `DuckDB`.
    pub used_duckdb: bool,
    /// Present and true if the dataset is so large that only the nearest media were considered.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    pub bounded: bool,
}

/// One cluster as a service writes it.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ClusterBody {
    /// Cluster identifier.
    #[schema(value_type = Uuid)]
    pub cluster_id: ClusterId,
    /// `IMAGES` or `OBJECTS`.
    pub r#type: &'static str,
    /// Number of images.
    pub n_images: u64,
    /// Number of objects.
    pub n_objects: u64,
    /// Number of videos that frames are from.
    pub n_videos: u64,
    /// Number of frames of videos.
    pub n_frames: u64,
    /// The clustering threshold as text.
    pub similarity_threshold: String,
    /// Score of the best member; null when nothing ranks.
    pub relevance_score: Option<f64>,
    /// What the score measures.
    pub relevance_score_type: Option<&'static str>,
    /// Previews of members, best first.
    pub previews: Vec<PreviewBody>,
    /// Labels of the members.
    pub labels: Option<Vec<String>>,
    /// User tags of the members.
    pub user_tags: Option<Vec<TagBody>>,
    /// Captions of the members.
    pub captions: Option<Vec<String>>,
}

/// A user tag as a service writes it.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TagBody {
    /// The identifier used in filters.
    #[schema(value_type = Uuid)]
    pub id: TagId,
    /// The name, raw.
    pub name: String,
}

/// One preview as a service writes it.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct PreviewBody {
    /// `IMAGE`, `VIDEO` (a frame of a video) or `OBJECT`.
    pub r#type: &'static str,
    /// Media identifier.
    #[schema(value_type = Uuid)]
    pub media_id: MediaId,
    /// The same, from a lenient service.
    #[schema(value_type = Option<Uuid>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_id: Option<MediaId>,
    /// As `media_uri`, from a lenient service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_uri: Option<String>,
    /// URL of the original.
    pub media_uri: String,
    /// URL of the thumbnail.
    pub media_thumb_uri: String,
    /// Caption.
    pub caption: Option<String>,
    /// File name, raw.
    pub file_name: String,
    /// Path of the original file in the dataset, raw; of a frame, that of its video.
    pub original_uri: String,
    /// URL of the video that a frame is from; empty for a picture.
    pub video_uri: String,
    /// Where a frame is in its video, in seconds; null for a picture.
    pub frame_timestamp: Option<f64>,
    /// Part of the picture, in fractions.
    pub bounding_box: Option<BoundingBoxBody>,
    /// Score; null when nothing ranks.
    pub relevance_score: Option<f64>,
    /// What the score measures.
    pub relevance_score_type: Option<&'static str>,
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
}

/// A bounding box as the interface spells it: fractions of the image.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct BoundingBoxBody {
    /// Left edge.
    pub x: f64,
    /// Top edge.
    pub y: f64,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

/// The response of `search-image-similarity`.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct AnchorBody {
    /// The registered query image.
    #[schema(value_type = Uuid)]
    pub anchor_media_id: MediaId,
    /// Always `UPLOAD`.
    pub anchor_type: &'static str,
}

/// Writes a cluster in the format of the service. `link` decides whether links keep their signature.
pub fn write_cluster(cluster: &Cluster, link: fn(&Link) -> String) -> Value {
    let tags: Vec<Value> =
        cluster.tags.iter().map(|tag| json!({ "id": tag.id, "name": tag.name })).collect();
    let previews = cluster.previews.iter().map(|preview| write_preview(preview, link));
    let mut value = json!({
        "cluster_id": cluster.id,
        "type": cluster.entity.as_str(),
        "n_images": cluster.n_images,
        "n_objects": cluster.n_objects,
        "n_videos": cluster.n_videos,
        "n_frames": cluster.n_frames,
        "similarity_threshold": cluster.similarity_threshold,
    });
    write_relevance(&mut value, cluster.relevance.as_ref());
    value["labels"] = list_or_null(&cluster.labels);
    value["user_tags"] = list_or_null(&tags);
    value["captions"] = list_or_null(&cluster.captions);
    value["previews"] = previews.collect();
    value
}

/// Writes a preview in the format of the service, with the same choice of links.
pub fn write_preview(preview: &Preview, link: fn(&Link) -> String) -> Value {
    let region = preview.region.map(write_region);
    let region = region.and_then(|region| serde_json::from_str::<Value>(&region).ok());
    let mut value = json!({
        "media_id": preview.media,
        "type": preview.kind,
        "file_name": preview.file_name,
        "original_uri": preview.original_uri,
        "video_uri": preview.frame.as_ref().and_then(|frame| frame.link.as_ref()).map(link),
        "frame_timestamp": preview.frame.as_ref().and_then(|frame| frame.seconds),
        "media_uri": preview.original.as_ref().map(link),
        "media_thumb_uri": preview.thumbnail.as_ref().map(link),
        "caption": preview.caption,
        "bounding_box": region,
    });
    write_relevance(&mut value, preview.relevance.as_ref());
    let (width, height) = preview.dimensions.unzip();
    value["width"] = json!(width);
    value["height"] = json!(height);
    value
}

fn write_relevance(value: &mut Value, relevance: Option<&Relevance>) {
    value["relevance_score"] = json!(relevance.map(|relevance| relevance.score));
    value["relevance_score_type"] = json!(relevance.map(|relevance| match &relevance.kind {
        ScoreKind::CosineDistance => "cosine_distance",
        ScoreKind::Other(kind) => kind.as_str(),
    }));
}

/// A list, or null where the service sent none.
fn list_or_null<T: Serialize>(items: &[T]) -> Value {
    if items.is_empty() { Value::Null } else { json!(items) }
}

/// Reads a page. Clusters without a usable identifier or picture, and repeated ones, are skipped and
/// counted. `None` without a `clusters` array, or if nothing in it is a cluster: such a response must
/// not look like an empty page.
pub fn read_page<'a>(page: impl Into<Fields<'a>>) -> Option<Page> {
    let page = page.into();
    let Some(rows) = page.get("clusters").and_then(Value::as_array) else {
        page.note("clusters");
        return None;
    };
    let read = |row| read_cluster(page.element("clusters", row));
    let mut seen = HashSet::new();
    let clusters: Vec<Cluster> =
        rows.iter().filter_map(read).filter(|cluster| seen.insert(cluster.id)).collect();
    let skipped = rows.len() - clusters.len();
    let bounded = page.get("metadata").and_then(|metadata| metadata.get("bounded"));
    let is_bounded = bounded.and_then(Value::as_bool).unwrap_or(false);
    let is_readable = rows.is_empty() || !clusters.is_empty();
    is_readable.then_some(Page { clusters, skipped, repeated: 0, is_bounded })
}

fn read_cluster(value: Fields<'_>) -> Option<Cluster> {
    let id = required(value, &["cluster_id"])?;
    let read = |row| read_preview(value.element("previews", row));
    let previews = match value.get("previews") {
        None => Vec::new(),
        Some(Value::Array(rows)) => {
            let previews: Vec<Preview> = rows.iter().filter_map(read).collect();
            (rows.is_empty() || !previews.is_empty()).then_some(previews)?
        }
        Some(_) => {
            value.note("previews");
            return None;
        }
    };
    Some(Cluster {
        id,
        entity: parsed(value, "type").unwrap_or_default(),
        n_images: count(value, "n_images"),
        n_objects: count(value, "n_objects"),
        n_videos: count(value, "n_videos"),
        n_frames: count(value, "n_frames"),
        similarity_threshold: text(value, "similarity_threshold").map(|raw| SafeText::name(&raw)),
        relevance: read_relevance(value),
        previews,
        labels: names(value, "labels", SafeText::MAX_NAME),
        tags: read_tags(value),
        captions: names(value, "captions", SafeText::MAX_CAPTION),
    })
}

/// Reads tags with their identifiers where the service sends both: a list of objects, or an object of
/// names by identifier. Any other shape contains names only.
fn read_tags(value: Fields<'_>) -> Vec<Tag> {
    let tag = |id: Option<String>, name: &str| Tag {
        id: id.and_then(|id| id.parse().ok()),
        name: SafeText::name(name),
    };
    match value.get("user_tags") {
        Some(Value::Array(items)) if items.iter().all(Value::is_object) => items
            .iter()
            .map(|item| value.element("user_tags", item))
            .filter_map(|item| Some(tag(text(item, "id"), &first_text(item, &["name", "id"])?)))
            .collect(),
        Some(Value::Object(by_id)) if by_id.values().all(Value::is_string) => by_id
            .iter()
            .filter_map(|(id, name)| Some(tag(Some(id.clone()), name.as_str()?)))
            .collect(),
        _ => {
            let names = names(value, "user_tags", SafeText::MAX_NAME).into_iter();
            names.map(|name| Tag { id: None, name }).collect()
        }
    }
}

fn read_preview(value: Fields<'_>) -> Option<Preview> {
    let media = required(value, &["media_id", "image_id"])?;
    let link = |keys: &[&str]| first_text(value, keys).map(Link::new);
    let side = |key| count(value, key).and_then(|side| u32::try_from(side).ok());
    Some(Preview {
        media,
        kind: SafeText::name(&text(value, "type").unwrap_or_default()),
        original: link(&["media_uri", "image_uri"]),
        thumbnail: link(&["media_thumb_uri", "media_uri", "image_uri"]),
        caption: first_text(value, &["caption"]).map(|raw| SafeText::caption(&raw)),
        file_name: SafeText::file_name(&text(value, "file_name").unwrap_or_default()),
        original_uri: read_original_uri(value),
        frame: read_frame(value),
        region: value.read("bounding_box", read_region),
        relevance: read_relevance(value),
        dimensions: side("width").zip(side("height")),
    })
}

fn read_relevance(value: Fields<'_>) -> Option<Relevance> {
    let score = number(value, "relevance_score")?;
    let kind = match text(value, "relevance_score_type") {
        Some(kind) if kind.eq_ignore_ascii_case("cosine_distance") => ScoreKind::CosineDistance,
        kind => ScoreKind::Other(SafeText::name(&kind.unwrap_or_default())),
    };
    Some(Relevance { score, kind })
}

/// Reads a bounding box: an object, an array of four, or either as JSON text.
pub fn read_region(value: &Value) -> Option<Region> {
    match value {
        Value::Object(_) => {
            let side = |key| number(value, key);
            Region::new(side("x")?, side("y")?, side("width")?, side("height")?)
        }
        Value::Array(sides) => {
            let sides: Option<Vec<f64>> = sides.iter().map(Value::as_f64).collect();
            let [x, y, width, height] = sides?.try_into().ok()?;
            Region::new(x, y, width, height)
        }
        // One level only: text inside text is not a bounding box.
        Value::String(raw) => serde_json::from_str(raw)
            .ok()
            .filter(|inner: &Value| !inner.is_string())
            .and_then(|inner| read_region(&inner)),
        _ => None,
    }
}

/// Writes a bounding box as the JSON text of a query: at most six decimals, no exponent, never beyond
/// the image after rounding.
pub fn write_region(region: Region) -> String {
    const STEPS: f64 = 1e6;
    let span = |start: f64, length: f64| {
        let from = (start * STEPS).round().min(STEPS - 1.0);
        let to = ((start + length) * STEPS).round().clamp(from + 1.0, STEPS);
        (from / STEPS, (to - from) / STEPS)
    };
    let ((x, width), (y, height)) = (span(region.x, region.width), span(region.y, region.height));
    format!(r#"{{"x":{x},"y":{y},"width":{width},"height":{height}}}"#)
}

/// Reads a search anchor. `None` without a usable `anchor_media_id`.
pub fn read_anchor<'a>(anchor: impl Into<Fields<'a>>) -> Option<Anchor> {
    let anchor = anchor.into();
    Some(Anchor {
        media: required(anchor, &["anchor_media_id"])?,
        kind: parsed(anchor, "anchor_type").unwrap_or(AnchorKind::Upload),
    })
}
