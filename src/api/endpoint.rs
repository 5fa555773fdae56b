//! Where the service is and how to be let in: the two facts a client is made of.
//!
//! Both are checked once, here, so that no request can go to a half-understood address and no
//! token can travel over a clear line.

use std::{fmt, net::IpAddr};

use reqwest::Url;
use secrecy::SecretString;

use crate::{
    api::Authorities,
    model::{DatasetId, Failure, FailureKind},
    wire::paths::{self, PREFIX, Parameters},
};

/// The two kinds of deployment (rule: interface, Authentication 1).
#[derive(Clone, Debug)]
pub enum Access {
    /// Every request carries a JWT made from these.
    Hosted(Credentials),
    /// No authentication and no `Authorization` header.
    OnPremises,
}

/// What a signed-in person was given once. `Debug` does not print the secret.
#[derive(Clone, Debug)]
pub struct Credentials {
    /// Names the key; sent as `kid` and `sub`.
    pub api_key: String,
    /// Signs the tokens; never sent.
    pub api_secret: SecretString,
}

/// A service that may be talked to.
#[derive(Clone, Debug)]
pub struct Endpoint {
    base_url: BaseUrl,
    access: Access,
    pipeline_url: Option<BaseUrl>,
    text_search: Option<TextSearchPath>,
    authorities: Authorities,
}

impl Endpoint {
    /// Pairs an address with the way in.
    ///
    /// # Errors
    /// [`FailureKind::Local`] for credentials over plain HTTP to another machine (N30);
    /// [`Self::in_clear`] is for who wants that.
    pub fn new(base_url: BaseUrl, access: Access) -> Result<Self, Failure> {
        let clear = base_url.0.scheme() == "http" && !base_url.is_loopback();
        if clear && matches!(access, Access::Hosted(_)) {
            let sentence = format!("{base_url} is not encrypted: credentials are not sent there");
            return Err(Failure::new(FailureKind::Local, sentence)
                .remedy("Use an https address; for a service without login give the kind onprem; --allow-http sends them all the same"));
        }
        Ok(Self::in_clear(base_url, access))
    }

    /// The same, also where the login goes over a line that others can read: a person has said so.
    #[must_use]
    pub fn in_clear(base_url: BaseUrl, access: Access) -> Self {
        let authorities = Authorities::default();
        Self { base_url, access, pipeline_url: None, text_search: None, authorities }
    }

    /// Trusts these authorities, too.
    #[must_use]
    pub fn with_authorities(self, authorities: Authorities) -> Self {
        Self { authorities, ..self }
    }

    /// The authorities that are trusted beside those of the system.
    pub(super) fn authorities(&self) -> &Authorities {
        &self.authorities
    }

    /// Adds where the pipeline of an on-premises deployment is.
    #[must_use]
    pub fn with_pipeline(self, pipeline_url: BaseUrl) -> Self {
        Self { pipeline_url: Some(pipeline_url), ..self }
    }

    /// Where the pipeline is, if that is known.
    #[must_use]
    pub fn pipeline_url(&self) -> Option<&BaseUrl> {
        self.pipeline_url.as_ref()
    }

    /// Adds where text searches are answered.
    #[must_use]
    pub fn with_text_search(self, path: TextSearchPath) -> Self {
        Self { text_search: Some(path), ..self }
    }

    /// The path of a text search in a dataset.
    #[must_use]
    pub(super) fn text_search(&self, dataset: DatasetId) -> String {
        let own = self.text_search.as_ref().map(|path| path.of(dataset));
        own.unwrap_or_else(|| paths::explore(dataset))
    }

    /// The address.
    #[must_use]
    pub fn base_url(&self) -> &BaseUrl {
        &self.base_url
    }

    /// Whether it is a deployment without login.
    #[must_use]
    pub fn is_on_premises(&self) -> bool {
        matches!(self.access, Access::OnPremises)
    }

    /// The way in.
    #[must_use]
    pub fn access(&self) -> &Access {
        &self.access
    }
}

