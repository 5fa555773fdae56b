//! The key of a picture in caches. The key of a picture stays the same for a service and a login, although the link of
//! the picture is signed again and again.

use std::fmt;

use reqwest::Url;
use secrecy::ExposeSecret as _;

use crate::service_config::{AuthMethod, BaseUrl};

/// Separates these hashes from all other uses of the hash function.
const HASH_CONTEXT: &str = "tessera 2026-11-22 key of a cached picture";
/// The parameters that sign a link, in lower case. Any other parameter may select the picture.
const SIGNING_PARAMETERS: [&str; 8] = [
    "signature",
    "sig",
    "expires",
    "policy",
    "key-pair-id",
    "awsaccesskeyid",
    "googleaccessid",
    "security-token",
];
const SIGNING_PREFIXES: [&str; 2] = ["x-amz-", "x-goog-"];
/// Short names of parameters that sign a link only together with `sig`.
const SHARED_ACCESS_PARAMETERS: [&str; 12] =
    ["se", "st", "sp", "sv", "sr", "spr", "ske", "skoid", "sks", "skt", "sktid", "skv"];

/// The key is a hash, so that it contains neither an address nor a login.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PictureKey([u8; 32]);

impl PictureKey {
    /// Computes the key. `api_key` replaces the key in `auth`.
    pub(super) fn new(
        base_url: &BaseUrl,
        auth: &AuthMethod,
        api_key: Option<&str>,
        url: &Url,
    ) -> Self {
        let (kind, account) = match auth {
            AuthMethod::Hosted(credentials) => ("key", api_key.unwrap_or(&credentials.api_key)),
            AuthMethod::Token(token) => ("token", token.expose_secret()),
            AuthMethod::Session(session) => ("session", session.expose_secret()),
            AuthMethod::OnPremises => ("", ""),
        };
        let mut hasher = blake3::Hasher::new_derive_key(HASH_CONTEXT);
        for part in [&base_url.to_string(), kind, account, unsigned(url).as_str()] {
            // The length precedes each part, so that different lists of parts never give the same bytes.
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        Self(hasher.finalize().into())
    }

    /// Returns the checksum of a picture that is stored under this key. The checksum also depends on the key, so that
    /// the bytes of another picture do not match.
    pub fn checksum(&self, bytes: &[u8]) -> [u8; 32] {
        blake3::keyed_hash(&self.0, bytes).into()
    }
}

impl fmt::Display for PictureKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&blake3::Hash::from(self.0).to_hex())
    }
}

/// Returns the address without signature and fragment.
fn unsigned(url: &Url) -> Url {
    let query = url.query().unwrap_or_default();
    let name =
        |parameter: &str| parameter.split('=').next().unwrap_or_default().to_ascii_lowercase();
    let shared_access = query.split('&').any(|parameter| name(parameter) == "sig");
    let signs = |name: &str| {
        SIGNING_PARAMETERS.contains(&name)
            || SIGNING_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
            || shared_access && SHARED_ACCESS_PARAMETERS.contains(&name)
    };
    let rest: Vec<&str> = query.split('&').filter(|parameter| !signs(&name(parameter))).collect();
    let rest = rest.join("&");
    let mut url = url.clone();
    url.set_query((!rest.is_empty()).then_some(&rest));
    url.set_fragment(None);
    url
}
