//! A secret as it is stored, with what it belongs to.

use secrecy::{SecretString, zeroize::Zeroize as _};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug)]
pub struct SecretOwner<'a> {
    pub profile: &'a str,
    /// Scheme, host and port of the service.
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
