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
    Site, Weight,
    body::{Limit, fits, slow, swallow},
    describe::{Gated, Packing, Queued},
    explore::standing,
    export::{Chosen, begin, spec_of_selection},
    guard::Origin,
    params::{DatasetPath, Params},
    problem::Problem,
    question::Asked,
    ready_for,
};
use crate::{
    Deployment,
    recall::Question,
    store::{cluster, dataset::Record, media},
};
use tessera_model::{ClusterId, EntityType, Filter, MediaId, Operation, SelectionItem};
use tessera_wire::{export::ExportTaskBody, problem::ProblemBody, selection};

/// The body: about half a million identifiers.
const BODY: Limit = Limit { bytes: 32 << 20, words: "The selection is larger than 32 MiB" };

/// Starts an export of selected media and clusters.
#[utoipa::path(
    post,
    path = "/dataset/{dataset_id}/export_entities_async",
    operation_id = "export_entities_async",
    params(DatasetPath, Packing),
    request_body(content = ref("#/components/schemas/MediaSelection"), content_type = "application/json"),
    responses(
        (status = 200, description = "The export task", body = ExportTaskBody),
        (status = 408, description = "The body did not arrive in time", body = ProblemBody),
        (status = 413, description = "The body is larger than 32 MiB", body = ProblemBody),
        Gated,
        Queued,
    ),
)]
pub async fn export(
    State(site): State<Site>,
    DatasetPath(id): DatasetPath,
    origin: Origin,
    params: Params,
    request: Request,
) -> Result<Json<ExportTaskBody>, Problem> {
    let spec = spec_of_selection(&params)?;
    let items = read(request, site.limits.body).await?;
    site.weighed(Weight::Heavy, move |deployment| {
        let record = ready_for(deployment, id, Operation::Export)?;
        let mut rows = BTreeSet::new();
        for item in &items {
            rows.extend(chosen(deployment, &record, item)?);
        }
        begin(deployment, &origin, &record, spec, &Chosen::Only(rows))
    })
    .await
}

/// A page of another site can send any body as text, but none as JSON: so it must be JSON.
async fn read(request: Request, idle: Duration) -> Result<Vec<SelectionItem>, Problem> {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let kind = kind.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    let json = kind.eq_ignore_ascii_case("application/json");
    let refused = |words: &str| Problem::invalid_body("media_selection", words);
    if !json {
        swallow(request).await;
        return Err(refused("Send it as application/json"));
    }
    let body = whole(request, BODY, idle).await?;
    let body: Value =
        serde_json::from_slice(&body).map_err(|cause| refused(&format!("no JSON: {cause}")))?;
    selection::read(&body).map_err(|why| refused(&why.to_string()))
}

/// The bytes of a body that is no form.
async fn whole(request: Request, limit: Limit, idle: Duration) -> Result<Vec<u8>, Problem> {
    fits(&request, limit)?;
    let mut body = request.into_body().into_data_stream();
    let mut bytes = Vec::new();
    while let Some(piece) = timeout(idle, body.next()).await.map_err(|_| slow())? {
        let piece = piece.map_err(|_| Problem::bad_request("The body broke off"))?;
        limit.allow((bytes.len() + piece.len()) as u64)?;
        bytes.extend_from_slice(&piece);
    }
    Ok(bytes)
}

/// The rows that an item selects.
fn chosen(
    deployment: &Deployment,
    record: &Record,
    item: &SelectionItem,
) -> Result<Vec<i64>, Problem> {
    match item {
        SelectionItem::Media(ids) => rows_of(deployment, record, ids),
        SelectionItem::Cluster { cluster, entity, filters, exclude } => {
            let members = members(deployment, record, *cluster, Some(*entity), filters)?;
            let left_out: HashSet<i64> =
                rows_of(deployment, record, exclude)?.into_iter().collect();
            Ok(members.into_iter().filter(|row| !left_out.contains(row)).collect())
        }
    }
}

fn rows_of(deployment: &Deployment, record: &Record, ids: &[MediaId]) -> Result<Vec<i64>, Problem> {
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
pub fn members(
    deployment: &Deployment,
    record: &Record,
    id: ClusterId,
    entity: Option<EntityType>,
    filters: &[Filter],
) -> Result<Vec<i64>, Problem> {
    let found = deployment.store.read(|c| cluster::find(c, record.id, id))?;
    let found = found.filter(|(of, ..)| entity.is_none_or(|entity| entity == *of));
    let (entity, level, rank) =
        found.ok_or_else(|| Problem::not_found(format!("Cluster {id} not found")))?;
    let gallery = deployment.recall.gallery(&deployment.store, record, entity)?;
    let question = Question { filters: filters.to_vec(), level, ..Question::default() };
    let standing = standing(deployment, record, &gallery, &Asked { entity, question })?;
    Ok(standing.rows_of(&gallery, rank).collect())
}
