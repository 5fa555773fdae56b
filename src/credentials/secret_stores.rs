//! The stores of secrets: the keyring, or a file if the keyring does not work.

use std::path::Path;

use secrecy::{ExposeSecret as _, SecretString, zeroize::Zeroize as _};
use serde::{Deserialize, Serialize};

use crate::credentials::{file::SecretsFile, keyring::Keyring};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretStore {
    Keyring,
    File,
}

#[derive(Clone, Debug)]
pub struct SecretStores {
    keyring: Keyring,
    file: SecretsFile,
}

impl SecretStores {
    pub fn in_dir(folder: &Path) -> Self {
        Self { keyring: Keyring::of_system(), file: SecretsFile::in_dir(folder) }
    }

    pub fn describe(&self, store: SecretStore) -> String {
        match store {
            SecretStore::Keyring => "the keyring of this system".to_owned(),
            SecretStore::File => format!("{} (readable only by you)", self.file.path().display()),
        }
    }

    /// Checks that the keyring stores entries. Like everything that uses the keyring, this blocks
    /// for up to three seconds.
    pub fn check_keyring(&self) -> Result<(), String> {
        self.keyring.check()
    }

    pub fn preferred_store(&self) -> SecretStore {
        self.check_keyring().map_or(SecretStore::File, |()| SecretStore::Keyring)
    }

    /// Finds a secret. Fails if the secret is damaged or bound to another origin or key, or if it is not in the file
    /// and the keyring cannot be read.
    pub fn find(&self, owner: SecretOwner) -> Result<Option<(SecretString, SecretStore)>, String> {
        let in_keyring = self.read(owner, SecretStore::Keyring);
        if let Ok(Some(secret)) = in_keyring {
            return Ok(Some((secret, SecretStore::Keyring)));
        }
        match self.read(owner, SecretStore::File)? {
            Some(secret) => Ok(Some((secret, SecretStore::File))),
            None => in_keyring.map(|_| None),
        }
    }

    fn read(&self, owner: SecretOwner, store: SecretStore) -> Result<Option<SecretString>, String> {
        let stored = match store {
            SecretStore::Keyring => self.keyring.read(owner.profile)?,
            SecretStore::File => self.file.read(owner.profile)?,
        };
        stored.map(|stored| stored.into_secret_for(owner)).transpose()
    }

    /// Stores a secret, verifies it by reading it back, and removes it from the other store.
    pub fn save(
        &self,
        owner: SecretOwner,
        secret: &SecretString,
        store: SecretStore,
    ) -> Result<(), String> {
        let stored = StoredSecret {
            origin: owner.origin.to_owned(),
            api_key: owner.api_key.to_owned(),
            api_secret: secret.expose_secret().to_owned(),
        };
        match store {
            SecretStore::Keyring => self.keyring.write(owner.profile, &stored)?,
            SecretStore::File => self.file.write(owner.profile, stored)?,
        }
        let back = self.read(owner, store)?;
        if back.is_none_or(|back| back.expose_secret() != secret.expose_secret()) {
            return Err(format!("{} did not store the secret", self.describe(store)));
        }
        match store {
            SecretStore::Keyring => self.file.remove(owner.profile).map(drop),
            // The result is ignored, because the keyring does not respond. `find` refuses entries
            // of another origin or key.
            SecretStore::File => {
                let _ = self.keyring.remove(owner.profile);
                Ok(())
            }
        }
    }

    pub fn remove(&self, profile: &str) -> Result<Vec<SecretStore>, String> {
        let mut stores = Vec::new();
        if self.file.remove(profile)? {
            stores.push(SecretStore::File);
        }
        match self.keyring.remove(profile) {
            Ok(true) => stores.push(SecretStore::Keyring),
            Ok(false) => {}
            // The secret was in the file because the keyring did not work, so that error does not
            // matter here.
            Err(_) if !stores.is_empty() => {}
            Err(reason) => return Err(reason),
        }
        Ok(stores)
    }
}

/// Creates stores whose keyring exists only in memory.
#[cfg(test)]
pub(crate) fn stores_with_keyring(folder: &Path) -> SecretStores {
    let keyring = super::keyring::fake::keyring(super::keyring::fake::Behavior::Stores);
    SecretStores { keyring, file: SecretsFile::in_dir(folder) }
}

