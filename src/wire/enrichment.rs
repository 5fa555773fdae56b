//! `GET enrichment/{id}/context`: which enrichments a dataset has, in the observed shape.

use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

/// The context as a service writes it.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct EnrichmentBody {
    /// Identifier of the context.
    pub enrichment_context_id: Uuid,
    /// `NEW` when nothing is applied, else `COMPLETED`.
    pub status: &'static str,
    /// What is applied.
    pub dataset_enrichment_models: ModelsBody,
}

/// The enrichments of a dataset.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ModelsBody {
    /// By type, for example `CAPTION_IMAGES`.
    pub enrichment_models: BTreeMap<&'static str, ModelBody>,
}

/// What made an enrichment.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ModelBody {
    /// Its name.
    pub id: String,
    /// About it.
    pub metadata: ModelMetadataBody,
}

/// About a model.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ModelMetadataBody {
    /// What it really is, for people.
    pub description: String,
}
