//! Secrets: from the environment, the system keyring, or a file that only this user can read.
//!
//! A stored secret is bound to its origin and key, so that an edited profile never sends it to another
//! host.

mod core_dumps;
mod file;
mod keyring;

use std::{env, fs, path::Path};

use secrecy::{
    ExposeSecret as _, SecretString,
    zeroize::{Zeroize as _, Zeroizing},
};
use serde::{Deserialize, Serialize};

pub use core_dumps::forbid_core_dumps;

use file::SecretsFile;
use keyring::Keyring;

/// The environment variable of the secret.
pub const SECRET_VARIABLE: &str = "TESSERA_API_SECRET";
/// The environment variable of a file with the secret.
pub const SECRET_FILE_VARIABLE: &str = "TESSERA_API_SECRET_FILE";
/// The environment variable of a ready-made token.
pub const TOKEN_VARIABLE: &str = "TESSERA_TOKEN";

/// What a secret belongs to.
#[derive(Clone, Copy, Debug)]
pub struct SecretOwner<'a> {
    pub profile: &'a str,
    /// Scheme, host and port of the service.
    pub origin: &'a str,
    pub api_key: &'a str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretStore {
    Keyring,
    File,
}

/// A secret with what it belongs to, as it is stored.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredSecret {
    origin: String,
    api_key: String,
    api_secret: String,
}

#[derive(Clone, Debug)]
pub struct SecretStores {
    keyring: Keyring,
    file: SecretsFile,
}

/// The secret in the environment, with the variable's name.
pub fn from_environment() -> Result<Option<(SecretString, &'static str)>, String> {
    if let Some(path) = environment_variable(SECRET_FILE_VARIABLE) {
        let secret = fs::read_to_string(path.as_str())
            .map(Zeroizing::new)
            .map_err(|error| format!("{SECRET_FILE_VARIABLE}: {}: {error}", path.as_str()))?;
        return Ok(Some((SecretString::from(secret.trim()), SECRET_FILE_VARIABLE)));
    }
    Ok(environment_variable(SECRET_VARIABLE)
        .map(|secret| (SecretString::from(secret.trim()), SECRET_VARIABLE)))
}

pub fn token_from_environment() -> Option<SecretString> {
    environment_variable(TOKEN_VARIABLE).map(|token| SecretString::from(token.trim()))
}

fn environment_variable(name: &str) -> Option<Zeroizing<String>> {
    let value = env::var(name).ok().map(Zeroizing::new);
    value.filter(|value| !value.trim().is_empty())
}

impl SecretStores {
    pub fn in_dir(folder: &Path) -> Self {
        Self { keyring: Keyring::of_system(), file: SecretsFile::in_dir(folder) }
    }

    /// The location of a store, for display.
    pub fn describe(&self, store: SecretStore) -> String {
        match store {
            SecretStore::Keyring => "the keyring of this system".to_owned(),
            SecretStore::File => format!("{} (readable only by you)", self.file.path().display()),
        }
    }

    /// Checks whether the keyring works. Like everything that uses the keyring, blocks for up to three
    /// seconds.
    pub fn check_keyring(&self) -> Result<(), String> {
        self.keyring.check()
    }

    /// The keyring if it works, otherwise the file.
    pub fn preferred_store(&self) -> SecretStore {
        self.check_keyring().map_or(SecretStore::File, |()| SecretStore::Keyring)
    }

    /// The stored secret of a profile, and where it was. Fails if it is damaged, readable by others, or
    /// bound to another origin or key, or if the file has none and the keyring does not respond.
    pub fn find(&self, holder: SecretOwner) -> Result<Option<(SecretString, SecretStore)>, String> {
        let fits = |stored: Option<StoredSecret>, store: SecretStore| {
            let secret = stored.map(|stored| stored.into_secret_for(holder)).transpose()?;
            Ok::<_, String>(secret.map(|secret| (secret, store)))
        };
        let ring = self.keyring.read(holder.profile);
        let ring = ring.and_then(|stored| fits(stored, SecretStore::Keyring));
        if let Ok(Some(found)) = ring {
            return Ok(Some(found));
        }
        match fits(self.file.read(holder.profile)?, SecretStore::File)? {
            Some(found) => Ok(Some(found)),
            None => ring,
        }
    }

    /// Stores a secret, verifies it by reading it back, and removes it from the other store.
    pub fn save(
        &self,
        holder: SecretOwner,
        secret: &SecretString,
        store: SecretStore,
    ) -> Result<(), String> {
        let stored = StoredSecret {
            origin: holder.origin.to_owned(),
            api_key: holder.api_key.to_owned(),
            api_secret: secret.expose_secret().to_owned(),
        };
        let back = match store {
            SecretStore::Keyring => {
                self.keyring.write(holder.profile, &stored)?;
                self.keyring.read(holder.profile)?
            }
            SecretStore::File => {
                self.file.write(holder.profile, stored)?;
                self.file.read(holder.profile)?
            }
        };
        let back = back.map(|stored| stored.into_secret_for(holder)).transpose()?;
        if back.is_none_or(|back| back.expose_secret() != secret.expose_secret()) {
            return Err(format!("{} did not store the secret", self.describe(store)));
        }
        match store {
            SecretStore::Keyring => self.file.remove(holder.profile).map(drop),
            // The file is used because the keyring does not respond, so its entry cannot be removed;
            // `find` ignores entries of another origin or key.
            SecretStore::File => {
                let _ = self.keyring.remove(holder.profile);
                Ok(())
            }
        }
    }

