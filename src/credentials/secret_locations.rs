//! Finds, stores and removes secrets in the keyring, or in a file if the keyring does not work.

use std::{path::Path, sync::Arc};

use secrecy::{ExposeSecret as _, SecretString};
use tessera_files::check_writable;

#[cfg(target_os = "macos")]
use crate::credentials::keychain::Keychain as SystemKeyring;
#[cfg(not(target_os = "macos"))]
use crate::credentials::secret_service::SecretServiceKeyring as SystemKeyring;
use crate::credentials::{
    file::{SecretOwner, SecretsFile, StoredSecret},
    keyring::Keyring,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretLocation {
    Keyring,
    File,
}

#[derive(Clone, Debug)]
pub struct SecretLocations {
    keyring: Keyring,
    file: SecretsFile,
}

impl SecretLocations {
    pub fn in_dir(folder: &Path) -> Self {
        Self { keyring: Keyring::new(Arc::new(SystemKeyring)), file: SecretsFile::in_dir(folder) }
    }

    pub fn describe(&self, location: SecretLocation) -> String {
        match location {
            SecretLocation::Keyring => "the keyring of this system".to_owned(),
            SecretLocation::File => {
                format!("{} (readable only by you)", self.file.path().display())
            }
        }
    }

    /// Checks that the keyring stores entries. Like everything that uses the keyring, this blocks
    /// for up to three seconds.
    pub fn check_keyring(&self) -> Result<(), String> {
        self.keyring.check()
    }

    /// Checks that the file can be written, or created.
    pub fn check_file(&self) -> Result<(), String> {
        let path = self.file.path();
        let checked = path.parent().map_or(Ok(()), check_writable);
        checked.map_err(|error| format!("{}: {error}", path.display()))
    }

    pub fn preferred_location(&self) -> SecretLocation {
        self.check_keyring().map_or(SecretLocation::File, |()| SecretLocation::Keyring)
    }

    /// Checks that a secret can be stored, before a request whose response shows the secret only once.
    pub fn check_save(&self, profile: &str, location: SecretLocation) -> Result<(), String> {
        // A secret that moves to the keyring is removed from the file.
        if self.file.read(profile)?.is_some() || location == SecretLocation::File {
            self.file.check()?;
        }
        Ok(())
    }

    /// Finds a secret. Fails if the secret is damaged or bound to another origin or key, or if it is not in the file
    /// and the keyring cannot be read.
    pub fn find(
        &self,
        owner: SecretOwner,
    ) -> Result<Option<(SecretString, SecretLocation)>, String> {
        let in_file = self.read(owner, SecretLocation::File);
        if let Ok(Some(secret)) = in_file {
            return Ok(Some((secret, SecretLocation::File)));
        }
        match self.read(owner, SecretLocation::Keyring) {
            Ok(Some(secret)) => Ok(Some((secret, SecretLocation::Keyring))),
            in_keyring => in_file.and(in_keyring).map(|_| None),
        }
    }

    fn read(
        &self,
        owner: SecretOwner,
        location: SecretLocation,
    ) -> Result<Option<SecretString>, String> {
        let stored = match location {
            SecretLocation::Keyring => self.keyring.read(owner.profile)?,
            SecretLocation::File => self.file.read(owner.profile)?,
        };
        stored.map(|stored| stored.into_secret_for(owner)).transpose()
    }

    /// Stores a secret, verifies it by reading it back, and removes it from the other location.
    pub fn save(
        &self,
        owner: SecretOwner,
        secret: &SecretString,
        location: SecretLocation,
    ) -> Result<(), String> {
        let stored = StoredSecret {
            origin: owner.origin.to_owned(),
            api_key: owner.api_key.to_owned(),
            api_secret: secret.expose_secret().to_owned(),
        };
        match location {
            SecretLocation::Keyring => self.keyring.write(owner.profile, &stored)?,
            SecretLocation::File => self.file.write(owner.profile, stored)?,
        }
        let back = self.read(owner, location)?;
        if back.is_none_or(|back| back.expose_secret() != secret.expose_secret()) {
            return Err(format!("{} did not store the secret", self.describe(location)));
        }
        match location {
            SecretLocation::Keyring => self.file.remove(owner.profile).map(drop),
            // The result is ignored, because the keyring does not respond. `find` prefers the file.
            SecretLocation::File => {
                let _ = self.keyring.remove(owner.profile);
                Ok(())
            }
        }
    }

    /// Removes a secret from both locations, and returns those that had one. Fails if the secret may still be in one of
    /// them.
    pub fn remove(&self, profile: &str) -> Result<Vec<SecretLocation>, String> {
        let (in_file, in_keyring) = (self.file.remove(profile), self.keyring.remove(profile));
        let removed = [(SecretLocation::File, in_file?), (SecretLocation::Keyring, in_keyring?)];
        Ok(removed
            .into_iter()
            .filter_map(|(location, had_one)| had_one.then_some(location))
            .collect())
    }
}

/// Creates stores whose keyring exists only in memory.
#[cfg(test)]
pub(crate) fn locations_with_keyring(folder: &Path) -> SecretLocations {
    let keyring = super::keyring::fake::keyring(super::keyring::fake::Behavior::Stores);
    SecretLocations { keyring, file: SecretsFile::in_dir(folder) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::credentials::keyring::fake::{Behavior, keyring};

    const OWNER: SecretOwner =
        SecretOwner { profile: "prod", origin: "https://vl.example", api_key: "ak_1" };

    fn secrets(folder: &Path, behavior: Behavior) -> SecretLocations {
        SecretLocations { keyring: keyring(behavior), file: SecretsFile::in_dir(folder) }
    }

    fn found(secrets: &SecretLocations) -> Option<(String, SecretLocation)> {
        let found = secrets.find(OWNER).unwrap();
        found.map(|(secret, location)| (secret.expose_secret().to_owned(), location))
    }

    #[test]
    fn a_secret_is_returned_only_for_its_origin_and_key() {
        for location in [SecretLocation::Keyring, SecretLocation::File] {
            let folder = tempfile::tempdir().unwrap();
            let secrets = secrets(folder.path(), Behavior::Stores);
            assert_eq!(found(&secrets), None);
            secrets.save(OWNER, &"s3cret-canary".into(), location).unwrap();
            assert_eq!(found(&secrets), Some(("s3cret-canary".to_owned(), location)));
            let elsewhere = SecretOwner { origin: "https://evil.example", ..OWNER };
            let another = SecretOwner { api_key: "ak_2", ..OWNER };
            for other in [elsewhere, another] {
                let error = secrets.find(other).unwrap_err();
                assert!(error.contains("enter it again") && !error.contains("canary"), "{error}");
            }
            assert_eq!(secrets.remove("prod").unwrap(), [location]);
            assert_eq!(found(&secrets), None);
            assert_eq!(secrets.remove("prod").unwrap(), []);
        }
    }

    #[test]
    fn saving_to_one_store_removes_the_secret_from_the_other() {
        let folder = tempfile::tempdir().unwrap();
        let secrets = secrets(folder.path(), Behavior::Stores);
        secrets.save(OWNER, &"old".into(), SecretLocation::File).unwrap();
        secrets.save(OWNER, &"new".into(), SecretLocation::Keyring).unwrap();
        assert_eq!(found(&secrets), Some(("new".to_owned(), SecretLocation::Keyring)));
        secrets.save(OWNER, &"newer".into(), SecretLocation::File).unwrap();
        let newer = Some(("newer".to_owned(), SecretLocation::File));
        assert_eq!(found(&secrets), newer);
        let left_by_a_locked_keyring = StoredSecret {
            origin: OWNER.origin.to_owned(),
            api_key: OWNER.api_key.to_owned(),
            api_secret: "new".to_owned(),
        };
        secrets.keyring.write(OWNER.profile, &left_by_a_locked_keyring).unwrap();
        assert_eq!(found(&secrets), newer);
    }

    #[test]
    fn a_keyring_that_does_not_respond_times_out_with_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let secrets = secrets(folder.path(), Behavior::NeverResponds);
        assert!(secrets.check_keyring().unwrap_err().contains("did not respond"));
        assert!(secrets.find(OWNER).unwrap_err().contains("did not respond"));
        assert!(secrets.save(OWNER, &"s".into(), SecretLocation::Keyring).is_err());
        assert!(
            !folder.path().join("secrets.toml").exists(),
            "never falls back to plain text silently"
        );
        secrets.save(OWNER, &"s".into(), SecretLocation::File).unwrap();
        assert_eq!(found(&secrets), Some(("s".to_owned(), SecretLocation::File)));
        assert!(secrets.remove("prod").is_err(), "it may be in the keyring");
        assert!(secrets.file.read("prod").unwrap().is_none());
    }

    #[test]
    fn a_store_that_loses_the_secret_is_detected() {
        let folder = tempfile::tempdir().unwrap();
        let secrets = secrets(folder.path(), Behavior::Forgets);
        let error = secrets.save(OWNER, &"canary".into(), SecretLocation::Keyring).unwrap_err();
        assert!(error.contains("did not store") && !error.contains("canary"), "{error}");
    }

    #[test]
    fn a_keyring_that_cannot_store_is_detected_before_use() {
        let folder = tempfile::tempdir().unwrap();
        let best = |behavior| secrets(folder.path(), behavior).preferred_location();
        assert_eq!(best(Behavior::Stores), SecretLocation::Keyring);
        assert_eq!(best(Behavior::RejectsWrites), SecretLocation::File);
        assert_eq!(best(Behavior::Forgets), SecretLocation::File);
        let reason = secrets(folder.path(), Behavior::Forgets).check_keyring().unwrap_err();
        assert!(reason.contains("does not store"), "{reason}");
        let memory = secrets(folder.path(), Behavior::Stores);
        memory.check_keyring().unwrap();
        assert_eq!(found(&memory), None, "the check leaves no secret behind");
    }
}
