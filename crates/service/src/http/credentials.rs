//! `GET api_credentials`: a new key pair for a client with the session cookie.

use axum::{Json, extract::State, http::HeaderMap};

use super::{AppState, openapi::CommonErrors, problem::Problem};
use tessera_wire::{credentials::CredentialsBody, error_body::ProblemBody};

/// Returns the credentials of the session. A GET, although the first one creates the pair: the
/// interface document says so.
#[utoipa::path(
    get,
    path = "/api_credentials",
    responses(
        (status = 200, description = "The key; the secret only once", body = CredentialsBody),
        (status = 404, description = "No credentials are needed here", body = ProblemBody),
        CommonErrors,
    ),
    security(("session" = [])),
)]
pub async fn api_credentials(
    State(state): State<AppState>,
    headers: HeaderMap,
) -> Result<Json<CredentialsBody>, Problem> {
    let Some(issued) = state.authenticator.issue_credentials(&headers)? else {
        return Err(Problem::not_found("This deployment needs no credentials"));
    };
    let message = if issued.api_secret.is_some() {
        "Keep the secret: it is shown only this once."
    } else {
        "The secret was shown when this key was made, and is not shown again."
    };
    Ok(Json(CredentialsBody { message: message.to_owned(), ..issued }))
}
