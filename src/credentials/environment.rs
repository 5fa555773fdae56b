//! Reads the login from environment variables. That login belongs to the one service that the
//! environment names.

use std::{
    env::{self, VarError},
    fs::File,
    io::Read as _,
    path::Path,
};

use secrecy::{SecretString, zeroize::Zeroizing};
use tessera_client::BaseUrl;
use tessera_config::expand_home;
use tessera_wire::text_encoding::decode_text;

use super::{SecretOwner, secret_permissions::SecretAccess};
use crate::process_signals::blocking_read;

pub const SECRET_VARIABLE: &str = "TESSERA_API_SECRET";
pub const SECRET_FILE_VARIABLE: &str = "TESSERA_API_SECRET_FILE";
pub const TOKEN_VARIABLE: &str = "TESSERA_TOKEN";
const ADDRESS_VARIABLE: &str = "TESSERA_BASE_URL";
const PROFILE_VARIABLE: &str = "TESSERA_PROFILE";
/// The maximum size of a file with a secret. Secrets of services have fewer than 200 bytes.
const MAX_SECRET_BYTES: u64 = 64 << 10;

/// The variables that contain a login, by precedence.
pub const LOGIN_VARIABLES: [&str; 3] = [TOKEN_VARIABLE, SECRET_FILE_VARIABLE, SECRET_VARIABLE];

/// Returns the login variables that are set.
pub fn login_variables() -> impl Iterator<Item = &'static str> {
    LOGIN_VARIABLES.into_iter().filter(|name| nonempty_variable(name) != Ok(None))
}

/// The service that the environment names. An address takes precedence over a profile.
enum NamedService {
    /// The normalized address.
    Address(String),
    Profile(String),
    Unnamed,
}

impl NamedService {
    fn read() -> Result<Self, String> {
        if let Some(address) = nonempty_variable(ADDRESS_VARIABLE)? {
            let address = BaseUrl::parse(&address)
                .map_err(|failure| format!("{ADDRESS_VARIABLE}: {failure}"))?;
            return Ok(Self::Address(address.to_string()));
        }
        let profile = nonempty_variable(PROFILE_VARIABLE)?;
        Ok(profile.map_or(Self::Unnamed, |name| Self::Profile(name.as_str().to_owned())))
    }
}

/// Permission to read the login in the environment. If the environment has a login, a value of this type exists only
/// for a service that the login may be sent to, so that an exported login never reaches another service.
#[derive(Clone, Copy, Debug)]
pub struct EnvironmentLoginPermission(());

impl EnvironmentLoginPermission {
    /// Grants the login to a profile that the environment names by its address or its name. The
    /// error says which service the login belongs to.
    pub fn for_profile(owner: SecretOwner) -> Result<Self, String> {
        Self::check(|service| match service {
            NamedService::Address(address) => address == owner.origin,
            NamedService::Profile(name) => name == owner.profile,
            NamedService::Unnamed => false,
        })
    }

    /// Grants the login to an address. The address has to come from the environment, or from the
    /// command line if the environment names no service.
    pub fn for_address(origin: &str) -> Result<Self, String> {
        Self::check(|service| match service {
            NamedService::Address(address) => address == origin,
            NamedService::Profile(_) => false,
            NamedService::Unnamed => true,
        })
    }

    fn check(belongs_to: impl FnOnce(&NamedService) -> bool) -> Result<Self, String> {
        let Some(variable) = login_variables().next() else { return Ok(Self(())) };
        let service = NamedService::read()?;
        if belongs_to(&service) {
            return Ok(Self(()));
        }
        Err(match service {
            NamedService::Address(address) => {
                format!("{variable} belongs to {address}, the address in {ADDRESS_VARIABLE}")
            }
            NamedService::Profile(name) => {
                format!("{variable} belongs to `{name}`, the profile in {PROFILE_VARIABLE}")
            }
            NamedService::Unnamed => format!(
                "{variable} is not used, because neither {ADDRESS_VARIABLE} nor {PROFILE_VARIABLE} \
                 says which service it belongs to"
            ),
        })
    }

    pub fn token(self) -> Result<Option<SecretString>, String> {
        Ok(nonempty_variable(TOKEN_VARIABLE)?.map(|token| SecretString::from(token.as_str())))
    }

    /// Returns the secret and the variable that contains it.
    pub fn secret(self) -> Result<Option<(SecretString, &'static str)>, String> {
        if let Some(path) = nonempty_variable(SECRET_FILE_VARIABLE)? {
            let secret = read_secret_file(&expand_home(path.as_str().into()))
                .map_err(|reason| format!("{SECRET_FILE_VARIABLE}: {reason}"))?;
            return Ok(Some((secret, SECRET_FILE_VARIABLE)));
        }
        Ok(nonempty_variable(SECRET_VARIABLE)?
            .map(|secret| (SecretString::from(secret.as_str()), SECRET_VARIABLE)))
    }
}

/// Reads the secret in a file that only the user can read.
///
/// # Errors
/// The file cannot be read, another user could have read or written it, or it has no secret or several lines.
pub fn read_secret_file(path: &Path) -> Result<SecretString, String> {
    blocking_read(|| read_private_file(path))
        .and_then(|text| only_line(&text).map(SecretString::from))
        .map_err(|reason| format!("{}: {reason}", path.display()))
}

/// Reads a secret file, and refuses a file that another user could have read or written.
fn read_private_file(path: &Path) -> Result<Zeroizing<String>, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let metadata = file.metadata().map_err(|error| error.to_string())?;
    // Permissions matter only for regular files. A pipe or a terminal belongs to the process that
    // reads it.
    if metadata.is_file() {
        SecretAccess::of(&file, path)?.require_readers_are_meant()?;
    }
    let mut secret = Zeroizing::new(Vec::new());
    file.take(MAX_SECRET_BYTES + 1).read_to_end(&mut secret).map_err(|error| error.to_string())?;
    if secret.len() as u64 > MAX_SECRET_BYTES {
        return Err(format!(
            "it is larger than {} KiB, so it is not a secret",
            MAX_SECRET_BYTES >> 10
        ));
    }
    let text = decode_text(&secret).map_err(|reason| reason.to_string())?;
    Ok(Zeroizing::new(text.into_owned()))
}

/// Returns the only line of a text that is not blank. A login that is signed with an empty secret, or with a secret and
/// a remark, would be refused without a hint at the file.
fn only_line(text: &str) -> Result<&str, String> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    match (lines.next(), lines.next()) {
        (Some(line), None) => Ok(line),
        (None, _) => Err("it is empty; write the secret into it".to_owned()),
        (Some(_), Some(_)) => Err("it has several lines; keep only the secret in it".to_owned()),
    }
}

/// Returns a variable that is set and not blank, without white space around it. A variable that was read from a file
/// often ends with a line break.
///
/// # Errors
/// The variable is not UTF-8 text.
pub fn nonempty_variable(name: &str) -> Result<Option<Zeroizing<String>>, String> {
    match env::var(name).map(Zeroizing::new) {
        Ok(value) => {
            Ok(Some(Zeroizing::new(value.trim().to_owned())).filter(|value| !value.is_empty()))
        }
        Err(VarError::NotPresent) => Ok(None),
        Err(VarError::NotUnicode(_)) => Err(format!("{name} is not UTF-8 text; set it again")),
    }
}
