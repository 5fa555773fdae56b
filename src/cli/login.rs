//! The login of a hosted deployment: what is shown to it, and where that was found. The environment
//! comes first, then the keyring, then the file of secrets; never the command line, which other users of
//! the machine can read.

use std::env;

use secrecy::{ExposeSecret as _, SecretString};

use crate::{
    cli::{Ended, Exit},
    config,
    credentials::{self, Holder, Secrets, Store},
};
use tessera_client::{Access, Credentials, Reload};

/// The environment variable that names the secret where no profile does.
pub const KEY: &str = "TESSERA_API_KEY";

/// A login that was found.
pub struct Login {
    /// What is shown to the service.
    pub access: Access,
    /// Where it was.
    pub source: Source,
    /// Reads the secret again, where it may change.
    pub reload: Option<Reload>,
}

/// Where a login was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A person has just typed it.
    Typed,
    /// This variable of the environment.
    Variable(&'static str),
    /// A store of this user.
    Stored(Store),
}

impl Source {
    /// Where it is, for people.
    #[must_use]
    pub fn place(self, secrets: &Secrets) -> String {
        match self {
            Self::Typed => "typed".to_owned(),
            Self::Variable(name) => format!("{name}, in the environment"),
            Self::Stored(store) => secrets.place(store),
        }
    }
}

/// What this user's secrets are kept in.
///
/// # Errors
/// There is no home folder.
pub fn secrets() -> Result<Secrets, Ended> {
    config::folder()
        .map(|folder| Secrets::in_folder(&folder))
        .ok_or_else(|| usage("there is no home folder to keep secrets in"))
}

impl Login {
    /// The login of a profile with this key, which may be empty. `typed` is a secret that was just
    /// entered.
    ///
    /// # Errors
    /// There is no key or no secret, or what is stored cannot be used.
    pub fn of_profile(
        holder: Holder,
        typed: Option<SecretString>,
        secrets: Option<&Secrets>,
    ) -> Result<Self, Ended> {
        if let (None, Some(token)) = (&typed, credentials::token_from_environment()) {
            return Ok(Self::of_token(token));
        }
        let api_key = key_of(holder)?;
        let holder = Holder { api_key: &api_key, ..holder };
        let (secret, source) = match typed {
            Some(secret) => (secret, Source::Typed),
            None => secret_of(holder, secrets)?.ok_or_else(|| {
                let name = holder.profile;
                let sentence = format!("the profile `{name}` has no secret here");
                let import = format!("tessera auth import --profile {name}");
                Ended::new(Exit::Login, sentence).remedy(import)
            })?,
        };
        let (profile, origin) = (holder.profile.to_owned(), holder.origin.to_owned());
        let (key, secrets) = (api_key.clone(), secrets.cloned());
        let reload = Reload::new(move || {
            let holder = Holder { profile: &profile, origin: &origin, api_key: &key };
            secret_of(holder, secrets.as_ref()).ok().flatten().map(|(secret, _)| secret)
        });
        let access = Access::Hosted(Credentials { api_key, api_secret: secret });
        Ok(Self { access, source, reload: (source != Source::Typed).then_some(reload) })
    }

    /// The login for an address without a profile: the environment alone gives it.
    ///
    /// # Errors
    /// The environment lacks the key or the secret.
    pub fn of_environment() -> Result<Self, Ended> {
        if let Some(token) = credentials::token_from_environment() {
            return Ok(Self::of_token(token));
        }
        let lacks = |names: &str| {
            let sentence = format!(
                "a hosted deployment needs {names} in the environment; for one without login give --kind onprem"
            );
            Ended::new(Exit::Usage, sentence)
        };
        let api_key = variable(KEY).ok_or_else(|| lacks(KEY))?;
        let found = credentials::from_environment().map_err(usage)?;
        let (api_secret, name) = found.ok_or_else(|| {
            lacks(&format!("{} (or {})", credentials::SECRET_FILE, credentials::SECRET))
        })?;
        let reload = Reload::new(|| {
            let found = credentials::from_environment().ok().flatten();
            found.map(|(secret, _)| secret)
        });
        let access = Access::Hosted(Credentials { api_key, api_secret });
        Ok(Self { access, source: Source::Variable(name), reload: Some(reload) })
    }

    fn of_token(token: SecretString) -> Self {
        let source = Source::Variable(credentials::TOKEN);
        Self { access: Access::Token(token), source, reload: None }
    }

    /// The key that names the secret; a ready token has its own.
    #[must_use]
    pub fn api_key(&self) -> Option<&str> {
        match &self.access {
            Access::Hosted(credentials) => Some(&credentials.api_key),
            Access::Token(_) | Access::Session(_) | Access::OnPremises => None,
        }
    }
}

/// The key of a profile; where it has none yet, the environment's.
fn key_of(holder: Holder) -> Result<String, Ended> {
    let own = (!holder.api_key.is_empty()).then(|| holder.api_key.to_owned());
    own.or_else(|| variable(KEY)).ok_or_else(|| {
        let name = holder.profile;
        let sentence = format!("the profile `{name}` has no API key yet");
        Ended::new(Exit::Login, sentence).remedy(format!("tessera auth import --profile {name}"))
    })
}

/// The secret of a profile, from the environment or from where it is stored, and its source.
///
/// # Errors
/// What is there cannot be used.
pub fn secret_of(
    holder: Holder,
    secrets: Option<&Secrets>,
) -> Result<Option<(SecretString, Source)>, Ended> {
    if let Some((secret, name)) = credentials::from_environment().map_err(usage)? {
        return Ok(Some((secret, Source::Variable(name))));
    }
    let stored = secrets.map_or(Ok(None), |secrets| secrets.find(holder)).map_err(usage)?;
    Ok(stored.map(|(secret, store)| (secret, Source::Stored(store))))
}

/// A secret that was given as text, without the space around it.
///
/// # Errors
/// It is empty, or holds what no request can carry.
pub fn entered(text: &SecretString, what: &str) -> Result<SecretString, Ended> {
    let text = text.expose_secret().trim();
    if text.is_empty() || !text.chars().all(|c| c.is_ascii_graphic()) {
        return Err(usage(format!(
            "that is no {what}: it is one word of letters, digits and signs"
        )));
    }
    Ok(SecretString::from(text))
}

fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.trim().is_empty())
}

fn usage(error: impl Into<String>) -> Ended {
    Ended::new(Exit::Usage, error)
}
