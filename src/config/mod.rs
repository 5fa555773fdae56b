//! Settings in layers: options over the environment over the project's file over the user's file
//! over `assets/config.toml`, which is the documentation at the same time.

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

/// The file that comes with the program.
pub const DEFAULT_CONFIG: &str = include_str!("../../assets/config.toml");

/// All settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How it looks.
    pub theme: ThemeChoice,
    /// How pictures are drawn.
    pub graphics: GraphicsChoice,
    /// How large the tiles are at first.
    pub tile: TileSize,
    /// Whether the mouse is ours.
    pub mouse: bool,
    /// Why the accessible mode is on, if it is.
    pub accessible: Option<&'static str>,
    /// How the end of a job is told.
    pub notify: Vec<NotificationMethod>,
    /// What a search asks for until something else is chosen.
    pub search: SearchDefaults,
    /// What an export is until something else is chosen.
    pub export: ExportDefaults,
    /// How often is asked for what changes by itself.
    pub poll: PollingIntervals,
    /// The profile that is opened when none is named.
    pub default_profile: Option<String>,
    /// The deployments that have a name, in the order of their names.
    pub profiles: Vec<Profile>,
    /// The project's file, if one is in use.
    pub project: Option<PathBuf>,
}

/// What a search asks for until something else is chosen.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct SearchDefaults {
    /// What the members of clusters are.
    #[serde(deserialize_with = "entity")]
    pub entity: EntityType,
    /// How coarse the clusters are.
    #[serde(deserialize_with = "granularity")]
    pub granularity: Granularity,
    /// Where text searches are answered, for profiles that do not say it themselves.
    pub text_search_path: Option<String>,
}

/// What an export is until something else is chosen.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ExportDefaults {
    /// Format of the metadata.
    #[serde(deserialize_with = "format")]
    pub format: ExportFormat,
    /// With pictures or without.
    pub include_images: bool,
    /// The folder that archives are downloaded to.
    pub download_dir: String,
    /// Whether an archive is downloaded as soon as it is ready.
    pub auto_download: bool,
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

/// The values that hold, of all layers.
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

