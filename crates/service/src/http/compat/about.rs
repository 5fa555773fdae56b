//! What a service says of itself: `healthcheck`, `user_config` and `datasets/sample_data`.

use axum::{Json, extract::State};

use crate::{
    Deployment,
    http::{
        Site,
        describe::{Configured, OfDataset, Refused},
        found,
        params::Params,
        problem::Problem,
    },
    store::words::{Told, told},
};
use tessera_model::DatasetId;
use tessera_wire::{
    compat::{FeatureBody, HealthBody, TextSearchBody, UserConfigBody},
    dataset::DatasetBody,
    paths::query,
};

/// Whether the service is well. Clients ask before they log in.
#[utoipa::path(
    get,
    path = "/healthcheck",
    operation_id = "healthcheck",
    responses((status = 200, description = "It is", body = HealthBody)),
    security(()),
)]
pub async fn healthcheck() -> Json<HealthBody> {
    let version = env!("CARGO_PKG_VERSION");
    Json(HealthBody { status: "Green", message: "none", version })
}

/// Which searches there are, in general or for a dataset.
#[utoipa::path(
    get,
    path = "/user_config",
    operation_id = "user_config",
    params(Configured),
    responses((status = 200, description = "The features", body = UserConfigBody), OfDataset),
)]
pub async fn user_config(
    State(site): State<Site>,
    params: Params,
) -> Result<Json<UserConfigBody>, Problem> {
    let told = if params.text(query::DATASET_ID).is_some() {
        let id: DatasetId = params.id(query::DATASET_ID)?;
        let read = move |deployment: &Deployment| {
            found(deployment, id)?;
            Ok(deployment.store.read(|c| told(c, id))?)
        };
        site.blocking(read).await?
    } else {
        Told { captions: true, labels: true }
    };
    let feature_options = TextSearchBody {
        labels_search: told.labels,
        captions_search: told.captions,
        semantic_search: told.captions || told.labels,
    };
    let feature_key = "TEXTUAL_SEARCH_IMAGE";
    Ok(Json(UserConfigBody { features: vec![FeatureBody { feature_key, feature_options }] }))
}

/// The sample datasets: there are none.
#[utoipa::path(
    get,
    path = "/datasets/sample_data",
    operation_id = "sample_data",
    responses((status = 200, description = "An empty array", body = Vec<DatasetBody>), Refused),
)]
pub async fn sample_data() -> Json<[DatasetBody; 0]> {
    Json([])
}
