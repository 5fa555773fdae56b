//! What a keyring of a system has to do.

use secrecy::zeroize::Zeroizing;

/// Stores texts by name. Methods may block.
pub(super) trait KeyringBackend: Send + Sync {
    /// Whether a keyring exists.
    fn check(&self) -> Result<(), String>;
    fn read(&self, name: &str) -> Result<Option<Zeroizing<String>>, String>;
    fn write(&self, name: &str, text: &str) -> Result<(), String>;
    /// Returns whether there was an entry.
    fn remove(&self, name: &str) -> Result<bool, String>;
}
