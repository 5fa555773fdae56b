//! A service to connect to: its address, its authentication, and the certificate authorities that the user trusts.
//! Everything is checked once, so that every requested path stays below the address and no token is sent unencrypted.

use std::{fmt, fs, io::Read as _, path::Path, sync::Arc, time::Duration};

use reqwest::Url;
use rustls::{
    RootCertStore,
    pki_types::{CertificateDer, pem::PemObject as _},
};
use secrecy::SecretString;

use crate::reach::target_error;
use tessera_model::{DatasetId, Failure};
use tessera_proxy::is_loopback;
use tessera_wire::{
    endpoints::{self, API_PREFIX, LOCAL_PREFIX, Parameters},
    text_encoding::decode_marked,
};

/// How requests authenticate (API document, "Authentication").
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
    /// The name of the key, which is sent as `kid` and `sub`.
    pub api_key: String,
    /// The secret that signs the tokens. It is never sent.
    pub api_secret: SecretString,
}

pub const TOKEN_LIFETIME: Duration = Duration::from_mins(10);

/// Reads the secret again from where it is stored, if it is still there. The function may block.
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
pub struct ServiceConfig {
    base_url: BaseUrl,
    auth: AuthMethod,
    pub(super) token_lifetime: Duration,
    pub(super) secret_reloader: Option<SecretReloader>,
    pipeline_url: Option<BaseUrl>,
    text_search: Option<TextSearchPath>,
    /// Whether the service is known to be a local one, because it is part of this program.
    pub(super) is_local: bool,
    pub(super) authorities: CertificateAuthorities,
}

impl ServiceConfig {
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

    /// Like [`Self::new`], but also accepts a login over plain HTTP, which the user must have allowed.
    pub fn new_allowing_http(base_url: BaseUrl, auth: AuthMethod) -> Self {
        Self {
            base_url,
            auth,
            token_lifetime: TOKEN_LIFETIME,
            secret_reloader: None,
            pipeline_url: None,
            text_search: None,
            is_local: false,
            authorities: CertificateAuthorities::default(),
        }
    }

    /// Returns the same service with another login.
    pub(super) fn with_auth(self, auth: AuthMethod) -> Result<Self, Failure> {
        // Nobody has allowed sending a login of this deployment over plain HTTP.
        if self.is_on_premises() {
            return Err(Failure::local("this deployment needs no login"));
        }
        Ok(Self { auth, secret_reloader: None, ..self })
    }

    pub fn with_authorities(self, authorities: CertificateAuthorities) -> Self {
        Self { authorities, ..self }
    }

    /// Sets the prefix of all paths of the service and its pipeline, if the prefix is not `/api/v1`.
    pub fn with_api_prefix(self, prefix: &ApiPrefix) -> Self {
        let with_prefix = |url: BaseUrl| url.with_prefix(prefix.clone());
        let pipeline_url = self.pipeline_url.map(with_prefix);
        Self { base_url: with_prefix(self.base_url), pipeline_url, ..self }
    }

    pub fn with_token_lifetime(self, life: Duration) -> Self {
        Self { token_lifetime: life, ..self }
    }

    /// Sets a reloader, because the secret may be replaced while this program runs.
    pub fn with_secret_reloader(self, reload: SecretReloader) -> Self {
        Self { secret_reloader: Some(reload), ..self }
    }

