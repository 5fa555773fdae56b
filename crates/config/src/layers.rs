//! Merges the layers of settings: options, environment, the project's file, the user's file, and
//! the defaults. Each value keeps its origin and the values it overrides.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    io,
    path::{Path, PathBuf},
};

use tessera_wire::text_encoding::{read_text, to_text};
use toml::{Table, Value};

use crate::custom_command::CustomCommand;

use super::{
    DEFAULT_CONFIG,
    key::{KEYS, PROFILE_KEYS},
    settings_file::{ConfigError, FileOwner, Layer, Setting, SettingOrigin},
};

pub const PROJECT_FILE: &str = ".tessera.toml";
/// The maximum size of the file, which may come from someone else.
const MAX_PROJECT_BYTES: u64 = 64 << 10;

#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// The key, the option that sets it, and the value.
    pub flags: Vec<(&'static str, &'static str, Value)>,
    pub variables: BTreeMap<&'static str, OsString>,
    pub project: Option<PathBuf>,
    /// The user's file.
    pub user: Option<PathBuf>,
    /// Whether the user's file must exist, because it was named. The defaults would hide that its name is wrong.
    pub user_is_required: bool,
    /// Whether `ACCESSIBLE` is set, a variable that many programs honor.
    pub accessible_variable: bool,
}

impl Sources {
    /// Collects the variables of this process and the project of the working directory.
    pub fn from_environment(
        flags: Vec<(&'static str, &'static str, Value)>,
        user: Option<PathBuf>,
    ) -> Self {
        let set = |name: &'static str| {
            let is_blank = |value: &OsString| value.to_str().is_some_and(|it| it.trim().is_empty());
            Some((name, std::env::var_os(name).filter(|value| !is_blank(value))?))
        };
        let variables = KEYS.iter().filter_map(|key| key.env_variable.and_then(set)).collect();
        let project = std::env::current_dir().ok().and_then(|folder| project_file(&folder));
        // If the home folder is also the project, its file must be read only once.
        let project = project.filter(|project| user.as_deref() != Some(project));
        let is_set = |value: OsString| !value.is_empty() && value != "0";
        let accessible_variable = std::env::var_os("ACCESSIBLE").is_some_and(is_set);
        Self { flags, variables, project, user, user_is_required: false, accessible_variable }
    }
}

/// Returns the nearest project file in this folder or above it.
pub fn project_file(folder: &Path) -> Option<PathBuf> {
    folder.ancestors().map(|folder| folder.join(PROJECT_FILE)).find(|file| file.is_file())
}

fn unreadable_user_file(path: &Path, error: &io::Error) -> ConfigError {
    let remedy = match error.kind() {
        io::ErrorKind::PermissionDenied => {
            "; set HOME or XDG_CONFIG_HOME to a folder of your own, or name a settings file with --config FILE"
        }
        _ => "",
    };
    ConfigError::new(path.display(), format!("{error}{remedy}"))
}

#[derive(Clone, Debug, Default)]
pub struct Layers {
    /// The values by full key name. The effective value comes first, followed by those it
    /// overrides.
    settings: BTreeMap<String, Vec<Setting>>,
    /// The project's file, if it was read.
    pub project: Option<PathBuf>,
    pub warnings: Vec<String>,
}

impl Layers {
    /// Reads all layers. Invalid values are skipped and reported.
    pub fn read(sources: &Sources) -> (Self, Vec<ConfigError>) {
        let mut layers = Self::default();
        let mut errors = Vec::new();
        for (name, flag, value) in &sources.flags {
            layers.add(name, Setting { value: value.clone(), origin: SettingOrigin::Flag(flag) });
        }
        for (key, variable) in KEYS.iter().filter_map(|key| Some((key, key.env_variable?))) {
            let Some(word) = sources.variables.get(variable) else { continue };
            let origin = SettingOrigin::Variable(variable);
            // A word that is not Unicode is not a value of any type.
            match word.to_str().and_then(|word| key.value_type.parse(word.trim())) {
                Some(value) => layers.add(key.name, Setting { value, origin }),
                None => {
                    errors.push(origin.error(format!("must be {}", key.value_type.description())));
                }
            }
        }
        if let Some(path) = &sources.project {
            let own = tessera_files::read_if_own(path, MAX_PROJECT_BYTES);
            match own.and_then(|bytes| bytes.as_deref().map(to_text).transpose()) {
                Ok(Some(source)) => {
                    layers.add_layer(Layer::read(path, &source, FileOwner::Project), &mut errors);
                    layers.project = Some(path.clone());
                }
                // Any user can put a project file into a shared parent folder such as /tmp.
                Ok(None) => layers
                    .warnings
                    .push(format!("ignoring {}: it belongs to another user", path.display())),
                Err(error) => errors.push(ConfigError::new(path.display(), error.to_string())),
            }
        }
        if let Some(path) = &sources.user {
            match tessera_files::if_exists(read_text(path)) {
                Ok(None) if sources.user_is_required => {
                    let reason = "the file does not exist; correct --config or TESSERA_CONFIG, or create the file with \
                                  `tessera init`";
                    errors.push(ConfigError::new(path.display(), reason));
                }
                Ok(source) => {
                    let source = source.unwrap_or_default();
                    layers.add_layer(Layer::read(path, &source, FileOwner::User), &mut errors);
                }
                Err(error) => errors.push(unreadable_user_file(path, &error)),
            }
        }
        layers.add_layer(built_in_layer(), &mut errors);
        // Values are checked against each other only if each one is valid by itself.
        if errors.is_empty() {
            errors = layers.inconsistencies();
        }
        (layers, errors)
    }

