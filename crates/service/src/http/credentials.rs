//! `GET api_credentials`: a new key pair for whoever brings the session cookie. The secret is shown once,
//! when the pair is made; afterwards only the key.

use axum::{Json, extract::State, http::HeaderMap};

use super::{AppState, openapi::CommonErrors, problem::Problem};
use tessera_wire::{credentials::CredentialsBody, error_body::ProblemBody};

/// Hands out the credentials of the session. A GET by the document, although the first makes a pair.
#[utoipa::path(
    get,
    path = "/api_credentials",
    operation_id = "api_credentials",
    responses(
        (status = 200, description = "The key; the secret only once", body = CredentialsBody),
        (status = 404, description = "No credentials are needed here", body = ProblemBody),
        CommonErrors,
    ),
    security(("session" = [])),
)]
pub async fn credentials(
    State(site): State<AppState>,
    headers: HeaderMap,
) -> Result<Json<CredentialsBody>, Problem> {
    let Some(issued) = site.authenticator.issue_credentials(&headers)? else {
        return Err(Problem::not_found("This deployment needs no credentials"));
    };
    let message = if issued.api_secret.is_some() {
        "Keep the secret: it is shown only this once. The pair is good until the service stops."
    } else {
        "The secret was shown when this key was made, and is not shown again."
    };
    Ok(Json(CredentialsBody { message: message.to_owned(), ..issued }))
}
