//! `GET api_credentials`: the key pair that tokens are built from.

use secrecy::SecretString;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::lenient::text;
use tessera_model::SafeText;

/// The cookie of a signed-in browser, by which a service knows whom the pair is for.
pub const SESSION_COOKIE: &str = "SESSION";

/// A pair as a service handed it out. `Debug` does not print the secret.
#[derive(Clone, Debug)]
pub struct IssuedCredentials {
    /// Names the key.
    pub api_key: String,
    /// Signs the tokens; a service shows it only when it makes the pair.
    pub api_secret: Option<SecretString>,
    /// What the service says about it.
    pub message: Option<SafeText>,
}

/// Reads the answer; `None` without a key.
pub fn read_issued_credentials(value: &Value) -> Option<IssuedCredentials> {
    let filled = |key: &str| text(value, key).filter(|text| !text.trim().is_empty());
    Some(IssuedCredentials {
        api_key: filled("api_key")?,
        api_secret: filled("api_secret").map(SecretString::from),
        message: filled("message").map(|message| SafeText::detail(&message)),
    })
}

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
