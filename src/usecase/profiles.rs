//! Creates a profile: checks its values, adds it to the settings of the user, and stores its secret.

use std::path::Path;

use secrecy::SecretString;
use tessera_client::{ApiPrefix, BaseUrl, CertificateAuthorities, TextSearchPath};
use tessera_config::{
    DeploymentConfig, Profile, ThemeChoice, edit, edit::EditError, is_storage_uri,
};
use tessera_model::{Failure, FileKind};

#[cfg(feature = "local")]
use super::models::require_model;
use crate::{credentials::SecretOwner, usecase::secrets::open_secrets};

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
