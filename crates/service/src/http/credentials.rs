//! The login of a service, which is kept across restarts. It is in a private file of the data folder, or in a store on
//! a server, where all processes of the service find it. `GET api_credentials` issues a key pair to a client with the
//! session cookie.

use std::{
    borrow::Cow,
    fs::{self, File},
    io,
    path::Path,
};

use axum::http::HeaderMap;
use secrecy::{ExposeSecret as _, SecretString, zeroize::Zeroizing};
use serde::{Deserialize, Serialize};

use super::options::{KeyPair, LoginStorage, ServiceCredentials};
use super::prelude::*;
use crate::LocalError;
use tessera_files::{if_exists, restrict, wait_for_lock, write_durably};
use tessera_store::{QueryError, Store, StoreError, postgres::StoreAddress, setting};
use tessera_wire::credentials::CredentialsBody;

pub(crate) fn add_routes(routes: CheckedRoutes) -> CheckedRoutes {
    routes.add_session_get(routes!(api_credentials))
}

/// Returns the credentials of the session. This is a GET although the first one creates the pair, because the API
/// document says so.
#[utoipa::path(
    get,
    path = "/api_credentials",
    responses(
        (status = 200, description = "The key; the secret only once", body = CredentialsBody),
        (status = 404, description = "No credentials are needed here", body = ProblemBody),
        CommonErrors,
    ),
    security(("session" = [])),
)]
pub(crate) async fn api_credentials(
    State(state): State<AppState>,
    headers: HeaderMap,
) -> Result<Json<CredentialsBody>, Problem> {
    let Some(issued) = state.authenticator.issue_credentials(&headers).await? else {
        return Err(Problem::not_found("This deployment needs no credentials"));
    };
    let message = if issued.api_secret.is_some() {
        "Keep the secret: it is shown only this once."
    } else {
        "The secret was shown when this key was made, and is not shown again."
    };
    Ok(Json(CredentialsBody { message: message.to_owned(), ..issued }))
}

/// The stored login, as JSON.
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
    /// Returns the login that is kept in the store on a server or, for a database file, in the data folder. It is the
    /// same at every start. The first call creates the login; in the folder, only the owner can read its file.
    ///
    /// # Errors
    /// The login is damaged, or cannot be read or written.
    pub fn kept_credentials(&self) -> Result<ServiceCredentials, LocalError> {
        if self.store.is_on_server() {
            return Ok(self.credentials_in_store()?);
        }
        let path = self.store.login_file();
        read_or_create(&path).map_err(|cause| LocalError::Login(path, cause))
    }

    fn credentials_in_store(&self) -> Result<ServiceCredentials, StoreError> {
        let new = ServiceCredentials::generate().encode().map_err(QueryError::value)?;
        let stored = self.store.write(|tx| setting::find_or_insert(tx, setting::LOGIN, &new))?;
        let storage = LoginStorage::Store(self.store.clone());
        Ok(decode(&Zeroizing::new(stored), storage).map_err(QueryError::value)?)
    }
}

fn read_or_create(path: &Path) -> io::Result<ServiceCredentials> {
    let _lock = lock_changes(path)?;
    if let Some(kept) = read_file(path)? {
        return Ok(kept);
    }
    let storage = LoginStorage::File(path.to_owned());
    let new = ServiceCredentials { storage, ..ServiceCredentials::generate() };
    write_durably(path, &new.encode()?).map(|()| new)
}

/// Waits until no other process changes the login in a file, and excludes others until the returned file is closed.
fn lock_changes(login: &Path) -> io::Result<File> {
    wait_for_lock(&login.with_extension("lock"))
}

fn read_file(path: &Path) -> io::Result<Option<ServiceCredentials>> {
    let Some(text) = if_exists(fs::read(path))?.map(Zeroizing::new) else { return Ok(None) };
    restrict(path, 0o600)?;
    decode(&text, LoginStorage::File(path.to_owned())).map(Some)
}

fn decode(text: &[u8], storage: LoginStorage) -> io::Result<ServiceCredentials> {
    // The message of the parser is not shown, because it may quote a secret.
    let stored: StoredLogin =
        serde_json::from_slice(text).map_err(|_| io::Error::other("it is damaged"))?;
    let secret = |text: Cow<str>| SecretString::from(text.into_owned());
    let issued = stored.issued.map(|pair| KeyPair {
        api_key: pair.api_key.into_owned(),
        api_secret: secret(pair.api_secret),
    });
    Ok(ServiceCredentials {
        api_key: stored.api_key.into_owned(),
        api_secret: secret(stored.api_secret),
        session: secret(stored.session),
        issued,
        storage,
    })
}

