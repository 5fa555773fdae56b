//! Finds and stores secrets in the environment, the system keyring, or a file that only this user can read.
//!
//! A stored secret is bound to its origin and API key. A secret in the environment is bound to the service that the
//! environment names. No profile can therefore send a secret to another host.

mod environment;
mod file;
#[cfg(target_os = "macos")]
mod keychain;
mod keyring;
mod secret_locations;
mod secret_permissions;
#[cfg(not(target_os = "macos"))]
mod secret_service;

use std::io;

pub use environment::{
    EnvironmentLoginPermission, LOGIN_VARIABLES, SECRET_FILE_VARIABLE, SECRET_VARIABLE,
    TOKEN_VARIABLE, login_variables, nonempty_variable, read_secret_file,
};
pub use file::SecretOwner;
use rustix::process::{Resource, Rlimit, setrlimit};
#[cfg(test)]
pub(crate) use secret_locations::locations_with_keyring;
pub use secret_locations::{SecretLocation, SecretLocations};

/// Disables core dumps. On Linux, this also stops other processes of the same user from reading the memory, which alone
/// is enough in a sandbox that refuses changes of limits.
pub fn forbid_core_dumps() -> io::Result<()> {
    let forbidden = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    #[cfg(target_os = "linux")]
    let forbidden = {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        let _ = forbidden;
        set_dumpable_behavior(DumpableBehavior::NotDumpable)
    };
    forbidden.map_err(Into::into)
}
