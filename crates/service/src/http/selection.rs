//! `POST export_entities_async`: a selection of media and clusters becomes the media of an export.

use std::{
    collections::{BTreeSet, HashSet},
    time::Duration,
};

use axum::{
    Json,
    extract::{Request, State},
    http::header,
};
use futures_util::StreamExt as _;
use serde_json::Value;
use tokio::time::timeout;

use super::{
    AppState, RequestCost,
    explore::rank_clusters,
    export::{ExportSelection, selection_export_spec, start_export},
    multipart_form::{SizeLimit, body_timeout, check_content_length, drain},
    openapi::{ArchiveParams, BusyError, StatusErrors},
    origin_check::RequestOrigin,
    problem::Problem,
    query_params::{DatasetPath, QueryParams},
    require_ready,
    search_params::SearchParams,
};
use crate::{
    Deployment,
    retrieval::SearchQuery,
    store::{cluster, dataset::DatasetRecord, media},
};
use tessera_model::{ClusterId, EntityType, Filter, MediaId, Operation, SelectionItem};
use tessera_wire::{error_body::ProblemBody, export::ExportTaskBody, selection};

/// The body: about half a million identifiers.
const SELECTION_LIMIT: SizeLimit =
    SizeLimit { bytes: 32 << 20, message: "The selection is larger than 32 MiB" };

/// Starts an export of selected media and clusters.
#[utoipa::path(
    post,
    path = "/dataset/{dataset_id}/export_entities_async",
    operation_id = "export_entities_async",
    params(DatasetPath, ArchiveParams),
    request_body(content = ref("#/components/schemas/MediaSelection"), content_type = "application/json"),
    responses(
        (status = 200, description = "The export task", body = ExportTaskBody),
        (status = 408, description = "The body did not arrive in time", body = ProblemBody),
        (status = 413, description = "The body is larger than 32 MiB", body = ProblemBody),
        StatusErrors,
        BusyError,
    ),
)]
pub async fn export(
    State(site): State<AppState>,
    DatasetPath(id): DatasetPath,
    origin: RequestOrigin,
    params: QueryParams,
    request: Request,
) -> Result<Json<ExportTaskBody>, Problem> {
    let spec = selection_export_spec(&params)?;
    let items = read_selection(request, site.limits.body_timeout).await?;
    site.run_blocking(RequestCost::Expensive, move |deployment| {
        let record = require_ready(deployment, id, Operation::Export)?;
        let mut rows = BTreeSet::new();
        for item in &items {
            rows.extend(selected_rows(deployment, &record, item)?);
        }
        start_export(deployment, &origin, &record, spec, &ExportSelection::Rows(rows))
    })
    .await
}

/// A page of another site can send any body as text, but none as JSON: so it must be JSON.
async fn read_selection(request: Request, idle: Duration) -> Result<Vec<SelectionItem>, Problem> {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let kind = kind.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    let json = kind.eq_ignore_ascii_case("application/json");
    let refused = |words: &str| Problem::invalid_body("media_selection", words);
    if !json {
        drain(request).await;
        return Err(refused("Send it as application/json"));
    }
    let body = read_body(request, SELECTION_LIMIT, idle).await?;
    let body: Value =
        serde_json::from_slice(&body).map_err(|cause| refused(&format!("no JSON: {cause}")))?;
    selection::read(&body).map_err(|why| refused(&why.to_string()))
}

/// The bytes of a body that is no form.
async fn read_body(request: Request, limit: SizeLimit, idle: Duration) -> Result<Vec<u8>, Problem> {
    check_content_length(&request, limit)?;
    let mut body = request.into_body().into_data_stream();
    let mut bytes = Vec::new();
    while let Some(piece) = timeout(idle, body.next()).await.map_err(|_| body_timeout())? {
        let piece = piece.map_err(|_| Problem::bad_request("The body broke off"))?;
        limit.check((bytes.len() + piece.len()) as u64)?;
        bytes.extend_from_slice(&piece);
    }
    Ok(bytes)
}

/// The rows that an item selects.
fn selected_rows(
    deployment: &Deployment,
    record: &DatasetRecord,
    item: &SelectionItem,
) -> Result<Vec<i64>, Problem> {
    match item {
        SelectionItem::Media(ids) => media_rows(deployment, record, ids),
        SelectionItem::Cluster { cluster, entity, filters, exclude } => {
            let members = cluster_members(deployment, record, *cluster, Some(*entity), filters)?;
            let left_out: HashSet<i64> =
                media_rows(deployment, record, exclude)?.into_iter().collect();
            Ok(members.into_iter().filter(|row| !left_out.contains(row)).collect())
        }
    }
}

fn media_rows(
    deployment: &Deployment,
    record: &DatasetRecord,
    ids: &[MediaId],
) -> Result<Vec<i64>, Problem> {
    let rows = deployment.store.read(|c| {
        let row = |&id: &MediaId| Ok((id, media::row_of(c, record.id, id)?));
        ids.iter().map(row).collect::<rusqlite::Result<Vec<_>>>()
    })?;
    let known = |(id, row): (MediaId, Option<i64>)| {
        row.ok_or_else(|| Problem::not_found(format!("Media {id} not found")))
    };
    rows.into_iter().map(known).collect()
}

/// The rows of the members of a cluster that filters keep. With an `entity` the cluster must be of it.
pub fn cluster_members(
    deployment: &Deployment,
    record: &DatasetRecord,
    id: ClusterId,
    entity: Option<EntityType>,
    filters: &[Filter],
) -> Result<Vec<i64>, Problem> {
    let found = deployment.store.read(|c| cluster::locate(c, record.id, id))?;
    let found = found.filter(|(of, ..)| entity.is_none_or(|entity| entity == *of));
    let (entity, level, rank) =
        found.ok_or_else(|| Problem::not_found(format!("Cluster {id} not found")))?;
    let gallery = deployment.indexes.dataset_index(&deployment.store, record, entity)?;
    let question =
        SearchQuery { filters: filters.to_vec(), granularity: level, ..SearchQuery::default() };
    let standing =
        rank_clusters(deployment, record, &gallery, &SearchParams { entity, query: question })?;
    Ok(standing.cluster_rows(&gallery, rank).collect())
}
