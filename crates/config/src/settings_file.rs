//! Reads a settings file into values with their lines, and reports errors with line and column.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use toml::{Table, Value, de::DeTable};

use super::{key, profile};

/// The table of a project's file with the patterns of its folder.
const FOLDER_TABLE: &str = "folder";

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingOrigin {
    Flag(&'static str),
    Variable(&'static str),
    /// A file and a line number, counted from 1.
    File(PathBuf, usize),
    BuiltIn,
}

impl SettingOrigin {
    /// Creates an error about a value of this origin.
    pub fn error(&self, reason: String) -> ConfigError {
        match self {
            Self::File(path, line) => {
                let position = Some((*line, 1));
                ConfigError { position, ..ConfigError::new(path.display(), reason) }
            }
            Self::Flag(_) | Self::Variable(_) | Self::BuiltIn => ConfigError::new(self, reason),
        }
    }
}

impl fmt::Display for SettingOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => f.write_str(flag),
            Self::Variable(name) => f.write_str(name),
            Self::File(path, line) => write!(f, "{}:{line}", path.display()),
            Self::BuiltIn => f.write_str("shipped"),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    pub value: Value,
    pub origin: SettingOrigin,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The file or the variable that has the error.
    pub location: String,
    /// The line and column, both counted from 1.
    pub position: Option<(usize, usize)>,
    /// What is wrong and what is expected.
    pub reason: String,
}

impl ConfigError {
    /// Creates an error of a file that is not TOML. Only the message is reported, because the whole error quotes the
    /// line, which may contain a secret.
    pub fn of_toml(location: impl fmt::Display, source: &str, error: &toml::de::Error) -> Self {
        let at = error.span().map_or(0, |span| span.start);
        let position = Some(position(source, at));
        Self { position, ..Self::new(location, error.message()) }
    }

    /// Sets the file that has the error.
    #[must_use]
    pub fn in_file(self, path: &Path) -> Self {
        Self { location: path.display().to_string(), ..self }
    }

    /// Creates one error of all mistakes in a file.
    pub fn of_all(location: impl fmt::Display, mistakes: &[String]) -> Self {
        Self::new(location, mistakes.join("; "))
    }

    /// Creates an error without a position.
    pub fn new(location: impl fmt::Display, reason: impl Into<String>) -> Self {
        Self { location: location.to_string(), position: None, reason: reason.into() }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.position {
            Some((line, column)) => {
                write!(f, "{}, line {line}, column {column}: {}", self.location, self.reason)
            }
            None => write!(f, "{}: {}", self.location, self.reason),
        }
    }
}

/// Who provides the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileOwner {
    BuiltIn,
    User,
    /// A file in a working directory that anybody may have filled, so it may set only the keys that
    /// are allowed in projects.
    Project,
}

/// The contents of a file, in line order.
#[derive(Debug, Default)]
pub struct Layer {
    pub values: Vec<(String, Setting)>,
    pub errors: Vec<ConfigError>,
}

impl Layer {
    pub fn read(path: &Path, source: &str, owner: FileOwner) -> Self {
        let mut reader = LayerReader { path, source, owner, layer: Self::default() };
        let (spanned_keys, errors) = DeTable::parse_recoverable(source);
        for error in &errors {
            reader.layer.errors.push(ConfigError::of_toml(path.display(), source, error));
        }
        if errors.is_empty() {
            match toml::from_str::<Table>(source) {
                Ok(values) => reader.read_table("", spanned_keys.get_ref(), &values),
                Err(error) => reader.push_error(0, error.message()),
            }
        }
        reader.layer.values.sort_by_key(|(_, setting)| match setting.origin {
            SettingOrigin::File(_, line) => line,
            SettingOrigin::Flag(_) | SettingOrigin::Variable(_) | SettingOrigin::BuiltIn => 0,
        });
        reader.layer.errors.sort_by_key(|error| error.position);
        reader.layer
    }
}

struct LayerReader<'a> {
    path: &'a Path,
    source: &'a str,
    owner: FileOwner,
    layer: Layer,
}

impl LayerReader<'_> {
    fn push_error(&mut self, byte: usize, reason: impl Into<String>) {
        let position = Some(position(self.source, byte));
        let error = ConfigError { position, ..ConfigError::new(self.path.display(), reason) };
        self.layer.errors.push(error);
    }

    fn read_table(&mut self, parent: &str, spanned_keys: &DeTable, values: &Table) {
        for (spanned_key, inner) in spanned_keys {
            let (key, byte) = (spanned_key.get_ref().as_ref(), spanned_key.span().start);
            let name = if parent.is_empty() { key.to_owned() } else { format!("{parent}.{key}") };
            let Some(value) = values.get(key) else { continue };
            if name == FOLDER_TABLE && self.owner == FileOwner::Project {
                // The patterns of a folder are in the same file, and the service reads them.
                continue;
            }
            let section = is_section(&name);
            match (inner.get_ref().as_table(), value.as_table()) {
                (Some(_), Some(_)) if name == "profiles" && self.owner == FileOwner::Project => {
                    self.push_error(byte, "a project's file cannot define profiles; define them in your key settings file");
                }
                (Some(spanned_keys), Some(values)) if section => {
                    if parent == "profiles"
                        && let Err(reason) = profile::check_name(key)
                    {
                        self.push_error(byte, format!("`{key}`: {reason}"));
                        continue;
                    }
                    self.read_table(&name, spanned_keys, values);
                }
                _ if section => {
                    self.push_error(byte, format!("`{name}` is a section: write [{name}]"));
                }
                _ => self.read_value(name, byte, value),
            }
        }
    }

    fn read_value(&mut self, name: String, byte: usize, value: &Value) {
        let Some(key) = key::find(&name) else {
            let reason = match key::suggest(&name) {
                _ if is_secret(&name) => {
                    format!(
                        "`{name}`: secrets do not belong in this file; remove it and use `tessera auth`"
                    )
                }
                Some(nearest) => {
                    format!("unknown key `{name}`; did you mean `{nearest}`?")
                }
                None => format!("unknown key `{name}`; `tessera config show` lists all keys"),
            };
            return self.push_error(byte, reason);
        };
        if let Some(problem) = key.value_type.problem(value) {
            return self.push_error(byte, format!("`{name}` {problem}"));
        }
        if self.owner == FileOwner::Project && !key.in_projects {
            let reason =
                format!("a project's file cannot set `{name}`; set it in your own settings file");
            return self.push_error(byte, reason);
        }
        let origin = match self.owner {
            FileOwner::BuiltIn => SettingOrigin::BuiltIn,
            FileOwner::User | FileOwner::Project => {
                SettingOrigin::File(self.path.to_owned(), position(self.source, byte).0)
            }
        };
        self.layer.values.push((name, Setting { value: value.clone(), origin }));
    }
}

/// Returns the line and column of a byte.
fn position(source: &str, byte: usize) -> (usize, usize) {
    let before = source.get(..byte).unwrap_or(source);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}

/// Returns whether this name is a section rather than a key.
fn is_section(name: &str) -> bool {
    match name.strip_prefix("profiles") {
        Some("") => true,
        Some(rest) => rest.starts_with('.') && !rest[1..].contains('.'),
        None => key::KEYS.iter().any(|key| key.name.starts_with(&format!("{name}."))),
    }
}

fn is_secret(name: &str) -> bool {
    let last_part = name.rsplit('.').next().unwrap_or(name).to_lowercase();
    last_part == "token"
        || ["secret", "password", "cookie", "session"].iter().any(|word| last_part.contains(word))
}
