//! Defines the settings as typed values, and the types of values that are neither numbers nor texts.

use std::{collections::BTreeMap, mem, path::PathBuf, time::Duration};

use serde::{Deserialize, Deserializer, Serialize};
use tessera_model::{EntityType, ExportFormat, Granularity, polling::PollingIntervals};
use tessera_picture::Protocol;
use toml::Value;

use crate::{
    DeploymentConfig, Layers, Profile, SettingOrigin, Sources, ThemeChoice,
    custom_command::CustomCommand, expand_home, profile::deserialize_duration, text_enum,
};

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Settings {
    pub ui: UiSettings,
    pub search: SearchDefaults,
    pub export: ExportDefaults,
    pub cache: CacheSettings,
    #[serde(with = "PollSettings")]
    pub poll: PollingIntervals,
    pub default_profile: Option<String>,
    /// The folder of the model for local deployments that do not set their own.
    pub model: Option<PathBuf>,
    /// The user's own commands, in the order of the file.
    #[serde(default)]
    pub commands: Vec<CustomCommand>,
    /// The profiles, sorted by name.
    #[serde(default, deserialize_with = "deserialize_profiles")]
    pub profiles: Vec<Profile>,
    /// The reason why the accessible mode is on, if it is.
    #[serde(skip)]
    pub accessible: Option<&'static str>,
    /// The project's file, if there is one.
    #[serde(skip)]
    pub project: Option<PathBuf>,
    #[serde(skip)]
    pub warnings: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct UiSettings {
    pub theme: ThemeChoice,
    pub graphics: GraphicsChoice,
    /// The initial tile size.
    pub tile: TileSize,
    /// The initial arrangement of the tiles.
    pub layout: TileLayout,
    pub mouse: bool,
    pub notify: Vec<NotificationMethod>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct SearchDefaults {
    pub entity: EntityType,
    pub granularity: Granularity,
    /// The path of the text search endpoint for profiles that do not set their own.
    pub text_search_path: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ExportDefaults {
    pub format: ExportFormat,
    pub include_images: bool,
    pub download_dir: String,
    pub auto_download: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct CacheSettings {
    /// The size limit of the cache. 0 turns the cache off.
    pub max_mib: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, clap::ValueEnum)]
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

impl GraphicsChoice {
    /// Returns the forced protocol, or `None` if the terminal is to be queried.
    pub fn protocol(self) -> Option<Protocol> {
        match self {
            Self::Auto => None,
            Self::Half => Some(Protocol::HalfBlock),
            Self::Kitty => Some(Protocol::Kitty),
            Self::Sixel => Some(Protocol::Sixel),
            Self::Iterm => Some(Protocol::Iterm),
            Self::None => Some(Protocol::None),
        }
    }
}

#[derive(Deserialize)]
#[serde(remote = "PollingIntervals")]
struct PollSettings {
    #[serde(deserialize_with = "deserialize_duration")]
    min: Duration,
    #[serde(deserialize_with = "deserialize_duration")]
    max: Duration,
    #[serde(deserialize_with = "deserialize_duration")]
    unfocused: Duration,
}

fn deserialize_profiles<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Profile>, D::Error> {
    let profiles = BTreeMap::<String, Profile>::deserialize(from)?;
    Ok(profiles.into_iter().map(|(name, profile)| Profile { name, ..profile }).collect())
}

impl Settings {
    /// Reads all layers. The error lists every problem, one per line.
    pub fn load(sources: &Sources) -> Result<Self, String> {
        let (layers, errors) = Layers::read(sources);
        if !errors.is_empty() {
            let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
            return Err(lines.join("\n"));
        }
        let settings: Self = layers.table().try_into().map_err(|error: toml::de::Error| {
            format!("the settings are inconsistent: {}", error.message())
        })?;
        Ok(Self {
            accessible: accessible_reason(&layers, sources.accessible_variable),
            project: layers.project,
            warnings: layers.warnings,
            ..settings.with_complete_profiles()
        })
    }

    /// Expands paths. Profiles that do not set a text search endpoint or a model get those of the settings.
    fn with_complete_profiles(mut self) -> Self {
        self.model = self.model.map(expand_home);
        for Profile { deployment, options, .. } in &mut self.profiles {
            if let DeploymentConfig::Local { folder, model } = deployment {
                *folder = expand_home(mem::take(folder));
                *model = model.take().map(expand_home).or_else(|| self.model.clone());
            }
            options.ca_file = options.ca_file.take().map(expand_home);
            if options.text_search_path.is_none() {
                options.text_search_path.clone_from(&self.search.text_search_path);
            }
        }
        self
    }
}

fn accessible_reason(layers: &Layers, accessible_variable: bool) -> Option<&'static str> {
    match layers.get("ui.accessible") {
        Some(setting) if setting.value == Value::Boolean(true) => Some(match setting.origin {
            SettingOrigin::Flag(_) => "--accessible is set",
            SettingOrigin::Variable(_) => "TESSERA_ACCESSIBLE is set",
            SettingOrigin::File(..) | SettingOrigin::BuiltIn => "ui.accessible is set",
        }),
        None if accessible_variable => Some("ACCESSIBLE is set"),
        _ => None,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NotificationMethod {
    Toast,
    Bell,
    /// A desktop notification that the terminal shows.
    Desktop,
    /// Progress in the tab and title of the terminal.
    Progress,
}

impl NotificationMethod {
    pub const ALL: [Self; 4] = [Self::Toast, Self::Bell, Self::Desktop, Self::Progress];
}

text_enum! {
    #[derive(Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum TileSize: as_str {
        Small = "small",
        Medium = "medium",
        Large = "large",
    }
}

text_enum! {
    /// How the tiles of the results are arranged.
    #[derive(Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum TileLayout: as_str {
        /// Tiles of one size.
        Grid = "grid",
        /// Rows of pictures with the same height, whose widths follow from their aspect ratios.
        Mosaic = "mosaic",
    }
}

impl TileLayout {
    pub fn other(self) -> Self {
        match self {
            Self::Grid => Self::Mosaic,
            Self::Mosaic => Self::Grid,
        }
    }
}

impl TileSize {
    /// Returns the width of a tile's picture in columns.
    pub fn columns(self) -> u16 {
        match self {
            Self::Small => 12,
            Self::Medium => 18,
            Self::Large => 28,
        }
    }

    pub fn larger(self) -> Self {
        match self {
            Self::Small => Self::Medium,
            Self::Medium | Self::Large => Self::Large,
        }
    }

    pub fn smaller(self) -> Self {
        match self {
            Self::Large => Self::Medium,
            Self::Medium | Self::Small => Self::Small,
        }
    }
}
