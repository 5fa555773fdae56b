//! `GET explore/{id}`: the clusters of a dataset, largest first, or the clusters that match a query. The parameters
//! that select and rank are read here, for exports as well.

use uuid::Uuid;

use super::prelude::*;
use super::{
    parameters::{MAX_CAPTION_CHARS, PageParams, SortParams},
    signed_links::SignedLinks,
};
use crate::usecase::{ClusterPage, RequestedAnchor, ScoredCluster, SearchParams};
use tessera_model::{
    Filter, MediaId, TagId, UserTags,
    text::format_day,
    vql::{Fraction, LabelRule},
};
use tessera_store::cluster::{ClusterRecord, StoredPreview};
use tessera_wire::{
    explore::{ClusterBody, ExploreBody, MetadataBody, TagBody},
    map::MapBody,
    preview::{BY_NAME, BoundingBoxBody, PreviewBody, write_columns},
    vql,
};

pub(crate) fn add_routes(routes: CheckedRoutes) -> CheckedRoutes {
    routes.add(routes!(explore))
}

/// Returns one page of clusters: all clusters, or those that match an anchor, a caption or filters.
#[utoipa::path(
    get,
    path = "/explore/{dataset_id}",
    params(DatasetPath, ExploreParams, SortParams, PageParams),
    responses(
        (status = 200, description = "At most 100 clusters", body = ExploreBody),
        (status = 400, description = "A parameter differs from the anchor's registration", body = ProblemBody),
        StatusErrors,
        BusyError,
    ),
)]
pub(crate) async fn explore(
    State(state): State<AppState>,
    DatasetPath(id): DatasetPath,
    links: SignedLinks,
    params: QueryParams,
) -> Result<LongJson<ExploreBody>, Problem> {
    let search = parse_sorted_search(&state, &params)?;
    let page = params.page()?;
    let is_cheap = search.is_browse();
    let find = move |deployment: &Deployment| deployment.find_clusters(id, &search, page);
    let found = if is_cheap {
        state.spawn_blocking(find).await?
    } else {
        state.run_expensive(find).await?
    };
    let ClusterPage { clusters, is_bounded: bounded } = found;
    let clusters = clusters.into_iter().map(|found| cluster_body(found, &links));
    Ok(LongJson(ExploreBody {
        clusters: clusters.collect(),
        metadata: MetadataBody { used_duckdb: false, bounded },
    }))
}

/// Returns the number with the fewest digits that stands for a score, so that 0.4 is not printed as 0.4000000059604645.
fn shortest_decimal(score: f32) -> f64 {
    score.to_string().parse().unwrap_or_else(|_| score.into())
}

pub(crate) fn cluster_body(found: ScoredCluster, links: &SignedLinks) -> ClusterBody {
    let ScoredCluster { entity, level, cluster, scores, original_paths, tag_ids, mut given } =
        found;
    let score = |at: usize| scores.as_ref()?.values.get(at).copied().map(shortest_decimal);
    let kind = scores.as_ref().map(|scores| scores.kind);
    let matched_by = |at: usize| {
        let is_by_name = scores.as_ref()?.by_name.get(at).copied()?;
        is_by_name.then_some(BY_NAME.into())
    };
    let ClusterRecord { id, counts, previews, labels, tags } = cluster;
    let captions = previews.first().and_then(|preview| preview.caption.clone());
    let previews = previews.into_iter().zip(original_paths).enumerate();
    let previews = previews.map(|(at, (preview, original_path))| {
        let UserTags { tags, rating } = given.remove(&preview.media).unwrap_or_default();
        PreviewBody {
            original_path,
            relevance_score: score(at),
            relevance_score_type: kind.map(Into::into),
            matched_by: matched_by(at),
            user_tags: (!tags.is_empty()).then_some(tags),
            rating: (rating > 0).then_some(rating),
            ..preview_body(preview, links)
        }
    });
    let previews: Vec<PreviewBody> = previews.collect();
    let tags = tags.into_iter().zip(tag_ids);
    let tags: Vec<TagBody> = tags.map(|(name, id)| TagBody { id: Some(id), name }).collect();
    ClusterBody {
        cluster_id: id,
        r#type: entity.as_str(),
        n_images: Some(counts.images),
        n_objects: Some(counts.objects),
        n_videos: Some(counts.videos),
        n_frames: Some(counts.frames),
        similarity_threshold: Some(level.level().to_string()),
        relevance_score: score(0),
        relevance_score_type: kind.map(Into::into),
        matched_by: matched_by(0),
        previews,
        labels: (!labels.is_empty()).then_some(labels),
        user_tags: (!tags.is_empty()).then_some(tags),
        captions: captions.map(|caption| vec![caption]),
    }
}

