//! Reads the environment variables of the hub's own tools.

use std::{ffi::OsString, fs, path::PathBuf};

use reqwest::Url;
use secrecy::SecretString;

use crate::HubError;

const DEFAULT_ENDPOINT: &str = "https://huggingface.co";

#[derive(Clone, Debug)]
pub struct HubSettings {
    /// The address of the hub.
    pub endpoint: Url,
    pub token: Option<SecretString>,
    /// The folder of the cache.
    pub cache: PathBuf,
    /// Whether nothing may be downloaded.
    pub is_offline: bool,
}

impl HubSettings {
    /// Reads the settings with `variable`, which returns the value of an environment variable.
    pub fn from_env(variable: impl Fn(&str) -> Option<OsString>) -> Result<Self, HubError> {
        let path = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let text = |name: &str| Some(variable(name)?.to_string_lossy().trim().to_owned());
        let endpoint = text("HF_ENDPOINT").filter(|text| !text.is_empty());
        let endpoint = endpoint.as_deref().unwrap_or(DEFAULT_ENDPOINT);
        let url = Url::parse(endpoint.trim_end_matches('/')).ok();
        let url = url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        let endpoint = url.ok_or_else(|| {
            HubError::new(
                "HF_ENDPOINT is not an address such as https://huggingface.co; correct it",
            )
        })?;
        let home = path("HF_HOME").or_else(|| {
            let cache = path("XDG_CACHE_HOME").or_else(|| Some(path("HOME")?.join(".cache")))?;
            Some(cache.join("huggingface"))
        });
        let named = path("HF_HUB_CACHE").or_else(|| path("HUGGINGFACE_HUB_CACHE"));
        let cache = named.or_else(|| Some(home.as_ref()?.join("hub"))).ok_or_else(|| {
            HubError::new("the home folder is unknown, where models are kept; set HF_HOME")
        })?;
        let token_file = path("HF_TOKEN_PATH").or_else(|| Some(home?.join("token")));
        let of_file = || fs::read_to_string(token_file?).ok();
        let token = text("HF_TOKEN").filter(|token| !token.is_empty()).or_else(of_file);
        let token = token.map(|token| token.trim().to_owned()).filter(|token| !token.is_empty());
        let offline = text("HF_HUB_OFFLINE").unwrap_or_default().to_ascii_lowercase();
        let is_offline = matches!(offline.as_str(), "1" | "true" | "yes" | "on");
        Ok(Self { endpoint, token: token.map(SecretString::from), cache, is_offline })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use secrecy::ExposeSecret as _;

    use super::*;

    fn settings(variables: &[(&str, &str)]) -> Result<HubSettings, HubError> {
        HubSettings::from_env(|name| {
            let found = variables.iter().find(|(other, _)| *other == name);
            found.map(|(_, value)| value.into())
        })
    }

    #[test]
    fn folders_are_those_of_the_hubs_own_tools() {
        let cache = |variables: &[(&str, &str)]| settings(variables).unwrap().cache;
        assert_eq!(cache(&[("HOME", "/h")]), Path::new("/h/.cache/huggingface/hub"));
        let xdg = [("HOME", "/h"), ("XDG_CACHE_HOME", "/c")];
        assert_eq!(cache(&xdg), Path::new("/c/huggingface/hub"));
        let home = [("HOME", "/h"), ("HF_HOME", "/m")];
        assert_eq!(cache(&home), Path::new("/m/hub"));
        assert_eq!(cache(&[("HF_HOME", "/m"), ("HF_HUB_CACHE", "/x")]), Path::new("/x"));
        assert!(settings(&[]).is_err());
    }

    #[test]
    fn tokens_and_offline_are_read() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().to_str().unwrap();
        let token = |variables: &[(&str, &str)]| {
            settings(variables).unwrap().token.map(|token| token.expose_secret().to_owned())
        };
        assert_eq!(token(&[("HF_HOME", path)]), None);
        fs::write(home.path().join("token"), "hf_file\n").unwrap();
        assert_eq!(token(&[("HF_HOME", path)]).as_deref(), Some("hf_file"));
        let both = [("HF_HOME", path), ("HF_TOKEN", "hf_env")];
        assert_eq!(token(&both).as_deref(), Some("hf_env"));
        for (value, expected) in [("1", true), ("ON", true), ("0", false), ("", false)] {
            let found = settings(&[("HF_HOME", path), ("HF_HUB_OFFLINE", value)]).unwrap();
            assert_eq!(found.is_offline, expected, "{value}");
        }
        assert!(settings(&[("HF_HOME", path), ("HF_ENDPOINT", "hub")]).is_err());
        let shown = format!("{:?}", settings(&both).unwrap());
        assert!(!shown.contains("hf_env"), "{shown}");
    }
}
