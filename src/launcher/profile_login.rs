//! Prepares what the interface shows about the login of a deployment, and where it stores another
//! key pair.

use std::{path::PathBuf, sync::Arc};

use tessera::{
    app::LoginSetup,
    config::{DeploymentConfig, Profile},
    credentials::{self, EnvironmentLoginPermission, SecretOwner, TOKEN_VARIABLE},
    usecase::{KeyPairOwner, open_secrets},
};
use tessera_client::{AuthMethod, Client, Credentials};
use tessera_model::SafeText;

/// Returns where key pairs of a profile are stored, or `None` for a profile without login.
pub(super) fn key_pair_owner(
    profile: &Profile,
    client: &Client,
    settings_file: Option<PathBuf>,
) -> Option<Arc<KeyPairOwner>> {
    let DeploymentConfig::Hosted { .. } = profile.deployment else { return None };
    let origin = client.service().base_url().to_string();
    let owner = KeyPairOwner::new(profile.clone(), origin, settings_file, open_secrets());
    Some(Arc::new(owner))
}

/// Returns what the interface shows about the login of `client`, or `None` if there is no login.
pub(super) fn login_setup(client: &Client, profile: Option<&Profile>) -> Option<LoginSetup> {
    let service = client.service();
    let origin = service.base_url().to_string();
    let (key, fixed) = match service.auth() {
        AuthMethod::Hosted(Credentials { api_key, .. }) => {
            let environment = |profile| environment_variable(profile, &origin, api_key);
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
        service: SafeText::detail(&origin),
    })
}

/// Returns the environment variable that provides the login of a profile.
fn environment_variable(profile: &Profile, origin: &str, api_key: &str) -> Option<&'static str> {
    let owner = SecretOwner { profile: &profile.name, origin, api_key };
    EnvironmentLoginPermission::for_profile(owner).ok()?;
    credentials::login_variables().next()
}
