//! The keyring of the system, asked with a time limit: a bus that hangs, or a keyring that waits to be
//! unlocked, must not hold up the program (S03).

use std::{
    fmt, process,
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};

use keyring::{Entry, Error};
use secrecy::zeroize::Zeroizing;

use super::Stored;

/// What our entries are filed under.
const SERVICE: &str = "tessera";
/// How long the keyring may take.
const PATIENCE: Duration = Duration::from_secs(3);

/// Something that keeps a text by a name. Its methods may hang. Where there is none, it has nothing.
pub(super) trait Vault: Send + Sync {
    /// Whether it is there.
    fn check(&self) -> Result<(), String>;
    fn read(&self, name: &str) -> Result<Option<Zeroizing<String>>, String>;
    fn write(&self, name: &str, text: &str) -> Result<(), String>;
    /// Whether there was something to remove.
    fn remove(&self, name: &str) -> Result<bool, String>;
}

/// A vault with a time limit.
#[derive(Clone)]
pub(super) struct Keyring {
    vault: Arc<dyn Vault>,
    patience: Duration,
}

impl Keyring {
    pub(super) fn of_system() -> Self {
        Self { vault: Arc::new(System), patience: PATIENCE }
    }

    /// Whether it keeps what it is given. One that answers may have no place to store anything, and a
    /// secret that is shown once must not be the first to find out.
    pub(super) fn check(&self) -> Result<(), String> {
        let name = format!("check of {}", process::id());
        self.within(move |vault| {
            vault.check()?;
            vault.write(&name, &name)?;
            let back = vault.read(&name)?;
            vault.remove(&name)?;
            let kept = back.is_some_and(|back| *back == name);
            kept.then_some(())
                .ok_or_else(|| "the keyring does not keep what it is given".to_owned())
        })
    }

    pub(super) fn read(&self, profile: &str) -> Result<Option<Stored>, String> {
        let name = profile.to_owned();
        let Some(source) = self.within(move |vault| vault.read(&name))? else {
            return Ok(None);
        };
        let damaged = format!("what the keyring has for `{profile}` is damaged: enter it again");
        toml::from_str(&source).map(Some).map_err(|_| damaged)
    }

    pub(super) fn write(&self, profile: &str, stored: &Stored) -> Result<(), String> {
        let source = toml::to_string(stored).map(Zeroizing::new);
        let source = source.map_err(|_| "the secret cannot be spelled".to_owned())?;
        let name = profile.to_owned();
        self.within(move |vault| vault.write(&name, &source))
    }

    pub(super) fn forget(&self, profile: &str) -> Result<bool, String> {
        let name = profile.to_owned();
        self.within(move |vault| vault.remove(&name))
    }

    /// Asks on a thread of its own, which is left behind when it takes too long.
    fn within<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&dyn Vault) -> Result<T, String> + Send + 'static,
    ) -> Result<T, String> {
        let (sender, answer) = mpsc::channel();
        let vault = Arc::clone(&self.vault);
        thread::spawn(move || sender.send(ask(vault.as_ref())));
        answer.recv_timeout(self.patience).unwrap_or_else(|_| {
            let seconds = self.patience.as_secs();
            Err(format!("the keyring did not answer within {seconds} s; is it locked?"))
        })
    }
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keyring")
    }
}

/// The Secret Service, or what the system has in its place.
struct System;

impl Vault for System {
    fn check(&self) -> Result<(), String> {
        Entry::store_status().as_ref().map(drop).map_err(told)
    }

    fn read(&self, name: &str) -> Result<Option<Zeroizing<String>>, String> {
        match entry(name).and_then(|entry| entry.get_password()) {
            Ok(text) => Ok(Some(Zeroizing::new(text))),
            Err(Error::NoEntry | Error::NoDefaultStore) => Ok(None),
            Err(error) => Err(told(&error)),
        }
    }

    fn write(&self, name: &str, text: &str) -> Result<(), String> {
        let written = entry(name).and_then(|entry| entry.set_password(text));
        written.map_err(|error| told(&error))
    }

    fn remove(&self, name: &str) -> Result<bool, String> {
        match entry(name).and_then(|entry| entry.delete_credential()) {
            Ok(()) => Ok(true),
            Err(Error::NoEntry | Error::NoDefaultStore) => Ok(false),
            Err(error) => Err(told(&error)),
        }
    }
}

fn entry(name: &str) -> keyring::Result<Entry> {
    Entry::new(SERVICE, name)
}

/// The error in words. Those that carry what was stored are told without it.
fn told(error: &Error) -> String {
    match error {
        Error::NoDefaultStore => "there is no keyring here".to_owned(),
        Error::BadEncoding(_) | Error::BadDataFormat(..) => {
            "what the keyring has is damaged".to_owned()
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

    impl Vault for Memory {
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

    impl Vault for Forgetful {
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

    impl Vault for Homeless {
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

    /// Never answers.
    struct Silent;

    fn for_ever<T>() -> T {
        let (never, lock) = (Condvar::new(), Mutex::new(()));
        let mut guard = lock.lock().unwrap();
        loop {
            guard = never.wait(guard).unwrap();
        }
    }

    impl Vault for Silent {
        fn check(&self) -> Result<(), String> {
            for_ever()
        }

        fn read(&self, _: &str) -> Result<Option<Zeroizing<String>>, String> {
            for_ever()
        }

        fn write(&self, _: &str, _: &str) -> Result<(), String> {
            for_ever()
        }

        fn remove(&self, _: &str) -> Result<bool, String> {
            for_ever()
        }
    }

    pub fn keyring() -> Keyring {
        Keyring { vault: Arc::new(Memory::default()), patience: PATIENCE }
    }

    pub fn forgetful() -> Keyring {
        Keyring { vault: Arc::new(Forgetful), patience: PATIENCE }
    }

    pub fn homeless() -> Keyring {
        Keyring { vault: Arc::new(Homeless), patience: PATIENCE }
    }

    pub fn silent() -> Keyring {
        Keyring { vault: Arc::new(Silent), patience: Duration::from_millis(10) }
    }
}