/// Where text searches are answered: the interface leaves it open (M55). Written below
/// `/api/v1`, with `{dataset_id}` where the dataset goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextSearchPath(String);

impl TextSearchPath {
    /// Where the dataset goes.
    const DATASET: &str = "{dataset_id}";

    /// Reads a path like `explore/{dataset_id}`.
    ///
    /// # Errors
    /// [`FailureKind::Local`]: it names no dataset, or holds more than a path.
    pub fn parse(raw: &str) -> Result<Self, Failure> {
        let path = raw.trim().trim_matches('/');
        let path = path.strip_prefix(PREFIX.trim_matches('/')).unwrap_or(path).trim_matches('/');
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_/.".contains(c);
        let bare = path.replacen(Self::DATASET, "", 1);
        if !path.contains(Self::DATASET) || !bare.chars().all(plain) || bare.contains("..") {
            let sentence = "text_search_path is not a path with the place of the dataset";
            return Err(Failure::new(FailureKind::Local, sentence)
                .remedy("Write it like explore/{dataset_id}"));
        }
        Ok(Self(path.to_owned()))
    }

    fn of(&self, dataset: DatasetId) -> String {
        format!("{PREFIX}/{}", self.0.replace(Self::DATASET, &dataset.to_string()))
    }
}

/// The `{base_url}` of the interface: scheme, host, port and perhaps a path before `/api/v1`.
#[derive(Clone, PartialEq, Eq)]
pub struct BaseUrl(Url);

impl BaseUrl {
    /// Reads an address as people paste it: a trailing slash or `/api/v1` is taken off.
    ///
    /// # Errors
    /// [`FailureKind::Local`] with what is wrong: no http(s) address, or one that carries a
    /// password, a query or a fragment.
    pub fn parse(raw: &str) -> Result<Self, Failure> {
        let refuse = |reason: &str| {
            Failure::new(FailureKind::Local, format!("the base URL {reason}"))
                .remedy("Write it like https://example.com or http://127.0.0.1:8080")
        };
        let mut url = Url::parse(raw.trim()).map_err(|_| refuse("is not a whole address"))?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(refuse("must begin with http:// or https://"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(refuse("must not hold a user name or password"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(refuse("must not hold a query or fragment"));
        }
        let path = url.path().trim_end_matches('/');
        let path = path.strip_suffix(PREFIX).unwrap_or(path);
        let path = format!("{}/", path.trim_end_matches('/'));
        url.set_path(&path);
        Ok(Self(url))
    }

    /// The URL of a path of the interface, with its parameters percent-encoded.
    #[must_use]
    pub(super) fn at(&self, path: &str, parameters: &Parameters) -> Url {
        let mut url = self.0.clone();
        url.set_path(&format!("{}{path}", self.0.path().trim_end_matches('/')));
        if !parameters.is_empty() {
            url.query_pairs_mut().extend_pairs(parameters);
        }
        url
    }

    /// Resolves a link the service gave: absolute, or relative to this address.
    pub(super) fn join(&self, link: &str) -> Option<Url> {
        self.0.join(link).ok()
    }

    /// Whether the service runs on this machine.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        is_loopback(&self.0)
    }

    /// Whether only this machine or its cable can see the service.
    pub(super) fn is_local_only(&self) -> bool {
        is_local_only(&self.0)
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str().trim_end_matches('/'))
    }
}

impl fmt::Debug for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BaseUrl({self})")
    }
}

/// The address as numbers, when it is written so.
fn ip(url: &Url) -> Option<IpAddr> {
    let host = url.host_str()?;
    host.trim_matches(['[', ']']).parse().ok()
}

/// Whether `url` names this machine.
pub(super) fn is_loopback(url: &Url) -> bool {
    match ip(url) {
        Some(address) => address.to_canonical().is_loopback(),
        None => {
            url.host_str().is_some_and(|host| host == "localhost" || host.ends_with(".localhost"))
        }
    }
}

