//! The parameters of a search as requested. What was not given constrains nothing: it is taken from the
//! registration of the anchor, or else it is the default.

use super::ServiceError;
use crate::Deployment;
use tessera_model::{
    Anchor, AnchorKind, DatasetId, EntityType, Filter, Granularity, MediaId, vql::Fraction,
};
use tessera_retrieval::{RetrievalError, SearchQuery};
use tessera_store::query_image::{self, StoredQueryImage};

#[derive(Clone, Debug, Default)]
pub(crate) struct SearchParams {
    pub entity: Option<EntityType>,
    pub granularity: Option<Granularity>,
    pub anchor: Option<RequestedAnchor>,
    pub caption: Option<String>,
    /// Only scores below it.
    pub max_score: Option<Fraction>,
    pub filters: Vec<Filter>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestedAnchor {
    pub media: MediaId,
    /// `None`: a registered query image if there is one with this identifier, or else a media item.
    pub kind: Option<AnchorKind>,
}

impl SearchParams {
    /// Whether it neither ranks nor filters, so that stored clusters are the result.
    pub(crate) fn is_browse(&self) -> bool {
        let ranks = self.anchor.is_some() || self.caption.is_some() || self.max_score.is_some();
        !ranks && self.filters.is_empty()
    }
}

impl Deployment {
    /// Completes the parameters. Fails if one differs from the registration of the anchor.
    pub(super) fn search_query(
        &self,
        dataset: DatasetId,
        params: &SearchParams,
    ) -> Result<SearchQuery, ServiceError> {
        let registered = params.anchor.map(|anchor| self.registered_image(dataset, anchor));
        let registered = registered.transpose()?.flatten();
        let anchor = params.anchor.map(|RequestedAnchor { media, .. }| Anchor {
            media,
            kind: if registered.is_some() { AnchorKind::Upload } else { AnchorKind::Media },
        });
        let of_anchor = registered.as_ref();
        Ok(SearchQuery {
            entity: agreed(
                "entity_type",
                params.entity,
                of_anchor.and_then(|image| image.entity),
                |entity| entity.as_str().to_owned(),
            )?,
            granularity: agreed(
                "threshold",
                params.granularity,
                of_anchor.and_then(|image| image.level),
                |level| level.level().to_string(),
            )?,
            anchor,
            caption: params.caption.clone(),
            max_score: params.max_score,
            filters: params.filters.clone(),
        })
    }

    /// The registered query image behind an anchor; `None` for a media item.
    fn registered_image(
        &self,
        dataset: DatasetId,
        anchor: RequestedAnchor,
    ) -> Result<Option<StoredQueryImage>, ServiceError> {
        if anchor.kind == Some(AnchorKind::Media) {
            return Ok(None);
        }
        let found = self.store.read(|c| query_image::find(c, dataset, anchor.media))?;
        if found.is_none() && anchor.kind == Some(AnchorKind::Upload) {
            return Err(RetrievalError::AnchorNotFound.into());
        }
        Ok(found)
    }
}

/// The requested value or else the registered one. Fails if both were given and differ.
fn agreed<T: PartialEq + Default>(
    name: &str,
    requested: Option<T>,
    registered: Option<T>,
    text: impl FnOnce(T) -> String,
) -> Result<T, ServiceError> {
    match (requested, registered) {
        (Some(requested), Some(registered)) if requested != registered => {
            let value = text(registered);
            Err(ServiceError::Invalid(format!(
                "{name} must equal the value used when registering the anchor: {value}"
            )))
        }
        (requested, registered) => Ok(requested.or(registered).unwrap_or_default()),
    }
}
