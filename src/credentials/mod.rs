//! Where secrets are: the environment first, then the keyring of the system, then a file of this user
//! that nobody else can read.
//!
//! A stored secret is bound to the origin and the key it was given for: it is never sent to another
//! host because a profile was edited.

mod dump;
mod file;
mod keyring;

use std::{env, fs, path::Path};

use secrecy::{
    ExposeSecret as _, SecretString,
    zeroize::{Zeroize as _, Zeroizing},
};
use serde::{Deserialize, Serialize};

pub use dump::forbid_core_dumps;
pub use tessera_model::program::{SECRET, SECRET_FILE, TOKEN};

use file::File;
use keyring::Keyring;

/// Whom a secret is for.
#[derive(Clone, Copy, Debug)]
pub struct Holder<'a> {
    /// The profile.
    pub profile: &'a str,
    /// Scheme, host and port of the service.
    pub origin: &'a str,
    /// The key that the secret belongs to.
    pub api_key: &'a str,
}

/// What keeps secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Store {
    /// The keyring of the system: encrypted, and unlocked with the session.
    Keyring,
    /// A plain file of mode 0600.
    File,
}

/// A secret with what it was given for, as it is kept.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    origin: String,
    api_key: String,
    api_secret: String,
}

/// The secrets of this user.
#[derive(Clone, Debug)]
pub struct Secrets {
    keyring: Keyring,
    file: File,
}

/// The secret that the environment gives, if it does, and the variable that did.
///
/// # Errors
/// The file it names cannot be read.
pub fn from_environment() -> Result<Option<(SecretString, &'static str)>, String> {
    if let Some(path) = variable(SECRET_FILE) {
        let secret = fs::read_to_string(path.as_str())
            .map(Zeroizing::new)
            .map_err(|error| format!("{SECRET_FILE}: {}: {error}", path.as_str()))?;
        return Ok(Some((SecretString::from(secret.trim()), SECRET_FILE)));
    }
    Ok(variable(SECRET).map(|secret| (SecretString::from(secret.trim()), SECRET)))
}

/// The token that the environment gives, if it does.
#[must_use]
pub fn token_from_environment() -> Option<SecretString> {
    variable(TOKEN).map(|token| SecretString::from(token.trim()))
}

fn variable(name: &str) -> Option<Zeroizing<String>> {
    let value = env::var(name).ok().map(Zeroizing::new);
    value.filter(|value| !value.trim().is_empty())
}

impl Secrets {
    /// The keyring, and a file in `folder`.
    #[must_use]
    pub fn in_folder(folder: &Path) -> Self {
        Self { keyring: Keyring::of_system(), file: File::in_folder(folder) }
    }

    /// Where a store is, for people.
    #[must_use]
    pub fn place(&self, store: Store) -> String {
        match store {
            Store::Keyring => "the keyring of this system".to_owned(),
            Store::File => format!("{} (readable by you alone)", self.file.path().display()),
        }
    }

    /// Whether the keyring can be used. Blocks for at most three seconds, as everything here does that
    /// asks the keyring.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn ask_keyring(&self) -> Result<(), String> {
        self.keyring.check()
    }

    /// The keyring, or the file where there is none. Whoever stores a secret names the place before.
    #[must_use]
    pub fn best_store(&self) -> Store {
        self.ask_keyring().map_or(Store::File, |()| Store::Keyring)
    }

    /// The secret of a profile and where it was; `None` when none is stored.
    ///
    /// # Errors
    /// What is stored is damaged, can be read by others, or is for another origin or key; or nothing
    /// is stored in the file and the keyring does not answer.
    pub fn find(&self, holder: Holder) -> Result<Option<(SecretString, Store)>, String> {
        let fits = |stored: Option<Stored>, store: Store| {
            let secret = stored.map(|stored| stored.opens(holder)).transpose()?;
            Ok::<_, String>(secret.map(|secret| (secret, store)))
        };
        let ring = self.keyring.read(holder.profile);
        let ring = ring.and_then(|stored| fits(stored, Store::Keyring));
        if let Ok(Some(found)) = ring {
            return Ok(Some(found));
        }
        match fits(self.file.read(holder.profile)?, Store::File)? {
            Some(found) => Ok(Some(found)),
            None => ring,
        }
    }

    /// Stores a secret, reads it back before it says so, and removes what the other store had.
    ///
    /// # Errors
    /// It cannot be written or read back; or an older secret cannot be removed from the file.
    pub fn keep(&self, holder: Holder, secret: &SecretString, store: Store) -> Result<(), String> {
        let stored = Stored {
            origin: holder.origin.to_owned(),
            api_key: holder.api_key.to_owned(),
            api_secret: secret.expose_secret().to_owned(),
        };
        let back = match store {
            Store::Keyring => {
                self.keyring.write(holder.profile, &stored)?;
                self.keyring.read(holder.profile)?
            }
            Store::File => {
                self.file.write(holder.profile, stored)?;
                self.file.read(holder.profile)?
            }
        };
        let back = back.map(|stored| stored.opens(holder)).transpose()?;
        if back.is_none_or(|back| back.expose_secret() != secret.expose_secret()) {
            return Err(format!("{} did not keep the secret", self.place(store)));
        }
        match store {
            Store::Keyring => self.file.forget(holder.profile).map(drop),
            // It is in the file because the keyring does not answer: what is in there is out of reach,
            // and looked at first only when it fits.
            Store::File => {
                let _ = self.keyring.forget(holder.profile);
                Ok(())
            }
        }
    }

    /// Removes the secret of a profile, and tells from where.
    ///
    /// # Errors
    /// A store that may have it cannot be changed.
    pub fn forget(&self, profile: &str) -> Result<Vec<Store>, String> {
        let mut stores = Vec::new();
        if self.file.forget(profile)? {
            stores.push(Store::File);
        }
        match self.keyring.forget(profile) {
            Ok(true) => stores.push(Store::Keyring),
            Ok(false) => {}
            // It was kept in the file because of that.
            Err(_) if !stores.is_empty() => {}
            Err(reason) => return Err(reason),
        }
        Ok(stores)
    }
}

