//! The system keyring, accessed with a timeout: a hanging bus or a locked keyring must not block the
//! program.

use std::{
    fmt, process,
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};

use keyring::{Entry, Error};
use secrecy::zeroize::Zeroizing;

use super::StoredSecret;

/// The service name of our entries.
const SERVICE: &str = "tessera";
const KEYRING_TIMEOUT: Duration = Duration::from_secs(3);

/// Stores texts by name. Methods may block.
pub(super) trait KeyringBackend: Send + Sync {
    /// Whether a keyring exists.
    fn check(&self) -> Result<(), String>;
    fn read(&self, name: &str) -> Result<Option<Zeroizing<String>>, String>;
    fn write(&self, name: &str, text: &str) -> Result<(), String>;
    /// Returns whether there was an entry.
    fn remove(&self, name: &str) -> Result<bool, String>;
}

/// A backend with a timeout.
#[derive(Clone)]
pub(super) struct Keyring {
    backend: Arc<dyn KeyringBackend>,
    timeout: Duration,
}

impl Keyring {
    pub(super) fn of_system() -> Self {
        Self { backend: Arc::new(SystemKeyring), timeout: KEYRING_TIMEOUT }
    }

    /// Verifies by writing and reading an entry that the keyring stores secrets: some keyrings answer but
    /// have no storage, and a secret that is shown only once must not be lost.
    pub(super) fn check(&self) -> Result<(), String> {
        let name = format!("check of {}", process::id());
        self.with_timeout(move |vault| {
            vault.check()?;
            vault.write(&name, &name)?;
            let back = vault.read(&name)?;
            vault.remove(&name)?;
            let kept = back.is_some_and(|back| *back == name);
            kept.then_some(()).ok_or_else(|| "the keyring does not store entries".to_owned())
        })
    }

    pub(super) fn read(&self, profile: &str) -> Result<Option<StoredSecret>, String> {
        let name = profile.to_owned();
        let Some(source) = self.with_timeout(move |vault| vault.read(&name))? else {
            return Ok(None);
        };
        let damaged =
            format!("the keyring entry of `{profile}` is damaged; enter the secret again");
        toml::from_str(&source).map(Some).map_err(|_| damaged)
    }

    pub(super) fn write(&self, profile: &str, stored: &StoredSecret) -> Result<(), String> {
        let source = toml::to_string(stored).map(Zeroizing::new);
        let source = source.map_err(|_| "the secret cannot be written as TOML".to_owned())?;
        let name = profile.to_owned();
        self.with_timeout(move |vault| vault.write(&name, &source))
    }

    pub(super) fn remove(&self, profile: &str) -> Result<bool, String> {
        let name = profile.to_owned();
        self.with_timeout(move |vault| vault.remove(&name))
    }

