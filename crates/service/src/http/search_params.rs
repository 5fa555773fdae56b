//! The parameters that select and rank, for `explore` and exports.

use uuid::Uuid;

use super::{AppState, problem::Problem, query_params::QueryParams};
use crate::usecase::{RequestedAnchor, SearchParams};
use tessera_model::{
    Filter, MediaId, TagId,
    vql::{Fraction, LabelRule},
};
use tessera_wire::{paths::query, vql};

pub const MAX_CAPTION_CHARS: usize = 1_000;

/// Reads the parameters. `entity_type` is required unless the service is lenient.
pub fn parse(state: &AppState, params: &QueryParams) -> Result<SearchParams, Problem> {
    if !state.compat {
        params.required(query::ENTITY_TYPE)?;
    }
    parse_optional(state, params)
}

pub fn parse_optional(state: &AppState, params: &QueryParams) -> Result<SearchParams, Problem> {
    let number = "Input should be a number from 0.0 to 1.0";
    let fraction = |raw: &str| Fraction::new(raw.parse().ok()?);
    Ok(SearchParams {
        entity: params.entity()?,
        anchor: anchor(state, params)?,
        caption: caption(params)?,
        max_score: params.parse(query::TEXTUAL_SIMILARITY_THRESHOLD, number, fraction)?,
        filters: filters(state, params)?,
        granularity: params.granularity()?,
    })
}

/// Both parts of an anchor; a lenient service finds out the type.
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

/// `caption` or its deprecated name, but not both.
fn caption(params: &QueryParams) -> Result<Option<String>, Problem> {
    let (new, old) = (params.text(query::CAPTION), params.text(query::IMAGE_CAPTION));
    if new.is_some() && old.is_some() {
        let expected = "Give either caption or image_caption, which is deprecated";
        return Err(Problem::invalid_query(query::IMAGE_CAPTION, expected));
    }
    let name = if new.is_some() { query::CAPTION } else { query::IMAGE_CAPTION };
    let expected = "Input should be a text of at most 1000 characters";
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

/// A JSON array of strings; a lenient service also accepts `[dog,cat]`.
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
