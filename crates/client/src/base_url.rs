//! The address of a service, parsed once, so that every requested path stays below it.

use std::fmt;

use reqwest::Url;

use crate::reach::{is_loopback, target_error};
use tessera_model::Failure;
use tessera_wire::paths::{API_PREFIX, Parameters};

/// The `{base_url}` of the interface: scheme, host, port and an optional path before `/api/v1`.
#[derive(Clone, PartialEq, Eq)]
pub struct BaseUrl {
    url: Url,
    prefix: ApiPrefix,
}

/// What every path of a service begins with: `/api/v1`, unless a gateway changes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiPrefix(String);

impl ApiPrefix {
    /// Parses a path like `/media/api/v1`; `/` stands for an empty prefix.
    ///
    /// # Errors
    /// It contains other characters than letters, digits, `-`, `_`, `.` and `/`, or `..`.
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
        let to_failure = |reason: &str| {
            Failure::local(format!("the base URL {reason}"))
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

    /// What every path begins with, unless it is `/api/v1`.
    pub fn own_prefix(&self) -> Option<&str> {
        let ApiPrefix(prefix) = &self.prefix;
        let own = (self.prefix != ApiPrefix::default()).then_some(prefix.as_str());
        own.map(|prefix| if prefix.is_empty() { "/" } else { prefix })
    }

    /// The path of the prefix, which the address may contain already.
    fn prefix_path(&self) -> String {
        let ApiPrefix(prefix) = &self.prefix;
        let path = self.url.path().trim_end_matches('/');
        format!("{}{prefix}", path.strip_suffix(prefix.as_str()).unwrap_or(path))
    }

    /// Returns the URL of an interface path, with percent-encoded parameters.
    pub(super) fn url_for(&self, path: &str, parameters: &Parameters) -> Url {
        let mut url = self.url.clone();
        let path = path.strip_prefix(API_PREFIX).unwrap_or(path);
        url.set_path(&format!("{}{path}", self.prefix_path()));
        if !parameters.is_empty() {
            url.query_pairs_mut().extend_pairs(parameters);
        }
        url
    }

    /// The path is typed by the user, with or without the prefix and with an optional query.
    pub(super) fn resolve_path(&self, path: &str) -> Result<Url, Failure> {
        let (path, query) =
            path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
        let ApiPrefix(own) = &self.prefix;
        let typed = format!("/{}", path.trim_start_matches('/'));
        let bare = typed.strip_prefix(own.as_str()).filter(|_| !own.is_empty());
        let bare = bare.or_else(|| typed.strip_prefix(API_PREFIX)).unwrap_or(&typed);
        let bare = bare.trim_start_matches('/');
        let mut url = self.url_for(&format!("{API_PREFIX}/{bare}"), &Parameters::new());
        url.set_query(query);
        let below = format!("{}/", self.prefix_path());
        if path.contains("://") || path.contains('\\') || !url.path().starts_with(&below) {
            let sentence = format!("`{path}` is not a path below {own} of {self}");
            let remedy = format!("Use the form datasets or {own}/datasets");
            return Err(Failure::local(sentence).with_remedy(remedy));
        }
        Ok(url)
    }

    /// Resolves a link from the service: absolute, or relative to this address.
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

    /// Returns why the service must not lead to `url`.
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
