//! Accesses the system keyring with a timeout, because the bus may hang and the keyring may be
//! locked.

use std::{
    fmt, process,
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};

use secrecy::zeroize::Zeroizing;

use crate::credentials::file::StoredSecret;

const KEYRING_TIMEOUT: Duration = Duration::from_secs(3);

/// Stores texts by name. All methods may block.
pub(super) trait KeyringBackend: Send + Sync {
    /// Succeeds if a keyring exists.
    fn check(&self) -> Result<(), String>;
    fn read(&self, name: &str) -> Result<Option<Zeroizing<String>>, String>;
    fn write(&self, name: &str, text: &str) -> Result<(), String>;
    /// Removes an entry. Returns whether there was one.
    fn remove(&self, name: &str) -> Result<bool, String>;
}

/// A keyring backend with a timeout.
#[derive(Clone)]
pub(super) struct Keyring {
    backend: Arc<dyn KeyringBackend>,
    timeout: Duration,
}

impl Keyring {
    pub(super) fn new(backend: Arc<dyn KeyringBackend>) -> Self {
        Self { backend, timeout: KEYRING_TIMEOUT }
    }

    /// Checks the keyring by writing and reading an entry, because some keyrings respond but have
    /// no storage.
    pub(super) fn check(&self) -> Result<(), String> {
        let name = format!("check of {}", process::id());
        self.with_timeout(move |backend| {
            backend.check()?;
            backend.write(&name, &name)?;
            let stored = backend.read(&name)?;
            backend.remove(&name)?;
            if stored.is_some_and(|stored| *stored == name) {
                return Ok(());
            }
            Err("the keyring does not store entries".to_owned())
        })
    }

    pub(super) fn read(&self, profile: &str) -> Result<Option<StoredSecret>, String> {
        let name = profile.to_owned();
        let Some(source) = self.with_timeout(move |backend| backend.read(&name))? else {
            return Ok(None);
        };
        toml::from_str(&source).map(Some).map_err(|_| {
            format!("the keyring entry of `{profile}` is damaged; enter the secret again")
        })
    }

    pub(super) fn write(&self, profile: &str, stored: &StoredSecret) -> Result<(), String> {
        let source = toml::to_string(stored).map(Zeroizing::new);
        let source = source.map_err(|_| "the secret cannot be written as TOML".to_owned())?;
        let name = profile.to_owned();
        self.with_timeout(move |backend| backend.write(&name, &source))
    }

    pub(super) fn remove(&self, profile: &str) -> Result<bool, String> {
        let name = profile.to_owned();
        self.with_timeout(move |backend| backend.remove(&name))
    }

    /// Runs a call on its own thread, which is abandoned after the timeout.
    fn with_timeout<T: Send + 'static>(
        &self,
        call: impl FnOnce(&dyn KeyringBackend) -> Result<T, String> + Send + 'static,
    ) -> Result<T, String> {
        let (sender, response) = mpsc::channel();
        let backend = Arc::clone(&self.backend);
        thread::spawn(move || sender.send(call(backend.as_ref())));
        response.recv_timeout(self.timeout).unwrap_or_else(|_| {
            let seconds = self.timeout.as_secs();
            Err(format!("the keyring did not respond within {seconds} s; it may be locked"))
        })
    }
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keyring")
    }
}

#[cfg(test)]
pub mod fake {
    use std::{collections::BTreeMap, sync::Mutex};

    use super::*;

    #[derive(Clone, Copy, PartialEq)]
    pub enum Behavior {
        Stores,
        /// Accepts every entry and loses it.
        Forgets,
        /// Responds, but cannot store anything.
        RejectsWrites,
        NeverResponds,
    }

    struct FakeKeyring {
        behavior: Behavior,
        entries: Mutex<BTreeMap<String, String>>,
    }

    impl KeyringBackend for FakeKeyring {
        fn check(&self) -> Result<(), String> {
            if self.behavior == Behavior::NeverResponds {
                loop {
                    thread::park();
                }
            }
            Ok(())
        }

        fn read(&self, name: &str) -> Result<Option<Zeroizing<String>>, String> {
            self.check()?;
            Ok(self.entries.lock().unwrap().get(name).cloned().map(Zeroizing::new))
        }

        fn write(&self, name: &str, text: &str) -> Result<(), String> {
            self.check()?;
            match self.behavior {
                Behavior::RejectsWrites => return Err("the keyring cannot store it".to_owned()),
                Behavior::Stores => {
                    self.entries.lock().unwrap().insert(name.to_owned(), text.to_owned());
                }
                Behavior::Forgets | Behavior::NeverResponds => {}
            }
            Ok(())
        }

        fn remove(&self, name: &str) -> Result<bool, String> {
            self.check()?;
            Ok(self.entries.lock().unwrap().remove(name).is_some())
        }
    }

    pub fn keyring(behavior: Behavior) -> Keyring {
        let timeout = match behavior {
            Behavior::NeverResponds => Duration::from_millis(10),
            _ => KEYRING_TIMEOUT,
        };
        let backend = FakeKeyring { behavior, entries: Mutex::default() };
        Keyring { backend: Arc::new(backend), timeout }
    }
}
