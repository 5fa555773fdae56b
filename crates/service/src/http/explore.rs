//! `GET explore/{id}`: the clusters of a dataset, largest first, or those that answer a question.

use axum::{Json, extract::State};
use rusqlite::Connection;

use super::{
    AppState, RequestCost,
    cluster_body::{ScoredCluster, cluster_body},
    openapi::{BusyError, ExploreParams, PageParams, StatusErrors},
    origin_check::RequestOrigin,
    problem::Problem,
    query_params::{DatasetPath, QueryParams},
    require_dataset, require_ready,
    search_params::SearchParams,
    signed_links::SignedLinks,
};
use crate::{
    Deployment,
    retrieval::{ClusterMatch, ClusterRanking, DatasetIndex, RetrievalError, SearchContext},
    store::{
        cluster::{self as clusters, ClusterRecord, StoredPreview},
        dataset::DatasetRecord,
        media::{self, MediaKind, MediaRecord},
    },
};
use tessera_model::{DatasetId, Granularity, Operation, Page};
use tessera_wire::{
    error_body::ProblemBody,
    explore::{ExploreBody, MetadataBody},
    paths::query,
};

/// One page of clusters: as they are, or those that answer an anchor, a caption or filters.
#[utoipa::path(
    get,
    path = "/explore/{dataset_id}",
    operation_id = "explore",
    params(DatasetPath, ExploreParams, PageParams),
    responses(
        (status = 200, description = "At most 100 clusters", body = ExploreBody),
        (status = 400, description = "Not asked as the anchor was registered", body = ProblemBody),
        StatusErrors,
        BusyError,
    ),
)]
pub async fn explore(
    State(site): State<AppState>,
    DatasetPath(id): DatasetPath,
    origin: RequestOrigin,
    params: QueryParams,
) -> Result<Json<ExploreBody>, Problem> {
    let asked = SearchParams::parse(&site, &params)?;
    let page = page_number(&params)?;
    let weight = if asked.is_browsing() { RequestCost::Cheap } else { RequestCost::Expensive };
    site.run_blocking(weight, move |deployment| {
        let shown = match weight {
            RequestCost::Cheap => browse(deployment, id, &asked, page)?,
            RequestCost::Expensive => search(deployment, id, &asked, page)?,
        };
        let links = SignedLinks::new(deployment.store.link_key(), &origin);
        let level = asked.query.granularity;
        let clusters =
            shown.into_iter().map(|shown| cluster_body(id, shown, asked.entity, level, &links));
        Ok(Json(ExploreBody {
            clusters: clusters.collect(),
            metadata: MetadataBody { used_duckdb: false },
        }))
    })
    .await
}

/// `page_number`, 0-based.
pub fn page_number(params: &QueryParams) -> Result<u64, Problem> {
    let words = "Input should be an integer from 0 to 9223372036854775807";
    let read = |raw: &str| u64::try_from(raw.parse::<i64>().ok()?).ok();
    Ok(params.parse(query::PAGE_NUMBER, words, read)?.unwrap_or(0))
}

fn browse(
    deployment: &Deployment,
    id: DatasetId,
    asked: &SearchParams,
    page: u64,
) -> Result<Vec<ScoredCluster>, Problem> {
    require_dataset(deployment, id)?;
    let level = asked.query.granularity;
    let clusters = deployment.store.read(|c| {
        if clusters::any(c, id)? {
            clusters::page(c, id, asked.entity, level, page)
        } else {
            single_item_clusters(c, id, asked, page)
        }
    })?;
    let shown = clusters.into_iter().map(|cluster| ScoredCluster { cluster, scores: None });
    Ok(shown.collect())
}

