//! Where the files of this user are: settings, secrets, keys, themes, state, and the local index.

use std::{fs, io, path::PathBuf};

use directories::ProjectDirs;

fn project_dirs() -> Option<ProjectDirs> {
    ProjectDirs::from("", "", "tessera")
}

/// Where the user's file is looked for.
pub fn user_config_file() -> Option<PathBuf> {
    config_dir().map(|folder| folder.join("config.toml"))
}

/// The folder of the user's file and of the secrets.
pub fn config_dir() -> Option<PathBuf> {
    project_dirs().map(|places| places.config_dir().to_owned())
}

/// The folder of the person's own themes.
pub fn themes_dir() -> Option<PathBuf> {
    config_dir().map(|folder| folder.join("themes"))
}

/// Where the theme of this name is looked for.
pub fn theme_file(name: &str) -> Option<PathBuf> {
    themes_dir().map(|folder| folder.join(format!("{name}.toml")))
}

/// The file of the person's own keys.
pub fn keymap_file() -> Option<PathBuf> {
    config_dir().map(|folder| folder.join("keys.toml"))
}

/// Where the local deployment keeps its index.
pub fn local_data_dir() -> Option<PathBuf> {
    project_dirs().map(|places| places.data_dir().join("local"))
}

/// Where it is kept how people see pictures in their terminals.
pub fn terminal_graphics_file() -> Option<PathBuf> {
    state_dir("terminals").map(|folder| folder.with_extension("toml"))
}

/// Where the baskets, jobs and history of a deployment are kept; `place` is its name on screen.
pub fn state_dir(place: &str) -> Option<PathBuf> {
    let name: String =
        place.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(80).collect();
    Some(state_root_dir()?.join(name))
}

/// The folder that the state of all deployments is in.
fn state_root_dir() -> Option<PathBuf> {
    let places = project_dirs()?;
    // Where a system has no folder for state, what would be kept there lies with the local index.
    Some(places.state_dir().unwrap_or_else(|| places.data_dir()).to_owned())
}

/// The folders in which the state of deployments is kept, by their names.
///
/// # Errors
/// The folder that they are in cannot be read.
pub fn state_dirs() -> io::Result<Vec<PathBuf>> {
    let Some(root) = state_root_dir() else { return Ok(Vec::new()) };
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
