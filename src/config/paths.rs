//! The paths of this user's files: settings, secrets, keys, themes, state, and the local index.

use std::{fs, io, path::PathBuf};

use directories::ProjectDirs;

fn project_dirs() -> Option<ProjectDirs> {
    ProjectDirs::from("", "", "tessera")
}

/// Why [`user_config_file`] has no path, and what to do.
pub const UNKNOWN_CONFIG_FILE: &str =
    "the home folder is unknown; give the settings file with --config FILE";

pub fn user_config_file() -> Option<PathBuf> {
    config_dir().map(|folder| folder.join("config.toml"))
}

pub fn config_dir() -> Option<PathBuf> {
    project_dirs().map(|dirs| dirs.config_dir().to_owned())
}

pub fn themes_dir() -> Option<PathBuf> {
    config_dir().map(|folder| folder.join("themes"))
}

pub fn theme_file(name: &str) -> Option<PathBuf> {
    themes_dir().map(|folder| folder.join(format!("{name}.toml")))
}

pub fn keymap_file() -> Option<PathBuf> {
    config_dir().map(|folder| folder.join("keys.toml"))
}

pub fn local_data_dir() -> Option<PathBuf> {
    project_dirs().map(|dirs| dirs.data_dir().join("local"))
}

/// Models that were added by name.
pub fn models_dir() -> Option<PathBuf> {
    project_dirs().map(|dirs| dirs.data_dir().join("models"))
}

/// Thumbnails of remote services.
pub fn thumbnails_dir() -> Option<PathBuf> {
    project_dirs().map(|dirs| dirs.cache_dir().join("thumbnails"))
}

/// The graphics support that the user confirmed, per terminal.
pub fn terminal_graphics_file() -> Option<PathBuf> {
    state_dir("terminals").map(|folder| folder.with_extension("toml"))
}

/// The saved state of a deployment, by its display name.
pub fn state_dir(deployment: &str) -> Option<PathBuf> {
    let name: String = deployment
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .take(80)
        .collect();
    Some(state_root_dir()?.join(name))
}

fn state_root_dir() -> Option<PathBuf> {
    let dirs = project_dirs()?;
    // Systems without a state folder use the data folder.
    Some(dirs.state_dir().unwrap_or_else(|| dirs.data_dir()).to_owned())
}

/// The state folders of all deployments, sorted.
pub fn state_dirs() -> io::Result<Vec<PathBuf>> {
    let Some(root) = state_root_dir() else { return Ok(Vec::new()) };
    let entries = tessera_files::if_exists(fs::read_dir(root))?;
    let paths = entries.into_iter().flatten().map(|entry| entry.map(|entry| entry.path()));
    let mut folders = paths.collect::<io::Result<Vec<PathBuf>>>()?;
    folders.retain(|path| path.is_dir());
    folders.sort();
    Ok(folders)
}

/// Expands `~/` in a path of a settings file.
pub fn expand_home(path: PathBuf) -> PathBuf {
    match (path.strip_prefix("~"), std::env::home_dir()) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path,
    }
}
