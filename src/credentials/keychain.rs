//! Stores secrets in the keychain of macOS.

use keyring::{Entry, Error};
use secrecy::zeroize::Zeroizing;

use crate::credentials::keyring::KeyringBackend;

const SERVICE: &str = "tessera";

pub(super) struct Keychain;

impl KeyringBackend for Keychain {
    fn check(&self) -> Result<(), String> {
        Entry::store_status().as_ref().map(drop).map_err(describe_error)
    }

    fn read(&self, name: &str) -> Result<Option<Zeroizing<String>>, String> {
        match entry(name).and_then(|entry| entry.get_password()) {
            Ok(text) => Ok(Some(Zeroizing::new(text))),
            Err(Error::NoEntry | Error::NoDefaultStore) => Ok(None),
            Err(error) => Err(describe_error(&error)),
        }
    }

    fn write(&self, name: &str, text: &str) -> Result<(), String> {
        let written = entry(name).and_then(|entry| entry.set_password(text));
        written.map_err(|error| describe_error(&error))
    }

    fn remove(&self, name: &str) -> Result<bool, String> {
        match entry(name).and_then(|entry| entry.delete_credential()) {
            Ok(()) => Ok(true),
            Err(Error::NoEntry | Error::NoDefaultStore) => Ok(false),
            Err(error) => Err(describe_error(&error)),
        }
    }
}

fn entry(name: &str) -> keyring::Result<Entry> {
    Entry::new(SERVICE, name)
}

/// Describes an error without the stored data that some errors carry.
fn describe_error(error: &Error) -> String {
    match error {
        Error::NoDefaultStore => "this system has no keyring".to_owned(),
        Error::BadEncoding(_) | Error::BadDataFormat(..) => {
            "the keyring entry is damaged".to_owned()
        }
        Error::PlatformFailure(cause) | Error::NoStorageAccess(cause) => {
            format!("the keyring cannot be used: {cause}")
        }
        error => format!("the keyring cannot be used: {error}"),
    }
}