    /// Sets that the service is a local one, so that it is not asked.
    pub fn as_local_service(self) -> Self {
        Self { is_local: true, ..self }
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
        let custom = self.text_search.as_ref().map(|path| path.for_dataset(dataset));
        custom.unwrap_or_else(|| endpoints::explore(dataset))
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

/// The path of text searches, which the API document leaves open. The path is relative to `/api/v1`, and
/// `{dataset_id}` stands for the dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextSearchPath(String);

impl TextSearchPath {
    const DATASET: &str = "{dataset_id}";

    /// Parses a path like `explore/{dataset_id}`.
    pub fn parse(raw: &str) -> Result<Self, Failure> {
        let path = raw.trim().trim_matches('/');
        let path = without_prefix(path, API_PREFIX.trim_matches('/')).unwrap_or(path);
        let path = path.trim_matches('/');
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

/// The `{base_url}` of the API: scheme, host, port and an optional path before `/api/v1`.
#[derive(Clone, PartialEq, Eq)]
pub struct BaseUrl {
    url: Url,
    prefix: ApiPrefix,
}

/// The prefix of every path of a service, which is `/api/v1` unless a gateway changes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiPrefix(String);

impl ApiPrefix {
    /// Parses a path like `/media/api/v1`. `/` means an empty prefix.
    ///
    /// # Errors
    /// The path contains `..`, or a character other than letters, digits, `-`, `_`, `.` and `/`.
    pub fn parse(raw: &str) -> Result<Self, Failure> {
        let path = raw.trim().trim_matches('/');
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_/.".contains(c);
        if !path.chars().all(plain) || path.split('/').any(|part| part == "." || part == "..") {
            return Err(Failure::local("api_prefix is not a path")
                .with_remedy("Use the form /api/v1, or / for no prefix"));
        }
        Ok(Self(if path.is_empty() { String::new() } else { format!("/{path}") }))
    }
}

impl Default for ApiPrefix {
    fn default() -> Self {
        Self(API_PREFIX.to_owned())
    }
}

impl BaseUrl {
    /// Parses a pasted address. A trailing slash or `/api/v1` is removed.
    pub fn parse(raw: &str) -> Result<Self, Failure> {
        Self::parse_as("base URL", raw)
    }

    /// Parses the address of a pipeline like a base URL.
    pub fn parse_pipeline(raw: &str) -> Result<Self, Failure> {
        Self::parse_as("pipeline URL", raw)
    }

    fn parse_as(name: &str, raw: &str) -> Result<Self, Failure> {
        let to_failure = |reason: &str| {
            Failure::local(format!("the {name} {reason}"))
                .with_remedy("Use the form https://example.com or http://127.0.0.1:8080")
        };
        let mut url = Url::parse(raw.trim()).map_err(|_| to_failure("is not a complete URL"))?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(to_failure("must begin with http:// or https://"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(to_failure("must not contain a user name or password"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(to_failure("must not contain a query or fragment"));
        }
        let path = url.path().trim_end_matches('/');
        let path = path.strip_suffix(API_PREFIX).unwrap_or(path);
        let path = format!("{}/", path.trim_end_matches('/'));
        url.set_path(&path);
        Ok(Self { url, prefix: ApiPrefix::default() })
    }

    pub(super) fn with_prefix(self, prefix: ApiPrefix) -> Self {
        Self { prefix, ..self }
    }

    /// Returns the prefix of all paths, unless it is `/api/v1`.
    pub fn custom_prefix(&self) -> Option<&str> {
        let ApiPrefix(prefix) = &self.prefix;
        let custom = (self.prefix != ApiPrefix::default()).then_some(prefix.as_str());
        custom.map(|prefix| if prefix.is_empty() { "/" } else { prefix })
    }

    /// Returns the path of the prefix. The address may contain the prefix already.
    fn prefix_path(&self) -> String {
        let ApiPrefix(prefix) = &self.prefix;
        let path = self.url.path().trim_end_matches('/');
        format!("{}{prefix}", path.strip_suffix(prefix.as_str()).unwrap_or(path))
    }

    /// Returns the URL of a path of the API or of a local service, with percent-encoded parameters.
    pub(super) fn url_for(&self, path: &str, parameters: &Parameters) -> Url {
        let mut url = self.url.clone();
        if path.starts_with(LOCAL_PREFIX) {
            url.set_path(&format!("{}{path}", url.path().trim_end_matches('/')));
        } else {
            let path = without_prefix(path, API_PREFIX).unwrap_or(path);
            url.set_path(&format!("{}{path}", self.prefix_path()));
        }
        if !parameters.is_empty() {
            url.query_pairs_mut().extend_pairs(parameters);
        }
        url
    }

    /// Resolves a path that the user typed, with or without the prefix and with an optional query.
    pub(super) fn resolve_path(&self, path: &str) -> Result<Url, Failure> {
        let (path, query) =
            path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
        let ApiPrefix(prefix) = &self.prefix;
        let typed = format!("/{}", path.trim_start_matches('/'));
        let bare = without_prefix(&typed, prefix).filter(|_| !prefix.is_empty());
        let bare = bare.or_else(|| without_prefix(&typed, API_PREFIX)).unwrap_or(&typed);
        let bare = bare.trim_start_matches('/');
        let mut url = self.url_for(&format!("{API_PREFIX}/{bare}"), &Parameters::new());
        url.set_query(query);
        let below = format!("{}/", self.prefix_path());
        if path.contains("://") || path.contains('\\') || !url.path().starts_with(&below) {
            let sentence = format!("`{path}` is not a path below {prefix} of {self}");
            let remedy = format!("Use the form datasets or {prefix}/datasets");
            return Err(Failure::local(sentence).with_remedy(remedy));
        }
        Ok(url)
    }

    /// Resolves a link from the service, which may be absolute or relative to this address.
    pub(super) fn join(&self, link: &str) -> Option<Url> {
        self.url.join(link).ok()
    }

    pub(super) fn is_unencrypted(&self) -> bool {
        self.url.scheme() == "http"
    }

    pub fn is_loopback(&self) -> bool {
        is_loopback(&self.url)
    }

    pub(super) fn as_url(&self) -> &Url {
        &self.url
    }

    /// Returns the reason why the service must not lead to `url`, if there is one.
    pub(super) fn target_error(&self, url: &Url) -> Option<&'static str> {
        target_error(&self.url, url)
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.url.as_str().trim_end_matches('/'))
    }
}

impl fmt::Debug for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BaseUrl({self})")
    }
}

/// The maximum size of a certificate file, which is four times the size of a system bundle.
const MAX_BYTES: u64 = 1 << 20;

#[derive(Clone, Debug, Default)]
pub struct CertificateAuthorities(Vec<CertificateDer<'static>>);

impl CertificateAuthorities {
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let to_failure = |reason: &str| {
            let sentence = format!("cannot read certificates from {}: {reason}", path.display());
            Failure::local(sentence)
                .with_remedy("Use a PEM file, which starts with -----BEGIN CERTIFICATE-----")
        };
        let mut bytes = Vec::new();
        fs::File::open(path)
            .and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
            .map_err(|error| to_failure(&error.to_string()))?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(to_failure("larger than 1 MiB"));
        }
        if bytes.trim_ascii().is_empty() {
            return Err(to_failure("the file is empty"));
        }
        let bytes = decode_marked(&bytes).map_err(|reason| to_failure(&reason.to_string()))?;
        // Comments may be in any encoding.
        let text = String::from_utf8_lossy(&bytes);
        // OpenSSL writes and reads two more labels.
        let text = ["X509", "TRUSTED"].iter().fold(text.into_owned(), |text, label| {
            text.replace(&format!("{label} CERTIFICATE-----"), "CERTIFICATE-----")
        });
        let named = text.matches("-----BEGIN CERTIFICATE-----").count();
        if named == 0 {
            let is_binary = !text.contains("-----BEGIN ") && std::str::from_utf8(&bytes).is_err();
            return Err(to_failure(if is_binary {
                "binary, possibly DER: convert it to PEM with `openssl x509 -inform der -in FILE`"
            } else {
                "the file contains no certificate"
            }));
        }
        let mut trusted = RootCertStore::empty();
        let mut is_usable =
            |certificate: &CertificateDer<'static>| trusted.add(certificate.clone()).is_ok();
        let certificates: Vec<_> = CertificateDer::pem_slice_iter(text.as_bytes())
            .map_while(|certificate| {
                certificate.ok().map(without_trust_settings).filter(&mut is_usable)
            })
            .collect();
        if certificates.len() < named {
            let damaged = certificates.len() + 1;
            return Err(to_failure(&format!("certificate {damaged} of {named} is damaged")));
        }
        Ok(Self(certificates))
    }

    pub(super) fn certificates(&self) -> &[CertificateDer<'static>] {
        &self.0
    }
}

/// Removes what OpenSSL appends to a trusted certificate: a name, and the purposes for which it is trusted.
fn without_trust_settings(certificate: CertificateDer<'static>) -> CertificateDer<'static> {
    // The length is in one or two bytes of the header (X.690 section 8.1.3).
    let length = match *certificate {
        [0x30, 0x81, length, ..] => 3 + usize::from(length),
        [0x30, 0x82, high, low, ..] => 4 + usize::from(u16::from_be_bytes([high, low])),
        _ => return certificate,
    };
    certificate.get(..length).map_or_else(|| certificate.clone(), |it| it.to_vec().into())
}

/// Returns the path after a prefix of whole segments.
fn without_prefix<'a>(path: &'a str, prefix: &str) -> Option<&'a str> {
    path.strip_prefix(prefix).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}
