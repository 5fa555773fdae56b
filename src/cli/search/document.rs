//! Search results as a document: one row per cluster or per preview. Fields of the service keep
//! their names; our own begin with `_`.

use serde_json::{Map, Value, json};

use super::{execute::SearchResults, page_cursor::PageState};
use crate::cli::{Column, Document};
use tessera_model::{Cluster, Fraction, HistoryEntry, Link, Preview, Query, Relevance, ScoreScale};
use tessera_wire::{
    explore::{write_cluster, write_preview, write_region},
    vql,
};

const CLUSTER_COLUMNS: &[Column] = &[
    Column::new("SCORE", "relevance_score"),
    Column::new("BAND", "_band"),
    Column::new("MEMBERS", "_members"),
    Column::new("CLUSTER", "cluster_id"),
    Column::new("FIRST FILE", "previews.0.file_name"),
    Column::new("CAPTION", "previews.0.caption"),
];

const PREVIEW_COLUMNS: &[Column] = &[
    Column::new("SCORE", "relevance_score"),
    Column::new("BAND", "_band"),
    Column::new("MEDIA", "media_id"),
    Column::new("CLUSTER", "_cluster_id"),
    Column::new("FILE", "file_name"),
    Column::new("CAPTION", "caption"),
];

const ANCHOR_COLUMNS: &[Column] = &[
    Column::new("anchor", "anchor_media_id"),
    Column::new("type", "anchor_type"),
    Column::new("entity", "entity_type"),
    Column::new("granularity", "granularity"),
];

const BODY_COLUMNS: &[Column] = &[Column::new("body", "body")];

/// The anchor of a search, without results.
pub fn anchor_document(past: &HistoryEntry) -> Document {
    let mut fields = query_json(past);
    fields["dataset_id"] = json!(past.search.dataset);
    Document::one("tessera.anchor/1", fields, ANCHOR_COLUMNS)
}

/// A response without clusters.
pub fn body_document(body: &Value) -> Document {
    Document::one("tessera.body/1", json!({ "body": body }), BODY_COLUMNS)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowFormat {
    /// One row per cluster.
    Clusters,
    /// One row per cluster, with the fields as sent.
    Raw,
    /// One row per preview.
    Previews,
}

impl RowFormat {
    pub fn rows_document(self, rows: Vec<Value>) -> Document {
        self.document(Map::new(), rows)
    }

    pub fn search_document(
        self,
        kind: &str,
        past: &HistoryEntry,
        found: SearchResults,
    ) -> Document {
        let mut head = Map::new();
        let mut put = |name: &str, value: Value| head.insert(name.to_owned(), value);
        put("kind", kind.into());
        put("dataset_id", json!(past.search.dataset));
        put("query", query_json(past));
        put("page_number", past.search.page.into());
        put("last_page", (found.pages.state == PageState::Last).into());
        put("truncated", (found.pages.state != PageState::Last).into());
        put("_pages", found.pages.fetched.into());
        put("_repeated", found.pages.repeated.into());
        put("_skipped", found.pages.skipped.into());
        put("_missing_page", json!(found.missing_page.as_ref().map(|(page, _)| page)));
        if self == Self::Raw {
            put("metadata", found.metadata);
        }
        self.document(head, found.rows)
    }

    fn document(self, mut head: Map<String, Value>, rows: Vec<Value>) -> Document {
        let (schema, list, columns) = match self {
            Self::Clusters | Self::Raw => ("tessera.search/1", "clusters", CLUSTER_COLUMNS),
            Self::Previews => ("tessera.previews/1", "previews", PREVIEW_COLUMNS),
        };
        head.insert(list.to_owned(), Value::Array(rows));
        Document::list(schema, Value::Object(head), list, columns)
    }

    /// The rows of the clusters of a page; `body` is the page as sent.
    pub fn rows(
        self,
        clusters: &[Cluster],
        scale: ScoreScale,
        page: u32,
        body: &Value,
    ) -> Vec<Value> {
        let of_cluster = |cluster: &Cluster| match self {
            Self::Clusters => {
                vec![with_own_fields(write_cluster(cluster, full_link), cluster, scale, page)]
            }
            Self::Raw => {
                vec![with_own_fields(cluster_as_sent(cluster, body), cluster, scale, page)]
            }
            Self::Previews => {
                let row = |preview| preview_row(preview, cluster, scale, page);
                cluster.previews.iter().map(row).collect()
            }
        };
        clusters.iter().flat_map(of_cluster).collect()
    }
}

/// The query in the API's terms, except for the granularity, which the API expresses as one of
/// three thresholds.
fn query_json(past: &HistoryEntry) -> Value {
    let search = &past.search;
    let mut query = match &search.query {
        Query::Browse => json!({}),
        Query::Similar(anchor) => json!({
            "anchor_media_id": anchor.media,
            "anchor_type": anchor.kind.as_str(),
            "bounding_box": past.region.map(|region| parse_own_json(&write_region(region))),
            "file": past.file,
        }),
        Query::Caption { text, max_score } => json!({
            "caption": text.as_str(),
            "max_score": max_score.map(Fraction::value),
        }),
    };
    query["entity_type"] = search.entity.as_str().into();
    query["granularity"] = search.granularity.level().into();
    query["vql"] = parse_own_json(&vql::write(&search.filters));
    query
}

/// Parses JSON that was just serialized.
fn parse_own_json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or(Value::Null)
}

/// The fields of a cluster as sent.
fn cluster_as_sent(cluster: &Cluster, body: &Value) -> Value {
    let rows = body.get("clusters").and_then(Value::as_array).into_iter().flatten();
    let of_it = |row: &&Value| {
        let id = row.get("cluster_id").and_then(Value::as_str);
        id.is_some_and(|id| id.parse() == Ok(cluster.id))
    };
    rows.clone().find(of_it).cloned().unwrap_or_else(|| write_cluster(cluster, full_link))
}

fn with_own_fields(mut fields: Value, cluster: &Cluster, scale: ScoreScale, page: u32) -> Value {
    fields["_band"] = band(cluster.relevance.as_ref(), scale);
    fields["_members"] = json!(cluster.size());
    fields["_page"] = page.into();
    fields
}

/// Links keep their signatures: without them they would not work.
fn full_link(link: &Link) -> String {
    link.expose().to_owned()
}

fn preview_row(preview: &Preview, cluster: &Cluster, scale: ScoreScale, page: u32) -> Value {
    let mut row = write_preview(preview, full_link);
    row["_band"] = band(preview.relevance.as_ref(), scale);
    row["_cluster_id"] = json!(cluster.id);
    row["_page"] = page.into();
    row
}

fn band(relevance: Option<&Relevance>, scale: ScoreScale) -> Value {
    json!(
        relevance
            .and_then(|relevance| relevance.band(scale))
            .map(tessera_model::RelevanceBand::label)
    )
}
