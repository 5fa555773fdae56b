//! Edits the user's settings file. Comments in the file stay, and a change that does not validate
//! is refused. Commands that run at the same time keep each other's changes.

use std::{fmt, io, path::Path};

use tessera_wire::text_encoding::read_text;
use toml::Value;
use toml_edit::{Array, DocumentMut, Item, Table, TableLike};

use super::{Profile, layers::Layers, paths::UNKNOWN_CONFIG_FILE, profile::check_name};

/// Why the settings file was not changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EditError {
    /// The file or the change is not valid.
    Invalid(String),
    /// The file, or the secret of a profile, cannot be written.
    Unwritten(String),
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Invalid(message) | Self::Unwritten(message)) = self;
        f.write_str(message)
    }
}

impl From<String> for EditError {
    fn from(reason: String) -> Self {
        Self::Invalid(reason)
    }
}

/// Saves the API key of a profile in the user's file.
pub fn set_api_key(file: Option<&Path>, profile: &str, api_key: &str) -> Result<(), EditError> {
    let file = file.ok_or_else(|| UNKNOWN_CONFIG_FILE.to_owned())?;
    set(file, &format!("profiles.{profile}.api_key"), &api_key.into())
}

pub fn set(file: &Path, name: &str, value: &Value) -> Result<(), EditError> {
    edit_file(file, |document| Ok(insert_value(document, name, value)?))
}

/// Removes a key, so that the next layer applies. Returns whether it was set.
pub fn unset(file: &Path, name: &str) -> Result<bool, EditError> {
    edit_file(file, |document| {
        let (parents, key) = name.rsplit_once('.').unwrap_or(("", name));
        let mut table: Option<&mut dyn TableLike> = Some(document.as_table_mut());
        for part in parents.split('.').filter(|part| !part.is_empty()) {
            table = table
                .and_then(|table| table.get_mut(part))
                .and_then(|item| item.as_table_like_mut());
        }
        Ok(table.is_some_and(|table| table.remove(key).is_some()))
    })
}

/// Adds a profile. Stores its secret with `store` before the file is written, so that there is never a profile whose
/// secret could not be stored.
pub fn add_profile(
    file: &Path,
    profile: &Profile,
    store: impl FnOnce() -> Result<(), String>,
) -> Result<(), EditError> {
    check_name(&profile.name)?;
    if let Some(path) = profile.paths().find(|path| path.to_str().is_none()) {
        return Err(EditError::Invalid(format!(
            "the settings file is UTF-8, and the path {} is not; rename what it names, or give it by --folder",
            path.display()
        )));
    }
    edit_file(file, |document| {
        if document.get("profiles").is_some_and(|all| all.get(&profile.name).is_some()) {
            return Err(format!("a profile `{}` already exists", profile.name).into());
        }
        for (key, value) in profile.settings() {
            insert_value(document, &format!("profiles.{}.{key}", profile.name), &value)?;
        }
        store().map_err(EditError::Unwritten)
    })
}

/// Removes a profile, and `default_profile` if it names that profile. Removes its secret with `remove_secret` before the
/// file is written, because no command finds the secret of a profile that is gone. Returns what `remove_secret` returned
/// if the profile existed.
pub fn remove_profile<T>(
    file: &Path,
    name: &str,
    remove_secret: impl FnOnce() -> Result<T, String>,
) -> Result<Option<T>, EditError> {
    edit_file(file, |document| {
        let profiles = document.get_mut("profiles").and_then(Item::as_table_like_mut);
        let existed = profiles.and_then(|profiles| profiles.remove(name));
        let removed = existed.map(|_| remove_secret()).transpose();
        let removed = removed.map_err(EditError::Unwritten)?;
        if document.get("default_profile").and_then(Item::as_str) == Some(name) {
            document.remove("default_profile");
        }
        Ok(removed)
    })
}

/// Changes the pinned datasets of a profile, and returns them. `known` are those of a profile whose section in the file
/// has none.
pub fn change_pins(
    file: &Path,
    profile: &str,
    known: &[String],
    change: impl FnOnce(&mut Vec<String>),
) -> Result<Vec<String>, EditError> {
    edit_file(file, |document| {
        let section = document.get("profiles").and_then(|profiles| profiles.get(profile));
        let saved = section.and_then(|section| section.get("pinned")?.as_array());
        let ids =
            |saved: &Array| saved.iter().filter_map(|id| id.as_str().map(str::to_owned)).collect();
        let mut pinned = saved.map_or_else(|| known.to_vec(), ids);
        change(&mut pinned);
        insert_value(document, &format!("profiles.{profile}.pinned"), &pinned.clone().into())?;
        Ok(pinned)
    })
}

fn insert_value(document: &mut DocumentMut, name: &str, value: &Value) -> Result<(), String> {
    let (parents, key) = name.rsplit_once('.').unwrap_or(("", name));
    let separate = !document.is_empty();
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for part in parents.split('.').filter(|part| !part.is_empty()) {
        let item = table.entry(part).or_insert_with(|| {
            let mut section = Table::new();
            // An implicit table prints its heading only once it contains a key.
            section.set_implicit(true);
            if separate {
                section.decor_mut().set_prefix("\n");
            }
            Item::Table(section)
        });
        table = item.as_table_like_mut().ok_or_else(|| format!("`{part}` is not a section"))?;
    }
    let mut new: toml_edit::Value =
        value.to_string().parse().map_err(|error| format!("`{name}`: {error}"))?;
    if let Some(old) = table.get(key).and_then(Item::as_value) {
        *new.decor_mut() = old.decor().clone();
    }
    table.insert(key, Item::Value(new));
    Ok(())
}

fn edit_file<T>(
    path: &Path,
    change: impl FnOnce(&mut DocumentMut) -> Result<T, EditError>,
) -> Result<T, EditError> {
    let describe = |error: &dyn fmt::Display| format!("{}: {error}", path.display());
    let unwritten = |error: io::Error| EditError::Unwritten(describe(&error));
    let target = tessera_files::write_target(path).map_err(unwritten)?;
    let _lock = tessera_files::lock_changes(&target).map_err(unwritten)?;
    let source = tessera_files::if_exists(read_text(path)).map_err(|error| describe(&error))?;
    let source = source.unwrap_or_default();
    validate(path, &source)?;
    let mut document: DocumentMut =
        source.parse().map_err(|error: toml_edit::TomlError| describe(&error.message()))?;
    let result = change(&mut document).map_err(|error| match error {
        EditError::Invalid(reason) => EditError::Invalid(describe(&reason)),
        EditError::Unwritten(reason) => EditError::Unwritten(describe(&reason)),
    })?;
    let changed = document.to_string();
    if changed != source {
        validate(path, &changed)?;
        tessera_files::write_user_file(path, &changed).map_err(unwritten)?;
    }
    Ok(result)
}

fn validate(file: &Path, source: &str) -> Result<(), String> {
    match Layers::check(file, source).first() {
        Some(error) => Err(format!("{error}; nothing was changed")),
        None => Ok(()),
    }
}
