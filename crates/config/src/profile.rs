//! Defines profiles, which are named deployments in the user's settings file. A profile contains no
//! secrets.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use clap::ValueEnum;
use serde::{Deserialize, Deserializer, de::Error as _};
use toml::Value;

use crate::text_enum;

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Profile {
    #[serde(skip)]
    pub name: String,
    #[serde(flatten)]
    pub deployment: DeploymentConfig,
    #[serde(flatten)]
    pub options: ProfileOptions,
}

text_enum! {
    #[derive(ValueEnum)]
    pub enum DeploymentKind: as_str {
        /// Every request carries a token.
        Hosted = "hosted",
        /// No login, and no Authorization header.
        Onprem = "onprem",
        /// A folder on this machine.
        Local = "local",
    }
}

/// The address of a deployment and how to log in. The kind is explicit and never guessed from the
/// address.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum DeploymentConfig {
    /// Every request carries a token made from a key and its secret.
    Hosted {
        base_url: String,
        /// Identifies the secret. The key is empty until a key pair is imported or entered.
        #[serde(default)]
        api_key: String,
    },
    /// Requests carry no login, and so no `Authorization` header.
    OnPrem {
        base_url: String,
        /// The address of the pipeline, which adds media.
        pipeline_url: Option<String>,
    },
    /// A folder that this program serves itself, with an optional model of the user's own.
    Local { folder: PathBuf, model: Option<PathBuf> },
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct ProfileOptions {
    #[serde(default)]
    pub read_only: bool,
    /// IDs of datasets that the service does not list.
    #[serde(default)]
    pub pinned: Vec<String>,
    /// The prefix of every path, if it is not `/api/v1`.
    pub api_prefix: Option<String>,
    /// The path of the text search endpoint, with `{dataset_id}`. The API document does not
    /// specify this path.
    pub text_search_path: Option<String>,
    /// The lifetime of a token.
    #[serde(default, deserialize_with = "deserialize_some_duration")]
    pub token_ttl: Option<Duration>,
    #[serde(default)]
    pub allow_http: bool,
    pub ca_file: Option<PathBuf>,
}

/// Returns whether a folder is an address in object storage rather than a path.
pub fn is_storage_uri(folder: &Path) -> bool {
    let schemes = ["s3://", "gs://", "az://"];
    folder.to_str().is_some_and(|uri| schemes.iter().any(|scheme| uri.starts_with(scheme)))
}

pub(super) fn deserialize_duration<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Duration, D::Error> {
    humantime::parse_duration(&String::deserialize(from)?).map_err(D::Error::custom)
}

fn deserialize_some_duration<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<Duration>, D::Error> {
    deserialize_duration(from).map(Some)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    Profile(String),
    /// A folder without a profile.
    Folder(PathBuf),
    Sample,
    /// The first-run dialog.
    Welcome,
}

impl Profile {
    pub fn new(name: impl Into<String>, deployment: DeploymentConfig) -> Self {
        Self { name: name.into(), deployment, options: ProfileOptions::default() }
    }

    /// Creates a profile with the name that the user chose, or with one derived from the
    /// deployment.
    pub fn named(name: Option<String>, deployment: DeploymentConfig) -> Self {
        let name = name.filter(|name| !name.is_empty());
        Self::new(name.unwrap_or_else(|| suggested_name(&deployment)), deployment)
    }

    /// Returns the paths of the profile.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        let (folder, model) = match &self.deployment {
            DeploymentConfig::Local { folder, model } => (Some(folder), model.as_ref()),
            DeploymentConfig::Hosted { .. } | DeploymentConfig::OnPrem { .. } => (None, None),
        };
        [folder, model, self.options.ca_file.as_ref()].into_iter().flatten().map(PathBuf::as_path)
    }

    /// Returns the keys of the profile's table that differ from their defaults.
    pub fn settings(&self) -> impl Iterator<Item = (&'static str, Value)> {
        let text = |text: &str| Some(Value::from(text.to_owned()));
        let path = |path: &Path| text(&path.to_string_lossy());
        let flag = |on: bool| on.then_some(Value::Boolean(true));
        let ProfileOptions {
            read_only,
            pinned,
            api_prefix,
            text_search_path,
            token_ttl,
            allow_http,
            ca_file,
        } = &self.options;
        let [base_url, api_key, pipeline_url, folder, model] = match &self.deployment {
            DeploymentConfig::Hosted { base_url, api_key } => {
                [text(base_url), text(api_key).filter(|_| !api_key.is_empty()), None, None, None]
            }
            DeploymentConfig::OnPrem { base_url, pipeline_url } => {
                [text(base_url), None, pipeline_url.as_deref().and_then(text), None, None]
            }
            DeploymentConfig::Local { folder, model } => {
                [None, None, None, path(folder), model.as_deref().and_then(path)]
            }
        };
        let lifetime = token_ttl.map(|time| humantime::format_duration(time).to_string());
        let settings = [
            ("kind", text(self.deployment.kind())),
            ("base_url", base_url),
            ("api_prefix", api_prefix.as_deref().and_then(text)),
            ("api_key", api_key),
            ("pipeline_url", pipeline_url),
            ("folder", folder),
            ("model", model),
            ("text_search_path", text_search_path.as_deref().and_then(text)),
            ("token_ttl", lifetime.as_deref().and_then(text)),
            ("allow_http", flag(*allow_http)),
            ("ca_file", ca_file.as_deref().and_then(path)),
            ("read_only", flag(*read_only)),
            ("pinned", (!pinned.is_empty()).then(|| Value::from(pinned.clone()))),
        ];
        settings.into_iter().filter_map(|(key, value)| Some((key, value?)))
    }
}

impl DeploymentConfig {
    pub fn kind(&self) -> &'static str {
        let kind = match self {
            Self::Hosted { .. } => DeploymentKind::Hosted,
            Self::OnPrem { .. } => DeploymentKind::Onprem,
            Self::Local { .. } => DeploymentKind::Local,
        };
        kind.as_str()
    }

    pub fn address(&self) -> String {
        match self {
            Self::Hosted { base_url, .. } | Self::OnPrem { base_url, .. } => base_url.clone(),
            Self::Local { folder, .. } => folder.display().to_string(),
        }
    }
}

pub fn suggested_name(deployment: &DeploymentConfig) -> String {
    let address = deployment.address();
    let address = address.split("://").last().unwrap_or_default().trim_end_matches('/');
    let part = match deployment {
        DeploymentConfig::Local { .. } => address.rsplit('/').next().unwrap_or_default(),
        DeploymentConfig::Hosted { .. } | DeploymentConfig::OnPrem { .. } => {
            address.split('/').next().unwrap_or_default()
        }
    };
    let fits = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let name: String = part.chars().map(fits).take(40).collect();
    if name.is_empty() { "home".to_owned() } else { name }
}

/// Checks a profile name, which becomes a key of the file and a folder name.
pub fn check_name(name: &str) -> Result<(), String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || name.len() > 40 || !name.chars().all(fits) {
        return Err("a profile name has 1 to 40 letters, digits, - and _".to_owned());
    }
    Ok(())
}
