//! Layered settings: options, then the environment, the project's file, the user's file, and the
//! defaults in `assets/config.toml`, which also documents them.

pub mod edit;
pub mod file;
pub mod key;
pub mod layer;
pub mod layers;
mod notify;
mod paths;
pub mod profile;
pub mod schema;
mod theme;
mod tile;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};

pub use layer::SettingOrigin;
pub use layers::{Layers, Sources};
pub use notify::{DesktopProtocol, NotificationMethod};
pub use paths::{
    config_dir, keymap_file, local_data_dir, state_dir, state_dirs, terminal_graphics_file,
    theme_file, themes_dir, user_config_file,
};
pub use profile::{DeploymentConfig, Destination, Profile, ProfileOptions};
use serde::Deserialize;
pub use theme::ThemeChoice;
pub use tile::TileSize;

use crate::input::Keymap;
use tessera_model::{EntityType, ExportFormat, Granularity, polling::PollingIntervals};

/// The default settings file.
pub const DEFAULT_CONFIG: &str = include_str!("../../assets/config.toml");

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    pub theme: ThemeChoice,
    pub graphics: GraphicsChoice,
    /// The initial tile size.
    pub tile: TileSize,
    pub mouse: bool,
    /// The reason why the accessible mode is on.
    pub accessible: Option<&'static str>,
    pub notify: Vec<NotificationMethod>,
    pub search: SearchDefaults,
    pub export: ExportDefaults,
    pub poll: PollingIntervals,
    pub default_profile: Option<String>,
    /// By name.
    pub profiles: Vec<Profile>,
    /// The project's file, if there is one.
    pub project: Option<PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct SearchDefaults {
    #[serde(deserialize_with = "entity")]
    pub entity: EntityType,
    #[serde(deserialize_with = "granularity")]
    pub granularity: Granularity,
    /// The text search endpoint of profiles that do not set their own.
    pub text_search_path: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ExportDefaults {
    #[serde(deserialize_with = "format")]
    pub format: ExportFormat,
    pub include_images: bool,
    pub download_dir: String,
    pub auto_download: bool,
}

/// The graphics setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, serde::Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum GraphicsChoice {
    /// Use what the terminal reports.
    Auto,
    /// Two pixels per cell.
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

#[derive(Deserialize)]
struct RawSettings {
    default_profile: Option<String>,
    #[serde(default)]
    profiles: BTreeMap<String, RawProfile>,
    ui: RawUi,
    search: SearchDefaults,
    export: ExportDefaults,
    poll: RawPoll,
}

#[derive(Deserialize)]
struct RawUi {
    theme: ThemeChoice,
    graphics: GraphicsChoice,
    tile: TileSize,
    mouse: bool,
    accessible: Option<bool>,
    notify: Vec<NotificationMethod>,
}

#[derive(Deserialize)]
struct RawProfile {
    #[serde(flatten)]
    deployment: DeploymentConfig,
    #[serde(flatten)]
    options: ProfileOptions,
}

#[derive(Deserialize)]
struct RawPoll {
    #[serde(deserialize_with = "time")]
    min: Duration,
    #[serde(deserialize_with = "time")]
    max: Duration,
    #[serde(deserialize_with = "time")]
    unfocused: Duration,
}

fn read<'de, D: serde::Deserializer<'de>, T>(
    from: D,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<T, D::Error> {
    let word = String::deserialize(from)?;
    parse(&word).ok_or_else(|| serde::de::Error::custom(format_args!("invalid value `{word}`")))
}

fn entity<'de, D: serde::Deserializer<'de>>(from: D) -> Result<EntityType, D::Error> {
    read(from, EntityType::parse)
}

fn format<'de, D: serde::Deserializer<'de>>(from: D) -> Result<ExportFormat, D::Error> {
    read(from, ExportFormat::parse)
}

fn time<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    read(from, |word| humantime::parse_duration(word).ok())
}

fn granularity<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Granularity, D::Error> {
    let level = u8::deserialize(from)?;
    Granularity::new(level).ok_or_else(|| serde::de::Error::custom("0 to 4"))
}

impl Settings {
    /// Reads all layers. The error lists every problem, one per line.
    pub fn load(sources: &Sources) -> Result<Self, String> {
        let (layers, errors) = Layers::read(sources);
        if !errors.is_empty() {
            let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
            return Err(lines.join("\n"));
        }
        Self::from_layers(&layers, sources.accessible_variable)
    }

    fn from_layers(layers: &Layers, accessible_variable: bool) -> Result<Self, String> {
        let whole: RawSettings = layers.table().try_into().map_err(|error: toml::de::Error| {
            format!("the settings are inconsistent: {}", error.message())
        })?;
        let accessible = match (whole.ui.accessible, layers.get("ui.accessible")) {
            (Some(true), Some(setting)) => Some(match setting.origin {
                SettingOrigin::Flag(_) => "--accessible is set",
                SettingOrigin::Variable(_) => "TESSERA_ACCESSIBLE is set",
                SettingOrigin::File(..) | SettingOrigin::BuiltIn => "ui.accessible is set",
            }),
            (None, _) if accessible_variable => Some("ACCESSIBLE is set"),
            _ => None,
        };
        let text_search = &whole.search.text_search_path;
        let profiles = whole.profiles.into_iter();
        let profiles = profiles
            .map(|(name, named)| named.into_profile(name, text_search.as_deref()))
            .collect();
        Ok(Self {
            theme: whole.ui.theme,
            graphics: whole.ui.graphics,
            tile: whole.ui.tile,
            mouse: whole.ui.mouse,
            accessible,
            notify: whole.ui.notify,
            search: whole.search,
            export: whole.export,
            poll: PollingIntervals {
                min: whole.poll.min,
                max: whole.poll.max,
                unfocused: whole.poll.unfocused,
            },
            default_profile: whole.default_profile,
            profiles,
            project: layers.project.clone(),
        })
    }
}

impl RawProfile {
    /// Names the profile; `text_search` applies if it does not set its own.
    fn into_profile(self, name: String, text_search: Option<&str>) -> Profile {
        let deployment = match self.deployment {
            DeploymentConfig::Local { folder } => {
                DeploymentConfig::Local { folder: expand_home(folder) }
            }
            remote => remote,
        };
        let mut options = self.options;
        options.ca_file = options.ca_file.map(expand_home);
        options.text_search_path =
            options.text_search_path.or_else(|| text_search.map(str::to_owned));
        Profile { name, deployment, options }
    }
}

/// Expands `~/` in a path of a settings file.
pub fn expand_home(path: PathBuf) -> PathBuf {
    match (path.strip_prefix("~"), std::env::home_dir()) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path,
    }
}

/// The default keymap with the user's keys over it, and a warning for each action without keys.
pub fn load_keymap(file: Option<&Path>) -> Result<(Keymap, Vec<String>), String> {
    let shipped = Keymap::built_in()?;
    let Some(file) = file else { return Ok((shipped, Vec::new())) };
    let describe = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
    let source = match std::fs::read_to_string(file) {
        Ok(source) => source,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok((shipped, Vec::new()));
        }
        Err(error) => return Err(describe(&error)),
    };
    let (keymap, lost) = shipped.with_overrides(&source).map_err(|error| describe(&error))?;
    let lost = lost.iter().map(|action| {
        describe(&format_args!("`{}` has no key; press : to find it by name", action.name()))
    });
    Ok((keymap, lost.collect()))
}
