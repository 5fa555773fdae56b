//! Profiles: the deployments a person has named, each in a table `[profiles.NAME]` of the user's
//! file. A profile never holds a secret.

use std::{path::PathBuf, time::Duration};

use serde::Deserialize;

/// A deployment with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Name on screen and in the file.
    pub name: String,
    /// Which deployment it is.
    pub deployment: DeploymentConfig,
    /// How it is treated.
    pub options: ProfileOptions,
}

/// Where a deployment is and how one gets in. The kind is stated, never guessed.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum DeploymentConfig {
    /// Every request carries a token made of a key and its secret.
    Hosted {
        /// Address of the service.
        base_url: String,
        /// Names the secret; no secret itself. Empty until a pair is imported or entered.
        #[serde(default)]
        api_key: String,
    },
    /// No login, and no `Authorization` header at all.
    OnPrem {
        /// Address of the service.
        base_url: String,
        /// Address of the pipeline, which adds media there.
        pipeline_url: Option<String>,
    },
    /// A folder of this machine, served by this program.
    Local {
        /// The folder.
        folder: PathBuf,
    },
}

/// How a deployment is treated: what is the same for every kind, or usually left alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct ProfileOptions {
    /// Whether datasets must stay as they are.
    #[serde(default)]
    pub read_only: bool,
    /// Ids of datasets that the service does not list.
    #[serde(default)]
    pub pinned: Vec<String>,
    /// Where text searches are answered, as the interface leaves it open: a path with
    /// `{dataset_id}` in it.
    pub text_search_path: Option<String>,
    /// How long a token holds.
    #[serde(default, deserialize_with = "time")]
    pub token_ttl: Option<Duration>,
    /// Whether the login may go over a line that is not encrypted.
    #[serde(default)]
    pub allow_http: bool,
    /// A file of certificates that the service may show, beside those of the system.
    pub ca_file: Option<PathBuf>,
}

/// A time as people write it.
fn time<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    let text = String::deserialize(from)?;
    humantime::parse_duration(&text).map(Some).map_err(serde::de::Error::custom)
}

/// What to open next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// A profile, by its name.
    Profile(String),
    /// The painted sample.
    Sample,
    /// Whatever the person decides in the welcome.
    Welcome,
}

impl Profile {
    /// A deployment that is treated like any other.
    pub fn new(name: impl Into<String>, deployment: DeploymentConfig) -> Self {
        Self { name: name.into(), deployment, options: ProfileOptions::default() }
    }
}

impl DeploymentConfig {
    /// The kind in a word.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Hosted { .. } => "hosted",
            Self::OnPrem { .. } => "onprem",
            Self::Local { .. } => "local",
        }
    }

    /// The address or folder, for people.
    pub fn address(&self) -> String {
        match self {
            Self::Hosted { base_url, .. } | Self::OnPrem { base_url, .. } => base_url.clone(),
            Self::Local { folder } => folder.display().to_string(),
        }
    }
}

/// A name made of the address or folder, for those who typed none.
pub fn suggested_name(place: &DeploymentConfig) -> String {
    let address = place.address();
    let address = address.split("://").last().unwrap_or_default().trim_end_matches('/');
    let part = match place {
        DeploymentConfig::Local { .. } => address.rsplit('/').next().unwrap_or_default(),
        DeploymentConfig::Hosted { .. } | DeploymentConfig::OnPrem { .. } => {
            address.split('/').next().unwrap_or_default()
        }
    };
    let fits = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let name: String = part.chars().map(fits).take(40).collect();
    if name.is_empty() { "home".to_owned() } else { name }
}

/// Whether `name` can name a profile: it becomes a key of the file and a folder name.
///
/// # Errors
/// A sentence that says what a name may hold.
pub fn check_name(name: &str) -> Result<(), String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || name.len() > 40 || !name.chars().all(fits) {
        return Err("a profile name has 1 to 40 letters, digits, - and _".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_name_is_a_key_and_a_folder_name() {
        assert!(check_name("lab-2_b").is_ok());
        for name in ["../up", "", "a.b", "a b", &"x".repeat(41)] {
            assert!(check_name(name).is_err(), "{name}");
        }
    }
}
