//! Address and credentials of object storage, from the standard AWS environment variables.

use reqwest::Url;
use secrecy::{ExposeSecret as _, SecretString};

const DEFAULT_REGION: &str = "us-east-1";

#[derive(Clone, Debug)]
pub struct StorageSettings {
    /// `None` for public buckets.
    pub key: Option<AccessKey>,
    /// The region that requests are signed for.
    pub region: String,
    /// A service other than AWS.
    pub endpoint: Option<Url>,
}

impl Default for StorageSettings {
    /// The public buckets of AWS.
    fn default() -> Self {
        Self { key: None, region: DEFAULT_REGION.to_owned(), endpoint: None }
    }
}

#[derive(Clone, Debug)]
pub struct AccessKey {
    pub id: String,
    pub secret: SecretString,
    /// The session token of temporary credentials.
    pub token: Option<SecretString>,
}

impl StorageSettings {
    /// Reads `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`, `AWS_REGION` or
    /// `AWS_DEFAULT_REGION`, and `AWS_ENDPOINT_URL_S3` or `AWS_ENDPOINT_URL`. Empty variables count
    /// as unset. Errors do not contain the value.
    pub fn from_env(var: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let first = |names: &[&'static str]| {
            let set = |name: &&'static str| {
                let value = var(name)?.trim().to_owned();
                (!value.is_empty()).then_some((*name, value))
            };
            names.iter().find_map(set)
        };
        let secret = |name| first(&[name]).map(|(_, value)| SecretString::from(value));
        let key = match (first(&["AWS_ACCESS_KEY_ID"]), secret("AWS_SECRET_ACCESS_KEY")) {
            (Some((_, id)), Some(signs)) => {
                Some(AccessKey { id, secret: signs, token: secret("AWS_SESSION_TOKEN") })
            }
            (None, None) => None,
            _ => return Err("set both AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY".to_owned()),
        };
        let region = match first(&["AWS_REGION", "AWS_DEFAULT_REGION"]) {
            Some((name, region)) if !is_region(&region) => {
                return Err(format!("{name} is not a region name"));
            }
            region => region.map_or_else(|| DEFAULT_REGION.to_owned(), |(_, region)| region),
        };
        let endpoint = first(&["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"]);
        let endpoint = endpoint.map(|(name, url)| {
            let url = Url::parse(&url).ok();
            let url = url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
            url.ok_or_else(|| format!("{name} is not an http or https URL"))
        });
        Ok(Self { key, region, endpoint: endpoint.transpose()? })
    }

    pub(super) fn credentials(&self) -> Option<rusty_s3::Credentials> {
        let key = self.key.as_ref()?;
        let secret = key.secret.expose_secret();
        Some(match &key.token {
            None => rusty_s3::Credentials::new(&key.id, secret),
            Some(token) => {
                rusty_s3::Credentials::new_with_token(&key.id, secret, token.expose_secret())
            }
        })
    }
}

/// The region becomes part of a host name.
fn is_region(region: &str) -> bool {
    region.len() <= 64 && region.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}
