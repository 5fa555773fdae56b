//! Settings in layers: flags over environment over the user's file over `assets/config.toml`,
//! which is the documentation at the same time.

pub mod file;
mod notify;
pub mod profile;
mod theme;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

pub use notify::Notify;
pub use profile::{Destination, Place, Profile};
use serde::Deserialize;
pub use theme::ThemeChoice;

use crate::input::Keymap;

/// The file that comes with the program.
const SHIPPED: &str = include_str!("../../assets/config.toml");

/// All settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How it looks.
    pub theme: ThemeChoice,
    /// How pictures are drawn.
    pub graphics: GraphicsChoice,
    /// Whether the mouse is ours.
    pub mouse: bool,
    /// Why the accessible mode is on, if it is.
    pub accessible: Option<&'static str>,
    /// How the end of a job is told.
    pub notify: Vec<Notify>,
    /// The folder that the export form offers.
    pub download_dir: String,
    /// The profile that is opened when none is named.
    pub default_profile: Option<String>,
    /// The deployments that have a name, in the order of their names.
    pub profiles: Vec<Profile>,
}

/// The graphics setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, serde::Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum GraphicsChoice {
    /// What the terminal says it can draw.
    Auto,
    /// Two pixels a cell.
    Half,
    /// Kitty graphics.
    Kitty,
    /// Sixel graphics.
    Sixel,
    /// iTerm2 inline pictures.
    Iterm,
    /// No pictures.
    None,
}

/// What the outer layers say: flags and environment, already read.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// `--theme` or `TESSERA_THEME`.
    pub theme: Option<ThemeChoice>,
    /// `--graphics` or `TESSERA_GRAPHICS`.
    pub graphics: Option<GraphicsChoice>,
    /// `--accessible` or `TESSERA_ACCESSIBLE`.
    pub accessible: Option<bool>,
    /// Whether `ACCESSIBLE` is set, by which a person asks every program.
    pub everywhere_accessible: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    default_profile: Option<String>,
    #[serde(default)]
    profiles: BTreeMap<String, Place>,
    #[serde(default)]
    ui: Ui,
    #[serde(default)]
    export: Export,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct Ui {
    theme: Option<ThemeChoice>,
    graphics: Option<GraphicsChoice>,
    mouse: Option<bool>,
    accessible: Option<bool>,
    notify: Option<Vec<Notify>>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct Export {
    download_dir: Option<String>,
}

impl Settings {
    /// Reads the layers. `user` is the user's file; a missing one is no mistake.
    ///
    /// # Errors
    /// A sentence with the file, the line and the name or value that is not known.
    pub fn load(user: Option<&Path>, overrides: Overrides) -> Result<Self, String> {
        let shipped = parse(SHIPPED, "assets/config.toml")?;
        let user = match user.map(|path| (path, std::fs::read_to_string(path))) {
            Some((path, Ok(source))) => parse(&source, &path.display().to_string())?,
            Some((_, Err(error))) if error.kind() == std::io::ErrorKind::NotFound => parse("", "")?,
            Some((path, Err(error))) => return Err(format!("{}: {error}", path.display())),
            None => parse("", "")?,
        };
        let accessible = match (overrides.accessible, user.ui.accessible) {
            (Some(true), _) => Some("--accessible or TESSERA_ACCESSIBLE asks for it"),
            (None, Some(true)) => Some("the settings ask for it"),
            (None, None) if overrides.everywhere_accessible => Some("ACCESSIBLE is set"),
            _ => None,
        };
        let missing = |name: &str| format!("assets/config.toml lacks `{name}`");
        Ok(Self {
            theme: overrides
                .theme
                .or(user.ui.theme)
                .or(shipped.ui.theme)
                .ok_or_else(|| missing("theme"))?,
            graphics: overrides
                .graphics
                .or(user.ui.graphics)
                .or(shipped.ui.graphics)
                .ok_or_else(|| missing("graphics"))?,
            mouse: user.ui.mouse.or(shipped.ui.mouse).ok_or_else(|| missing("mouse"))?,
            accessible,
            notify: user.ui.notify.or(shipped.ui.notify).ok_or_else(|| missing("notify"))?,
            download_dir: user
                .export
                .download_dir
                .or(shipped.export.download_dir)
                .ok_or_else(|| missing("download_dir"))?,
            default_profile: user.default_profile,
            profiles: user
                .profiles
                .into_iter()
                .map(|(name, place)| Profile { name, place })
                .collect(),
        })
    }
}

fn parse(source: &str, place: &str) -> Result<File, String> {
    let file: File = toml::from_str(source).map_err(|error| format!("{place}: {error}"))?;
    for name in file.profiles.keys() {
        profile::check_name(name).map_err(|reason| format!("{place}: `{name}`: {reason}"))?;
    }
    if let Some(name) =
        file.default_profile.as_ref().filter(|name| !file.profiles.contains_key(*name))
    {
        return Err(format!("{place}: default_profile is `{name}`, which is no profile there"));
    }
    Ok(file)
}

/// Where the user's file is looked for.
#[must_use]
pub fn user_file() -> Option<PathBuf> {
    folder().map(|folder| folder.join("config.toml"))
}

/// The folder of the user's file and of the secrets.
#[must_use]
pub fn folder() -> Option<PathBuf> {
    directories::ProjectDirs::from("", "", "tessera").map(|dirs| dirs.config_dir().to_owned())
}

/// Where the theme of this name is looked for.
#[must_use]
pub fn theme_file(name: &str) -> Option<PathBuf> {
    directories::ProjectDirs::from("", "", "tessera")
        .map(|dirs| dirs.config_dir().join("themes").join(format!("{name}.toml")))
}

/// The file of the person's own keys.
#[must_use]
pub fn keys_file() -> Option<PathBuf> {
    folder().map(|folder| folder.join("keys.toml"))
}

/// The keys: those that come with the program, with the person's own over them, and a sentence for
/// each action that lost its keys by that.
///
/// # Errors
/// A sentence with the file and the context, action or key that is not known.
pub fn keymap(file: Option<&Path>) -> Result<(Keymap, Vec<String>), String> {
    let shipped = Keymap::shipped()?;
    let Some(file) = file else { return Ok((shipped, Vec::new())) };
    let told = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
    let source = match std::fs::read_to_string(file) {
        Ok(source) => source,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok((shipped, Vec::new()));
        }
        Err(error) => return Err(told(&error)),
    };
    let (keymap, lost) = shipped.overlaid(&source).map_err(|error| told(&error))?;
    let lost = lost.iter().map(|action| {
        told(&format_args!("`{}` has no key any more; : finds it by name", action.name()))
    });
    Ok((keymap, lost.collect()))
}

