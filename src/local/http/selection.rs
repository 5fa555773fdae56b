//! `POST export_entities_async`: a selection of media and clusters becomes the media of an export.

use std::collections::{BTreeSet, HashSet};

use axum::{
    Json,
    body::Bytes,
    extract::State,
    http::{HeaderMap, header},
};
use serde_json::Value;

use super::{
    Site,
    explore::standing,
    export::{Chosen, begin, spec_of_selection},
    guard::Origin,
    params::{DatasetPath, Params},
    problem::Problem,
    question::Asked,
    ready_for,
};
use crate::{
    local::{
        Deployment,
        recall::Question,
        store::{cluster, dataset::Record, media},
    },
    model::{ClusterId, EntityType, Filter, MediaId, Operation, SelectionItem},
    wire::{export::ExportTaskBody, selection},
};

/// Largest body, in bytes: about half a million identifiers.
pub const LARGEST_BODY: usize = 32 << 20;

/// Starts a selective export.
pub async fn export(
    State(site): State<Site>,
    DatasetPath(id): DatasetPath,
    origin: Origin,
    params: Params,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<ExportTaskBody>, Problem> {
    let spec = spec_of_selection(&params)?;
    let items = read(&headers, &body)?;
    site.blocking(move |deployment| {
        let record = ready_for(deployment, id, Operation::Export)?;
        let mut rows = BTreeSet::new();
        for item in &items {
            rows.extend(chosen(deployment, &record, item)?);
        }
        begin(deployment, &origin, &record, spec, Chosen::Only(rows))
    })
    .await
}

/// A page of another site can send any body as text, but none as JSON: so it must be JSON.
fn read(headers: &HeaderMap, body: &[u8]) -> Result<Vec<SelectionItem>, Problem> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let kind = kind.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        return Err(Problem::invalid_body("media_selection", "Send it as application/json"));
    }
    let body: Value = serde_json::from_slice(body)
        .map_err(|cause| Problem::invalid_body("media_selection", &format!("no JSON: {cause}")))?;
    selection::read(&body).map_err(|why| Problem::invalid_body("media_selection", &why.to_string()))
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