pub(crate) fn preview_body(preview: StoredPreview, links: &SignedLinks) -> PreviewBody {
    let (media_uri, media_thumb_uri, video_uri) = links.media_links(&preview);
    let region = preview.region;
    PreviewBody {
        r#type: match (region, preview.frame) {
            (Some(_), _) => "OBJECT",
            (None, Some(_)) => "VIDEO",
            (None, None) => "IMAGE",
        }
        .into(),
        media_id: preview.media,
        image_id: links.with_image_names.then_some(preview.media),
        image_uri: links.with_image_names.then(|| media_uri.clone()),
        media_uri: Some(media_uri),
        media_thumb_uri: Some(media_thumb_uri),
        file_name: preview.name(),
        original_uri: Some(preview.path),
        original_path: None,
        video_uri: Some(video_uri.unwrap_or_default()),
        frame_timestamp: preview.frame.map(|frame| frame.seconds),
        caption: preview.caption,
        bounding_box: region.map(|[x, y, width, height]| BoundingBoxBody { x, y, width, height }),
        relevance_score: None,
        relevance_score_type: None,
        matched_by: None,
        labels: (!preview.labels.is_empty()).then_some(preview.labels),
        user_tags: None,
        rating: None,
        width: Some(preview.width),
        height: Some(preview.height),
        bytes: Some(preview.size),
        date: preview.date.and_then(format_day),
        camera: preview.camera,
        columns: write_columns(
            preview.extra_columns.iter().map(|(name, value)| (name.as_str(), value)),
        ),
    }
}

/// Reads the parameters of a search with the order of its result, which is an addition of this service.
pub(crate) fn parse_sorted_search(
    state: &AppState,
    params: &QueryParams,
) -> Result<SearchParams, Problem> {
    let expected = "Input should be name, date, bytes or path, after a minus for the reverse order";
    let order = params.parse(query::SORT, expected, |raw| raw.parse().ok())?;
    Ok(SearchParams { order, ..parse_search(state, params)? })
}

/// Reads the parameters. `entity_type` is required unless the service is lenient.
pub(crate) fn parse_search(
    state: &AppState,
    params: &QueryParams,
) -> Result<SearchParams, Problem> {
    if !state.compat {
        params.required(query::ENTITY_TYPE)?;
    }
    parse_optional_search(state, params)
}

pub(crate) fn parse_optional_search(
    state: &AppState,
    params: &QueryParams,
) -> Result<SearchParams, Problem> {
    let number = "Input should be a number from 0.0 to 1.0";
    let fraction = |raw: &str| Fraction::new(raw.parse().ok()?);
    Ok(SearchParams {
        entity: params.entity()?,
        anchor: anchor(state, params)?,
        caption: caption(params)?,
        max_score: params.parse(query::TEXTUAL_SIMILARITY_THRESHOLD, number, fraction)?,
        filters: filters(state, params)?,
        granularity: params.granularity()?,
        order: None,
    })
}

/// Reads both parts of an anchor. A lenient service determines a missing type itself.
fn anchor(state: &AppState, params: &QueryParams) -> Result<Option<RequestedAnchor>, Problem> {
    if params.text(query::ANCHOR_MEDIA_ID).is_none() && params.text(query::ANCHOR_TYPE).is_none() {
        return Ok(None);
    }
    let media: MediaId = params.id(query::ANCHOR_MEDIA_ID)?;
    if !state.compat {
        params.required(query::ANCHOR_TYPE)?;
    }
    let expected = "Input should be 'UPLOAD' or 'MEDIA'";
    let kind = params.parse(query::ANCHOR_TYPE, expected, |raw| raw.parse().ok())?;
    Ok(Some(RequestedAnchor { media, kind }))
}

