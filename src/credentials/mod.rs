//! Where secrets are: the environment first, else a file of this user that nobody else can read.
//!
//! A stored secret is bound to the origin it was given for: the same key is never sent to another
//! host because a profile was edited.

use std::{
    collections::BTreeMap,
    env,
    ffi::OsStr,
    fs,
    io::{self, Write as _},
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    process::Command,
};

use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};

/// The environment variable of the secret itself.
pub const SECRET: &str = "TESSERA_API_SECRET";
/// The environment variable of a file that holds the secret; the better way in scripts.
pub const SECRET_FILE: &str = "TESSERA_API_SECRET_FILE";

/// The environment variable of a ready token.
pub const TOKEN: &str = "TESSERA_TOKEN";

/// A command that is given no secret of ours by its environment (S15). Every program that is started
/// begins here.
#[must_use]
pub fn child(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for name in [SECRET, SECRET_FILE, TOKEN] {
        command.env_remove(name);
    }
    command
}

/// The file of secrets: one table per profile.
#[derive(Clone, Debug)]
pub struct Secrets {
    file: PathBuf,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    origin: String,
    api_key: String,
    api_secret: String,
}

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

/// The secret that the environment gives, if it does.
///
/// # Errors
/// The file it names cannot be read.
pub fn from_environment() -> Result<Option<SecretString>, String> {
    let set = |name| env::var(name).ok().filter(|value: &String| !value.trim().is_empty());
    if let Some(file) = set(SECRET_FILE) {
        let secret =
            fs::read_to_string(&file).map_err(|error| format!("{SECRET_FILE}: {file}: {error}"))?;
        return Ok(Some(SecretString::from(secret.trim().to_owned())));
    }
    Ok(set(SECRET).map(|secret| SecretString::from(secret.trim().to_owned())))
}

impl Secrets {
    /// The secrets in `folder`.
    #[must_use]
    pub fn in_folder(folder: &Path) -> Self {
        Self { file: folder.join("secrets.toml") }
    }

    /// Where they are, to be told before anything is written.
    #[must_use]
    pub fn place(&self) -> &Path {
        &self.file
    }

    /// The secret of a profile; `None` when none is stored.
    ///
    /// # Errors
    /// The file is damaged or can be read by others, or the secret is for another origin or key.
    pub fn find(&self, holder: Holder) -> Result<Option<SecretString>, String> {
        let Some(stored) = self.read()?.remove(holder.profile) else {
            return Ok(None);
        };
        if stored.origin != holder.origin || stored.api_key != holder.api_key {
            return Err(format!(
                "the secret stored for `{}` belongs to {} and another key or address: enter it again",
                holder.profile, stored.origin
            ));
        }
        Ok(Some(SecretString::from(stored.api_secret)))
    }

    /// Stores a secret, and reads it back before it says so.
    ///
    /// # Errors
    /// The file cannot be written or read back.
    pub fn keep(&self, holder: Holder, secret: &SecretString) -> Result<(), String> {
        let mut all = self.read()?;
        let stored = Stored {
            origin: holder.origin.to_owned(),
            api_key: holder.api_key.to_owned(),
            api_secret: secret.expose_secret().to_owned(),
        };
        all.insert(holder.profile.to_owned(), stored);
        let source = toml::to_string(&all).map_err(|_| self.told("cannot be spelled"))?;
        self.replace(&source).map_err(|error| self.told(error))?;
        let back = self.find(holder)?;
        let same = back.is_some_and(|back| back.expose_secret() == secret.expose_secret());
        same.then_some(()).ok_or_else(|| self.told("did not keep the secret"))
    }

    fn read(&self) -> Result<BTreeMap<String, Stored>, String> {
        let metadata = match fs::metadata(&self.file) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
            Err(error) => return Err(self.told(error)),
        };
        if metadata.permissions().mode() & 0o077 != 0 {
            return Err(self.told("can be read by others: chmod 600 it, and think of a new secret"));
        }
        let source = fs::read_to_string(&self.file).map_err(|error| self.told(error))?;
        // The words of the parser may quote the line, and with it a secret.
        toml::from_str(&source)
            .map_err(|_| self.told("is damaged: move it away and enter secrets again"))
    }

    /// Written beside and renamed, for this user alone from the first byte on.
    fn replace(&self, source: &str) -> io::Result<()> {
        let folder = self.file.parent().unwrap_or_else(|| Path::new("."));
        fs::create_dir_all(folder)?;
        let beside = self.file.with_extension("new");
        match fs::remove_file(&beside) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file =
            fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
        file.write_all(source.as_bytes())?;
        file.sync_all()?;
        fs::rename(&beside, &self.file)
    }

    fn told(&self, reason: impl std::fmt::Display) -> String {
        format!("{}: {reason}", self.file.display())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOLDER: Holder =
        Holder { profile: "prod", origin: "https://vl.example", api_key: "ak_1" };

    #[test]
    fn s01_a_secret_comes_back_for_its_origin_and_nobody_else_can_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let secrets = Secrets::in_folder(folder.path());
        assert!(secrets.find(HOLDER).unwrap().is_none());
        secrets.keep(HOLDER, &SecretString::from("s3cret-canary")).unwrap();
        assert_eq!(secrets.find(HOLDER).unwrap().unwrap().expose_secret(), "s3cret-canary");
        assert_eq!(fs::metadata(secrets.place()).unwrap().permissions().mode() & 0o777, 0o600);
        let elsewhere = Holder { origin: "https://evil.example", ..HOLDER };
        let error = secrets.find(elsewhere).unwrap_err();
        assert!(error.contains("enter it again") && !error.contains("canary"), "{error}");
    }

    #[test]
    fn s01_a_file_that_others_can_read_or_that_is_damaged_is_refused_without_its_content() {
        let folder = tempfile::tempdir().unwrap();
        let secrets = Secrets::in_folder(folder.path());
        fs::write(secrets.place(), "[prod]\napi_secret = 's3cret-canary").unwrap();
        fs::set_permissions(secrets.place(), fs::Permissions::from_mode(0o644)).unwrap();
        assert!(secrets.find(HOLDER).unwrap_err().contains("chmod 600"));
        fs::set_permissions(secrets.place(), fs::Permissions::from_mode(0o600)).unwrap();
        let error = secrets.find(HOLDER).unwrap_err();
        assert!(error.contains("damaged") && !error.contains("canary"), "{error}");
    }
}
