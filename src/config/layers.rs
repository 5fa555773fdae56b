//! All layers of settings over one another: options, the environment, the project's file, the
//! person's file, and the file that comes with the program. Each value remembers where it is from,
//! and what it hides.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
};

use toml::{Table, Value};

use super::{
    DEFAULT_CONFIG,
    key::{KEYS, PROFILE_KEYS},
    layer::{ConfigError, FileOwner, Layer, Setting, SettingOrigin},
};

/// The name of a project's file.
pub const PROJECT_FILE: &str = ".tessera.toml";

/// Where layers are read from.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// What options say: the name of the key, the option, the value.
    pub flags: Vec<(&'static str, &'static str, Value)>,
    /// The variables of the environment that settings know.
    pub variables: BTreeMap<&'static str, String>,
    /// The project's file.
    pub project: Option<PathBuf>,
    /// The person's file. A missing one is no mistake.
    pub user: Option<PathBuf>,
    /// Whether `ACCESSIBLE` is set, by which a person asks every program.
    pub accessible_variable: bool,
}

impl Sources {
    /// The variables of this process, and the project of the working directory.
    pub fn from_environment(
        flags: Vec<(&'static str, &'static str, Value)>,
        user: Option<PathBuf>,
    ) -> Self {
        let set = |name: &'static str| {
            let value = std::env::var(name).ok().filter(|value| !value.trim().is_empty())?;
            Some((name, value))
        };
        let variables = KEYS.iter().filter_map(|key| key.env_variable.and_then(set)).collect();
        let project = std::env::current_dir().ok().and_then(|folder| project_file(&folder));
        // A home may be the person's project, too: its file is read once.
        let project = project.filter(|project| user.as_deref() != Some(project));
        let asks = |value: std::ffi::OsString| !value.is_empty() && value != "0";
        let accessible_variable = std::env::var_os("ACCESSIBLE").is_some_and(asks);
        Self { flags, variables, project, user, accessible_variable }
    }
}

/// The project's file of a folder: in it, or in the nearest one above that has one.
pub fn project_file(folder: &Path) -> Option<PathBuf> {
    folder.ancestors().map(|folder| folder.join(PROJECT_FILE)).find(|file| file.is_file())
}

/// All values there are.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    /// By the full name of the key; the one that holds first, then what it hides.
    settings: BTreeMap<String, Vec<Setting>>,
    /// The project's file, if there is one.
    pub project: Option<PathBuf>,
}

impl Layers {
    /// Reads all layers, and tells all that is wrong with them. What is wrong is left out.
    pub fn read(sources: &Sources) -> (Self, Vec<ConfigError>) {
        let mut layers = Self { project: sources.project.clone(), ..Self::default() };
        let mut mistakes = Vec::new();
        for (name, flag, value) in &sources.flags {
            layers.add(name, Setting { value: value.clone(), origin: SettingOrigin::Flag(flag) });
        }
        for key in KEYS {
            let Some((name, word)) = key
                .env_variable
                .and_then(|name| sources.variables.get(name).map(|word| (name, word)))
            else {
                continue;
            };
            match key.value_type.parse(word) {
                Some(value) => {
                    layers.add(key.name, Setting { value, origin: SettingOrigin::Variable(name) });
                }
                None => mistakes.push(ConfigError {
                    location: name.to_owned(),
                    position: None,
                    reason: format!("must be {}", key.value_type.description()),
                }),
            }
        }
        for (file, owner) in
            [(&sources.project, FileOwner::Project), (&sources.user, FileOwner::User)]
        {
            let Some(path) = file else { continue };
            match fs::read_to_string(path) {
                Ok(source) => layers.add_layer(Layer::read(path, &source, owner), &mut mistakes),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => mistakes.push(ConfigError {
                    location: path.display().to_string(),
                    position: None,
                    reason: error.to_string(),
                }),
            }
        }
        layers.add_layer(built_in_layer(), &mut mistakes);
        // What does not fit together is only sought where each value is good by itself.
        if mistakes.is_empty() {
            mistakes = layers.inconsistencies();
        }
        (layers, mistakes)
    }

