//! Imports the key pair of a hosted profile. It asks the service for a pair with the session of a browser, then stores
//! the secret in the keyring or a file and the key in the settings. A caller decides where to store the secret before
//! the request, because the service shows a secret only once.

use std::path::PathBuf;

use parking_lot::Mutex;
use tessera_client::{Client, Credentials};
use tessera_config::{
    DeploymentConfig, Profile,
    edit::{self, EditError},
};
use tessera_model::{Failure, FailureKind, SafeText};
use tessera_wire::credentials::IssuedCredentials;

use super::{preferred_place, secret_location};
use crate::credentials::{SecretLocation, SecretLocations, SecretOwner};

/// A key pair that the service has just created.
#[derive(Clone, Debug)]
pub struct IssuedKeyPair {
    pub credentials: Credentials,
    /// The service's message about the key pair.
    pub message: Option<SafeText>,
}

/// Why there is no new key pair.
#[derive(Clone, Debug)]
pub enum IssueError {
    Request(Failure),
    /// The service shows a secret only when it creates the pair, and this pair was created before.
    WithoutSecret {
        api_key: String,
        message: Option<SafeText>,
    },
}

impl IssueError {
    /// Returns whether the service may have created a key pair whose secret was lost with the
    /// response.
    pub fn may_have_lost_a_pair(&self) -> bool {
        let Self::Request(failure) = self else { return false };
        !matches!(failure.status, Some(300..=499))
            && !matches!(
                failure.kind,
                FailureKind::Unreachable | FailureKind::Local | FailureKind::Rejected
            )
    }
}

impl From<IssueError> for Failure {
    fn from(error: IssueError) -> Self {
        match error {
            IssueError::Request(failure) => failure,
            IssueError::WithoutSecret { api_key, message } => {
                let sentence = format!(
                    "the service returned the key {api_key} without its secret, which it shows only \
                     when it creates the pair; nothing was stored"
                );
                Self::new(FailureKind::Unexpected, sentence).with_detail(message)
            }
        }
    }
}

/// Asks the service for a key pair. `session_client` is logged in with the session of a browser.
///
/// # Errors
///
/// The request failed, or the response has no secret.
pub async fn issue_key_pair(session_client: &Client) -> Result<IssuedKeyPair, IssueError> {
    let issued = session_client.create_credentials().await.map_err(IssueError::Request)?;
    let IssuedCredentials { api_key, api_secret, message } = issued;
    match api_secret {
        Some(api_secret) => {
            Ok(IssuedKeyPair { credentials: Credentials { api_key, api_secret }, message })
        }
        None => Err(IssueError::WithoutSecret { api_key, message }),
    }
}

/// Why a key pair could not be stored, or only in part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SaveError {
    /// The secret was not stored.
    Secret(String),
    /// The secret is stored in this place, but its key is not in the settings.
    Key { place: String, reason: String },
}

impl From<SaveError> for Failure {
    fn from(error: SaveError) -> Self {
        match error {
            SaveError::Secret(reason) => Self::local(reason),
            SaveError::Key { place, reason } => {
                Self::local(format!("the secret is in {place}, but its key could not be saved"))
                    .with_detail(Some(SafeText::detail(&reason)))
            }
        }
    }
}

/// The profile that key pairs are imported for, and where it stores them. All methods block.
#[derive(Debug)]
pub struct KeyPairOwner {
    profile: Mutex<Profile>,
    origin: String,
    settings_file: Option<PathBuf>,
    secrets: Result<SecretLocations, String>,
}

impl KeyPairOwner {
    /// Creates the owner. `origin` is the normalized address of the profile.
    pub fn new(
        profile: Profile,
        origin: String,
        settings_file: Option<PathBuf>,
        secrets: Result<SecretLocations, String>,
    ) -> Self {
        Self { profile: Mutex::new(profile), origin, settings_file, secrets }
    }

    /// Returns the profile with the key that was stored last.
    pub fn profile(&self) -> Profile {
        self.profile.lock().clone()
    }

    /// Returns where the secret of the profile is now, or why that is unknown.
    pub fn current_place(&self) -> String {
        match &self.secrets {
            Ok(secrets) => secret_location(&self.profile(), secrets)
                .map_or_else(|failure| failure.to_string(), Option::unwrap_or_default),
            Err(reason) => reason.clone(),
        }
    }

    /// Returns where a secret would be stored, and whether that is a plain file, which needs the
    /// user's consent.
    pub fn preferred_place(&self) -> (String, bool) {
        preferred_place(&self.secrets)
    }

    /// Checks that a key pair can be stored, before the service issues one.
    ///
    /// # Errors
    ///
    /// The secret could not be stored.
    pub fn check_preferred_store(&self) -> Result<(), SaveError> {
        let secrets = self.secrets.as_ref().map_err(|reason| SaveError::Secret(reason.clone()))?;
        let checked = secrets.check_save(&self.profile().name, secrets.preferred_location());
        checked.map_err(SaveError::Secret)
    }

    /// Stores a key pair in the keyring, or in the file if there is no keyring.
    ///
    /// # Errors
    ///
    /// The pair could not be stored, or only its secret could.
    pub fn save_in_preferred_store(&self, credentials: &Credentials) -> Result<String, SaveError> {
        let secrets = self.secrets.as_ref().map_err(|reason| SaveError::Secret(reason.clone()))?;
        self.save(credentials, secrets.preferred_location())
    }

    /// Stores a key pair, and returns where its secret is.
    ///
    /// # Errors
    ///
    /// The pair could not be stored, or only its secret could.
    pub fn save(
        &self,
        credentials: &Credentials,
        location: SecretLocation,
    ) -> Result<String, SaveError> {
        let secrets = self.secrets.as_ref().map_err(|reason| SaveError::Secret(reason.clone()))?;
        let Credentials { api_key, api_secret } = credentials;
        let mut profile = self.profile.lock();
        let owner = SecretOwner { profile: &profile.name, origin: &self.origin, api_key };
        secrets.save(owner, api_secret, location).map_err(SaveError::Secret)?;
        let place = secrets.describe(location);
        let saved = edit::set_api_key(self.settings_file.as_deref(), &profile.name, api_key);
        let unsaved =
            |error: EditError| SaveError::Key { place: place.clone(), reason: error.to_string() };
        saved.map_err(unsaved)?;
        if let DeploymentConfig::Hosted { api_key: known, .. } = &mut profile.deployment {
            known.clone_from(api_key);
        }
        Ok(place)
    }
}
