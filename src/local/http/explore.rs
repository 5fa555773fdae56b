//! `GET explore/{id}`: the clusters of a dataset, largest first, or ranked by an anchor.

use axum::{Json, extract::State};
use rusqlite::Connection;

use super::{
    Site, found,
    guard::Origin,
    links::Links,
    params::{DatasetPath, Params},
    problem::Problem,
    ready_for,
};
use crate::{
    local::{
        Deployment,
        recall::{Question, Ranked},
        store::{
            anchor,
            cluster::{self as clusters, Cluster, Portrait},
            dataset::Record,
            media::{self, Media},
        },
    },
    model::{Anchor, AnchorKind, DatasetId, EntityType, Granularity, Operation, Page},
    wire::{
        explore::{ClusterBody, ExploreBody, MetadataBody, PreviewBody},
        paths::query,
    },
};

/// What the scores are.
const SCORE: &str = "cosine_distance";

/// What is asked.
struct Asked {
    anchor: Option<Anchor>,
    entity: EntityType,
    level: Granularity,
    page: u64,
}

/// A cluster to be shown, with the scores of its previews when something ranks.
struct Shown {
    cluster: Cluster,
    scores: Option<Vec<f32>>,
}

/// One page of clusters.
pub async fn explore(
    State(site): State<Site>,
    DatasetPath(id): DatasetPath,
    origin: Origin,
    params: Params,
) -> Result<Json<ExploreBody>, Problem> {
    let asked = asked(&params)?;
    site.blocking(move |deployment| {
        let shown = match asked.anchor {
            None => browse(deployment, id, &asked)?,
            Some(anchor) => rank(deployment, id, anchor, &asked)?,
        };
        let links = Links::new(deployment.store.link_key(), &origin);
        let clusters = shown.into_iter().map(|shown| body(shown, asked.level, &links));
        Ok(Json(ExploreBody {
            clusters: clusters.collect(),
            metadata: MetadataBody { used_duckdb: false },
        }))
    })
    .await
}

/// Without an anchor every parameter is optional: browsing is what clients are seen to do, and
/// the document says nothing about it.
fn asked(params: &Params) -> Result<Asked, Problem> {
    let words = "Input should be an integer from 0";
    let page = params.parsed(query::PAGE_NUMBER, words, |raw| raw.parse().ok())?;
    Ok(Asked {
        anchor: anchor_of(params)?,
        entity: params.entity()?.unwrap_or_default(),
        level: params.granularity()?.unwrap_or_default(),
        page: page.unwrap_or(0),
    })
}

fn anchor_of(params: &Params) -> Result<Option<Anchor>, Problem> {
    if params.text(query::ANCHOR_MEDIA_ID).is_none() {
        return Ok(None);
    }
    params.required(query::ENTITY_TYPE)?;
    params.required(query::ANCHOR_TYPE)?;
    let words = "Input should be 'UPLOAD' or 'MEDIA'";
    let kind = params.parsed(query::ANCHOR_TYPE, words, AnchorKind::parse)?;
    let media = params.id(query::ANCHOR_MEDIA_ID)?;
    Ok(kind.map(|kind| Anchor { media, kind }))
}

fn browse(deployment: &Deployment, id: DatasetId, asked: &Asked) -> Result<Vec<Shown>, Problem> {
    found(deployment, id)?;
    if asked.entity == EntityType::Objects {
        return Ok(Vec::new());
    }
    let clusters = deployment.store.read(|c| {
        if clusters::exist(c, id)? {
            clusters::page(c, id, asked.level, asked.page)
        } else {
            singles(c, id, asked)
        }
    })?;
    let shown = clusters.into_iter().map(|cluster| Shown { cluster, scores: None });
    Ok(shown.collect())
}

/// While a dataset is indexed for the first time, each media it has so far is a cluster.
fn singles(
    connection: &Connection,
    dataset: DatasetId,
    asked: &Asked,
) -> rusqlite::Result<Vec<Cluster>> {
    let skip = asked.page.saturating_mul(Page::SIZE as u64);
    let single = |media: Media| Cluster {
        id: clusters::id_of(dataset, asked.level, media.id),
        size: 1,
        previews: vec![Portrait::from(&media)],
        labels: media.labels,
    };
    let media = media::stretch(connection, dataset, skip, Page::SIZE)?;
    Ok(media.into_iter().map(single).collect())
}