    /// What would be wrong with the user's file if it held `source`.
    pub fn check(file: &Path, source: &str) -> Vec<ConfigError> {
        let (mut layers, mut mistakes) = (Self::default(), Vec::new());
        layers.add_layer(Layer::read(file, source, FileOwner::User), &mut mistakes);
        layers.add_layer(built_in_layer(), &mut mistakes);
        if mistakes.is_empty() { layers.inconsistencies() } else { mistakes }
    }

    fn add_layer(&mut self, layer: Layer, mistakes: &mut Vec<ConfigError>) {
        mistakes.extend(layer.errors);
        for (name, given) in layer.values {
            self.add(&name, given);
        }
    }

    fn add(&mut self, name: &str, given: Setting) {
        self.settings.entry(name.to_owned()).or_default().push(given);
    }

    /// The value of a key, and where it is from.
    pub fn get(&self, name: &str) -> Option<&Setting> {
        self.settings.get(name)?.first()
    }

    /// Every key with its value and what that hides: settings in the order of their table, then
    /// profiles by name.
    pub fn all(&self) -> impl Iterator<Item = (&str, &[Setting])> {
        let place = |name: &str| KEYS.iter().position(|key| key.name == name);
        let mut all: Vec<(&str, &[Setting])> =
            self.settings.iter().map(|(name, given)| (name.as_str(), given.as_slice())).collect();
        all.sort_by_key(|(name, _)| place(name).unwrap_or(KEYS.len()));
        all.into_iter()
    }

    /// The names of the profiles.
    pub fn profiles(&self) -> BTreeSet<&str> {
        let keys = self.settings.keys().filter_map(|key| key.strip_prefix("profiles."));
        keys.filter_map(|key| Some(key.split_once('.')?.0)).collect()
    }

