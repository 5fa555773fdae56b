//! Finds the paths of this user's files: settings, secrets, keys, themes, state, caches, and the
//! local index.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use directories::ProjectDirs;
use tessera_wire::text_encoding::read_text;

use crate::{
    ConfigError,
    custom_command::CustomCommand,
    input::{Keymap, parse_sequence},
};

fn project_dirs() -> Option<ProjectDirs> {
    ProjectDirs::from("", "", "tessera")
}

/// Reports that this user's files have no paths, and what to do.
pub const UNKNOWN_HOME: &str = "the home folder is unknown; set HOME";

/// Reports that [`user_config_file`] has no path, and what to do.
pub const UNKNOWN_CONFIG_FILE: &str =
    "the home folder is unknown; set HOME, or give the settings file with --config FILE";

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

/// Returns the folder of the models that were added by name.
pub fn models_dir() -> Option<PathBuf> {
    project_dirs().map(|dirs| dirs.data_dir().join("models"))
}

/// Returns the folder of cached thumbnails of remote services.
pub fn thumbnails_dir() -> Option<PathBuf> {
    project_dirs().map(|dirs| dirs.cache_dir().join("thumbnails"))
}

/// Returns the file with the graphics support that the user confirmed for each terminal.
pub fn terminal_graphics_file() -> Option<PathBuf> {
    Some(state_root_dir()?.join("terminals.toml"))
}

/// Returns the folder of a remote deployment's saved state. Its name is derived from the deployment's display name.
pub fn state_dir(deployment: &str) -> Option<PathBuf> {
    Some(state_root_dir()?.join(state_dir_name(deployment)))
}

/// Returns the name of a deployment if it can be the name of a folder. Any other name is changed, and gets a hash of
/// the whole name (FNV-1a), so that no two deployments share a folder.
fn state_dir_name(deployment: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let is_name = (1..=80).contains(&deployment.len()) && deployment.chars().all(is_plain);
    if is_name && deployment != SAMPLE {
        return deployment.to_owned();
    }
    let plain = deployment.chars().map(|c| if is_plain(c) { c } else { '-' }).take(80);
    let hash = deployment.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{}-{hash:016x}", plain.collect::<String>())
}

/// The name of the folder with the saved state of the sample dataset.
const SAMPLE: &str = "sample";

pub fn sample_state_dir() -> Option<PathBuf> {
    Some(state_root_dir()?.join(SAMPLE))
}

/// The name of the folder with the saved state of local folders, which no folder of [`state_dir`] has.
const LOCAL_FOLDERS: &str = "local_folders";

/// Returns the folder of the saved state of all local folders. All profiles of local folders and folders without a
/// profile share one index, so they also share their state.
pub fn local_state_dir() -> Option<PathBuf> {
    Some(state_root_dir()?.join(LOCAL_FOLDERS))
}

/// The name of the folder with the journal of actions on files, which no deployment's folder has.
const FILE_ACTIONS: &str = "file_actions";

/// Returns the folder with the journal of actions on files. All deployments share the journal, because a folder can be
/// opened by several of them.
pub fn file_actions_dir() -> Option<PathBuf> {
    Some(state_root_dir()?.join(FILE_ACTIONS))
}

/// Returns the file with the folders and profiles that were opened.
pub fn recent_file() -> Option<PathBuf> {
    Some(state_root_dir()?.join("recent.json"))
}

/// Returns the folder that contains the saved state of all deployments.
pub fn state_root_dir() -> Option<PathBuf> {
    let dirs = project_dirs()?;
    // On a system without a state folder, the data folder is used.
    Some(dirs.state_dir().unwrap_or_else(|| dirs.data_dir()).to_owned())
}

/// Lists the state folders of all deployments, sorted.
pub fn state_dirs() -> io::Result<Vec<PathBuf>> {
    let Some(root) = state_root_dir() else { return Ok(Vec::new()) };
    let entries = tessera_files::if_exists(fs::read_dir(root))?;
    let paths = entries.into_iter().flatten().map(|entry| entry.map(|entry| entry.path()));
    let mut folders = paths.collect::<io::Result<Vec<PathBuf>>>()?;
    folders.retain(|path| path.is_dir() && !path.ends_with(FILE_ACTIONS));
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

/// Loads the default keymap with the user's keys and the keys of the user's own commands over it, and returns a warning
/// for each action that is left without a key.
pub fn load_keymap(
    path: Option<&Path>,
    commands: &[CustomCommand],
) -> Result<(Keymap, Vec<String>), ConfigError> {
    let of_commands = |reason| ConfigError::new("the keys of `commands`", reason);
    let (keymap, warnings) = load_key_file(path)?;
    let mut keys = Vec::new();
    for (position, command) in commands.iter().enumerate() {
        let chords = command.key.as_deref().map(parse_sequence).transpose();
        let chords = chords.map_err(of_commands)?;
        keys.extend(chords.map(|chords| (chords, position)));
    }
    Ok((keymap.with_custom_commands(keys).map_err(of_commands)?, warnings))
}

fn load_key_file(path: Option<&Path>) -> Result<(Keymap, Vec<String>), ConfigError> {
    let shipped =
        Keymap::built_in().map_err(|reason| ConfigError::new("the built-in keys", reason))?;
    let Some(path) = path else { return Ok((shipped, Vec::new())) };
    let error = |reason: String| ConfigError::new(path.display(), reason);
    let source = tessera_files::if_exists(read_text(path)).map_err(|it| error(it.to_string()))?;
    let Some(source) = source else { return Ok((shipped, Vec::new())) };
    let (keymap, keyless) = shipped.with_overrides(&source).map_err(|error| error.in_file(path))?;
    let warnings = keyless.iter().map(|action| {
        error(format!("`{}` has no key; press : to find it by name", action.name())).to_string()
    });
    Ok((keymap, warnings.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_deployments_share_a_state_folder() {
        let long = "x".repeat(81);
        let names = ["prod-1", "prod_1", "prod 1", "a.b/x", "a-b/x", "a-b-x", SAMPLE, "", &long];
        let folders: std::collections::BTreeSet<String> =
            names.into_iter().map(state_dir_name).collect();
        assert_eq!(folders.len(), names.len(), "{folders:?}");
        let kept = [FILE_ACTIONS, LOCAL_FOLDERS, SAMPLE];
        assert!(kept.iter().all(|name| !folders.contains(*name)) && folders.contains("prod-1"));
        assert_eq!(state_dir_name("prod_1"), "prod-1-a88ab2e6703fa7c0");
    }
}
