//! Secrets: from the environment, the system keyring, or a file that only this user can read.
//!
//! A stored secret is bound to its origin and key, so that an edited profile never sends it to another
//! host.

mod core_dumps;
mod environment;
mod file;
mod keyring;
mod secret_stores;
mod stored_secret;

pub use core_dumps::forbid_core_dumps;
pub use environment::{
    SECRET_FILE_VARIABLE, SECRET_VARIABLE, TOKEN_VARIABLE, from_environment, token_from_environment,
};
pub use secret_stores::{SecretStore, SecretStores};
pub use stored_secret::SecretOwner;