    /// Removes the secret of a profile, and returns where it was.
    pub fn remove(&self, profile: &str) -> Result<Vec<SecretStore>, String> {
        let mut stores = Vec::new();
        if self.file.remove(profile)? {
            stores.push(SecretStore::File);
        }
        match self.keyring.remove(profile) {
            Ok(true) => stores.push(SecretStore::Keyring),
            Ok(false) => {}
            // The file was used because the keyring did not work.
            Err(_) if !stores.is_empty() => {}
            Err(reason) => return Err(reason),
        }
        Ok(stores)
    }
}

impl StoredSecret {
    /// The secret, if it belongs to this owner.
    fn into_secret_for(mut self, holder: SecretOwner) -> Result<SecretString, String> {
        if self.origin != holder.origin || self.api_key != holder.api_key {
            return Err(format!(
                "the secret stored for `{}` belongs to {} with another key or address; enter it again",
                holder.profile, self.origin
            ));
        }
        Ok(SecretString::from(std::mem::take(&mut self.api_secret)))
    }
}

impl Drop for StoredSecret {
    fn drop(&mut self) {
        self.api_secret.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::credentials::keyring::fake;

    const HOLDER: SecretOwner =
        SecretOwner { profile: "prod", origin: "https://vl.example", api_key: "ak_1" };

    fn secrets(folder: &Path, keyring: Keyring) -> SecretStores {
        SecretStores { keyring, file: SecretsFile::in_dir(folder) }
    }

    fn found(secrets: &SecretStores) -> Option<(String, SecretStore)> {
        let found = secrets.find(HOLDER).unwrap();
        found.map(|(secret, store)| (secret.expose_secret().to_owned(), store))
    }

    #[test]
    fn a_secret_is_returned_only_for_its_origin_and_key() {
        for store in [SecretStore::Keyring, SecretStore::File] {
            let folder = tempfile::tempdir().unwrap();
            let secrets = secrets(folder.path(), fake::keyring());
            assert_eq!(found(&secrets), None);
            secrets.save(HOLDER, &"s3cret-canary".into(), store).unwrap();
            assert_eq!(found(&secrets), Some(("s3cret-canary".to_owned(), store)));
            let elsewhere = SecretOwner { origin: "https://evil.example", ..HOLDER };
            let another = SecretOwner { api_key: "ak_2", ..HOLDER };
            for other in [elsewhere, another] {
                let error = secrets.find(other).unwrap_err();
                assert!(error.contains("enter it again") && !error.contains("canary"), "{error}");
            }
            assert_eq!(secrets.remove("prod").unwrap(), [store]);
            assert_eq!(found(&secrets), None);
            assert_eq!(secrets.remove("prod").unwrap(), []);
        }
    }

    #[test]
    fn saving_to_one_store_removes_the_secret_from_the_other() {
        let folder = tempfile::tempdir().unwrap();
        let secrets = secrets(folder.path(), fake::keyring());
        secrets.save(HOLDER, &"old".into(), SecretStore::File).unwrap();
        secrets.save(HOLDER, &"new".into(), SecretStore::Keyring).unwrap();
        assert_eq!(found(&secrets), Some(("new".to_owned(), SecretStore::Keyring)));
        secrets.save(HOLDER, &"newer".into(), SecretStore::File).unwrap();
        assert_eq!(found(&secrets), Some(("newer".to_owned(), SecretStore::File)));
    }

    #[test]
    fn a_keyring_that_does_not_respond_times_out_with_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let secrets = secrets(folder.path(), fake::silent());
        assert!(secrets.check_keyring().unwrap_err().contains("did not respond"));
        assert!(secrets.find(HOLDER).unwrap_err().contains("did not respond"));
        assert!(secrets.save(HOLDER, &"s".into(), SecretStore::Keyring).is_err());
        assert!(
            !folder.path().join("secrets.toml").exists(),
            "never falls back to plain text silently"
        );
        secrets.save(HOLDER, &"s".into(), SecretStore::File).unwrap();
        assert_eq!(found(&secrets), Some(("s".to_owned(), SecretStore::File)));
        assert_eq!(secrets.remove("prod").unwrap(), [SecretStore::File]);
        assert!(secrets.remove("prod").is_err(), "it may be in there");
    }

    #[test]
    fn a_store_that_loses_the_secret_is_detected() {
        let folder = tempfile::tempdir().unwrap();
        let secrets = secrets(folder.path(), fake::forgetful());
        let error = secrets.save(HOLDER, &"canary".into(), SecretStore::Keyring).unwrap_err();
        assert!(error.contains("did not store") && !error.contains("canary"), "{error}");
    }

    #[test]
    fn a_keyring_that_cannot_store_is_detected_before_use() {
        let folder = tempfile::tempdir().unwrap();
        let best = |keyring| secrets(folder.path(), keyring).preferred_store();
        assert_eq!(best(fake::keyring()), SecretStore::Keyring);
        assert_eq!(best(fake::homeless()), SecretStore::File);
        assert_eq!(best(fake::forgetful()), SecretStore::File);
        let reason = secrets(folder.path(), fake::forgetful()).check_keyring().unwrap_err();
        assert!(reason.contains("does not store"), "{reason}");
        let memory = secrets(folder.path(), fake::keyring());
        memory.check_keyring().unwrap();
        assert_eq!(found(&memory), None, "the check leaves no secret behind");
    }
}
