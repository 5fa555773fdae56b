//! A service to connect to, checked once, so that no token is sent unencrypted.

use std::{fmt, sync::Arc, time::Duration};

use secrecy::SecretString;

use crate::{ApiPrefix, BaseUrl, CertificateAuthorities};
use tessera_model::{DatasetId, Failure};
use tessera_wire::paths::{self, API_PREFIX};

/// How requests authenticate (interface document, "Authentication").
#[derive(Clone, Debug)]
pub enum AuthMethod {
    /// A JWT signed with this key pair.
    Hosted(Credentials),
    /// A fixed JWT that cannot be renewed.
    Token(SecretString),
    /// A browser session as a cookie, for `GET api_credentials` and `POST add_media`.
    Session(SecretString),
    OnPremises,
}

/// A key pair. `Debug` does not print the secret.
#[derive(Clone, Debug)]
pub struct Credentials {
    /// The name of the key, sent as `kid` and `sub`.
    pub api_key: String,
    /// Signs the tokens; never sent.
    pub api_secret: SecretString,
}

pub const TOKEN_LIFETIME: Duration = Duration::from_mins(10);

/// Reads the secret again from its store, if it is still there. Blocks.
#[derive(Clone)]
pub struct SecretReloader(pub(super) Arc<dyn Fn() -> Option<SecretString> + Send + Sync>);

impl SecretReloader {
    pub fn new(read: impl Fn() -> Option<SecretString> + Send + Sync + 'static) -> Self {
        Self(Arc::new(read))
    }
}

impl fmt::Debug for SecretReloader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretReloader")
    }
}

#[derive(Clone, Debug)]
pub struct Endpoint {
    base_url: BaseUrl,
    auth: AuthMethod,
    pub(super) token_lifetime: Duration,
    pub(super) secret_reloader: Option<SecretReloader>,
    pipeline_url: Option<BaseUrl>,
    text_search: Option<TextSearchPath>,
    pub(super) authorities: CertificateAuthorities,
}

impl Endpoint {
    /// Fails if the login would be sent over plain HTTP to another machine.
    pub fn new(base_url: BaseUrl, auth: AuthMethod) -> Result<Self, Failure> {
        let unencrypted = base_url.is_unencrypted() && !base_url.is_loopback();
        if unencrypted && !matches!(auth, AuthMethod::OnPremises) {
            let sentence =
                format!("credentials are not sent to {base_url}: the connection is not encrypted");
            return Err(Failure::local(sentence)
                .with_remedy("Use an https URL, use the kind onprem for a service without login, or allow it with --allow-http"));
        }
        Ok(Self::new_allowing_http(base_url, auth))
    }

    /// As [`Self::new`], also for a login over plain HTTP, which the user has allowed.
    pub fn new_allowing_http(base_url: BaseUrl, auth: AuthMethod) -> Self {
        Self {
            base_url,
            auth,
            token_lifetime: TOKEN_LIFETIME,
            secret_reloader: None,
            pipeline_url: None,
            text_search: None,
            authorities: CertificateAuthorities::default(),
        }
    }

    /// The same service with another login.
    pub(super) fn with_auth(self, auth: AuthMethod) -> Result<Self, Failure> {
        // Without login, nobody has allowed to send one over plain HTTP.
        if self.is_on_premises() {
            return Err(Failure::local("this deployment needs no login"));
        }
        Ok(Self { auth, secret_reloader: None, ..self })
    }

    pub fn with_authorities(self, authorities: CertificateAuthorities) -> Self {
        Self { authorities, ..self }
    }

    /// For a service, and its pipeline, whose paths begin with something else than `/api/v1`.
    pub fn with_api_prefix(self, prefix: &ApiPrefix) -> Self {
        let with_prefix = |url: BaseUrl| url.with_prefix(prefix.clone());
        let pipeline_url = self.pipeline_url.map(with_prefix);
        Self { base_url: with_prefix(self.base_url), pipeline_url, ..self }
    }

    pub fn with_token_lifetime(self, life: Duration) -> Self {
        Self { token_lifetime: life, ..self }
    }

    /// The secret may be replaced while this program runs.
    pub fn with_secret_reloader(self, reload: SecretReloader) -> Self {
        Self { secret_reloader: Some(reload), ..self }
    }

    pub fn with_pipeline(self, pipeline_url: BaseUrl) -> Self {
        Self { pipeline_url: Some(pipeline_url), ..self }
    }

    pub fn pipeline_url(&self) -> Option<&BaseUrl> {
        self.pipeline_url.as_ref()
    }

    pub fn with_text_search(self, path: TextSearchPath) -> Self {
        Self { text_search: Some(path), ..self }
    }

    pub(super) fn text_search_path(&self, dataset: DatasetId) -> String {
        let own = self.text_search.as_ref().map(|path| path.for_dataset(dataset));
        own.unwrap_or_else(|| paths::explore(dataset))
    }

    pub fn base_url(&self) -> &BaseUrl {
        &self.base_url
    }

    pub fn is_on_premises(&self) -> bool {
        matches!(self.auth, AuthMethod::OnPremises)
    }

    pub fn auth(&self) -> &AuthMethod {
        &self.auth
    }
}

/// The path of text searches, which the interface document leaves open: relative to `/api/v1`, with
/// `{dataset_id}` in place of the dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextSearchPath(String);

impl TextSearchPath {
    const DATASET: &str = "{dataset_id}";

    /// Parses a path like `explore/{dataset_id}`.
    pub fn parse(raw: &str) -> Result<Self, Failure> {
        let path = raw.trim().trim_matches('/');
        let path =
            path.strip_prefix(API_PREFIX.trim_matches('/')).unwrap_or(path).trim_matches('/');
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_/.".contains(c);
        let bare = path.replacen(Self::DATASET, "", 1);
        if !path.contains(Self::DATASET) || !bare.chars().all(plain) || bare.contains("..") {
            let sentence = "text_search_path is not a path that contains {dataset_id}";
            return Err(Failure::local(sentence).with_remedy("Use the form explore/{dataset_id}"));
        }
        Ok(Self(path.to_owned()))
    }

    fn for_dataset(&self, dataset: DatasetId) -> String {
        format!("{API_PREFIX}/{}", self.0.replace(Self::DATASET, &dataset.to_string()))
    }
}
