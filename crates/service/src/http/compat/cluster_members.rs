//! `similarity_cluster`: all members of a cluster; `image`: one media item.

use axum::{Json, extract::State};

use crate::http::{
    AppState, RequestCost,
    cluster_body::{cluster_body, preview_body},
    openapi::{BusyError, DatasetErrors, ExploreParams, PageParams, StatusErrors},
    path_params::{ClusterPath, ImagePath},
    problem::Problem,
    query_params::QueryParams,
    search_params,
    signed_links::SignedLinks,
};
use tessera_store::preview::StoredPreview;
use tessera_wire::{explore::ClusterBody, preview::ImageBody};

/// One page of the members of a cluster, as previews; `null` past the end.
#[utoipa::path(
    get,
    path = "/explore/{dataset_id}/similarity_cluster/{cluster_id}",
    params(ClusterPath, ExploreParams, PageParams),
    responses(
        (status = 200, description = "At most 100 members, or null", body = Option<ClusterBody>),
        StatusErrors,
        BusyError,
    ),
)]
pub async fn similarity_cluster(
    State(state): State<AppState>,
    ClusterPath(id, cluster): ClusterPath,
    links: SignedLinks,
    params: QueryParams,
) -> Result<Json<Option<ClusterBody>>, Problem> {
    let search = search_params::parse(&state, &params)?;
    let page = params.page()?;
    let members = state
        .run_blocking(RequestCost::Expensive, move |deployment| {
            deployment.member_page(id, cluster, &search, page)
        })
        .await?;
    Ok(Json(members.map(|members| cluster_body(id, members, &links))))
}

/// One media item: names, links, labels.
#[utoipa::path(
    get,
    path = "/image/{media_id}",
    params(ImagePath),
    responses((status = 200, description = "The record", body = ImageBody), DatasetErrors),
)]
pub async fn image(
    State(state): State<AppState>,
    ImagePath(id): ImagePath,
    links: SignedLinks,
) -> Result<Json<ImageBody>, Problem> {
    let media = state.spawn_blocking(move |deployment| deployment.media_item(id)).await?;
    let preview = preview_body(StoredPreview::from(&media), &links);
    let labels = media.all_labels().cloned().collect();
    Ok(Json(ImageBody::new(preview, labels, media.tags)))
}