/// Where the local deployment keeps its index.
#[must_use]
pub fn local_folder() -> Option<PathBuf> {
    directories::ProjectDirs::from("", "", "tessera").map(|dirs| dirs.data_dir().join("local"))
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
    let dirs = directories::ProjectDirs::from("", "", "tessera")?;
    // Where a system has no folder for state, what would be kept there lies with the local index.
    Some(dirs.state_dir().unwrap_or_else(|| dirs.data_dir()).join(name))
}

/// The folders in which the state of deployments is kept, by their names.
///
/// # Errors
/// The folder that they are in cannot be read.
pub fn state_folders() -> std::io::Result<Vec<PathBuf>> {
    let Some(root) = state_folder("x").and_then(|folder| folder.parent().map(Path::to_owned))
    else {
        return Ok(Vec::new());
    };
    let entries = match std::fs::read_dir(root) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let mut folders = paths.collect::<std::io::Result<Vec<PathBuf>>>()?;
    folders.retain(|path| path.is_dir());
    folders.sort();
    Ok(folders)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x09_layers_override_line_by_line() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        std::fs::write(&file, "[ui]\ntheme = 'light'\ngraphics = 'sixel'\n").unwrap();
        let flags = Overrides { graphics: Some(GraphicsChoice::Half), ..Overrides::default() };
        let settings = Settings::load(Some(&file), flags).unwrap();
        assert_eq!(settings.theme, ThemeChoice::Light);
        assert_eq!(settings.graphics, GraphicsChoice::Half);
        assert!(settings.mouse);
        let absent =
            Settings::load(Some(&folder.path().join("none")), Overrides::default()).unwrap();
        assert_eq!(absent.theme, ThemeChoice::Auto);
    }

    #[test]
    fn p69_an_explicit_off_wins_over_what_is_asked_of_every_program() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        let asked = |accessible| Overrides {
            accessible,
            everywhere_accessible: true,
            ..Overrides::default()
        };
        let reason = |overrides| Settings::load(Some(&file), overrides).unwrap().accessible;
        assert_eq!(reason(Overrides::default()), None);
        assert_eq!(reason(asked(None)), Some("ACCESSIBLE is set"));
        assert_eq!(reason(asked(Some(false))), None);
        std::fs::write(&file, "[ui]\naccessible = false\n").unwrap();
        assert_eq!(reason(asked(None)), None);
        assert!(reason(asked(Some(true))).is_some());
        std::fs::write(&file, "[ui]\naccessible = true\n").unwrap();
        assert_eq!(reason(Overrides::default()), Some("the settings ask for it"));
    }

    #[test]
    fn x09_unknown_names_are_errors_with_their_line() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        std::fs::write(&file, "[ui]\nmouse = true\ncolour = 'red'\n").unwrap();
        let error = Settings::load(Some(&file), Overrides::default()).unwrap_err();
        assert!(error.contains("line 3") && error.contains("colour"), "{error}");
    }
}
