//! `GET api_credentials`: the key pair that tokens are built from.

use serde::Serialize;
use utoipa::ToSchema;

/// The credentials as a service writes them.
#[derive(Clone, Serialize, ToSchema)]
pub struct CredentialsBody {
    /// Names the key.
    pub api_key: String,
    /// Signs the tokens; only at creation.
    pub api_secret: Option<String>,
    /// About the secret, for people.
    pub message: String,
}
