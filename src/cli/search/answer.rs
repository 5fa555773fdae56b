//! The answer of a search as a document: clusters with their previews, or a row for each preview.
//! What the service sends keeps its name; what is ours begins with `_`.

use serde_json::{Map, Value, json};

use super::{ask::Found, pages::Reach};
use crate::cli::{Column, Document};
use tessera_model::{
    Cluster, Fraction, Link, PastSearch, Preview, Query, Relevance, SafeText, Scale, ScoreKind, Tag,
};
use tessera_wire::{explore::write_region, vql};

const CLUSTERS: &[Column] = &[
    Column::new("SCORE", "relevance_score"),
    Column::new("BAND", "_band"),
    Column::new("MEMBERS", "_members"),
    Column::new("CLUSTER", "cluster_id"),
    Column::new("FIRST FILE", "previews.0.file_name"),
    Column::new("CAPTION", "previews.0.caption"),
];

const PREVIEWS: &[Column] = &[
    Column::new("SCORE", "relevance_score"),
    Column::new("BAND", "_band"),
    Column::new("MEDIA", "media_id"),
    Column::new("CLUSTER", "_cluster_id"),
    Column::new("FILE", "file_name"),
    Column::new("CAPTION", "caption"),
];

const ANCHOR: &[Column] = &[
    Column::new("anchor", "anchor_media_id"),
    Column::new("type", "anchor_type"),
    Column::new("entity", "entity_type"),
    Column::new("granularity", "granularity"),
];

const BODY: &[Column] = &[Column::new("body", "body")];

/// The anchor of a search, without what it finds.
#[must_use]
pub fn anchor(past: &PastSearch) -> Document {
    let mut fields = query(past);
    fields["dataset_id"] = json!(past.search.dataset);
    Document::one("tessera.anchor/1", fields, ANCHOR)
}

/// What came in the place of clusters.
#[must_use]
pub fn body(body: &Value) -> Document {
    Document::one("tessera.body/1", json!({ "body": body }), BODY)
}

/// How the rows are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// One for each cluster.
    Clusters,
    /// One for each cluster, with the fields that the service sent.
    Raw,
    /// One for each preview.
    Previews,
}

impl Rows {
    /// A document of these rows alone.
    #[must_use]
    pub fn alone(self, rows: Vec<Value>) -> Document {
        self.document(Map::new(), rows)
    }

    /// The whole answer.
    #[must_use]
    pub fn whole(self, kind: &str, past: &PastSearch, found: Found) -> Document {
        let mut head = Map::new();
        let mut put = |name: &str, value: Value| head.insert(name.to_owned(), value);
        put("kind", kind.into());
        put("dataset_id", json!(past.search.dataset));
        put("query", query(past));
        put("page_number", past.search.page.into());
        put("last_page", (found.pages.reach == Reach::Last).into());
        put("truncated", (found.pages.reach != Reach::Last).into());
        put("_pages", found.pages.fetched.into());
        put("_repeated", found.pages.repeated.into());
        put("_skipped", found.pages.skipped.into());
        put("_missing_page", json!(found.missing.as_ref().map(|(page, _)| page)));
        if self == Self::Raw {
            put("metadata", found.metadata);
        }
        self.document(head, found.rows)
    }

    fn document(self, mut head: Map<String, Value>, rows: Vec<Value>) -> Document {
        let (schema, list, columns) = match self {
            Self::Clusters | Self::Raw => ("tessera.search/1", "clusters", CLUSTERS),
            Self::Previews => ("tessera.previews/1", "previews", PREVIEWS),
        };
        head.insert(list.to_owned(), Value::Array(rows));
        Document::list(schema, Value::Object(head), list, columns)
    }

    /// The rows of some clusters of a page; `body` is the page as the service sent it.
    #[must_use]
    pub fn of(self, clusters: &[Cluster], scale: Scale, page: u32, body: &Value) -> Vec<Value> {
        let of_cluster = |cluster: &Cluster| match self {
            Self::Clusters => vec![with_ours(cluster_fields(cluster), cluster, scale, page)],
            Self::Raw => vec![with_ours(as_sent(cluster, body), cluster, scale, page)],
            Self::Previews => {
                let row = |preview| preview_row(preview, cluster, scale, page);
                cluster.previews.iter().map(row).collect()
            }
        };
        clusters.iter().flat_map(of_cluster).collect()
    }
}

