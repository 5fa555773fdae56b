//! What lies behind a cluster and a preview: `similarity_cluster` with all members, and `image`.

use axum::{Json, extract::State};
use rusqlite::Connection;

use crate::{
    http::{
        Site, Weight,
        cluster::{Shown, body, preview},
        describe::{Asking, Gated, OfDataset, Paged, Queued},
        explore::page_number,
        found,
        guard::Origin,
        links::Links,
        params::{ClusterPath, ImagePath, Params},
        problem::Problem,
        question::Asked,
        selection::members,
    },
    store::{
        cluster::{self as clusters, Portrait},
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
    params(ClusterPath, Asking, Paged),
    responses(
        (status = 200, description = "At most 100 members, or null", body = Option<ClusterBody>),
        Gated,
        Queued,
    ),
)]
pub async fn cluster(
    State(site): State<Site>,
    ClusterPath(id, cluster): ClusterPath,
    origin: Origin,
    params: Params,
) -> Result<Json<Option<ClusterBody>>, Problem> {
    let asked = Asked::of(&site, &params)?;
    let skip = page_number(&params)?.saturating_mul(Page::SIZE as u64);
    site.weighed(Weight::Heavy, move |deployment| {
        let record = found(deployment, id)?;
        let rows = members(deployment, &record, cluster, None, &asked.question.filters)?;
        let page = deployment.store.read(|c| {
            let Some((entity, level, rank)) = clusters::find(c, id, cluster)? else {
                return Ok(None);
            };
            let Some(mut cluster) = clusters::at(c, id, entity, level, rank)? else {
                return Ok(None);
            };
            cluster.previews = portraits(c, &rows, skip)?;
            Ok((!cluster.previews.is_empty()).then_some((cluster, entity, level)))
        })?;
        let links = Links::new(deployment.store.link_key(), &origin);
        Ok(Json(page.map(|(cluster, entity, level)| {
            body(id, Shown { cluster, scores: None }, entity, level, &links)
        })))
    })
    .await
}

/// A page of media, from the one after `skip` others on.
fn portraits(connection: &Connection, rows: &[i64], skip: u64) -> rusqlite::Result<Vec<Portrait>> {
    let skip = usize::try_from(skip).unwrap_or(usize::MAX);
    let mut portraits = Vec::new();
    for &row in rows.iter().skip(skip).take(Page::SIZE) {
        portraits.extend(clusters::portrait(connection, row)?);
    }
    Ok(portraits)
}

/// One image, video or object.
#[utoipa::path(
    get,
    path = "/image/{media_id}",
    operation_id = "image",
    params(ImagePath),
    responses((status = 200, description = "What is known of it", body = ImageBody), OfDataset),
)]
pub async fn image(
    State(site): State<Site>,
    ImagePath(id): ImagePath,
    origin: Origin,
) -> Result<Json<ImageBody>, Problem> {
    site.blocking(move |deployment| {
        let found = deployment.store.read(|c| media::find(c, id))?;
        let (media, _) = found.ok_or_else(|| Problem::not_found("Media not found"))?;
        let links = Links::new(deployment.store.link_key(), &origin);
        let shown = preview(Portrait::from(&media), &links);
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
