//! What lies behind a cluster and a preview: `similarity_cluster` with all members, and `image`.

use axum::{Json, extract::State};
use rusqlite::Connection;

use crate::{
    http::{
        AppState, RequestCost,
        cluster_body::{ScoredCluster, cluster_body, preview_body},
        explore::page_number,
        openapi::{BusyError, DatasetErrors, ExploreParams, PageParams, StatusErrors},
        origin_check::RequestOrigin,
        problem::Problem,
        query_params::{ClusterPath, ImagePath, QueryParams},
        require_dataset,
        search_params::SearchParams,
        selection::cluster_members,
        signed_links::SignedLinks,
    },
    store::{
        cluster::{self as clusters, StoredPreview},
        media,
    },
};
use tessera_model::Page;
use tessera_wire::{compat::ImageBody, explore::ClusterBody};

/// One page of the members of a cluster, as previews; `null` past the end.
#[utoipa::path(
    get,
    path = "/explore/{dataset_id}/similarity_cluster/{cluster_id}",
    operation_id = "similarity_cluster",
    params(ClusterPath, ExploreParams, PageParams),
    responses(
        (status = 200, description = "At most 100 members, or null", body = Option<ClusterBody>),
        StatusErrors,
        BusyError,
    ),
)]
pub async fn cluster(
    State(site): State<AppState>,
    ClusterPath(id, cluster): ClusterPath,
    origin: RequestOrigin,
    params: QueryParams,
) -> Result<Json<Option<ClusterBody>>, Problem> {
    let asked = SearchParams::parse(&site, &params)?;
    let skip = page_number(&params)?.saturating_mul(Page::SIZE as u64);
    site.run_blocking(RequestCost::Expensive, move |deployment| {
        let record = require_dataset(deployment, id)?;
        let rows = cluster_members(deployment, &record, cluster, None, &asked.query.filters)?;
        let page = deployment.store.read(|c| {
            let Some((entity, level, rank)) = clusters::locate(c, id, cluster)? else {
                return Ok(None);
            };
            let Some(mut cluster) = clusters::find_by_rank(c, id, entity, level, rank)? else {
                return Ok(None);
            };
            cluster.previews = load_previews(c, &rows, skip)?;
            Ok((!cluster.previews.is_empty()).then_some((cluster, entity, level)))
        })?;
        let links = SignedLinks::new(deployment.store.link_key(), &origin);
        Ok(Json(page.map(|(cluster, entity, level)| {
            cluster_body(id, ScoredCluster { cluster, scores: None }, entity, level, &links)
        })))
    })
    .await
}

/// A page of media, from the one after `skip` others on.
fn load_previews(
    connection: &Connection,
    rows: &[i64],
    skip: u64,
) -> rusqlite::Result<Vec<StoredPreview>> {
    let skip = usize::try_from(skip).unwrap_or(usize::MAX);
    let mut portraits = Vec::new();
    for &row in rows.iter().skip(skip).take(Page::SIZE) {
        portraits.extend(clusters::preview(connection, row)?);
    }
    Ok(portraits)
}

/// One image, video or object.
#[utoipa::path(
    get,
    path = "/image/{media_id}",
    operation_id = "image",
    params(ImagePath),
    responses((status = 200, description = "What is known of it", body = ImageBody), DatasetErrors),
)]
pub async fn image(
    State(site): State<AppState>,
    ImagePath(id): ImagePath,
    origin: RequestOrigin,
) -> Result<Json<ImageBody>, Problem> {
    site.spawn_blocking(move |deployment| {
        let found = deployment.store.read(|c| media::find(c, id))?;
        let (media, _) = found.ok_or_else(|| Problem::not_found("Media not found"))?;
        let links = SignedLinks::new(deployment.store.link_key(), &origin);
        let shown = preview_body(StoredPreview::from(&media), &links);
        Ok(Json(ImageBody {
            image_id: id,
            media_id: id,
            image_uri: shown.media_uri,
            media_thumb_uri: shown.media_thumb_uri,
            file_name: shown.file_name,
            caption: shown.caption,
            labels: media.labels,
            user_tags: media.tags,
            width: shown.width,
            height: shown.height,
        }))
    })
    .await
}