/// A value that another type reads from a word.
fn read<'de, D: serde::Deserializer<'de>, T>(
    from: D,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<T, D::Error> {
    let word = String::deserialize(from)?;
    parse(&word).ok_or_else(|| serde::de::Error::custom(format_args!("`{word}` does not fit")))
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
    /// Reads the layers.
    ///
    /// # Errors
    /// All that is wrong, a sentence a line, each with the file, the line and what would be right.
    pub fn load(sources: &Sources) -> Result<Self, String> {
        let (layers, mistakes) = Layers::read(sources);
        if !mistakes.is_empty() {
            let told: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
            return Err(told.join("\n"));
        }
        Self::from_layers(&layers, sources.accessible_variable)
    }

    /// The settings of layers without mistakes.
    fn from_layers(layers: &Layers, everywhere: bool) -> Result<Self, String> {
        let whole: RawSettings = layers.table().try_into().map_err(|error: toml::de::Error| {
            format!("the settings do not go together: {}", error.message())
        })?;
        let accessible = match (whole.ui.accessible, layers.get("ui.accessible")) {
            (Some(true), Some(given)) => Some(match given.origin {
                SettingOrigin::Flag(_) => "--accessible asks for it",
                SettingOrigin::Variable(_) => "TESSERA_ACCESSIBLE asks for it",
                SettingOrigin::File(..) | SettingOrigin::BuiltIn => "the settings ask for it",
            }),
            (None, _) if everywhere => Some("ACCESSIBLE is set"),
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
    /// The profile of this name; `text_search` is the path of those that do not say their own.
    fn into_profile(self, name: String, text_search: Option<&str>) -> Profile {
        let place = match self.deployment {
            DeploymentConfig::Local { folder } => {
                DeploymentConfig::Local { folder: expand_home(folder) }
            }
            elsewhere => elsewhere,
        };
        let mut manner = self.options;
        manner.ca_file = manner.ca_file.map(expand_home);
        manner.text_search_path =
            manner.text_search_path.or_else(|| text_search.map(str::to_owned));
        Profile { name, deployment: place, options: manner }
    }
}

/// A path of a settings file, where `~/` is the home folder.
pub fn expand_home(path: PathBuf) -> PathBuf {
    match (path.strip_prefix("~"), std::env::home_dir()) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path,
    }
}

/// The keys: those that come with the program, with the person's own over them, and a sentence for
/// each action that lost its keys by that.
///
/// # Errors
/// A sentence with the file and the context, action or key that is not known.
pub fn load_keymap(file: Option<&Path>) -> Result<(Keymap, Vec<String>), String> {
    let shipped = Keymap::built_in()?;
    let Some(file) = file else { return Ok((shipped, Vec::new())) };
    let told = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
    let source = match std::fs::read_to_string(file) {
        Ok(source) => source,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok((shipped, Vec::new()));
        }
        Err(error) => return Err(told(&error)),
    };
    let (keymap, lost) = shipped.with_overrides(&source).map_err(|error| told(&error))?;
    let lost = lost.iter().map(|action| {
        told(&format_args!("`{}` has no key any more; : finds it by name", action.name()))
    });
    Ok((keymap, lost.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(
        source: &str,
        flags: Vec<(&'static str, &'static str, toml::Value)>,
        everywhere: bool,
    ) -> Result<Settings, String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        std::fs::write(&file, source).unwrap();
        let user = Some(file);
        let sources =
            Sources { flags, user, accessible_variable: everywhere, ..Sources::default() };
        Settings::load(&sources)
    }

    #[test]
    fn layers_override_line_by_line() {
        let flag = ("ui.graphics", "--graphics", "half".into());
        let settings =
            load("[ui]\ntheme = 'light'\ngraphics = 'sixel'\n", vec![flag], false).unwrap();
        assert_eq!(settings.theme, ThemeChoice::Light);
        assert_eq!(settings.graphics, GraphicsChoice::Half);
        assert!(settings.mouse);
        assert_eq!(settings.tile, TileSize::Medium);
        assert_eq!(load("[ui]\ntile = 'large'\n", vec![], false).unwrap().tile, TileSize::Large);
        let absent = Sources { user: Some("/no/such/config.toml".into()), ..Sources::default() };
        assert_eq!(Settings::load(&absent).unwrap().theme, ThemeChoice::Auto);
    }

    #[test]
    fn an_explicit_off_wins_over_what_is_asked_of_every_program() {
        let flag = |value: bool| vec![("ui.accessible", "--accessible", value.into())];
        let reason =
            |source, flags, everywhere| load(source, flags, everywhere).unwrap().accessible;
        assert_eq!(reason("", vec![], false), None);
        assert_eq!(reason("", vec![], true), Some("ACCESSIBLE is set"));
        assert_eq!(reason("", flag(false), true), None);
        assert_eq!(reason("[ui]\naccessible = false\n", vec![], true), None);
        let over = reason("[ui]\naccessible = false\n", flag(true), true);
        assert_eq!(over, Some("--accessible asks for it"));
        let own = reason("[ui]\naccessible = true\n", vec![], false);
        assert_eq!(own, Some("the settings ask for it"));
    }

    #[test]
    fn unknown_names_are_errors_with_their_line() {
        let error = load("[ui]\nmouse = true\ncolour = 'red'\n", vec![], false).unwrap_err();
        assert!(error.contains("line 3") && error.contains("colour"), "{error}");
    }

    #[test]
    fn every_value_that_fits_is_understood() {
        let source = "default_profile = 'a'\n[search]\nentity = 'OBJECTS'\ngranularity = 4\n\
            [export]\nformat = 'json'\n[poll]\nmin = '2s'\n[ui]\nnotify = []\n\
            [profiles.a]\nkind = 'hosted'\nbase_url = 'https://u'\ntoken_ttl = '10m'\n\
            ca_file = '~/ca.pem'\nread_only = true\npinned = ['95233006-eddc-11ef-b303-76dbc3993eb2']\n";
        let settings = load(source, vec![], false).unwrap();
        assert_eq!(settings.search.entity, EntityType::Objects);
        assert_eq!(settings.search.granularity.level(), 4);
        assert_eq!(settings.export.format, ExportFormat::Json);
        assert_eq!(settings.poll.min, Duration::from_secs(2));
        let manner = &settings.profiles[0].options;
        assert_eq!(manner.token_ttl, Some(Duration::from_mins(10)));
        assert!(manner.read_only && !manner.allow_http && manner.pinned.len() == 1);
        assert!(!manner.ca_file.as_ref().unwrap().starts_with("~"));
        for key in key::KEYS {
            let (key::ValueType::Choice(words) | key::ValueType::ChoiceList(words)) =
                key.value_type
            else {
                continue;
            };
            let (section, name) = key.name.split_once('.').unwrap();
            for word in words {
                let list = matches!(key.value_type, key::ValueType::ChoiceList(_));
                let value = if list { format!("['{word}']") } else { format!("'{word}'") };
                load(&format!("[{section}]\n{name} = {value}\n"), vec![], false).unwrap();
            }
        }
    }
}
