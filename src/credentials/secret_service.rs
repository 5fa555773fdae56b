//! Stores secrets in the Secret Service, the keyring of Linux desktops.

use std::collections::HashMap;

use ::secret_service::{
    EncryptionType, Error,
    blocking::{Collection, Item, SecretService},
};
use secrecy::zeroize::Zeroizing;

use crate::credentials::keyring::KeyringBackend;

const APPLICATION: &str = "tessera";

pub(super) struct SecretServiceKeyring;

impl KeyringBackend for SecretServiceKeyring {
    fn check(&self) -> Result<(), String> {
        let service = connect().map_err(|error| describe_error(&error))?;
        lasting_collection(&service).map(drop).map_err(|error| describe_error(&error))
    }

    fn read(&self, name: &str) -> Result<Option<Zeroizing<String>>, String> {
        let secret = with_items(name, |items| items.first().map(Item::get_secret).transpose());
        let Some(secret) = secret? else { return Ok(None) };
        let text = String::from_utf8(secret).map(Zeroizing::new);
        text.map(Some).map_err(|_| "the keyring entry is damaged".to_owned())
    }

    fn write(&self, name: &str, text: &str) -> Result<(), String> {
        let written = connect().and_then(|service| {
            let collection = lasting_collection(&service)?;
            collection.unlock()?;
            let label = format!("{APPLICATION}: {name}");
            let replace = true;
            collection.create_item(
                &label,
                attributes(name),
                text.as_bytes(),
                replace,
                "text/plain",
            )?;
            Ok(())
        });
        written.map_err(|error| describe_error(&error))
    }

    fn remove(&self, name: &str) -> Result<bool, String> {
        with_items(name, |items| {
            items.iter().try_for_each(Item::delete)?;
            Ok(!items.is_empty())
        })
    }
}

/// The name of the collection that is only in memory, and lost at the end of the session.
const SESSION_COLLECTION: &str = "session";

/// Returns the default collection, or any other one that outlives the session.
fn lasting_collection<'a>(service: &'a SecretService<'_>) -> Result<Collection<'a>, Error> {
    let session = service.get_collection_by_alias(SESSION_COLLECTION);
    let session = session.map(|collection| collection.collection_path).ok();
    let is_lasting = |collection: &Collection<'_>| {
        let path = &collection.collection_path;
        session.as_ref() != Some(path) && path.rsplit('/').next() != Some(SESSION_COLLECTION)
    };
    let default = service.get_default_collection().ok().filter(is_lasting);
    match default {
        Some(default) => Ok(default),
        None => service.get_all_collections()?.into_iter().find(is_lasting).ok_or(Error::NoResult),
    }
}

fn connect() -> Result<SecretService<'static>, Error> {
    SecretService::connect(EncryptionType::Dh)
}

/// Calls `act` with the unlocked entries of `name`. If there is no keyring, there are no entries.
fn with_items<T>(
    name: &str,
    act: impl FnOnce(&[Item<'_>]) -> Result<T, Error>,
) -> Result<T, String> {
    let service = match connect() {
        Ok(service) => service,
        // A server or a container has no bus, and without a bus there are no stored secrets.
        Err(Error::Unavailable | Error::Zbus(_)) => {
            return act(&[]).map_err(|error| describe_error(&error));
        }
        Err(error) => return Err(describe_error(&error)),
    };
    let found = service.search_items(attributes(name)).and_then(|found| {
        found.locked.iter().try_for_each(Item::unlock)?;
        let mut items: Vec<_> = [found.unlocked, found.locked].into_iter().flatten().collect();
        // An entry that outlives the session takes precedence.
        let of_session = format!("/{SESSION_COLLECTION}/");
        items.sort_by_key(|item| item.item_path.contains(&of_session));
        Ok(items)
    });
    found.and_then(|items| act(&items)).map_err(|error| describe_error(&error))
}

fn attributes(name: &str) -> HashMap<&str, &str> {
    HashMap::from([("service", APPLICATION), ("username", name)])
}

fn describe_error(error: &Error) -> String {
    match error {
        Error::Unavailable => "this system has no keyring".to_owned(),
        Error::NoResult => {
            "the keyring of this system keeps nothing beyond this session, because it has no collection".to_owned()
        }
        Error::Locked | Error::Prompt => "the keyring is locked".to_owned(),
        Error::Zbus(cause) => format!("the keyring cannot be used: {cause}"),
        error => format!("the keyring cannot be used: {error}"),
    }
}