impl ServiceCredentials {
    fn encode(&self) -> io::Result<Zeroizing<Vec<u8>>> {
        let stored = StoredLogin {
            api_key: self.api_key.as_str().into(),
            api_secret: self.api_secret.expose_secret().into(),
            session: self.session.expose_secret().into(),
            issued: self.issued.as_ref().map(|pair| StoredKeyPair {
                api_key: pair.api_key.as_str().into(),
                api_secret: pair.api_secret.expose_secret().into(),
            }),
        };
        Ok(Zeroizing::new(serde_json::to_vec(&stored)?))
    }

    /// Keeps a key pair, unless another process has issued one. Returns the pair that is kept.
    pub(super) fn keep_issued(&self, pair: KeyPair) -> Result<KeyPair, StoreError> {
        let changed = Self { issued: Some(pair.clone()), ..self.clone() };
        match &self.storage {
            LoginStorage::None => Ok(pair),
            LoginStorage::File(path) => {
                let keep = || {
                    let _lock = lock_changes(path)?;
                    if let Some(known) = self.find_issued(read_file(path)?)? {
                        return Ok(known);
                    }
                    write_durably(path, &changed.encode()?).map(|()| pair)
                };
                keep().map_err(|cause| StoreError::Io(path.clone(), cause))
            }
            LoginStorage::Store(store) => {
                let text = changed.encode().map_err(QueryError::value)?;
                store.write(|tx| {
                    let stored = setting::find(tx, setting::LOGIN)?.map(Zeroizing::new);
                    let stored = stored.map(|text| decode(&text, LoginStorage::None)).transpose();
                    let issued = stored.and_then(|stored| self.find_issued(stored));
                    if let Some(known) = issued.map_err(QueryError::value)? {
                        return Ok(known);
                    }
                    setting::replace(tx, setting::LOGIN, &text)?;
                    Ok(pair)
                })
            }
        }
    }

    /// Whether another process may issue a key pair.
    pub(super) fn is_shared(&self) -> bool {
        !matches!(self.storage, LoginStorage::None)
    }

    /// Reads the login from where it is kept. Another process may have replaced it, or issued a key pair for it.
    pub(super) fn stored(&self) -> Option<Self> {
        match &self.storage {
            LoginStorage::None => None,
            LoginStorage::File(path) => read_file(path).ok().flatten(),
            LoginStorage::Store(store) => {
                let text = store.read(|c| setting::find(c, setting::LOGIN)).ok().flatten()?;
                decode(&Zeroizing::new(text), self.storage.clone()).ok()
            }
        }
    }

    /// Returns the key pair that is stored for this login. Fails if the login was revoked, because a key pair of it
    /// would never be valid.
    fn find_issued(&self, stored: Option<Self>) -> io::Result<Option<KeyPair>> {
        match stored {
            Some(stored) if stored.api_key != self.api_key => {
                Err(io::Error::other("the login was revoked"))
            }
            stored => Ok(stored.and_then(|login| login.issued)),
        }
    }
}

/// Replaces the login and the key of links that are kept in an index folder, or in a store on a server. Services that
/// are running refuse the former ones within a second.
///
/// # Errors
/// The store cannot be opened, or the new login cannot be written.
pub fn revoke_access(
    data: &Path,
    store: Option<&StoreAddress>,
) -> Result<ServiceCredentials, LocalError> {
    let store = match store {
        Some(address) => Store::open_on_server(data, address)?,
        None => Store::open(data)?,
    };
    let new = ServiceCredentials::generate();
    if store.is_on_server() {
        let text = new.encode().map_err(|cause| StoreError::from(QueryError::value(cause)))?;
        store.write(|tx| setting::replace(tx, setting::LOGIN, &text))?;
    } else {
        let path = store.login_file();
        let replace = || {
            let _lock = lock_changes(&path)?;
            write_durably(&path, &new.encode()?)
        };
        replace().map_err(|cause| LocalError::Login(path.clone(), cause))?;
    }
    store.revoke_links()?;
    store.share_folder()?;
    Ok(new)
}
