//! Pages of clusters (`GET explore`). [`ClusterBody`] is what the service sends and what commands print; the readers in
//! this file accept every observed shape. The file `preview.rs` has the bodies of previews.

use std::{borrow::Cow, collections::HashSet};

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::{
    fields::{Fields, as_received, count, first_text, names, parsed, required, text},
    preview::{LinkForm, PreviewBody, matched_by, read_preview, read_relevance, score_type},
};
use tessera_model::{Cluster, ClusterId, Page, Preview, SafeText, Tag, TagId};

/// A page of clusters.
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

/// A cluster.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ClusterBody {
    /// Cluster identifier.
    #[schema(value_type = Uuid)]
    pub cluster_id: ClusterId,
    /// `IMAGES` or `OBJECTS`.
    pub r#type: &'static str,
    /// Number of images.
    #[schema(value_type = u64)]
    pub n_images: Option<u64>,
    /// Number of objects.
    #[schema(value_type = u64)]
    pub n_objects: Option<u64>,
    /// Number of videos from which the frames were taken.
    #[schema(value_type = u64)]
    pub n_videos: Option<u64>,
    /// Number of video frames.
    #[schema(value_type = u64)]
    pub n_frames: Option<u64>,
    /// The clustering threshold as text.
    #[schema(value_type = String)]
    pub similarity_threshold: Option<String>,
    /// Score of the best member, or null if the search does not rank.
    pub relevance_score: Option<f64>,
    /// What the score measures.
    #[schema(value_type = Option<String>)]
    pub relevance_score_type: Option<Cow<'static, str>>,
    /// `name` if the words of its folder and file name found the best member. Only a local service sends this.
    #[schema(value_type = Option<String>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matched_by: Option<Cow<'static, str>>,
    /// Previews of members, best first.
    pub previews: Vec<PreviewBody>,
    /// Labels of the members.
    pub labels: Option<Vec<String>>,
    /// User tags of the members.
    pub user_tags: Option<Vec<TagBody>>,
    /// Captions of the members.
    pub captions: Option<Vec<String>>,
}

/// A user tag.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TagBody {
    /// The identifier used in filters.
    #[schema(value_type = Uuid)]
    pub id: Option<TagId>,
    /// The name, raw.
    pub name: String,
}

impl ClusterBody {
    /// Writes the cluster as far as a client has read it.
    pub fn new(cluster: &Cluster, links: LinkForm) -> Self {
        let relevance = cluster.relevance.as_ref();
        let tag = |tag: &Tag| TagBody { id: tag.id, name: as_received(&tag.name) };
        Self {
            cluster_id: cluster.id,
            r#type: cluster.entity.as_str(),
            n_images: cluster.n_images,
            n_objects: cluster.n_objects,
            n_videos: cluster.n_videos,
            n_frames: cluster.n_frames,
            similarity_threshold: cluster.similarity_threshold.as_ref().map(ToString::to_string),
            relevance_score: relevance.map(|relevance| relevance.score),
            relevance_score_type: relevance.map(score_type),
            matched_by: relevance.and_then(matched_by),
            previews: cluster.previews.iter().map(|it| PreviewBody::new(it, links)).collect(),
            labels: list_or_null(&cluster.labels, as_received),
            user_tags: list_or_null(&cluster.tags, tag),
            captions: list_or_null(&cluster.captions, as_received),
        }
    }
}

/// Writes a list, or null if the list is empty, as the service does.
fn list_or_null<T, U>(items: &[T], write: impl Fn(&T) -> U) -> Option<Vec<U>> {
    (!items.is_empty()).then(|| items.iter().map(write).collect())
}

/// Reads a page. Clusters without a usable identifier or picture and repeated clusters are skipped, and counted apart.
/// Returns `None` if there is no `clusters` array or nothing in it is a cluster, because such a response must not look
/// like an empty page.
pub fn read_page(page: Fields<'_>) -> Option<Page> {
    let rows = page.list("clusters")?;
    let read = |row| read_cluster(page.element("clusters", row));
    let clusters: Vec<Cluster> = rows.iter().filter_map(read).collect();
    let skipped = rows.len() - clusters.len();
    let bounded = page.get("metadata").and_then(|metadata| metadata.get("bounded"));
    let is_bounded = bounded.and_then(Value::as_bool).unwrap_or(false);
    let is_readable = rows.is_empty() || !clusters.is_empty();
    let mut page = Page { clusters, skipped, is_bounded, ..Page::default() };
    page.drop_repeated(&mut HashSet::new());
    is_readable.then_some(page)
}

/// Reads a page of the members of a cluster, which is empty past the last member. Returns `None` if the response has no
/// members but is not the end either.
pub fn read_members(cluster: Fields<'_>) -> Option<Vec<Preview>> {
    if cluster.value().is_null() {
        return Some(Vec::new());
    }
    read_previews(cluster)
}

/// Reads the previews of a cluster. Returns `None` if there is no list, or no preview in the list can be read.
fn read_previews(cluster: Fields<'_>) -> Option<Vec<Preview>> {
    let rows = cluster.list("previews")?;
    let read = |row| read_preview(cluster.element("previews", row));
    let previews: Vec<Preview> = rows.iter().filter_map(read).collect();
    (rows.is_empty() || !previews.is_empty()).then_some(previews)
}

fn read_cluster(value: Fields<'_>) -> Option<Cluster> {
    let id = required(value, &["cluster_id"])?;
    let has_previews = value.get("previews").is_some();
    let previews = if has_previews { read_previews(value)? } else { Vec::new() };
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

/// Reads tags, with their identifiers if the service sends both: a list of objects, or an object that maps identifiers
/// to names. Any other shape has only names.
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
