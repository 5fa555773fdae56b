//! `process/add_media` by POST, which one page of the public documents shows.

use axum::{Json, extract::State};

use crate::http::{
    Site,
    describe::{Gated, Processing},
    operation,
    params::Params,
    problem::Problem,
};
use tessera_wire::{problem::ProblemBody, process::ProcessBody};

/// As the GET.
#[utoipa::path(
    post,
    path = "/process/add_media",
    operation_id = "process_add_media_by_post",
    params(Processing),
    responses(
        (status = 200, description = "Accepted; watch the status", body = ProcessBody),
        (status = 400, description = "The dataset has no embedding_config", body = ProblemBody),
        Gated,
    ),
)]
pub async fn process(site: State<Site>, params: Params) -> Result<Json<ProcessBody>, Problem> {
    operation::process(site, params).await
}
