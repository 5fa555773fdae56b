//! The login of a service that is kept over restarts, in a private file of the data folder.

use std::{borrow::Cow, fs, io, path::Path};

use secrecy::{ExposeSecret as _, SecretString, zeroize::Zeroizing};
use serde::{Deserialize, Serialize};

use super::options::{KeyPair, ServiceCredentials};
use crate::{
    Deployment, LocalError,
    ingest::staging::{restrict, write_durably},
};

/// The content of the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredLogin<'a> {
    api_key: Cow<'a, str>,
    api_secret: Cow<'a, str>,
    session: Cow<'a, str>,
    issued: Option<StoredKeyPair<'a>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredKeyPair<'a> {
    api_key: Cow<'a, str>,
    api_secret: Cow<'a, str>,
}

impl Deployment {
    /// Returns the login of the data folder, which is the same at every start. The first call creates
    /// it, in a file that only its owner can read.
    ///
    /// # Errors
    /// The file is damaged, or cannot be read or written.
    pub fn kept_credentials(&self) -> Result<ServiceCredentials, LocalError> {
        let path = self.store.login_file();
        let kept = read(&path).and_then(|kept| {
            if let Some(kept) = kept {
                return Ok(kept);
            }
            let file = Some(path.clone());
            let new = ServiceCredentials { file, ..ServiceCredentials::generate() };
            new.save().map(|()| new)
        });
        kept.map_err(|cause| LocalError::Login(path, cause))
    }
}

fn read(path: &Path) -> io::Result<Option<ServiceCredentials>> {
    let text = match fs::read_to_string(path) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(None),
        text => Zeroizing::new(text?),
    };
    restrict(path, 0o600)?;
    // The message of the parser may quote a secret.
    let stored: StoredLogin =
        serde_json::from_str(&text).map_err(|_| io::Error::other("it is damaged"))?;
    let secret = |text: Cow<str>| SecretString::from(text.into_owned());
    let issued = stored.issued.map(|pair| KeyPair {
        api_key: pair.api_key.into_owned(),
        api_secret: secret(pair.api_secret),
    });
    Ok(Some(ServiceCredentials {
        api_key: stored.api_key.into_owned(),
        api_secret: secret(stored.api_secret),
        session: secret(stored.session),
        issued,
        file: Some(path.to_owned()),
    }))
}

impl ServiceCredentials {
    /// Writes them to their file, if they have one.
    pub(super) fn save(&self) -> io::Result<()> {
        let Some(path) = &self.file else { return Ok(()) };
        let stored = StoredLogin {
            api_key: self.api_key.as_str().into(),
            api_secret: self.api_secret.expose_secret().into(),
            session: self.session.expose_secret().into(),
            issued: self.issued.as_ref().map(|pair| StoredKeyPair {
                api_key: pair.api_key.as_str().into(),
                api_secret: pair.api_secret.expose_secret().into(),
            }),
        };
        write_durably(path, &Zeroizing::new(serde_json::to_vec(&stored)?))
    }
}
