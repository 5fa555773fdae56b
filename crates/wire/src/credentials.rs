//! The key pair that tokens are made from (`GET api_credentials`), and the session cookie that identifies the user who
//! gets the pair.

use secrecy::SecretString;
use serde::Serialize;
use utoipa::ToSchema;

use crate::fields::{Fields, text};
use tessera_model::SafeText;

/// The cookie of a browser session, which identifies the user to the service.
pub const SESSION_COOKIE: &str = "SESSION";

/// Extracts the value of the session cookie from text that browser tools copy, with or without the name of the cookie.
/// Returns `None` if the text is not a session cookie.
pub fn session_value(typed: &str) -> Option<&str> {
    let typed = typed.trim();
    let named = typed.strip_prefix(SESSION_COOKIE).and_then(|rest| rest.strip_prefix('='));
    let value = named.unwrap_or(typed);
    let plain = |c: char| c.is_ascii_graphic() && !";,\"\\".contains(c);
    (!value.is_empty() && value.chars().all(plain)).then_some(value)
}

/// Checks a secret that was typed or piped: one word of printable ASCII. Returns `None` if the text is not a secret.
pub fn secret_value(typed: &str) -> Option<&str> {
    let value = typed.trim();
    (!value.is_empty() && value.chars().all(|c| c.is_ascii_graphic())).then_some(value)
}

/// A key pair as the service returned it. `Debug` does not print the secret.
#[derive(Clone, Debug)]
pub struct IssuedCredentials {
    pub api_key: String,
    /// The secret that signs the tokens. The service shows the secret only when it creates the pair.
    pub api_secret: Option<SecretString>,
    pub message: Option<SafeText>,
}

/// Reads a response. Returns `None` if the response has no key.
pub fn read_issued_credentials(object: Fields<'_>) -> Option<IssuedCredentials> {
    let filled = |key: &str| text(object, key).filter(|text| !text.trim().is_empty());
    Some(IssuedCredentials {
        api_key: object.needed("api_key", filled("api_key"))?,
        api_secret: filled("api_secret").map(SecretString::from),
        message: filled("message").map(|message| SafeText::detail(&message)),
    })
}

/// A key pair.
#[derive(Clone, Serialize, ToSchema)]
pub struct CredentialsBody {
    /// Identifies the key pair in a token.
    pub api_key: String,
    /// Signs the tokens. Sent only when the pair is created.
    pub api_secret: Option<String>,
    /// A note about the secret.
    pub message: String,
}
