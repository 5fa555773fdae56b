//! Edits the user's settings file. Comments and unrelated lines stay; a change that does not validate
//! is not written.

use std::{fs, io, path::Path};

use toml::Value;
use toml_edit::{DocumentMut, Item, Table, TableLike};

use super::{DeploymentConfig, Profile, ProfileOptions, file, layers::Layers, profile::check_name};

/// Sets a key.
pub fn set(file: &Path, name: &str, value: &Value) -> Result<(), String> {
    edit_file(file, |document| insert_value(document, name, value))
}

/// Removes a key, so that the next layer applies. Returns whether it was set.
pub fn unset(file: &Path, name: &str) -> Result<bool, String> {
    let mut found = false;
    edit_file(file, |document| {
        let (before, own) = name.rsplit_once('.').unwrap_or(("", name));
        let mut table: Option<&mut dyn TableLike> = Some(document.as_table_mut());
        for part in before.split('.').filter(|part| !part.is_empty()) {
            table = table
                .and_then(|table| table.get_mut(part))
                .and_then(|item| item.as_table_like_mut());
        }
        found = table.is_some_and(|table| table.remove(own).is_some());
        Ok(())
    })?;
    Ok(found)
}

/// Appends a profile.
pub fn add_profile(file: &Path, profile: &Profile) -> Result<(), String> {
    check_name(&profile.name)?;
    edit_file(file, |document| {
        let exists =
            document.get("profiles").and_then(|profiles| profiles.get(&profile.name)).is_some();
        if exists {
            return Err(format!("a profile `{}` already exists", profile.name));
        }
        for (key, value) in profile_entries(profile) {
            insert_value(document, &format!("profiles.{}.{key}", profile.name), &value)?;
        }
        Ok(())
    })
}

/// Removes a profile, also as `default_profile`. Returns whether it existed.
pub fn remove_profile(file: &Path, name: &str) -> Result<bool, String> {
    let mut found = false;
    edit_file(file, |document| {
        let profiles = document.get_mut("profiles").and_then(Item::as_table_like_mut);
        found = profiles.is_some_and(|profiles| profiles.remove(name).is_some());
        if document.get("default_profile").and_then(Item::as_str) == Some(name) {
            document.remove("default_profile");
        }
        Ok(())
    })?;
    Ok(found)
}

/// The keys of a profile that differ from their defaults.
fn profile_entries(profile: &Profile) -> Vec<(&'static str, Value)> {
    let text = |text: &str| Some(Value::from(text.to_owned()));
    let path = |path: &Path| text(&path.to_string_lossy());
    let ProfileOptions { read_only, pinned, text_search_path, token_ttl, allow_http, ca_file } =
        &profile.options;
    let on = |on: bool| on.then_some(Value::Boolean(true));
    let [base_url, api_key, pipeline_url, folder] = match &profile.deployment {
        DeploymentConfig::Hosted { base_url, api_key } => {
            [text(base_url), text(api_key).filter(|_| !api_key.is_empty()), None, None]
        }
        DeploymentConfig::OnPrem { base_url, pipeline_url } => {
            [text(base_url), None, pipeline_url.as_deref().and_then(text), None]
        }
        DeploymentConfig::Local { folder } => [None, None, None, path(folder)],
    };
    let time = token_ttl.map(|time| humantime::format_duration(time).to_string());
    let all = [
        ("kind", text(profile.deployment.kind())),
        ("base_url", base_url),
        ("api_key", api_key),
        ("pipeline_url", pipeline_url),
        ("folder", folder),
        ("text_search_path", text_search_path.as_deref().and_then(text)),
        ("token_ttl", time.as_deref().and_then(text)),
        ("allow_http", on(*allow_http)),
        ("ca_file", ca_file.as_deref().and_then(path)),
        ("read_only", on(*read_only)),
        ("pinned", (!pinned.is_empty()).then(|| Value::from(pinned.clone()))),
    ];
    all.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
}

fn insert_value(document: &mut DocumentMut, name: &str, value: &Value) -> Result<(), String> {
    let (before, own) = name.rsplit_once('.').unwrap_or(("", name));
    let separate = !document.is_empty();
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for part in before.split('.').filter(|part| !part.is_empty()) {
        let item = table.entry(part).or_insert_with(|| {
            let mut section = Table::new();
            // The heading appears with its first key.
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
    if let Some(old) = table.get(own).and_then(Item::as_value) {
        *new.decor_mut() = old.decor().clone();
    }
    table.insert(own, Item::Value(new));
    Ok(())
}

fn edit_file(
    file: &Path,
    step: impl FnOnce(&mut DocumentMut) -> Result<(), String>,
) -> Result<(), String> {
    let describe = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
    let source = match fs::read_to_string(file) {
        Ok(source) => source,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(describe(&error)),
    };
    validate(file, &source)?;
    let mut document: DocumentMut =
        source.parse().map_err(|error: toml_edit::TomlError| describe(&error.message()))?;
    step(&mut document).map_err(|reason| describe(&reason))?;
    let changed = document.to_string();
    validate(file, &changed)?;
    file::write_atomically(file, &changed).map_err(|error| describe(&error))
}

fn validate(file: &Path, source: &str) -> Result<(), String> {
    match Layers::check(file, source).first() {
        Some(error) => Err(format!("{error}; nothing was changed")),
        None => Ok(()),
    }
}