    /// Runs on its own thread, which is abandoned after the timeout.
    fn with_timeout<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&dyn KeyringBackend) -> Result<T, String> + Send + 'static,
    ) -> Result<T, String> {
        let (sender, answer) = mpsc::channel();
        let vault = Arc::clone(&self.backend);
        thread::spawn(move || sender.send(ask(vault.as_ref())));
        answer.recv_timeout(self.timeout).unwrap_or_else(|_| {
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

/// The Secret Service, or its equivalent on other systems.
struct SystemKeyring;

impl KeyringBackend for SystemKeyring {
    fn check(&self) -> Result<(), String> {
        Entry::store_status().as_ref().map(drop).map_err(describe_error)
    }

    fn read(&self, name: &str) -> Result<Option<Zeroizing<String>>, String> {
        match entry(name).and_then(|entry| entry.get_password()) {
            Ok(text) => Ok(Some(Zeroizing::new(text))),
            Err(Error::NoEntry | Error::NoDefaultStore) => Ok(None),
            Err(error) => Err(describe_error(&error)),
        }
    }

    fn write(&self, name: &str, text: &str) -> Result<(), String> {
        let written = entry(name).and_then(|entry| entry.set_password(text));
        written.map_err(|error| describe_error(&error))
    }

    fn remove(&self, name: &str) -> Result<bool, String> {
        match entry(name).and_then(|entry| entry.delete_credential()) {
            Ok(()) => Ok(true),
            Err(Error::NoEntry | Error::NoDefaultStore) => Ok(false),
            Err(error) => Err(describe_error(&error)),
        }
    }
}

fn entry(name: &str) -> keyring::Result<Entry> {
    Entry::new(SERVICE, name)
}

/// Omits the stored data that some errors carry.
fn describe_error(error: &Error) -> String {
    match error {
        Error::NoDefaultStore => "this system has no keyring".to_owned(),
        Error::BadEncoding(_) | Error::BadDataFormat(..) => {
            "the keyring entry is damaged".to_owned()
        }
        Error::PlatformFailure(cause) | Error::NoStorageAccess(cause) => {
            format!("the keyring cannot be used: {cause}")
        }
        error => format!("the keyring cannot be used: {error}"),
    }
}

#[cfg(test)]
pub(super) mod fake {
    use std::{
        collections::BTreeMap,
        sync::{Condvar, Mutex},
    };

    use super::*;

    #[derive(Default)]
    struct Memory(Mutex<BTreeMap<String, String>>);

    impl KeyringBackend for Memory {
        fn check(&self) -> Result<(), String> {
            Ok(())
        }

        fn read(&self, name: &str) -> Result<Option<Zeroizing<String>>, String> {
            Ok(self.0.lock().unwrap().get(name).cloned().map(Zeroizing::new))
        }

        fn write(&self, name: &str, text: &str) -> Result<(), String> {
            self.0.lock().unwrap().insert(name.to_owned(), text.to_owned());
            Ok(())
        }

        fn remove(&self, name: &str) -> Result<bool, String> {
            Ok(self.0.lock().unwrap().remove(name).is_some())
        }
    }

    /// Takes everything and has nothing.
    struct Forgetful;

    impl KeyringBackend for Forgetful {
        fn check(&self) -> Result<(), String> {
            Ok(())
        }

        fn read(&self, _: &str) -> Result<Option<Zeroizing<String>>, String> {
            Ok(None)
        }

        fn write(&self, _: &str, _: &str) -> Result<(), String> {
            Ok(())
        }

        fn remove(&self, _: &str) -> Result<bool, String> {
            Ok(false)
        }
    }

    /// Answers, but has no place to store anything.
    struct Homeless;

    impl KeyringBackend for Homeless {
        fn check(&self) -> Result<(), String> {
            Ok(())
        }

        fn read(&self, _: &str) -> Result<Option<Zeroizing<String>>, String> {
            Ok(None)
        }

        fn write(&self, _: &str, _: &str) -> Result<(), String> {
            Err("the keyring has no place for it".to_owned())
        }

        fn remove(&self, _: &str) -> Result<bool, String> {
            Ok(false)
        }
    }

    /// Never responds.
    struct Silent;

    fn block_forever<T>() -> T {
        let (never, lock) = (Condvar::new(), Mutex::new(()));
        let mut guard = lock.lock().unwrap();
        loop {
            guard = never.wait(guard).unwrap();
        }
    }

    impl KeyringBackend for Silent {
        fn check(&self) -> Result<(), String> {
            block_forever()
        }

        fn read(&self, _: &str) -> Result<Option<Zeroizing<String>>, String> {
            block_forever()
        }

        fn write(&self, _: &str, _: &str) -> Result<(), String> {
            block_forever()
        }

        fn remove(&self, _: &str) -> Result<bool, String> {
            block_forever()
        }
    }

    pub fn keyring() -> Keyring {
        Keyring { backend: Arc::new(Memory::default()), timeout: KEYRING_TIMEOUT }
    }

    pub fn forgetful() -> Keyring {
        Keyring { backend: Arc::new(Forgetful), timeout: KEYRING_TIMEOUT }
    }

    pub fn homeless() -> Keyring {
        Keyring { backend: Arc::new(Homeless), timeout: KEYRING_TIMEOUT }
    }

    pub fn silent() -> Keyring {
        Keyring { backend: Arc::new(Silent), timeout: Duration::from_millis(10) }
    }
}
