//! Stores secrets in the secrets file, which has a table for each profile and which only this user can read. The
//! keyring stores the same fields of a secret.

use std::{
    collections::BTreeMap,
    fs::{self, OpenOptions},
    io::Read as _,
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use rustix::{fs::OFlags, io::Errno};
use secrecy::{
    SecretString,
    zeroize::{Zeroize as _, Zeroizing},
};
use serde::{Deserialize, Serialize};
use tessera_files::ChangeLock;

use super::secret_permissions::{SecretAccess, WITHOUT_PERMISSIONS, keeps_permissions};

/// The write permissions with which others could replace the file.
const OTHERS_WRITE_PERMISSION: u32 = 0o022;

#[derive(Clone, Debug)]
pub(super) struct SecretsFile {
    path: PathBuf,
}

impl SecretsFile {
    pub(super) fn in_dir(folder: &Path) -> Self {
        Self { path: folder.join("secrets.toml") }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the secret of a profile. Fails if the file is damaged, a link, owned by another user,
    /// or readable by others.
    pub(super) fn read(&self, profile: &str) -> Result<Option<StoredSecret>, String> {
        Ok(self.all()?.remove(profile))
    }

    pub(super) fn write(&self, profile: &str, stored: StoredSecret) -> Result<(), String> {
        let _lock = self.lock()?;
        let mut all = self.all()?;
        all.insert(profile.to_owned(), stored);
        self.replace(&all)
    }

    /// Checks that the file can be written, and creates its folder.
    pub(super) fn check(&self) -> Result<(), String> {
        self.lock().map(drop)
    }

    /// Removes the secret of a profile. Returns whether there was one.
    pub(super) fn remove(&self, profile: &str) -> Result<bool, String> {
        // Without a secret, nothing is written, because the folder may be read-only.
        if !self.all()?.contains_key(profile) {
            return Ok(false);
        }
        let _lock = self.lock()?;
        let mut all = self.all()?;
        all.remove(profile);
        self.replace(&all).map(|()| true)
    }

    fn all(&self) -> Result<BTreeMap<String, StoredSecret>, String> {
        let flags = OFlags::NOFOLLOW.bits().cast_signed();
        let opened = OpenOptions::new().read(true).custom_flags(flags).open(&self.path);
        let mut file = match tessera_files::if_exists(opened) {
            Ok(Some(file)) => file,
            Ok(None) => return Ok(BTreeMap::new()),
            Err(error) if Errno::from_io_error(&error) == Some(Errno::LOOP) => {
                return Err(self.error("is a symbolic link; replace it with a regular file"));
            }
            Err(error) => return Err(self.error(error)),
        };
        let access = SecretAccess::of(&file, &self.path).map_err(|error| self.error(error))?;
        let allowed = access.require_own().and_then(|()| access.require_private());
        allowed.map_err(|reason| self.error(reason))?;
        let mut source = Zeroizing::new(String::new());
        file.read_to_string(&mut source).map_err(|error| self.error(error))?;
        // The parser's message is dropped, because it may quote the line and with it a secret.
        toml::from_str(&source)
            .map_err(|_| self.error("is damaged; move it away and enter the secrets again"))
    }

    /// Waits until no other process changes the file, whose folder is created.
    fn lock(&self) -> Result<ChangeLock, String> {
        let folder = tessera_files::parent_dir(&self.path);
        tessera_files::create_private_dir_durably(folder).map_err(|error| self.error(error))?;
        let metadata = fs::metadata(folder).map_err(|error| self.error(error))?;
        if metadata.mode() & OTHERS_WRITE_PERMISSION != 0 {
            let chmod = format!("run chmod 700 {}", folder.display());
            let remedy = if keeps_permissions(folder) { &chmod } else { WITHOUT_PERMISSIONS };
            return Err(self.error(format_args!("its folder is writable by others; {remedy}")));
        }
        tessera_files::lock_changes(&self.path).map_err(|error| self.error(error))
    }

    /// Replaces the file atomically. The new file is private from its first byte.
    fn replace(&self, all: &BTreeMap<String, StoredSecret>) -> Result<(), String> {
        let source = toml::to_string(all).map(Zeroizing::new);
        let source = source.map_err(|_| self.error("cannot be written as TOML"))?;
        tessera_files::write_durably(&self.path, &*source).map_err(|error| self.error(error))
    }

    fn error(&self, reason: impl std::fmt::Display) -> String {
        format!("{}: {reason}", self.path.display())
    }
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

#[derive(Clone, Copy, Debug)]
pub struct SecretOwner<'a> {
    pub profile: &'a str,
    /// The scheme, host and port of the service.
    pub origin: &'a str,
    pub api_key: &'a str,
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn stored() -> StoredSecret {
        let (origin, api_key) = ("https://vl.example".to_owned(), "ak_1".to_owned());
        StoredSecret { origin, api_key, api_secret: "s3cret-canary".to_owned() }
    }

    #[test]
    fn a_readable_or_damaged_file_is_rejected_without_leaking_its_content() {
        let folder = tempfile::tempdir().unwrap();
        let file = SecretsFile::in_dir(folder.path());
        fs::write(file.path(), "[prod]\napi_secret = 's3cret-canary").unwrap();
        let refusal = |mode| {
            fs::set_permissions(file.path(), fs::Permissions::from_mode(mode)).unwrap();
            file.read("prod").map(|_| ()).unwrap_err()
        };
        assert!(refusal(0o644).contains("chmod 600"));
        let error = refusal(0o600);
        assert!(error.contains("damaged") && !error.contains("canary"), "{error}");
    }

    #[test]
    fn a_symlink_or_a_writable_folder_is_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let file = SecretsFile::in_dir(folder.path());
        let elsewhere = folder.path().join("elsewhere.toml");
        fs::write(&elsewhere, "").unwrap();
        symlink(&elsewhere, file.path()).unwrap();
        assert!(file.write("prod", stored()).unwrap_err().contains("is a symbolic link"));
        assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "");
        fs::remove_file(file.path()).unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o770)).unwrap();
        assert!(file.write("prod", stored()).unwrap_err().contains("chmod 700"));
        assert!(!file.path().exists());
    }

    #[test]
    fn secrets_that_are_stored_at_the_same_time_are_all_kept() {
        let folder = tempfile::tempdir().unwrap();
        let file = SecretsFile::in_dir(folder.path());
        let profiles: Vec<String> = (0..16).map(|number| format!("p{number}")).collect();
        std::thread::scope(|scope| {
            for profile in &profiles {
                scope.spawn(|| file.write(profile, stored()).unwrap());
            }
        });
        for profile in &profiles {
            assert!(file.remove(profile).unwrap(), "{profile} is lost");
        }
        assert!(!file.remove("p0").unwrap());
    }

    #[test]
    fn a_file_of_another_user_is_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let file = SecretsFile::in_dir(folder.path());
        file.write("prod", stored()).unwrap();
        // Only the superuser can change the owner of a file; skip this for other users.
        if std::os::unix::fs::chown(file.path(), Some(65_534), None).is_ok() {
            assert!(file.read("prod").map(|_| ()).unwrap_err().contains("another user"));
        }
    }
}
