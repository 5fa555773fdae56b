//! `GET enrichment/{id}/context`: what a dataset can be searched by, in the format of hosted services.
//! Most of it does not come from a model, and the response says so.

use std::collections::BTreeMap;

use axum::{Json, extract::State};
use uuid::Uuid;

use super::{AppState, openapi::DatasetErrors, path_params::DatasetPath, problem::Problem};
use tessera_wire::enrichment::{EnrichmentBody, ModelBody, ModelMetadataBody, ModelsBody};

/// Which enrichments a dataset has.
#[utoipa::path(
    get,
    path = "/enrichment/{dataset_id}/context",
    params(DatasetPath),
    responses((status = 200, description = "The enrichments", body = EnrichmentBody), DatasetErrors),
)]
pub async fn enrichment_context(
    State(state): State<AppState>,
    DatasetPath(id): DatasetPath,
) -> Result<Json<EnrichmentBody>, Problem> {
    let (record, coverage) =
        state.spawn_blocking(move |deployment| deployment.text_coverage(id)).await?;
    let encodes = state.deployment.settings.encoders.is_some();
    let mut models = BTreeMap::new();
    let mut apply = |applied: bool, name: &'static str, id: &str, about: &str| {
        if applied {
            let metadata = ModelMetadataBody { description: about.to_owned() };
            models.insert(name, ModelBody { id: id.to_owned(), metadata });
        }
    };
    let beside = "tessera-sidecar";
    apply(
        encodes,
        "MULTIMODEL_IMAGE_ENCODING",
        "own-encoders",
        "the image and text encoders that this deployment was started with",
    );
    apply(
        coverage.has_captions,
        "CAPTION_IMAGES",
        "tessera-text-space",
        "captions from beside the images; searched by a text space trained on them, not by a model",
    );
    apply(coverage.has_labels, "IMAGE_TAGGING", beside, "labels from beside the images");
    apply(record.n_objects > 0, "OBJECT_DETECTION", beside, "boxes from beside the images");
    Ok(Json(EnrichmentBody {
        enrichment_context_id: Uuid::new_v5(&id.0, b"enrichment context"),
        status: if models.is_empty() { "NEW" } else { "COMPLETED" },
        dataset_enrichment_models: ModelsBody { enrichment_models: models },
    }))
}