#[derive(Clone, Copy, Debug)]
pub struct SecretOwner<'a> {
    pub profile: &'a str,
    /// The scheme, host and port of the service.
    pub origin: &'a str,
    pub api_key: &'a str,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredSecret {
    pub(super) origin: String,
    pub(super) api_key: String,
    pub(super) api_secret: String,
}

impl StoredSecret {
    pub(super) fn into_secret_for(mut self, owner: SecretOwner) -> Result<SecretString, String> {
        if self.origin != owner.origin || self.api_key != owner.api_key {
            return Err(format!(
                "the secret stored for `{}` belongs to {} with another key or address; enter it again",
                owner.profile, self.origin
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
    use crate::credentials::keyring::fake::{Behavior, keyring};

    const OWNER: SecretOwner =
        SecretOwner { profile: "prod", origin: "https://vl.example", api_key: "ak_1" };

    fn secrets(folder: &Path, behavior: Behavior) -> SecretStores {
        SecretStores { keyring: keyring(behavior), file: SecretsFile::in_dir(folder) }
    }

    fn found(secrets: &SecretStores) -> Option<(String, SecretStore)> {
        let found = secrets.find(OWNER).unwrap();
        found.map(|(secret, store)| (secret.expose_secret().to_owned(), store))
    }

    #[test]
    fn a_secret_is_returned_only_for_its_origin_and_key() {
        for store in [SecretStore::Keyring, SecretStore::File] {
            let folder = tempfile::tempdir().unwrap();
            let secrets = secrets(folder.path(), Behavior::Stores);
            assert_eq!(found(&secrets), None);
            secrets.save(OWNER, &"s3cret-canary".into(), store).unwrap();
            assert_eq!(found(&secrets), Some(("s3cret-canary".to_owned(), store)));
            let elsewhere = SecretOwner { origin: "https://evil.example", ..OWNER };
            let another = SecretOwner { api_key: "ak_2", ..OWNER };
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
        let secrets = secrets(folder.path(), Behavior::Stores);
        secrets.save(OWNER, &"old".into(), SecretStore::File).unwrap();
        secrets.save(OWNER, &"new".into(), SecretStore::Keyring).unwrap();
        assert_eq!(found(&secrets), Some(("new".to_owned(), SecretStore::Keyring)));
        secrets.save(OWNER, &"newer".into(), SecretStore::File).unwrap();
        assert_eq!(found(&secrets), Some(("newer".to_owned(), SecretStore::File)));
    }

    #[test]
    fn a_keyring_that_does_not_respond_times_out_with_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let secrets = secrets(folder.path(), Behavior::NeverResponds);
        assert!(secrets.check_keyring().unwrap_err().contains("did not respond"));
        assert!(secrets.find(OWNER).unwrap_err().contains("did not respond"));
        assert!(secrets.save(OWNER, &"s".into(), SecretStore::Keyring).is_err());
        assert!(
            !folder.path().join("secrets.toml").exists(),
            "never falls back to plain text silently"
        );
        secrets.save(OWNER, &"s".into(), SecretStore::File).unwrap();
        assert_eq!(found(&secrets), Some(("s".to_owned(), SecretStore::File)));
        assert_eq!(secrets.remove("prod").unwrap(), [SecretStore::File]);
        assert!(secrets.remove("prod").is_err(), "it may be in there");
    }

    #[test]
    fn a_store_that_loses_the_secret_is_detected() {
        let folder = tempfile::tempdir().unwrap();
        let secrets = secrets(folder.path(), Behavior::Forgets);
        let error = secrets.save(OWNER, &"canary".into(), SecretStore::Keyring).unwrap_err();
        assert!(error.contains("did not store") && !error.contains("canary"), "{error}");
    }

    #[test]
    fn a_keyring_that_cannot_store_is_detected_before_use() {
        let folder = tempfile::tempdir().unwrap();
        let best = |behavior| secrets(folder.path(), behavior).preferred_store();
        assert_eq!(best(Behavior::Stores), SecretStore::Keyring);
        assert_eq!(best(Behavior::RejectsWrites), SecretStore::File);
        assert_eq!(best(Behavior::Forgets), SecretStore::File);
        let reason = secrets(folder.path(), Behavior::Forgets).check_keyring().unwrap_err();
        assert!(reason.contains("does not store"), "{reason}");
        let memory = secrets(folder.path(), Behavior::Stores);
        memory.check_keyring().unwrap();
        assert_eq!(found(&memory), None, "the check leaves no secret behind");
    }
}