    /// Returns the user's own commands.
    pub fn custom_commands(&self) -> Vec<CustomCommand> {
        let setting = self.get("commands");
        setting.and_then(|it| CustomCommand::read_all(&it.value).ok()).unwrap_or_default()
    }

    /// Returns the errors that the user's file would have with this content.
    pub fn check(file: &Path, source: &str) -> Vec<ConfigError> {
        let (mut layers, mut errors) = (Self::default(), Vec::new());
        layers.add_layer(Layer::read(file, source, FileOwner::User), &mut errors);
        layers.add_layer(built_in_layer(), &mut errors);
        if errors.is_empty() { layers.inconsistencies() } else { errors }
    }

    fn add_layer(&mut self, layer: Layer, errors: &mut Vec<ConfigError>) {
        errors.extend(layer.errors);
        for (name, setting) in layer.values {
            self.add(&name, setting);
        }
    }

    fn add(&mut self, name: &str, setting: Setting) {
        self.settings.entry(name.to_owned()).or_default().push(setting);
    }

    pub fn get(&self, name: &str) -> Option<&Setting> {
        self.settings.get(name)?.first()
    }

    /// Returns every key with its values: settings in the order of their table, then profiles by
    /// name.
    pub fn all(&self) -> impl Iterator<Item = (&str, &[Setting])> {
        let position = |name: &str| KEYS.iter().position(|key| key.name == name);
        let mut all: Vec<(&str, &[Setting])> = self
            .settings
            .iter()
            .map(|(name, setting)| (name.as_str(), setting.as_slice()))
            .collect();
        all.sort_by_key(|(name, _)| position(name).unwrap_or(KEYS.len()));
        all.into_iter()
    }

    pub fn profiles(&self) -> BTreeSet<&str> {
        let keys = self.settings.keys().filter_map(|key| key.strip_prefix("profiles."));
        keys.filter_map(|key| Some(key.split_once('.')?.0)).collect()
    }

    /// Returns the effective values as a table with sections.
    pub fn table(&self) -> Table {
        let mut whole = Table::new();
        for (name, setting) in &self.settings {
            let Some(first) = setting.first() else { continue };
            let mut table = &mut whole;
            let mut parts = name.split('.').peekable();
            while let Some(part) = parts.next() {
                if parts.peek().is_none() {
                    table.insert(part.to_owned(), first.value.clone());
                } else if let Value::Table(inner) =
                    table.entry(part).or_insert_with(|| Value::Table(Table::new()))
                {
                    table = inner;
                } else {
                    break;
                }
            }
        }
        whole
    }

    /// Finds values that are valid alone but not together.
    fn inconsistencies(&self) -> Vec<ConfigError> {
        let mut errors = Vec::new();
        let profiles = self.profiles();
        if let Some(setting) = self.get("default_profile")
            && let Some(name) = setting.value.as_str().filter(|name| !profiles.contains(name))
        {
            let known = profiles.iter().copied().collect::<Vec<_>>().join(", ");
            let known = if known.is_empty() { "none" } else { &known };
            errors.push(setting.origin.error(format!(
                "default_profile is `{name}`, which does not exist; profiles: {known}"
            )));
        }
        if let (Some(min), Some(max)) = (self.get("poll.min"), self.get("poll.max")) {
            let time = |setting: &Setting| {
                setting.value.as_str().and_then(|text| humantime::parse_duration(text).ok())
            };
            if time(min) > time(max) {
                let nearer = if min.origin == SettingOrigin::BuiltIn { max } else { min };
                errors.push(nearer.origin.error("poll.min is more than poll.max".to_owned()));
            }
        }
        for name in profiles {
            self.check_profile(name, &mut errors);
        }
        errors
    }

    fn check_profile(&self, name: &str, errors: &mut Vec<ConfigError>) {
        let of = |key: &str| self.get(&format!("profiles.{name}.{key}"));
        let kind = of("kind").and_then(|setting| setting.value.as_str());
        let present = || PROFILE_KEYS.iter().filter_map(|key| Some((key, of(key.name)?)));
        let Some((_, first)) = present().next() else { return };
        let Some(kind) = kind else {
            let reason = format!("profile `{name}` has no kind: set hosted, onprem or local");
            return errors.push(first.origin.error(reason));
        };
        let needed = if kind == "local" { "folder" } else { "base_url" };
        if of(needed).is_none() {
            let reason = format!("profile `{name}` is {kind} and needs {needed}");
            errors.push(first.origin.error(reason));
        }
        for (key, setting) in present().filter(|(key, _)| !key.profile_kinds.contains(&kind)) {
            let reason = format!(
                "`{}` is only for {} profiles; profile `{name}` is {kind}",
                key.name,
                key.profile_kinds.join(" and ")
            );
            errors.push(setting.origin.error(reason));
        }
    }
}

fn built_in_layer() -> Layer {
    Layer::read(Path::new("assets/config.toml"), DEFAULT_CONFIG, FileOwner::BuiltIn)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_settings_file_of_another_user_names_the_variables_of_its_folder() {
        let file = Path::new("/root/.config/tessera/config.toml");
        let error = unreadable_user_file(file, &io::ErrorKind::PermissionDenied.into()).to_string();
        for part in ["/root/.config", "HOME", "XDG_CONFIG_HOME", "--config FILE"] {
            assert!(error.contains(part), "{error}");
        }
        let error = unreadable_user_file(file, &io::ErrorKind::IsADirectory.into()).to_string();
        assert!(!error.contains("HOME"), "{error}");
    }
}
