//! `GET explore/{id}`: the clusters of a dataset, largest first, or those that answer a question.

use axum::{Json, extract::State};
use rusqlite::Connection;

use super::{
    Site, Weight,
    cluster::{Shown, body},
    describe::{Asking, Gated, Paged, Queued},
    found,
    guard::Origin,
    links::Links,
    params::{DatasetPath, Params},
    problem::Problem,
    question::Asked,
    ready_for,
};
use crate::{
    Deployment,
    recall::{Gallery, Ground, Ranked, Standing, Unanswerable},
    store::{
        cluster::{self as clusters, Cluster, Portrait},
        dataset::Record,
        media::{self, Kind, Media},
    },
};
use tessera_model::{DatasetId, Granularity, Operation, Page};
use tessera_wire::{
    explore::{ExploreBody, MetadataBody},
    paths::query,
    problem::ProblemBody,
};

/// One page of clusters: as they are, or those that answer an anchor, a caption or filters.
#[utoipa::path(
    get,
    path = "/explore/{dataset_id}",
    operation_id = "explore",
    params(DatasetPath, Asking, Paged),
    responses(
        (status = 200, description = "At most 100 clusters", body = ExploreBody),
        (status = 400, description = "Not asked as the anchor was registered", body = ProblemBody),
        Gated,
        Queued,
    ),
)]
pub async fn explore(
    State(site): State<Site>,
    DatasetPath(id): DatasetPath,
    origin: Origin,
    params: Params,
) -> Result<Json<ExploreBody>, Problem> {
    let asked = Asked::of(&site, &params)?;
    let page = page_number(&params)?;
    let weight = if asked.is_browsing() { Weight::Light } else { Weight::Heavy };
    site.weighed(weight, move |deployment| {
        let shown = match weight {
            Weight::Light => browse(deployment, id, &asked, page)?,
            Weight::Heavy => answer(deployment, id, &asked, page)?,
        };
        let links = Links::new(deployment.store.link_key(), &origin);
        let level = asked.question.level;
        let clusters = shown.into_iter().map(|shown| body(id, shown, asked.entity, level, &links));
        Ok(Json(ExploreBody {
            clusters: clusters.collect(),
            metadata: MetadataBody { used_duckdb: false },
        }))
    })
    .await
}

/// `page_number`, 0-based.
pub fn page_number(params: &Params) -> Result<u64, Problem> {
    let words = "Input should be an integer from 0 to 9223372036854775807";
    let read = |raw: &str| u64::try_from(raw.parse::<i64>().ok()?).ok();
    Ok(params.parsed(query::PAGE_NUMBER, words, read)?.unwrap_or(0))
}

fn browse(
    deployment: &Deployment,
    id: DatasetId,
    asked: &Asked,
    page: u64,
) -> Result<Vec<Shown>, Problem> {
    found(deployment, id)?;
    let level = asked.question.level;
    let clusters = deployment.store.read(|c| {
        if clusters::exist(c, id)? {
            clusters::page(c, id, asked.entity, level, page)
        } else {
            singles(c, id, asked, page)
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
    page: u64,
) -> rusqlite::Result<Vec<Cluster>> {
    let skip = page.saturating_mul(Page::SIZE as u64);
    let single = |media: Media| {
        let is = |kind: Kind| u64::from(media.kind == kind);
        Cluster {
            id: clusters::id_of(dataset, asked.question.level, media.id),
            images: is(Kind::Image) + is(Kind::Object),
            videos: is(Kind::Video),
            objects: is(Kind::Object),
            previews: vec![Portrait::from(&media)],
            labels: media.labels,
            tags: media.tags,
        }
    };
    let media = media::stretch(connection, dataset, asked.entity, skip, Page::SIZE)?;
    Ok(media.into_iter().map(single).collect())
}

fn answer(
    deployment: &Deployment,
    id: DatasetId,
    asked: &Asked,
    page: u64,
) -> Result<Vec<Shown>, Problem> {
    // For text search the document names no status (features, gate table).
    let operation = match asked.question.anchor {
        Some(_) => Operation::VisualSearch,
        None => Operation::TextSearch,
    };
    let record = ready_for(deployment, id, operation)?;
    if record.generation == 0 {
        // There is nothing to answer from before the first clustering.
        return Err(Problem::conflict(format!(
            "Operation '{}' is blocked while the dataset is indexed for the first time",
            operation.term()
        )));
    }
    let gallery = deployment.recall.gallery(&deployment.store, &record, asked.entity)?;
    let standing = standing(deployment, &record, &gallery, asked)?;
    let level = asked.question.level;
    Ok(deployment.store.read(|c| {
        let page = standing.page(&gallery, page);
        page.iter()
            .filter_map(|ranked| shown(c, &record, asked, level, ranked, &standing).transpose())
            .collect()
    })?)
}

/// The clusters that answer what is asked, in their order.
pub fn standing(
    deployment: &Deployment,
    record: &Record,
    gallery: &Gallery,
    asked: &Asked,
) -> Result<std::sync::Arc<Standing>, Problem> {
    let encoders = deployment.settings.encoders.as_deref();
    let meaning = |text: &str| deployment.recall.meaning(&deployment.store, record, encoders, text);
    let ground = Ground {
        store: &deployment.store,
        dataset: record,
        entity: asked.entity,
        gallery,
        meaning: &meaning,
    };
    ground.answer(&asked.question).map_err(Problem::from)
}

impl From<Unanswerable> for Problem {
    fn from(why: Unanswerable) -> Self {
        match why {
            Unanswerable::NoAnchor => Self::not_found("Anchor not found"),
            Unanswerable::Differs(words) => Self::bad_request(words),
            Unanswerable::NoMeaning => Self::invalid_query(
                query::CAPTION,
                "This dataset has no captions or labels to search by meaning: \
                 CAPTION_IMAGES is not applied",
            ),
            Unanswerable::Unreadable(words) => Self::invalid_query(query::CAPTION, &words),
            Unanswerable::FullText(cause) => {
                Self::invalid_query(query::VQL, &format!("text.value: {cause}"))
            }
            Unanswerable::Store(cause) => cause.into(),
        }
    }
}

/// A ranked cluster with its best members as previews.
fn shown(
    connection: &Connection,
    record: &Record,
    asked: &Asked,
    level: Granularity,
    ranked: &Ranked,
    standing: &Standing,
) -> rusqlite::Result<Option<Shown>> {
    let found = clusters::at(connection, record.id, asked.entity, level, ranked.cluster)?;
    let Some(mut cluster) = found else {
        return Ok(None);
    };
    (cluster.images, cluster.videos, cluster.objects) =
        (ranked.images, ranked.videos, ranked.objects);
    let mut values = Vec::new();
    for &(row, score) in &ranked.best {
        if let Some(portrait) = clusters::portrait(connection, row)? {
            cluster.previews.push(portrait);
            values.extend(score);
        }
    }
    let scores = standing.score_kind().map(|kind| (kind, values));
    Ok(Some(Shown { cluster, scores }))
}