impl Stored {
    /// The secret, for whom it was given.
    fn opens(mut self, holder: Holder) -> Result<SecretString, String> {
        if self.origin != holder.origin || self.api_key != holder.api_key {
            return Err(format!(
                "the secret stored for `{}` belongs to {} and another key or address: enter it again",
                holder.profile, self.origin
            ));
        }
        Ok(SecretString::from(std::mem::take(&mut self.api_secret)))
    }
}

impl Drop for Stored {
    fn drop(&mut self) {
        self.api_secret.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::credentials::keyring::fake;

    const HOLDER: Holder =
        Holder { profile: "prod", origin: "https://vl.example", api_key: "ak_1" };

    fn secrets(folder: &Path, keyring: Keyring) -> Secrets {
        Secrets { keyring, file: File::in_folder(folder) }
    }

    fn found(secrets: &Secrets) -> Option<(String, Store)> {
        let found = secrets.find(HOLDER).unwrap();
        found.map(|(secret, store)| (secret.expose_secret().to_owned(), store))
    }

    #[test]
    fn s01_s14_a_secret_comes_back_for_its_origin_and_key_alone() {
        for store in [Store::Keyring, Store::File] {
            let folder = tempfile::tempdir().unwrap();
            let secrets = secrets(folder.path(), fake::keyring());
            assert_eq!(found(&secrets), None);
            secrets.keep(HOLDER, &"s3cret-canary".into(), store).unwrap();
            assert_eq!(found(&secrets), Some(("s3cret-canary".to_owned(), store)));
            let elsewhere = Holder { origin: "https://evil.example", ..HOLDER };
            let another = Holder { api_key: "ak_2", ..HOLDER };
            for other in [elsewhere, another] {
                let error = secrets.find(other).unwrap_err();
                assert!(error.contains("enter it again") && !error.contains("canary"), "{error}");
            }
            assert_eq!(secrets.forget("prod").unwrap(), [store]);
            assert_eq!(found(&secrets), None);
            assert_eq!(secrets.forget("prod").unwrap(), []);
        }
    }

    #[test]
    fn s03_one_store_has_it_and_the_other_no_longer() {
        let folder = tempfile::tempdir().unwrap();
        let secrets = secrets(folder.path(), fake::keyring());
        secrets.keep(HOLDER, &"old".into(), Store::File).unwrap();
        secrets.keep(HOLDER, &"new".into(), Store::Keyring).unwrap();
        assert_eq!(found(&secrets), Some(("new".to_owned(), Store::Keyring)));
        secrets.keep(HOLDER, &"newer".into(), Store::File).unwrap();
        assert_eq!(found(&secrets), Some(("newer".to_owned(), Store::File)));
    }

    #[test]
    fn s03_a_keyring_that_does_not_answer_costs_its_patience_and_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let secrets = secrets(folder.path(), fake::silent());
        assert!(secrets.ask_keyring().unwrap_err().contains("did not answer"));
        assert!(secrets.find(HOLDER).unwrap_err().contains("did not answer"));
        assert!(secrets.keep(HOLDER, &"s".into(), Store::Keyring).is_err());
        assert!(!folder.path().join("secrets.toml").exists(), "never silently in plain text");
        secrets.keep(HOLDER, &"s".into(), Store::File).unwrap();
        assert_eq!(found(&secrets), Some(("s".to_owned(), Store::File)));
        assert_eq!(secrets.forget("prod").unwrap(), [Store::File]);
        assert!(secrets.forget("prod").is_err(), "it may be in there");
    }

    #[test]
    fn s04_a_store_that_loses_the_secret_is_not_believed() {
        let folder = tempfile::tempdir().unwrap();
        let secrets = secrets(folder.path(), fake::forgetful());
        let error = secrets.keep(HOLDER, &"canary".into(), Store::Keyring).unwrap_err();
        assert!(error.contains("did not keep") && !error.contains("canary"), "{error}");
    }

    #[test]
    fn s03_a_keyring_that_cannot_store_is_found_out_before_there_is_a_secret() {
        let folder = tempfile::tempdir().unwrap();
        let best = |keyring| secrets(folder.path(), keyring).best_store();
        assert_eq!(best(fake::keyring()), Store::Keyring);
        assert_eq!(best(fake::homeless()), Store::File);
        assert_eq!(best(fake::forgetful()), Store::File);
        let reason = secrets(folder.path(), fake::forgetful()).ask_keyring().unwrap_err();
        assert!(reason.contains("does not keep"), "{reason}");
        let memory = secrets(folder.path(), fake::keyring());
        memory.ask_keyring().unwrap();
        assert_eq!(found(&memory), None, "the trial leaves nothing that counts");
    }
}
