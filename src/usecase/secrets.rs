//! Finds the secret of a profile: in the environment, or else in the keyring or the secrets file, where it is stored.

use secrecy::SecretString;
use tessera_client::BaseUrl;
use tessera_config::{DeploymentConfig, Profile};
use tessera_model::Failure;

use crate::credentials::{
    EnvironmentLoginPermission, SecretLocation, SecretLocations, SecretOwner,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretSource {
    Typed,
    Variable(&'static str),
    Stored(SecretLocation),
}

impl SecretSource {
    /// Returns the short name of the source, for documents.
    pub fn label(self) -> &'static str {
        match self {
            Self::Typed => "typed",
            Self::Variable(name) => name,
            Self::Stored(SecretLocation::Keyring) => "keyring",
            Self::Stored(SecretLocation::File) => "file",
        }
    }

    pub fn description(self, secrets: &SecretLocations) -> String {
        match self {
            Self::Typed => "typed".to_owned(),
            Self::Variable(name) => format!("{name}, in the environment"),
            Self::Stored(location) => secrets.describe(location),
        }
    }
}

pub fn open_secrets() -> Result<SecretLocations, String> {
    let folder = tessera_config::config_dir();
    folder
        .map(|folder| SecretLocations::in_dir(&folder))
        .ok_or_else(|| format!("secrets cannot be stored: {}", tessera_config::UNKNOWN_HOME))
}

/// Returns where a secret would be stored, and whether that is a plain file, which needs the user's consent.
pub fn preferred_place(secrets: &Result<SecretLocations, String>) -> (String, bool) {
    match secrets {
        Ok(secrets) => {
            let location = secrets.preferred_location();
            (secrets.describe(location), location == SecretLocation::File)
        }
        Err(reason) => (reason.clone(), true),
    }
}

/// Finds a secret. A secret in the environment takes precedence if it belongs to the profile.
pub fn find_secret(
    owner: SecretOwner,
    secrets: Option<&SecretLocations>,
) -> Result<Option<(SecretString, SecretSource)>, String> {
    if let Ok(environment) = EnvironmentLoginPermission::for_profile(owner)
        && let Some((secret, name)) = environment.secret()?
    {
        return Ok(Some((secret, SecretSource::Variable(name))));
    }
    let stored = secrets.map_or(Ok(None), |secrets| secrets.find(owner))?;
    Ok(stored.map(|(secret, location)| (secret, SecretSource::Stored(location))))
}

/// Returns where the secret of a profile is, or `None` if the profile needs no secret.
///
/// # Errors
///
/// The address of the profile is not valid.
pub fn secret_location(
    profile: &Profile,
    secrets: &SecretLocations,
) -> Result<Option<String>, Failure> {
    let DeploymentConfig::Hosted { base_url, api_key } = &profile.deployment else {
        return Ok(None);
    };
    let origin = BaseUrl::parse(base_url)?.to_string();
    let owner = SecretOwner { profile: &profile.name, origin: &origin, api_key };
    Ok(Some(match find_secret(owner, Some(secrets)) {
        Ok(Some((_, source))) => source.description(secrets),
        Ok(None) => "none yet: `tessera auth import`".to_owned(),
        Err(reason) => reason,
    }))
}
