//! Search results as a document: one row per cluster or per preview. Fields of the service keep
//! their names; our own begin with `_`.

use serde_json::{Value, json};

use super::{options::DisplayOptions, page_cursor::PageState, results::SearchResults};
use crate::cli::{Column, Document};
use tessera_model::{
    Cluster, Fraction, HistoryEntry, Link, Preview, Query, Relevance, RelevanceBand, ScoreScale,
};
use tessera_wire::{
    explore::{AnchorBody, ClusterBody},
    preview::{BoundingBoxBody, PreviewBody},
    vql,
};

const CLUSTER_COLUMNS: &[Column] = &[
    Column::new("SCORE", "relevance_score"),
    Column::new("BAND", "_band"),
    Column::new("MEMBERS", "_members"),
    Column::new("CLUSTER", "cluster_id"),
    Column::new("FIRST FILE", "previews.0.file_name"),
    Column::new("CAPTION", "previews.0.caption"),
    Column::new("FRAMES", "n_frames"),
    Column::new("VIDEOS", "n_videos"),
    Column::new("ORIGINAL", "previews.0.original_uri"),
    Column::new("SECONDS", "previews.0.frame_timestamp"),
];

const PREVIEW_COLUMNS: &[Column] = &[
    Column::new("SCORE", "relevance_score"),
    Column::new("BAND", "_band"),
    Column::new("MEDIA", "media_id"),
    Column::new("CLUSTER", "_cluster_id"),
    Column::new("FILE", "file_name"),
    Column::new("CAPTION", "caption"),
    Column::new("ORIGINAL", "original_uri"),
    Column::new("SECONDS", "frame_timestamp"),
];

/// The columns of clusters and of previews without frames. Those of frames come after them, because
/// scripts read columns by their position.
const COLUMNS_WITHOUT_FRAMES: usize = 6;

const ANCHOR_COLUMNS: &[Column] = &[
    Column::new("anchor", "anchor_media_id"),
    Column::new("type", "anchor_type"),
    Column::new("entity", "entity_type"),
    Column::new("granularity", "granularity"),
];

const BODY_COLUMNS: &[Column] = &[Column::new("body", "body")];

pub fn anchor_document(entry: &HistoryEntry) -> Document {
    let mut fields = query_json(entry);
    fields["dataset_id"] = json!(entry.search.dataset);
    Document::one("tessera.anchor/1", fields, ANCHOR_COLUMNS)
}

/// A response without clusters.
pub fn body_document(body: &Value) -> Document {
    Document::one("tessera.body/1", json!({ "body": body }), BODY_COLUMNS)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowFormat {
    Clusters,
    /// One row per cluster, with the fields as sent.
    Raw,
    Previews,
}

impl RowFormat {
    pub fn new(options: DisplayOptions) -> Self {
        match (options.flat, options.raw) {
            (true, _) => Self::Previews,
            (false, true) => Self::Raw,
            (false, false) => Self::Clusters,
        }
    }

    pub fn rows_document(self, rows: Vec<Value>) -> Document {
        self.document(json!({}), rows)
    }

    pub fn search_document(
        self,
        kind: &str,
        entry: &HistoryEntry,
        results: SearchResults,
    ) -> Document {
        let is_last = results.pages.state == PageState::Last;
        let mut fields = json!({
            "kind": kind,
            "dataset_id": entry.search.dataset,
            "query": query_json(entry),
            "page_number": entry.search.page,
            "last_page": is_last,
            "truncated": !is_last,
            "_pages": results.pages.fetched,
            "_repeated": results.pages.repeated,
            "_skipped": results.pages.skipped,
            "_missing_page": results.missing_page.map(|(page, _)| page),
        });
        if self == Self::Raw {
            fields["metadata"] = results.metadata;
        }
        self.document(fields, results.rows)
    }

    fn document(self, mut fields: Value, rows: Vec<Value>) -> Document {
        let has_frames = rows.iter().any(|row| {
            let preview = row.pointer("/previews/0").unwrap_or(row);
            preview["frame_timestamp"].is_number()
        });
        let (schema, list, columns) = match self {
            Self::Clusters | Self::Raw => ("tessera.search/1", "clusters", CLUSTER_COLUMNS),
            Self::Previews => ("tessera.previews/1", "previews", PREVIEW_COLUMNS),
        };
        let columns = if has_frames { columns } else { columns.split_at(COLUMNS_WITHOUT_FRAMES).0 };
        fields[list] = Value::Array(rows);
        Document::list(schema, fields, list, columns)
    }

    /// The rows of the clusters of a page; `body` is the page as sent.
    pub fn rows(
        self,
        clusters: &[Cluster],
        scale: ScoreScale,
        page: u32,
        body: &Value,
    ) -> Vec<Value> {
        let rows = |cluster: &Cluster| {
            let fields = match self {
                Self::Clusters => json!(ClusterBody::new(cluster, full_link)),
                Self::Raw => cluster_as_sent(cluster, body),
                Self::Previews => {
                    let row = |preview| preview_row(preview, cluster, scale, page);
                    return cluster.previews.iter().map(row).collect();
                }
            };
            vec![with_own_fields(fields, cluster, scale, page)]
        };
        clusters.iter().flat_map(rows).collect()
    }
}

/// The query in the API's terms, except for the granularity, which the API expresses as one of
/// three thresholds.
fn query_json(entry: &HistoryEntry) -> Value {
    let search = &entry.search;
    let mut query = match &search.query {
        Query::Browse => json!({}),
        Query::Similar(anchor) => {
            let mut query = json!(AnchorBody::from(*anchor));
            query["bounding_box"] = json!(entry.region.map(BoundingBoxBody::new));
            query["file"] = json!(entry.file);
            query
        }
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

fn cluster_as_sent(cluster: &Cluster, body: &Value) -> Value {
    let has_id =
        |row: &&Value| row["cluster_id"].as_str().is_some_and(|id| id.parse() == Ok(cluster.id));
    let row = body["clusters"].as_array().into_iter().flatten().find(has_id);
    row.cloned().unwrap_or_else(|| json!(ClusterBody::new(cluster, full_link)))
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
    let mut row = json!(PreviewBody::new(preview, full_link));
    row["_band"] = band(preview.relevance.as_ref(), scale);
    row["_cluster_id"] = json!(cluster.id);
    row["_page"] = page.into();
    row
}

fn band(relevance: Option<&Relevance>, scale: ScoreScale) -> Value {
    relevance.and_then(|relevance| relevance.band(scale)).map(RelevanceBand::label).into()
}
