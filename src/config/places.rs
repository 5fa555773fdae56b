//! Where the files of this user are: settings, secrets, keys, themes, state, and the local index.

use std::{fs, io, path::PathBuf};

use directories::ProjectDirs;

fn places() -> Option<ProjectDirs> {
    ProjectDirs::from("", "", "tessera")
}

/// Where the user's file is looked for.
#[must_use]
pub fn user_file() -> Option<PathBuf> {
    folder().map(|folder| folder.join("config.toml"))
}

/// The folder of the user's file and of the secrets.
#[must_use]
pub fn folder() -> Option<PathBuf> {
    places().map(|places| places.config_dir().to_owned())
}

/// The folder of the person's own themes.
#[must_use]
pub fn themes_folder() -> Option<PathBuf> {
    folder().map(|folder| folder.join("themes"))
}

/// Where the theme of this name is looked for.
#[must_use]
pub fn theme_file(name: &str) -> Option<PathBuf> {
    themes_folder().map(|folder| folder.join(format!("{name}.toml")))
}

/// The file of the person's own keys.
#[must_use]
pub fn keys_file() -> Option<PathBuf> {
    folder().map(|folder| folder.join("keys.toml"))
}

/// Where the local deployment keeps its index.
#[must_use]
pub fn local_folder() -> Option<PathBuf> {
    places().map(|places| places.data_dir().join("local"))
}

/// Where it is kept how people see pictures in their terminals.
#[must_use]
pub fn verdicts_file() -> Option<PathBuf> {
    state_folder("terminals").map(|folder| folder.with_extension("toml"))
}

/// Where the baskets, jobs and history of a deployment are kept; `place` is its name on screen.
#[must_use]
pub fn state_folder(place: &str) -> Option<PathBuf> {
    let name: String =
        place.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(80).collect();
    Some(state_root()?.join(name))
}

/// The folder that the state of all deployments is in.
fn state_root() -> Option<PathBuf> {
    let places = places()?;
    // Where a system has no folder for state, what would be kept there lies with the local index.
    Some(places.state_dir().unwrap_or_else(|| places.data_dir()).to_owned())
}

/// The folders in which the state of deployments is kept, by their names.
///
/// # Errors
/// The folder that they are in cannot be read.
pub fn state_folders() -> io::Result<Vec<PathBuf>> {
    let Some(root) = state_root() else { return Ok(Vec::new()) };
    let entries = match fs::read_dir(root) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let mut folders = paths.collect::<io::Result<Vec<PathBuf>>>()?;
    folders.retain(|path| path.is_dir());
    folders.sort();
    Ok(folders)
}