/// While a dataset is indexed for the first time, each media it has so far is a cluster.
fn single_item_clusters(
    connection: &Connection,
    dataset: DatasetId,
    asked: &SearchParams,
    page: u64,
) -> rusqlite::Result<Vec<ClusterRecord>> {
    let skip = page.saturating_mul(Page::SIZE as u64);
    let single = |media: MediaRecord| {
        let is = |kind: MediaKind| u64::from(media.kind == kind);
        ClusterRecord {
            id: clusters::cluster_id(dataset, asked.query.granularity, media.id),
            images: is(MediaKind::Image) + is(MediaKind::Object),
            videos: is(MediaKind::Video),
            objects: is(MediaKind::Object),
            previews: vec![StoredPreview::from(&media)],
            labels: media.labels,
            tags: media.tags,
        }
    };
    let media = media::page(connection, dataset, asked.entity, skip, Page::SIZE)?;
    Ok(media.into_iter().map(single).collect())
}

fn search(
    deployment: &Deployment,
    id: DatasetId,
    asked: &SearchParams,
    page: u64,
) -> Result<Vec<ScoredCluster>, Problem> {
    // For text search the document names no status (features, gate table).
    let operation = match asked.query.anchor {
        Some(_) => Operation::VisualSearch,
        None => Operation::TextSearch,
    };
    let record = require_ready(deployment, id, operation)?;
    if record.generation == 0 {
        // There is nothing to answer from before the first clustering.
        return Err(Problem::conflict(format!(
            "Operation '{}' is blocked while the dataset is indexed for the first time",
            operation.code()
        )));
    }
    let gallery = deployment.indexes.dataset_index(&deployment.store, &record, asked.entity)?;
    let standing = rank_clusters(deployment, &record, &gallery, asked)?;
    let level = asked.query.granularity;
    Ok(deployment.store.read(|c| {
        let page = standing.page(&gallery, page);
        page.iter()
            .filter_map(|ranked| {
                load_cluster(c, &record, asked, level, ranked, &standing).transpose()
            })
            .collect()
    })?)
}

/// The clusters that answer what is asked, in their order.
pub fn rank_clusters(
    deployment: &Deployment,
    record: &DatasetRecord,
    gallery: &DatasetIndex,
    asked: &SearchParams,
) -> Result<std::sync::Arc<ClusterRanking>, Problem> {
    let encoders = deployment.settings.encoders.as_deref();
    let meaning =
        |text: &str| deployment.indexes.embed_text(&deployment.store, record, encoders, text);
    let ground = SearchContext {
        store: &deployment.store,
        dataset: record,
        entity: asked.entity,
        index: gallery,
        embed_text: &meaning,
    };
    ground.search(&asked.query).map_err(Problem::from)
}

impl From<RetrievalError> for Problem {
    fn from(why: RetrievalError) -> Self {
        match why {
            RetrievalError::AnchorNotFound => Self::not_found("Anchor not found"),
            RetrievalError::AnchorMismatch(words) => Self::bad_request(words),
            RetrievalError::NoTextEmbeddings => Self::invalid_query(
                query::CAPTION,
                "This dataset has no captions or labels to search by meaning: \
                 CAPTION_IMAGES is not applied",
            ),
            RetrievalError::UnencodableText(words) => Self::invalid_query(query::CAPTION, &words),
            RetrievalError::FullText(cause) => {
                Self::invalid_query(query::VQL, &format!("text.value: {cause}"))
            }
            RetrievalError::Store(cause) => cause.into(),
        }
    }
}

/// A ranked cluster with its best members as previews.
fn load_cluster(
    connection: &Connection,
    record: &DatasetRecord,
    asked: &SearchParams,
    level: Granularity,
    ranked: &ClusterMatch,
    standing: &ClusterRanking,
) -> rusqlite::Result<Option<ScoredCluster>> {
    let found = clusters::find_by_rank(connection, record.id, asked.entity, level, ranked.cluster)?;
    let Some(mut cluster) = found else {
        return Ok(None);
    };
    (cluster.images, cluster.videos, cluster.objects) =
        (ranked.images, ranked.videos, ranked.objects);
    let mut values = Vec::new();
    for &(row, score) in &ranked.best_members {
        if let Some(portrait) = clusters::preview(connection, row)? {
            cluster.previews.push(portrait);
            values.extend(score);
        }
    }
    let scores = standing.score_kind().map(|kind| (kind, values));
    Ok(Some(ScoredCluster { cluster, scores }))
}
