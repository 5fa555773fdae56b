//! Creates a profile: checks its values, adds it to the settings of the user, and stores its secret. The secret of a
//! profile is then found in the environment, the keyring or the secrets file.

use std::path::Path;

use secrecy::SecretString;
use tessera_client::{ApiPrefix, BaseUrl, CertificateAuthorities, TextSearchPath};
use tessera_config::{
    DeploymentConfig, Profile, ThemeChoice, edit, edit::EditError, is_storage_uri,
};
use tessera_model::{Failure, FileKind};

#[cfg(feature = "local")]
use super::models::require_model;
use crate::credentials::{
    EnvironmentLoginPermission, SecretLocation, SecretLocations, SecretOwner,
};

/// A profile to create, with the user's decisions about it.
#[derive(Clone, Copy, Debug)]
pub struct NewProfile<'a> {
    pub profile: &'a Profile,
    pub make_default: bool,
    /// The secret to store, for a hosted profile.
    pub secret: Option<&'a SecretString>,
}

impl NewProfile<'_> {
    /// Checks the profile before anything is written.
    ///
    /// # Errors
    /// The folder does not exist, or a value is not valid.
    pub fn check(&self) -> Result<(), String> {
        if let DeploymentConfig::Local { folder, .. } = &self.profile.deployment
            && !is_storage_uri(folder)
        {
            require_source(folder)?;
        }
        self.profile
            .settings()
            .try_for_each(|(key, value)| check_value(key, value.as_str().unwrap_or_default()))
    }
}

/// Checks that a path names a folder, or an archive, which is opened like a folder.
///
/// # Errors
/// There is nothing at the path, or a file that is not an archive.
pub fn require_source(path: &Path) -> Result<(), String> {
    let metadata = path.metadata().map_err(|error| format!("{}: {error}", path.display()))?;
    let is_archive = FileKind::from_name(&path.to_string_lossy()) == FileKind::Archive;
    if metadata.is_dir() || is_archive {
        return Ok(());
    }
    Err(format!("{} is neither a folder nor an archive", path.display()))
}

/// Adds a profile to the settings file, and stores its secret in the preferred location.
///
/// # Errors
/// The profile is not valid or already exists, or the file or the secret cannot be written.
pub fn create_profile(file: &Path, new: &NewProfile<'_>) -> Result<(), EditError> {
    new.check()?;
    edit::add_profile(file, new.profile, || store_secret(new))?;
    if new.make_default {
        edit::set(file, "default_profile", &new.profile.name.clone().into())?;
    }
    Ok(())
}

fn store_secret(new: &NewProfile<'_>) -> Result<(), String> {
    let DeploymentConfig::Hosted { base_url, api_key } = &new.profile.deployment else {
        return Ok(());
    };
    let Some(secret) = new.secret else { return Ok(()) };
    let origin = BaseUrl::parse(base_url).map_err(|failure| failure.to_string())?.to_string();
    let owner = SecretOwner { profile: &new.profile.name, origin: &origin, api_key };
    let secrets = open_secrets()?;
    let saved = secrets.save(owner, secret, secrets.preferred_location());
    saved.map_err(|reason| format!("the secret could not be stored: {reason}"))
}

/// Checks settings whose values only the client can validate, and names of files.
///
/// # Errors
///
/// The value is not valid for the setting.
pub fn check_value(key: &str, value: &str) -> Result<(), String> {
    let reason = |failure: Failure| format!("`{key}`: {failure}");
    match key {
        "base_url" => BaseUrl::parse(value).map(drop).map_err(reason),
        "pipeline_url" => BaseUrl::parse_pipeline(value).map(drop).map_err(reason),
        "api_prefix" => ApiPrefix::parse(value).map(drop).map_err(reason),
        "text_search_path" => TextSearchPath::parse(value).map(drop).map_err(reason),
        "ca_file" => CertificateAuthorities::read(&tessera_config::expand_home(value.into()))
            .map(drop)
            .map_err(reason),
        #[cfg(feature = "local")]
        "model" => require_model(Path::new(value)).map_err(|why| format!("`{key}`: {why}")),
        "theme" => {
            let file = value.parse::<ThemeChoice>().and_then(|theme| theme.file());
            file.map(drop).map_err(|why| format!("`{key}`: {why}"))
        }
        _ => Ok(()),
    }
}

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
