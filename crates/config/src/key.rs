//! Defines all settings: the name, type and scope of each key. To add a setting, add it here, and its default and
//! description to `assets/config.toml`. `assets/config.schema.json` is generated from both, by `tests/config/schema.rs`.

use std::{path::PathBuf, str::FromStr};

use serde::Deserialize;
use tessera_model::{DatasetId, ExportFormat, text::parse_boolean};

use crate::{
    custom_command::CustomCommand,
    paths::{UNKNOWN_HOME, theme_file},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettingKey {
    /// The full name with its sections, or the last part of the name for keys of profiles.
    pub name: &'static str,
    pub value_type: ValueType,
    pub env_variable: Option<&'static str>,
    /// The kinds of profiles that have this key. Empty for keys outside of profiles.
    pub profile_kinds: &'static [&'static str],
    /// Whether a project's file may set the key. Keys are excluded if they choose where a login goes, where text is
    /// sent, or where files are written.
    pub in_projects: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueType {
    Boolean,
    Choice(&'static [&'static str]),
    ChoiceList(&'static [&'static str]),
    /// A built-in theme, or the name of a theme file.
    Theme,
    /// Text that is not empty.
    Text,
    DatasetIds,
    /// A whole number between these bounds, inclusive.
    Integer(i64, i64),
    /// A duration from 1 s to 24 h, written as `90s` or `10m`.
    Duration,
    /// The user's own commands.
    CustomCommands,
}

const fn setting(name: &'static str, value_type: ValueType) -> SettingKey {
    SettingKey { name, value_type, env_variable: None, profile_kinds: &[], in_projects: false }
}

impl SettingKey {
    const fn with_variable(self, name: &'static str) -> Self {
        Self { env_variable: Some(name), ..self }
    }

    const fn of_profiles(self, kinds: &'static [&'static str]) -> Self {
        Self { profile_kinds: kinds, ..self }
    }

    const fn allowed_in_projects(self) -> Self {
        Self { in_projects: true, ..self }
    }
}

pub const KEYS: &[SettingKey] = &[
    setting("schema", ValueType::Integer(1, 1)).allowed_in_projects(),
    setting("default_profile", ValueType::Text),
    setting("model", ValueType::Text).with_variable("TESSERA_MODEL"),
    setting("ui.theme", ValueType::Theme).with_variable("TESSERA_THEME"),
    setting("ui.graphics", ValueType::Choice(&["auto", "half", "kitty", "sixel", "iterm", "none"]))
        .with_variable("TESSERA_GRAPHICS"),
    setting("ui.tile", ValueType::Choice(&["small", "medium", "large"])).allowed_in_projects(),
    setting("ui.layout", ValueType::Choice(&["grid", "mosaic"])).allowed_in_projects(),
    setting("ui.mouse", ValueType::Boolean),
    setting("ui.accessible", ValueType::Boolean).with_variable("TESSERA_ACCESSIBLE"),
    setting("ui.notify", ValueType::ChoiceList(&["toast", "bell", "desktop", "progress"]))
        .with_variable("TESSERA_NOTIFY"),
    setting("search.entity", ValueType::Choice(&["IMAGES", "OBJECTS"])).allowed_in_projects(),
    setting("search.granularity", ValueType::Integer(0, 4)).allowed_in_projects(),
    setting("search.text_search_path", ValueType::Text),
    setting("commands", ValueType::CustomCommands),
    setting("export.format", ValueType::Choice(&EXPORT_FORMATS)).allowed_in_projects(),
    setting("export.include_images", ValueType::Boolean).allowed_in_projects(),
    setting("export.download_dir", ValueType::Text),
    setting("export.auto_download", ValueType::Boolean),
    setting("cache.max_mib", ValueType::Integer(0, 1 << 20)),
    setting("poll.min", ValueType::Duration),
    setting("poll.max", ValueType::Duration),
    setting("poll.unfocused", ValueType::Duration),
];

const EXPORT_FORMATS: [&str; ExportFormat::ALL.len()] = {
    let mut names = [""; ExportFormat::ALL.len()];
    let mut index = 0;
    while index < names.len() {
        names[index] = ExportFormat::ALL[index].as_str();
        index += 1;
    }
    names
};