/// Reads `caption` or its deprecated name, but not both.
fn caption(params: &QueryParams) -> Result<Option<String>, Problem> {
    let (new, old) = (params.text(query::CAPTION), params.text(query::IMAGE_CAPTION));
    if new.is_some() && old.is_some() {
        let expected = "Give either caption or image_caption, which is deprecated";
        return Err(Problem::invalid_query(query::IMAGE_CAPTION, expected));
    }
    let name = if new.is_some() { query::CAPTION } else { query::IMAGE_CAPTION };
    let expected = "Input should be a text of 1 to 1000 characters";
    params.parse(name, expected, |raw| {
        let short = raw.chars().nth(MAX_CAPTION_CHARS).is_none();
        (short && !raw.is_empty()).then(|| raw.to_owned())
    })
}

fn filters(state: &AppState, params: &QueryParams) -> Result<Vec<Filter>, Problem> {
    let mut filters = Vec::new();
    if let Some(raw) = params.text(query::VQL) {
        filters = vql::read(raw)
            .map_err(|cause| Problem::invalid_query(query::VQL, &cause.to_string()))?;
    }
    if let Some(labels) = parse_list(state, params, query::LABELS)? {
        let filter = Filter::labels(LabelRule::OneOf, labels.iter().map(String::as_str));
        filters.push(filter.map_err(|cause| Problem::invalid_query(query::LABELS, &cause.reason))?);
    }
    if let Some(tags) = parse_list(state, params, query::TAGS)? {
        let invalid = |reason: &str| Problem::invalid_query(query::TAGS, reason);
        let ids: Option<Vec<TagId>> =
            tags.iter().map(|tag| Uuid::try_parse(tag).ok().map(TagId)).collect();
        let ids = ids.ok_or_else(|| invalid("Input should be a JSON array of tag UUID strings"))?;
        filters.push(Filter::tags(ids).map_err(|cause| invalid(&cause.reason))?);
    }
    if let Some(text) = params.text(query::CAPTION_ONLY_FILTER) {
        let invalid = |reason: &str| Problem::invalid_query(query::CAPTION_ONLY_FILTER, reason);
        filters.push(Filter::full_text(text).map_err(|cause| invalid(&cause.reason))?);
    }
    Ok(filters)
}

/// Reads a JSON array of strings. A lenient service also accepts `[dog,cat]`.
fn parse_list(
    state: &AppState,
    params: &QueryParams,
    name: &'static str,
) -> Result<Option<Vec<String>>, Problem> {
    params.parse(name, "Input should be a JSON array of strings", |raw| {
        let plain = || {
            let inner = raw.strip_prefix('[')?.strip_suffix(']')?;
            Some(inner.split(',').map(|word| word.trim().to_owned()).collect())
        };
        let read = serde_json::from_str(raw).ok();
        if state.compat { read.or_else(plain) } else { read }
    })
}

// `GET /local/dataset/{id}/map`: where media items are on the map of their dataset. The API document has no map.

pub(crate) fn add_local_routes(routes: CheckedRoutes) -> CheckedRoutes {
    routes.add(routes!(map))
}

/// Returns the positions of the media items that a search finds, or of all. Similar media items are near each other. A
/// map of more than 100,000 media items has a sample, which is the same each time.
#[utoipa::path(
    get,
    path = "/dataset/{dataset_id}/map",
    params(DatasetPath, ExploreParams),
    responses(
        (status = 200, description = "The positions", body = MapBody),
        (status = 400, description = "A parameter differs from the anchor's registration", body = ProblemBody),
        StatusErrors,
        BusyError,
    ),
)]
pub(crate) async fn map(
    State(state): State<AppState>,
    DatasetPath(id): DatasetPath,
    params: QueryParams,
) -> Result<LongJson<MapBody>, Problem> {
    let search = parse_optional_search(&state, &params)?;
    Ok(LongJson(state.run_expensive(move |deployment| deployment.map(id, &search)).await?))
}
