//! `process/add_media` by POST, as one page of the public documentation shows it.

use axum::{Json, extract::State};

use crate::http::{
    AppState, dataset_operations,
    openapi::{ProcessParams, StatusErrors},
    problem::Problem,
    query_params::QueryParams,
};
use tessera_wire::{error_body::ProblemBody, pipeline::ProcessBody};

/// Same as the GET.
#[utoipa::path(
    post,
    path = "/process/add_media",
    operation_id = "process_add_media_by_post",
    params(ProcessParams),
    responses(
        (status = 200, description = "Accepted; watch the status", body = ProcessBody),
        (status = 400, description = "The dataset has no embedding_config", body = ProblemBody),
        StatusErrors,
    ),
)]
pub async fn process(
    state: State<AppState>,
    params: QueryParams,
) -> Result<Json<ProcessBody>, Problem> {
    dataset_operations::process(state, params).await
}