    /// The values that hold, as one table with its sections.
    pub fn table(&self) -> Table {
        let mut whole = Table::new();
        for (name, given) in &self.settings {
            let Some(first) = given.first() else { continue };
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

    /// Values that are good by themselves and do not go together.
    fn inconsistencies(&self) -> Vec<ConfigError> {
        let mut found = Vec::new();
        let profiles = self.profiles();
        if let Some(given) = self.get("default_profile")
            && let Some(name) = given.value.as_str().filter(|name| !profiles.contains(name))
        {
            let known = profiles.iter().copied().collect::<Vec<_>>().join(", ");
            let known = if known.is_empty() { "none yet".to_owned() } else { known };
            found.push(error_at(
                given,
                format!("default_profile is `{name}`; the profiles are: {known}"),
            ));
        }
        if let (Some(min), Some(max)) = (self.get("poll.min"), self.get("poll.max")) {
            let time = |given: &Setting| {
                given.value.as_str().and_then(|text| humantime::parse_duration(text).ok())
            };
            if time(min) > time(max) {
                let nearer = if min.origin == SettingOrigin::BuiltIn { max } else { min };
                found.push(error_at(nearer, "poll.min is more than poll.max".to_owned()));
            }
        }
        for name in profiles {
            self.check_profile(name, &mut found);
        }
        found
    }

    fn check_profile(&self, name: &str, found: &mut Vec<ConfigError>) {
        let of = |key: &str| self.get(&format!("profiles.{name}.{key}"));
        let kind = of("kind").and_then(|given| given.value.as_str());
        let present = || PROFILE_KEYS.iter().filter_map(|key| Some((key, of(key.name)?)));
        let Some((_, first)) = present().next() else { return };
        let Some(kind) = kind else {
            return found.push(error_at(
                first,
                format!("the profile `{name}` lacks its kind: hosted, onprem or local"),
            ));
        };
        let needed = if kind == "local" { "folder" } else { "base_url" };
        if of(needed).is_none() {
            found.push(error_at(
                first,
                format!("the profile `{name}` is {kind} and lacks its {needed}"),
            ));
        }
        for (key, given) in present().filter(|(key, _)| !key.profile_kinds.contains(&kind)) {
            let reason = format!(
                "`{}` is for {}; the profile `{name}` is {kind}",
                key.name,
                key.profile_kinds.join(" and ")
            );
            found.push(error_at(given, reason));
        }
    }
}

/// The file that comes with the program.
fn built_in_layer() -> Layer {
    Layer::read(Path::new("assets/config.toml"), DEFAULT_CONFIG, FileOwner::BuiltIn)
}

fn error_at(given: &Setting, reason: String) -> ConfigError {
    given.origin.error(reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(project: &str, user: &str) -> (tempfile::TempDir, Sources) {
        let folder = tempfile::tempdir().unwrap();
        let [project_file, user_file] =
            [(PROJECT_FILE, project), ("config.toml", user)].map(|(name, source)| {
                let path = folder.path().join(name);
                fs::write(&path, source).unwrap();
                Some(path)
            });
        (folder, Sources { project: project_file, user: user_file, ..Sources::default() })
    }

    #[test]
    fn every_value_knows_its_origin_and_what_it_hides() {
        let (_folder, mut sources) =
            files("[ui]\ngraphics = 'half'\n", "[ui]\n\ngraphics = 'sixel'\nmouse = false\n");
        sources.variables.insert("TESSERA_GRAPHICS", "kitty".to_owned());
        sources.flags.push(("ui.graphics", "--graphics", "none".into()));
        let (layers, mistakes) = Layers::read(&sources);
        assert_eq!(mistakes, []);
        let (_, graphics) = layers.all().find(|(name, _)| *name == "ui.graphics").unwrap();
        let told: Vec<String> =
            graphics.iter().map(|given| format!("{} {}", given.value, given.origin)).collect();
        assert_eq!(told[0], "\"none\" --graphics");
        assert_eq!(told[1], "\"kitty\" TESSERA_GRAPHICS");
        assert!(told[2].starts_with("\"half\"") && told[2].ends_with(".tessera.toml:2"));
        assert!(told[3].starts_with("\"sixel\"") && told[3].ends_with("config.toml:3"));
        assert_eq!(told[4], "\"auto\" shipped");
        assert_eq!(layers.get("ui.mouse").unwrap().value, Value::Boolean(false));
    }

    #[test]
    fn all_mistakes_are_told_with_their_places() {
        let (_folder, sources) = files(
            "[profiles.evil]\nkind = 'hosted'\nbase_url = 'https://evil.example'\n",
            "[ui]\nmouse = 'yes'\ncolour = 'red'\n\n[profiles.x]\nkind = 'onprem'\napi_secret = 's3cret'\n",
        );
        let (layers, mistakes) = Layers::read(&sources);
        let told: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), 4, "{told:#?}");
        assert!(
            told[0].contains(".tessera.toml, line 1") && told[0].contains("may not hold profiles")
        );
        for (line, word) in
            [("line 2, column 1", "true or false"), ("line 3", "colour"), ("line 7", "no secret")]
        {
            assert!(
                told.iter().any(|told| told.contains(line) && told.contains(word)),
                "{told:#?}"
            );
        }
        assert!(!told.concat().contains("s3cret"));
        assert!(layers.get("profiles.evil.kind").is_none());
    }

    #[test]
    fn a_profile_has_what_its_kind_needs_and_nothing_else() {
        for (user, word) in [
            ("[profiles.x]\nbase_url = 'u'\n", "lacks its kind"),
            ("[profiles.x]\nkind = 'cloud'\nbase_url = 'u'\n", "hosted, onprem, local"),
            ("[profiles.x]\nkind = 'hosted'\napi_key = 'k'\n", "lacks its base_url"),
            ("[profiles.x]\nkind = 'onprem'\nbase_url = 'u'\napi_key = 'k'\n", "is for hosted"),
            ("default_profile = 'y'\n", "none yet"),
            ("[poll]\nmin = '1m'\n", "more than poll.max"),
            ("[profiles.'a b']\nkind = 'local'\n", "a profile name"),
        ] {
            let (_folder, sources) = files("", user);
            let (_, mistakes) = Layers::read(&sources);
            assert!(
                mistakes.iter().any(|mistake| mistake.reason.contains(word)),
                "{user}: {mistakes:?}"
            );
            assert!(mistakes.iter().all(|mistake| mistake.position.is_some()), "{mistakes:?}");
        }
    }

    #[test]
    fn no_bytes_stop_the_reading() {
        for source in [
            "\u{0}",
            "[[[",
            "a = ",
            "profiles = 3",
            "ui.theme.x = 1",
            "[profiles]\nx = 1",
            "x = \"\"\"",
            "[ui]\n[ui]\n",
        ] {
            let (_folder, sources) = files("", source);
            let (_, mistakes) = Layers::read(&sources);
            assert!(!mistakes.is_empty(), "{source}");
        }
    }
}