/// Whether `url` names something that only this machine or its cable can see (D09).
pub(super) fn is_local_only(url: &Url) -> bool {
    let near = match ip(url).map(|address| address.to_canonical()) {
        Some(IpAddr::V4(address)) => address.is_link_local() || address.is_unspecified(),
        Some(IpAddr::V6(address)) => address.is_unicast_link_local() || address.is_unspecified(),
        None => false,
    };
    near || is_loopback(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn m74_n31_base_urls_as_people_paste_them() {
        for (raw, path) in [
            ("https://vl.example", "https://vl.example/api/v1/datasets"),
            ("https://vl.example/", "https://vl.example/api/v1/datasets"),
            (" https://vl.example/api/v1/ ", "https://vl.example/api/v1/datasets"),
            ("http://127.0.0.1:80/lab", "http://127.0.0.1/lab/api/v1/datasets"),
        ] {
            let base_url = BaseUrl::parse(raw).unwrap();
            let at = base_url.at("/api/v1/datasets", &Parameters::new());
            assert_eq!(at.as_str(), path);
        }
        for bad in [
            "vl.example",
            "ftp://vl.example",
            "https://me@vl.example",
            "https://me:pass@vl.example",
            "https://vl.example?x=1",
            "https://vl.example/#top",
            "",
        ] {
            let failure = BaseUrl::parse(bad).unwrap_err();
            assert!(!failure.to_string().contains("pass@"), "{failure}");
        }
    }

    #[test]
    fn m55_text_search_goes_where_the_profile_says() {
        let base_url = || BaseUrl::parse("https://vl.example").unwrap();
        let endpoint = || Endpoint::new(base_url(), Access::OnPremises).unwrap();
        let dataset = DatasetId(uuid::Uuid::nil());
        assert_eq!(endpoint().text_search(dataset), format!("/api/v1/explore/{dataset}"));
        for raw in ["vector/{dataset_id}/search", "/api/v1/vector/{dataset_id}/search/"] {
            let own = endpoint().with_text_search(TextSearchPath::parse(raw).unwrap());
            assert_eq!(own.text_search(dataset), format!("/api/v1/vector/{dataset}/search"));
        }
        for bad in ["explore", "explore/{dataset_id}?x=1", "../{dataset_id}", "a b/{dataset_id}"] {
            assert!(TextSearchPath::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn n31_parameters_are_percent_encoded() {
        let base_url = BaseUrl::parse("https://vl.example").unwrap();
        let url = base_url.at("/p", &vec![("file_name", "../x?y=1#z&é".to_owned())]);
        assert_eq!(url.as_str(), "https://vl.example/p?file_name=..%2Fx%3Fy%3D1%23z%26%C3%A9");
    }

    #[test]
    fn n30_credentials_only_over_https_or_on_this_machine() {
        let opens =
            |raw: &str, access: Access| Endpoint::new(BaseUrl::parse(raw).unwrap(), access).is_ok();
        let hosted =
            || Access::Hosted(Credentials { api_key: "key".into(), api_secret: "secret".into() });
        for (raw, with_credentials) in [
            ("https://vl.example", true),
            ("http://127.0.0.1:8080", true),
            ("http://[::1]:8080", true),
            ("http://localhost", true),
            ("http://vl.example", false),
            ("http://192.168.0.7", false),
            ("http://localhost.example", false),
        ] {
            assert_eq!(opens(raw, hosted()), with_credentials, "{raw}");
            assert!(opens(raw, Access::OnPremises), "{raw}");
        }
        assert!(!format!("{:?}", hosted()).contains("\"secret\""));
    }

    #[test]
    fn d09_addresses_only_this_machine_can_see() {
        let local = |raw: &str| is_local_only(&Url::parse(raw).unwrap());
        for raw in ["http://169.254.169.254/", "http://[fe80::1]/", "http://0.0.0.0/"] {
            assert!(local(raw), "{raw}");
        }
        assert!(local("http://[::ffff:127.0.0.1]/"));
        assert!(!local("http://10.0.0.1/") && !local("https://cdn.example/"));
    }
}
