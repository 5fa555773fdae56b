//! The login of a hosted profile: whose it is, and where the interface stores another one.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use tessera::{
    app::LoginSetup,
    cli,
    config::{DeploymentConfig, Profile, edit},
    credentials::{self, EnvironmentLogin, SecretOwner, SecretStore, TOKEN_VARIABLE},
    message::LoginPlaces,
    worker::LoginStorage,
};
use tessera_client::{AuthMethod, Client, Credentials};
use tessera_model::{Failure, SafeText};

/// Stores key pairs of a profile: the secret in the keyring or the private file, the key in the
/// settings.
#[derive(Debug)]
pub(super) struct ProfileLogin {
    profile: Mutex<Profile>,
    origin: String,
    settings_file: Option<PathBuf>,
}

impl ProfileLogin {
    /// `None` for a profile without login.
    pub(super) fn new(
        profile: &Profile,
        client: &Client,
        settings_file: Option<PathBuf>,
    ) -> Option<Arc<Self>> {
        let DeploymentConfig::Hosted { .. } = profile.deployment else { return None };
        Some(Arc::new(Self {
            profile: Mutex::new(profile.clone()),
            origin: client.endpoint().base_url().to_string(),
            settings_file,
        }))
    }

    /// The profile with the key that was stored last.
    pub(super) fn profile(&self) -> Profile {
        self.profile.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl LoginStorage for ProfileLogin {
    fn places(&self) -> LoginPlaces {
        let current = match cli::secret_location(&self.profile()) {
            Ok(place) => place.unwrap_or_default(),
            Err(error) => error.message,
        };
        let (new, needs_consent) = match cli::open_secrets() {
            Ok(secrets) => {
                let store = secrets.preferred_store();
                (secrets.describe(store), store == SecretStore::File)
            }
            Err(error) => (error.message, true),
        };
        let (current, new) = (SafeText::detail(&current), SafeText::detail(&new));
        LoginPlaces { current, new, needs_consent }
    }

    fn save(&self, credentials: &Credentials) -> Result<SafeText, Failure> {
        let secrets = cli::open_secrets().map_err(|error| Failure::local(error.message))?;
        let Credentials { api_key, api_secret } = credentials;
        let mut profile = self.profile.lock().unwrap_or_else(PoisonError::into_inner);
        let owner = SecretOwner { profile: &profile.name, origin: &self.origin, api_key };
        let store = secrets.preferred_store();
        secrets.save(owner, api_secret, store).map_err(Failure::local)?;
        let place = secrets.describe(store);
        let saved = edit::set_api_key(self.settings_file.as_deref(), &profile.name, api_key);
        saved.map_err(|reason| {
            let sentence = format!("the secret is in {place}, but its key could not be saved");
            Failure::local(sentence).with_detail(Some(SafeText::detail(&reason)))
        })?;
        if let DeploymentConfig::Hosted { api_key: known, .. } = &mut profile.deployment {
            known.clone_from(api_key);
        }
        Ok(SafeText::detail(&place))
    }
}

/// What the interface shows of the login of `client`; `None` without login.
pub(super) fn login_setup(client: &Client, profile: Option<&Profile>) -> Option<LoginSetup> {
    let endpoint = client.endpoint();
    let service = endpoint.base_url().to_string();
    let (key, fixed) = match endpoint.auth() {
        AuthMethod::Hosted(Credentials { api_key, .. }) => {
            let environment = |profile| environment_variable(profile, &service, api_key);
            let fixed = match profile.map(environment) {
                Some(Some(name)) => Some(format!("{name}, which overrides a stored secret")),
                Some(None) => None,
                None => Some("the environment; a profile (P) stores a secret".to_owned()),
            };
            (api_key.as_str(), fixed)
        }
        AuthMethod::Token(_) => (TOKEN_VARIABLE, Some("the environment: a token".to_owned())),
        AuthMethod::Session(_) | AuthMethod::OnPremises => return None,
    };
    Some(LoginSetup {
        key: SafeText::name(key),
        fixed: fixed.as_deref().map(SafeText::detail),
        service: SafeText::detail(&service),
    })
}

/// The variable that provides the login of a profile.
fn environment_variable(profile: &Profile, origin: &str, api_key: &str) -> Option<&'static str> {
    let owner = SecretOwner { profile: &profile.name, origin, api_key };
    EnvironmentLogin::for_profile(owner).ok()?;
    credentials::login_variables().next()
}