const ALL_KINDS: &[&str] = &["hosted", "onprem", "local"];
const REMOTE_KINDS: &[&str] = &["hosted", "onprem"];
const HOSTED_ONLY: &[&str] = &["hosted"];
const LOCAL_ONLY: &[&str] = &["local"];

pub const PROFILE_KEYS: &[SettingKey] = &[
    setting("kind", ValueType::Choice(ALL_KINDS)).of_profiles(ALL_KINDS),
    setting("base_url", ValueType::Text).of_profiles(REMOTE_KINDS),
    setting("api_prefix", ValueType::Text).of_profiles(REMOTE_KINDS),
    setting("api_key", ValueType::Text).of_profiles(HOSTED_ONLY),
    setting("token_ttl", ValueType::Duration).of_profiles(HOSTED_ONLY),
    setting("allow_http", ValueType::Boolean).of_profiles(HOSTED_ONLY),
    setting("pipeline_url", ValueType::Text).of_profiles(&["onprem"]),
    setting("folder", ValueType::Text).of_profiles(LOCAL_ONLY),
    setting("model", ValueType::Text).of_profiles(LOCAL_ONLY),
    setting("text_search_path", ValueType::Text).of_profiles(REMOTE_KINDS),
    setting("ca_file", ValueType::Text).of_profiles(REMOTE_KINDS),
    setting("read_only", ValueType::Boolean).of_profiles(ALL_KINDS),
    setting("pinned", ValueType::DatasetIds).of_profiles(ALL_KINDS),
];

/// Finds a key by its full name, such as `ui.theme` or `profiles.NAME.kind`.
pub fn find(name: &str) -> Option<&'static SettingKey> {
    let (keys, table_key) = keys_for(name);
    keys.iter().find(|key| key.name == table_key)
}

/// Returns the key that is most similar to an unknown name, if one is similar enough.
pub fn suggest(name: &str) -> Option<String> {
    let (keys, table_key) = keys_for(name);
    let last = |name: &str| name.rsplit('.').next().unwrap_or(name).to_owned();
    // Only the last parts are compared, because a shared section would make all its keys similar.
    let similarity = |key: &SettingKey| strsim::jaro_winkler(&last(key.name), &last(table_key));
    let best = keys.iter().max_by(|a, b| similarity(a).total_cmp(&similarity(b)))?;
    let before = name.strip_suffix(table_key).unwrap_or_default();
    (similarity(best) > 0.75).then(|| format!("{before}{}", best.name))
}

/// Returns the table that contains a name, and the name within that table.
fn keys_for(name: &str) -> (&'static [SettingKey], &str) {
    let of_profile = name.strip_prefix("profiles.").and_then(|rest| rest.split_once('.'));
    of_profile.map_or((KEYS, name), |(_, table_key)| (PROFILE_KEYS, table_key))
}

impl ValueType {
    pub fn description(self) -> String {
        match self {
            Self::Boolean => "true or false".to_owned(),
            Self::Choice(words) => format!("one of {}", words.join(", ")),
            Self::ChoiceList(words) => format!("a list of {}", words.join(", ")),
            Self::Theme => "auto, dark, light, plain or the NAME of themes/NAME.toml".to_owned(),
            Self::Text => "text".to_owned(),
            Self::DatasetIds => "a list of dataset IDs".to_owned(),
            Self::Integer(low, high) if low == high => low.to_string(),
            Self::Integer(low, high) => format!("a whole number from {low} to {high}"),
            Self::Duration => "a duration from 1s to 24h, such as 90s or 10m".to_owned(),
            Self::CustomCommands => "tables [[commands]] with name and run".to_owned(),
        }
    }

    /// Returns what is wrong with a value.
    pub fn problem(self, value: &toml::Value) -> Option<String> {
        match self {
            Self::CustomCommands => CustomCommand::read_all(value).err(),
            _ => (!self.accepts(value)).then(|| format!("must be {}", self.description())),
        }
    }

