//! Information about the service: `healthcheck`, `user_config` and `datasets/sample_data`.

use axum::{Json, extract::State};

use crate::{
    http::{
        AppState,
        openapi::{CommonErrors, DatasetErrors, UserConfigParams},
        problem::Problem,
        query_params::QueryParams,
    },
    store::full_text::TextCoverage,
};
use tessera_model::DatasetId;
use tessera_wire::{
    compat::{FeatureBody, HealthBody, TextSearchBody, UserConfigBody},
    dataset::DatasetBody,
    paths::query,
};

/// Whether the service is healthy. Clients check this before they log in.
#[utoipa::path(
    get,
    path = "/healthcheck",
    responses((status = 200, description = "It is", body = HealthBody)),
    security(()),
)]
pub async fn healthcheck() -> Json<HealthBody> {
    let version = env!("CARGO_PKG_VERSION");
    Json(HealthBody { status: "Green", message: "none", version })
}

/// Returns which searches are available, in general or for a dataset.
#[utoipa::path(
    get,
    path = "/user_config",
    params(UserConfigParams),
    responses((status = 200, description = "The features", body = UserConfigBody), DatasetErrors),
)]
pub async fn user_config(
    State(state): State<AppState>,
    params: QueryParams,
) -> Result<Json<UserConfigBody>, Problem> {
    let coverage = if params.text(query::DATASET_ID).is_some() {
        let id: DatasetId = params.id(query::DATASET_ID)?;
        state.spawn_blocking(move |deployment| deployment.text_coverage(id)).await?.1
    } else {
        TextCoverage { has_captions: true, has_labels: true }
    };
    let feature_options = TextSearchBody {
        labels_search: coverage.has_labels,
        captions_search: coverage.has_captions,
        semantic_search: coverage.has_captions || coverage.has_labels,
    };
    let feature_key = "TEXTUAL_SEARCH_IMAGE";
    Ok(Json(UserConfigBody { features: vec![FeatureBody { feature_key, feature_options }] }))
}

/// Returns the sample datasets: always none.
#[utoipa::path(
    get,
    path = "/datasets/sample_data",
    responses((status = 200, description = "An empty array", body = Vec<DatasetBody>), CommonErrors),
)]
pub async fn sample_data() -> Json<[DatasetBody; 0]> {
    Json([])
}
