//! Finds the login of a hosted deployment in the environment, the keyring, or the secrets file. The
//! command line never contains a login, because other users of the machine can read it.

use secrecy::{ExposeSecret as _, SecretString};

use crate::cli::prelude::*;
use crate::{
    credentials::{self, EnvironmentLoginPermission, SecretLocations, SecretOwner},
    usecase::{self, SecretSource, find_secret},
};
use tessera_client::{AuthMethod, BaseUrl, Credentials, SecretReloader};
use tessera_wire::credentials::secret_value;

/// The variable with the API key, for a profile that has none.
pub const API_KEY_VARIABLE: &str = "TESSERA_API_KEY";

pub struct ServiceLogin {
    pub access: AuthMethod,
    pub source: SecretSource,
    /// Reads the secret again, if the secret may change.
    pub reload: Option<SecretReloader>,
}

pub fn open_secrets() -> CliResult<SecretLocations> {
    usecase::open_secrets().map_err(CliError::usage)
}

impl ServiceLogin {
    /// Finds the login of a profile. `typed` is a secret that was just entered.
    pub fn for_profile(
        owner: SecretOwner,
        typed: Option<SecretString>,
        secrets: Option<&SecretLocations>,
    ) -> CliResult<Self> {
        if typed.is_none()
            && let Ok(environment) = EnvironmentLoginPermission::for_profile(owner)
            && let Some(token) = environment.token().map_err(CliError::usage)?
        {
            return Ok(Self::from_token(token));
        }
        let api_key = profile_key(owner)?;
        let owner = SecretOwner { api_key: &api_key, ..owner };
        let (secret, source) = match typed {
            Some(secret) => (secret, SecretSource::Typed),
            None => find_secret(owner, secrets)
                .map_err(CliError::usage)?
                .ok_or_else(|| missing_in_profile(owner, "secret here"))?,
        };
        let (profile, origin) = (owner.profile.to_owned(), owner.origin.to_owned());
        let (key, secrets) = (api_key.clone(), secrets.cloned());
        let reload = SecretReloader::new(move || {
            let owner = SecretOwner { profile: &profile, origin: &origin, api_key: &key };
            find_secret(owner, secrets.as_ref()).ok().flatten().map(|(secret, _)| secret)
        });
        let access = AuthMethod::Hosted(Credentials { api_key, api_secret: secret });
        Ok(Self { access, source, reload: (source != SecretSource::Typed).then_some(reload) })
    }

    /// Finds the login for an address without a profile. Only the environment is searched.
    pub fn for_address(base_url: &BaseUrl) -> CliResult<Self> {
        let environment = EnvironmentLoginPermission::for_address(&base_url.to_string())
            .map_err(CliError::usage)?;
        if let Some(token) = environment.token().map_err(CliError::usage)? {
            return Ok(Self::from_token(token));
        }
        let missing = |names: &str| {
            CliError::usage(format!(
                "a hosted deployment needs {names} in the environment; for one without login, use --kind onprem"
            ))
        };
        let api_key = api_key_variable()?.ok_or_else(|| missing(API_KEY_VARIABLE))?;
        let secret = environment.secret().map_err(CliError::usage)?;
        let (api_secret, name) = secret.ok_or_else(|| {
            let (file, variable) =
                (credentials::SECRET_FILE_VARIABLE, credentials::SECRET_VARIABLE);
            missing(&format!("{file} (or {variable})"))
        })?;
        let reload = SecretReloader::new(move || {
            environment.secret().ok().flatten().map(|(secret, _)| secret)
        });
        let access = AuthMethod::Hosted(Credentials { api_key, api_secret });
        Ok(Self { access, source: SecretSource::Variable(name), reload: Some(reload) })
    }

    /// Creates a login that is used as it is.
    pub(super) fn typed(access: AuthMethod) -> Self {
        Self { access, source: SecretSource::Typed, reload: None }
    }

    fn from_token(token: SecretString) -> Self {
        let source = SecretSource::Variable(credentials::TOKEN_VARIABLE);
        Self { access: AuthMethod::Token(token), source, reload: None }
    }

    /// Returns the API key. A ready-made token has none.
    pub fn api_key(&self) -> Option<&str> {
        match &self.access {
            AuthMethod::Hosted(credentials) => Some(&credentials.api_key),
            AuthMethod::Token(_) | AuthMethod::Session(_) | AuthMethod::OnPremises => None,
        }
    }
}

fn profile_key(owner: SecretOwner) -> CliResult<String> {
    if !owner.api_key.is_empty() {
        return Ok(owner.api_key.to_owned());
    }
    api_key_variable()?.ok_or_else(|| missing_in_profile(owner, "API key yet"))
}

fn missing_in_profile(owner: SecretOwner, what: &str) -> CliError {
    let name = owner.profile;
    let unusable = EnvironmentLoginPermission::for_profile(owner).err();
    let reason = unusable.map(|reason| format!("; {reason}")).unwrap_or_default();
    CliError::new(Exit::Login, format!("the profile `{name}` has no {what}{reason}"))
        .with_remedy(ShellCommand::new("tessera auth import").option("--profile", name))
}

/// Trims and validates a secret that was entered as text.
pub fn validate_secret(text: &SecretString, what: &str) -> CliResult<SecretString> {
    secret_value(text.expose_secret()).map(SecretString::from).ok_or_else(|| {
        CliError::usage(format!(
            "this is not a {what}; expected one word of printable ASCII characters"
        ))
    })
}

/// Returns the API key in the environment, for a deployment that has none.
pub fn api_key_variable() -> CliResult<Option<String>> {
    let api_key = credentials::nonempty_variable(API_KEY_VARIABLE).map_err(CliError::usage)?;
    Ok(api_key.map(|api_key| api_key.as_str().to_owned()))
}