fn rank(
    deployment: &Deployment,
    id: DatasetId,
    anchor: Anchor,
    asked: &Asked,
) -> Result<Vec<Shown>, Problem> {
    let record = ready_for(deployment, id, Operation::VisualSearch)?;
    let gallery = deployment.recall.gallery(&deployment.store, &record)?;
    let question = Question { anchor: anchor.media, level: asked.level };
    let look = match anchor.kind {
        AnchorKind::Media => gallery.look(anchor.media).map(<[_]>::to_vec),
        AnchorKind::Upload => uploaded(deployment, id, anchor, asked)?,
    };
    let look = look.ok_or_else(|| Problem::not_found("Anchor not found"))?;
    if asked.entity == EntityType::Objects {
        return Ok(Vec::new());
    }
    let ranking = gallery.ranking(question, &look);
    let from = asked.page.saturating_mul(Page::SIZE as u64);
    let from = usize::try_from(from).unwrap_or(usize::MAX);
    let page = ranking.iter().skip(from).take(Page::SIZE);
    let read = |c: &Connection| {
        let shown = page.map(|ranked| shown(c, &record, asked.level, ranked));
        shown.filter_map(Result::transpose).collect()
    };
    Ok(deployment.store.read(read)?)
}

/// The look of an uploaded anchor, if it is registered and explored as it was registered.
fn uploaded(
    deployment: &Deployment,
    id: DatasetId,
    anchor: Anchor,
    asked: &Asked,
) -> Result<Option<Vec<half::f16>>, Problem> {
    let Some(upload) = deployment.store.read(|c| anchor::find(c, id, anchor.media))? else {
        return Ok(None);
    };
    if upload.level != asked.level {
        return Err(Problem::bad_request(format!(
            "threshold must equal the value used when registering the anchor: {}",
            upload.level.level()
        )));
    }
    if upload.entity != asked.entity {
        return Err(Problem::bad_request(format!(
            "entity_type must equal the value used when registering the anchor: {}",
            upload.entity.word()
        )));
    }
    Ok(Some(upload.descriptor))
}

/// A ranked cluster with its nearest members as previews.
fn shown(
    connection: &Connection,
    record: &Record,
    level: Granularity,
    ranked: &Ranked,
) -> rusqlite::Result<Option<Shown>> {
    let Some(mut cluster) = clusters::at(connection, record.id, level, ranked.cluster)? else {
        return Ok(None);
    };
    let mut scores = Vec::new();
    cluster.previews.clear();
    for &(row, distance) in &ranked.nearest {
        if let Some(media) = media::at(connection, row)? {
            cluster.previews.push(Portrait::from(&media));
            scores.push(distance);
        }
    }
    Ok(Some(Shown { cluster, scores: Some(scores) }))
}

fn body(shown: Shown, level: Granularity, links: &Links) -> ClusterBody {
    let score = |place: usize| shown.scores.as_ref()?.get(place).copied().map(f64::from);
    let kind = shown.scores.as_ref().map(|_| SCORE);
    let Cluster { id, size, previews, labels } = shown.cluster;
    let first = previews.first();
    let caption = first.and_then(|portrait| portrait.caption.clone());
    let preview = |(place, portrait): (usize, Portrait)| {
        let (media_uri, media_thumb_uri) = links.media(&portrait);
        PreviewBody {
            r#type: "IMAGE",
            media_id: portrait.media,
            media_uri,
            media_thumb_uri,
            caption: portrait.caption,
            file_name: portrait.name,
            bounding_box: None,
            relevance_score: score(place),
            relevance_score_type: kind,
            width: portrait.width,
            height: portrait.height,
        }
    };
    ClusterBody {
        cluster_id: id,
        r#type: EntityType::Images.word(),
        n_images: size,
        n_objects: 0,
        n_videos: 0,
        similarity_threshold: level.level().to_string(),
        relevance_score: score(0),
        relevance_score_type: kind,
        previews: previews.into_iter().enumerate().map(preview).collect(),
        labels: (!labels.is_empty()).then_some(labels),
        user_tags: None,
        captions: caption.map(|caption| vec![caption]),
    }
}