    fn accepts(self, value: &toml::Value) -> bool {
        match self {
            Self::Boolean => value.is_bool(),
            Self::Choice(words) => value.as_str().is_some_and(|word| words.contains(&word)),
            Self::ChoiceList(words) => value.as_array().is_some_and(|values| {
                values.iter().all(|value| value.as_str().is_some_and(|word| words.contains(&word)))
            }),
            Self::Theme => value.as_str().is_some_and(|word| word.parse::<ThemeChoice>().is_ok()),
            Self::Text => value.as_str().is_some_and(|text| !text.trim().is_empty()),
            Self::DatasetIds => value.as_array().is_some_and(|values| {
                let is_id = |id: &str| id.parse::<DatasetId>().is_ok();
                values.iter().all(|value| value.as_str().is_some_and(is_id))
            }),
            Self::Integer(low, high) => {
                value.as_integer().is_some_and(|number| (low..=high).contains(&number))
            }
            Self::Duration => {
                let time = value.as_str().and_then(|text| humantime::parse_duration(text).ok());
                time.is_some_and(|time| (1..=86_400).contains(&time.as_secs()))
            }
            Self::CustomCommands => CustomCommand::read_all(value).is_ok(),
        }
    }

    /// Parses a value from the command line or the environment.
    pub fn parse(self, word: &str) -> Option<toml::Value> {
        let list = || word.split(',').map(str::trim).filter(|word| !word.is_empty());
        let value = match self {
            Self::Boolean => toml::Value::Boolean(parse_boolean(word)?),
            Self::Integer(..) => toml::Value::Integer(word.trim().parse().ok()?),
            Self::ChoiceList(_) | Self::DatasetIds => {
                list().map(|word| toml::Value::from(word.to_owned())).collect::<Vec<_>>().into()
            }
            Self::Choice(words) => {
                let known = words.iter().find(|known| known.eq_ignore_ascii_case(word.trim()));
                toml::Value::from(known.map_or(word, |known| *known).to_owned())
            }
            Self::Theme | Self::Text | Self::Duration => toml::Value::from(word.to_owned()),
            // Commands are written into the file.
            Self::CustomCommands => return None,
        };
        self.accepts(&value).then_some(value)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum ThemeChoice {
    /// The theme follows `NO_COLOR` and the terminal's background.
    Auto,
    Dark,
    Light,
    /// A theme without color.
    Plain,
    /// The theme in `themes/NAME.toml` of the configuration folder.
    Named(String),
}

impl ThemeChoice {
    pub fn as_str(&self) -> &str {
        match self {
            Self::Auto => "auto",
            Self::Dark => "dark",
            Self::Light => "light",
            Self::Plain => "plain",
            Self::Named(name) => name,
        }
    }

    /// Returns the file of a named theme.
    ///
    /// # Errors
    ///
    /// The home folder is unknown, or there is no such file.
    pub fn file(&self) -> Result<Option<PathBuf>, String> {
        let Self::Named(name) = self else { return Ok(None) };
        let path = theme_file(name).ok_or(UNKNOWN_HOME)?;
        if path.exists() {
            return Ok(Some(path));
        }
        let path = path.display();
        Err(format!("there is no theme {path}; write it, or choose auto, dark, light or plain"))
    }

    /// Returns all themes: those of the program, then the user's own.
    pub fn all(user_themes: &[Self]) -> impl Iterator<Item = Self> {
        [Self::Auto, Self::Dark, Self::Light, Self::Plain]
            .into_iter()
            .chain(user_themes.iter().cloned())
    }

    /// Returns the next theme in the cycle of all themes, without the one that this terminal makes unreadable.
    #[must_use]
    pub fn next(&self, user_themes: &[Self], unreadable: Option<&Self>) -> Self {
        let mut following = Self::all(user_themes).skip_while(|theme| theme != self).skip(1);
        following.find(|theme| Some(theme) != unreadable).unwrap_or(Self::Auto)
    }
}

impl FromStr for ThemeChoice {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let is_name = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        match word {
            "auto" => Ok(Self::Auto),
            "dark" => Ok(Self::Dark),
            "light" => Ok(Self::Light),
            "plain" => Ok(Self::Plain),
            name if !name.is_empty() && name.chars().all(is_name) => Ok(Self::Named(name.into())),
            _ => Err("a theme is auto, dark, light, plain or the NAME of themes/NAME.toml".into()),
        }
    }
}

impl TryFrom<String> for ThemeChoice {
    type Error = String;

    fn try_from(word: String) -> Result<Self, String> {
        word.parse()
    }
}
