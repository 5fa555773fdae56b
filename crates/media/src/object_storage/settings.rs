//! Reads the addresses and credentials of object storage from the environment variables that the tools of each cloud
//! use.

use std::{collections::BTreeMap, str::FromStr};

use reqwest::Url;
use secrecy::{ExposeSecret as _, SecretString};

use super::object_uri::CloudService;

const DEFAULT_REGION: &str = "us-east-1";

/// The variables that are set. If none is set, the role of the machine is used. Public buckets need neither.
#[derive(Clone, Debug, Default)]
pub struct StorageSettings {
    variables: BTreeMap<String, SecretString>,
}

impl StorageSettings {
    /// Keeps the variables of AWS, Google Cloud and Azure. Empty variables count as unset. Errors do not contain
    /// values.
    pub fn from_env(variables: impl IntoIterator<Item = (String, String)>) -> Result<Self, String> {
        let of_a_cloud =
            |name: &str| ["AWS_", "GOOGLE_", "AZURE_"].iter().any(|it| name.starts_with(it));
        let variables = variables
            .into_iter()
            .filter(|(name, value)| of_a_cloud(name) && !value.trim().is_empty())
            .map(|(name, value)| (name, SecretString::from(value.trim().to_owned())))
            .collect();
        let settings = Self { variables };
        if settings.get("AWS_ACCESS_KEY_ID").is_some()
            != settings.get("AWS_SECRET_ACCESS_KEY").is_some()
        {
            return Err("set both AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY".to_owned());
        }
        if let Some((name, _)) = settings.region_variable().filter(|(_, region)| !is_region(region))
        {
            return Err(format!("{name} is not a region name"));
        }
        if let Some((name, url)) = settings.endpoint_variable()
            && parse_endpoint(url).is_none()
        {
            return Err(format!("{name} is not an http or https URL"));
        }
        Ok(settings)
    }

    /// Returns the region for which requests to S3 are signed.
    pub fn region(&self) -> &str {
        self.region_variable().map_or(DEFAULT_REGION, |(_, region)| region)
    }

    /// Returns the address of a service that has the S3 API but is not AWS.
    pub fn endpoint(&self) -> Option<Url> {
        self.endpoint_variable().and_then(|(_, url)| parse_endpoint(url))
    }

    /// Returns the addresses that replace those of the clouds.
    pub fn endpoints(&self) -> impl Iterator<Item = Url> {
        let names = ["GOOGLE_BASE_URL", "AZURE_STORAGE_ENDPOINT"];
        let others = names.into_iter().filter_map(|name| parse_endpoint(self.get(name)?));
        self.endpoint().into_iter().chain(others)
    }

    /// Returns the variables of a cloud as options of its client.
    pub fn options<K: FromStr>(&self, prefix: &str) -> impl Iterator<Item = (K, &str)> {
        self.variables.iter().filter(move |(name, _)| name.starts_with(prefix)).filter_map(
            |(name, value)| Some((name.to_ascii_lowercase().parse().ok()?, value.expose_secret())),
        )
    }

    /// Whether the variables contain credentials. If not, the machine may have a role.
    pub(crate) fn has_credentials(&self, service: CloudService) -> bool {
        let names: &[&str] = match service {
            CloudService::S3 => &[
                "AWS_ACCESS_KEY_ID",
                "AWS_WEB_IDENTITY_TOKEN_FILE",
                "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
                "AWS_CONTAINER_CREDENTIALS_FULL_URI",
            ],
            CloudService::GoogleCloud => &[
                "GOOGLE_SERVICE_ACCOUNT",
                "GOOGLE_SERVICE_ACCOUNT_PATH",
                "GOOGLE_SERVICE_ACCOUNT_KEY",
                "GOOGLE_APPLICATION_CREDENTIALS",
                "GOOGLE_BEARER_TOKEN",
            ],
            CloudService::Azure => &[
                "AZURE_STORAGE_ACCOUNT_KEY",
                "AZURE_STORAGE_ACCESS_KEY",
                "AZURE_STORAGE_SAS_TOKEN",
                "AZURE_STORAGE_SAS_KEY",
                "AZURE_STORAGE_TOKEN",
                "AZURE_CLIENT_ID",
                "AZURE_FEDERATED_TOKEN_FILE",
                "AZURE_USE_AZURE_CLI",
            ],
        };
        names.iter().any(|name| self.get(name).is_some())
    }

    pub(crate) fn has_azure_account(&self) -> bool {
        let names = ["AZURE_STORAGE_ACCOUNT_NAME", "AZURE_STORAGE_USE_EMULATOR"];
        names.iter().any(|name| self.get(name).is_some())
    }

    /// Whether requests must not be signed, which is the case for public buckets.
    pub(crate) fn skips_signature(&self, service: CloudService) -> bool {
        let name = match service {
            CloudService::S3 => "AWS_SKIP_SIGNATURE",
            CloudService::GoogleCloud => "GOOGLE_SKIP_SIGNATURE",
            CloudService::Azure => "AZURE_SKIP_SIGNATURE",
        };
        self.get(name).is_some_and(|value| value.eq_ignore_ascii_case("true") || value == "1")
    }

    fn region_variable(&self) -> Option<(&'static str, &str)> {
        self.first(&["AWS_REGION", "AWS_DEFAULT_REGION"])
    }

    fn endpoint_variable(&self) -> Option<(&'static str, &str)> {
        self.first(&["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"])
    }

    fn first(&self, names: &[&'static str]) -> Option<(&'static str, &str)> {
        names.iter().find_map(|name| Some((*name, self.get(name)?)))
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(SecretString::expose_secret)
    }
}

fn parse_endpoint(url: &str) -> Option<Url> {
    let url = Url::parse(url).ok()?;
    (matches!(url.scheme(), "http" | "https") && url.has_host()).then_some(url)
}

/// Whether a region is safe as part of a host name.
fn is_region(region: &str) -> bool {
    region.len() <= 64 && region.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}
