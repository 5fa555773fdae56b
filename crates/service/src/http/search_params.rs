//! The parameters that select and rank, as `explore` and exports take them: anchor, caption, labels,
//! tags, query language, entity type, granularity and score bound.

use uuid::Uuid;

use super::{AppState, problem::Problem, query_params::QueryParams};
use crate::retrieval::SearchQuery;
use tessera_model::{
    Anchor, AnchorKind, EntityType, Filter,
    vql::{Fraction, LabelRule},
};
use tessera_wire::{paths::query, vql};

/// Longest caption searched for, in characters.
pub const MAX_CAPTION_CHARS: usize = 1_000;

/// What is asked of a dataset.
pub struct SearchParams {
    /// Images or objects.
    pub entity: EntityType,
    /// What selects and ranks.
    pub query: SearchQuery,
}

impl SearchParams {
    /// Reads the parameters. `entity_type` must be there unless the service is lenient.
    pub fn parse(site: &AppState, params: &QueryParams) -> Result<Self, Problem> {
        if !site.compat {
            params.required(query::ENTITY_TYPE)?;
        }
        Self::parse_optional(site, params)
    }

    /// Reads the same parameters where all of them are additive, as for exports.
    pub fn parse_optional(site: &AppState, params: &QueryParams) -> Result<Self, Problem> {
        Ok(Self {
            entity: params.entity()?.unwrap_or_default(),
            query: SearchQuery {
                anchor: anchor(params)?,
                caption: caption(params)?,
                max_score: params.parse(
                    query::TEXTUAL_SIMILARITY_THRESHOLD,
                    "Input should be a number from 0.0 to 1.0",
                    |raw| Fraction::new(raw.parse().ok()?),
                )?,
                filters: filters(site, params)?,
                granularity: params.granularity()?.unwrap_or_default(),
            },
        })
    }

    /// Whether it is only a look at the clusters as they are.
    pub fn is_browsing(&self) -> bool {
        let SearchQuery { anchor, caption, filters, .. } = &self.query;
        anchor.is_none() && caption.is_none() && filters.is_empty()
    }
}

fn anchor(params: &QueryParams) -> Result<Option<Anchor>, Problem> {
    if params.text(query::ANCHOR_MEDIA_ID).is_none() && params.text(query::ANCHOR_TYPE).is_none() {
        return Ok(None);
    }
    let media = params.id(query::ANCHOR_MEDIA_ID)?;
    params.required(query::ANCHOR_TYPE)?;
    let words = "Input should be 'UPLOAD' or 'MEDIA'";
    let kind = params.parse(query::ANCHOR_TYPE, words, AnchorKind::parse)?;
    Ok(kind.map(|kind| Anchor { media, kind }))
}

/// `caption`, or its deprecated name; both at once contradict each other.
fn caption(params: &QueryParams) -> Result<Option<String>, Problem> {
    let (new, old) = (params.text(query::CAPTION), params.text(query::IMAGE_CAPTION));
    if new.is_some() && old.is_some() {
        let words = "Give either caption or image_caption, which is deprecated";
        return Err(Problem::invalid_query(query::IMAGE_CAPTION, words));
    }
    let name = if new.is_some() { query::CAPTION } else { query::IMAGE_CAPTION };
    let words = "Input should be a text of at most 1000 characters";
    params.parse(name, words, |raw| {
        let short = raw.chars().nth(MAX_CAPTION_CHARS).is_none();
        (short && !raw.is_empty()).then(|| raw.to_owned())
    })
}

fn filters(site: &AppState, params: &QueryParams) -> Result<Vec<Filter>, Problem> {
    let mut filters = Vec::new();
    if let Some(raw) = params.text(query::VQL) {
        filters = vql::read(raw)
            .map_err(|problem| Problem::invalid_query(query::VQL, &problem.to_string()))?;
    }
    if let Some(labels) = parse_list(site, params, query::LABELS)? {
        let filter = Filter::labels(LabelRule::OneOf, labels.iter().map(String::as_str));
        filters.push(filter.map_err(|why| Problem::invalid_query(query::LABELS, &why.reason))?);
    }
    if let Some(tags) = parse_list(site, params, query::TAGS)? {
        let ids = tags.iter().map(|tag| Uuid::try_parse(tag).ok().map(tessera_model::TagId));
        let ids: Option<Vec<_>> = ids.collect();
        let ids = ids.ok_or_else(|| {
            Problem::invalid_query(query::TAGS, "Input should be a JSON array of tag UUID strings")
        })?;
        filters.push(
            Filter::tags(ids).map_err(|why| Problem::invalid_query(query::TAGS, &why.reason))?,
        );
    }
    Ok(filters)
}

/// A JSON array of texts; a lenient service also reads `[dog,cat]`.
fn parse_list(
    site: &AppState,
    params: &QueryParams,
    name: &'static str,
) -> Result<Option<Vec<String>>, Problem> {
    params.parse(name, "Input should be a JSON array of strings", |raw| {
        let plain = || {
            let inner = raw.strip_prefix('[')?.strip_suffix(']')?;
            Some(inner.split(',').map(|word| word.trim().to_owned()).collect())
        };
        let read = serde_json::from_str(raw).ok();
        if site.compat { read.or_else(plain) } else { read }
    })
}