/// What was asked, in the words of the interface; the granularity in ours, because there it is one of
/// three thresholds.
fn query(past: &PastSearch) -> Value {
    let search = &past.search;
    let mut query = match &search.query {
        Query::Browse => json!({}),
        Query::Similar(anchor) => json!({
            "anchor_media_id": anchor.media,
            "anchor_type": anchor.kind.word(),
            "bounding_box": past.region.map(|region| parsed(&write_region(region))),
            "file": past.file,
        }),
        Query::Caption { text, max_score } => json!({
            "caption": text.as_str(),
            "max_score": max_score.map(Fraction::value),
        }),
    };
    query["entity_type"] = search.entity.word().into();
    query["granularity"] = search.granularity.level().into();
    query["vql"] = parsed(&vql::write(&search.filters));
    query
}

/// JSON that we have written ourselves.
fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or(Value::Null)
}

/// The fields of a cluster as the service sent them.
fn as_sent(cluster: &Cluster, body: &Value) -> Value {
    let rows = body.get("clusters").and_then(Value::as_array).into_iter().flatten();
    let of_it = |row: &&Value| {
        let id = row.get("cluster_id").and_then(Value::as_str);
        id.is_some_and(|id| id.parse() == Ok(cluster.id))
    };
    rows.clone().find(of_it).cloned().unwrap_or_else(|| cluster_fields(cluster))
}

fn with_ours(mut fields: Value, cluster: &Cluster, scale: Scale, page: u32) -> Value {
    fields["_band"] = band(cluster.relevance.as_ref(), scale);
    fields["_members"] = json!(cluster.size());
    fields["_page"] = page.into();
    fields
}

fn cluster_fields(cluster: &Cluster) -> Value {
    let tag = |tag: &Tag| json!({ "id": tag.id, "name": tag.name.as_str() });
    json!({
        "cluster_id": cluster.id,
        "type": cluster.entity.word(),
        "n_images": cluster.n_images,
        "n_objects": cluster.n_objects,
        "n_videos": cluster.n_videos,
        "similarity_threshold": cluster.similarity_threshold.as_ref().map(SafeText::as_str),
        "relevance_score": score(cluster.relevance.as_ref()),
        "relevance_score_type": score_type(cluster.relevance.as_ref()),
        "labels": list(&cluster.labels, |label| label.as_str().into()),
        "user_tags": list(&cluster.tags, tag),
        "captions": list(&cluster.captions, |caption| caption.as_str().into()),
        "previews": cluster.previews.iter().map(preview_fields).collect::<Vec<_>>(),
    })
}

fn preview_row(preview: &Preview, cluster: &Cluster, scale: Scale, page: u32) -> Value {
    let mut row = preview_fields(preview);
    row["_band"] = band(preview.relevance.as_ref(), scale);
    row["_cluster_id"] = json!(cluster.id);
    row["_page"] = page.into();
    row
}

fn preview_fields(preview: &Preview) -> Value {
    // Links are given whole: without their signatures nobody could follow them.
    json!({
        "media_id": preview.media,
        "type": preview.kind.as_str(),
        "file_name": preview.file_name.as_str(),
        "media_uri": preview.original.as_ref().map(Link::expose),
        "media_thumb_uri": preview.thumbnail.as_ref().map(Link::expose),
        "caption": preview.caption.as_ref().map(SafeText::as_str),
        "bounding_box": preview.region.map(|region| parsed(&write_region(region))),
        "relevance_score": score(preview.relevance.as_ref()),
        "relevance_score_type": score_type(preview.relevance.as_ref()),
        "width": preview.dimensions.map(|(width, _)| width),
        "height": preview.dimensions.map(|(_, height)| height),
    })
}

/// A list, or null where the service told none.
fn list<T>(items: &[T], one: impl Fn(&T) -> Value) -> Value {
    if items.is_empty() { Value::Null } else { items.iter().map(one).collect() }
}

fn score(relevance: Option<&Relevance>) -> Value {
    json!(relevance.map(|relevance| relevance.score))
}

fn score_type(relevance: Option<&Relevance>) -> Value {
    match relevance.map(|relevance| &relevance.kind) {
        None => Value::Null,
        Some(ScoreKind::CosineDistance) => "cosine_distance".into(),
        Some(ScoreKind::Other(name)) => name.as_str().into(),
    }
}

fn band(relevance: Option<&Relevance>, scale: Scale) -> Value {
    json!(relevance.and_then(|relevance| relevance.band(scale)).map(tessera_model::Band::word))
}
