//! Secrets: from the environment, the system keyring, or a file that only this user can read.
//!
//! A stored secret is bound to its origin and key, and one in the environment to the service that the
//! environment names, so that no profile sends it to another host.

mod core_dumps;
mod environment;
mod file;
#[cfg(target_os = "macos")]
mod keychain;
mod keyring;
mod keyring_backend;
#[cfg(not(target_os = "macos"))]
mod secret_service;
mod secret_stores;
mod stored_secret;

pub use core_dumps::forbid_core_dumps;
pub use environment::{
    EnvironmentLogin, LOGIN_VARIABLES, SECRET_FILE_VARIABLE, SECRET_VARIABLE, TOKEN_VARIABLE,
    login_variables,
};
pub use secret_stores::{SecretStore, SecretStores};
pub use stored_secret::SecretOwner;

#[cfg(test)]
pub(crate) use secret_stores::stores_with_keyring;
