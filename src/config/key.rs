//! Every key that a settings file may hold: its name, what values fit, and the variable of the
//! environment that gives it, too. What is read, shown, checked and described goes by this table;
//! the sentence about each key, and its default, are in `assets/config.toml`.

use serde_json::json;
use toml::Value;

use super::ThemeChoice;
use tessera_model::DatasetId;

/// A key of a settings file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// Its name with the sections before it; of a profile's key its own name alone.
    pub name: &'static str,
    /// What fits.
    pub shape: Shape,
    /// The variable of the environment that gives it, too.
    pub variable: Option<&'static str>,
    /// The kinds of profiles that have it; none for a key outside of profiles.
    pub kinds: &'static [&'static str],
}

/// What values fit a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `true` or `false`.
    Switch,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Some of these words.
    Words(&'static [&'static str]),
    /// A theme of the program, or the name of a file.
    Theme,
    /// Any text but an empty one.
    Text,
    /// Several ids of datasets.
    Ids,
    /// A whole number between these.
    Number(i64, i64),
    /// A time of at least a second: `90s`, `10m`.
    Time,
}

const fn key(name: &'static str, shape: Shape) -> Key {
    Key { name, shape, variable: None, kinds: &[] }
}

const fn with_variable(name: &'static str, shape: Shape, variable: &'static str) -> Key {
    Key { name, shape, variable: Some(variable), kinds: &[] }
}

const fn of(kinds: &'static [&'static str], name: &'static str, shape: Shape) -> Key {
    Key { name, shape, variable: None, kinds }
}

/// The keys outside of profiles.
pub const KEYS: &[Key] = &[
    key("schema", Shape::Number(1, 1)),
    key("default_profile", Shape::Text),
    with_variable("ui.theme", Shape::Theme, "TESSERA_THEME"),
    with_variable(
        "ui.graphics",
        Shape::Word(&["auto", "half", "kitty", "sixel", "iterm", "none"]),
        "TESSERA_GRAPHICS",
    ),
    key("ui.tile", Shape::Word(&["small", "medium", "large"])),
    key("ui.mouse", Shape::Switch),
    with_variable("ui.accessible", Shape::Switch, "TESSERA_ACCESSIBLE"),
    with_variable(
        "ui.notify",
        Shape::Words(&["toast", "bell", "desktop", "progress"]),
        "TESSERA_NOTIFY",
    ),
    key("search.entity", Shape::Word(&["IMAGES", "OBJECTS"])),
    key("search.granularity", Shape::Number(0, 4)),
    key("search.text_search_path", Shape::Text),
    key("export.format", Shape::Word(&["parquet", "json"])),
    key("export.include_images", Shape::Switch),
    key("export.download_dir", Shape::Text),
    key("export.auto_download", Shape::Switch),
    key("poll.min", Shape::Time),
    key("poll.max", Shape::Time),
    key("poll.unfocused", Shape::Time),
];

const ALL: &[&str] = &["hosted", "onprem", "local"];
const ELSEWHERE: &[&str] = &["hosted", "onprem"];
const HOSTED: &[&str] = &["hosted"];

/// The keys of a profile.
pub const PROFILE_KEYS: &[Key] = &[
    of(ALL, "kind", Shape::Word(ALL)),
    of(ELSEWHERE, "base_url", Shape::Text),
    of(HOSTED, "api_key", Shape::Text),
    of(HOSTED, "token_ttl", Shape::Time),
    of(HOSTED, "allow_http", Shape::Switch),
    of(&["onprem"], "pipeline_url", Shape::Text),
    of(&["local"], "folder", Shape::Text),
    of(ELSEWHERE, "text_search_path", Shape::Text),
    of(ELSEWHERE, "ca_file", Shape::Text),
    of(ALL, "read_only", Shape::Switch),
    of(ALL, "pinned", Shape::Ids),
];

/// The key of this full name: `ui.theme`, `profiles.NAME.kind`.
#[must_use]
pub fn find(name: &str) -> Option<&'static Key> {
    let (keys, own) = table_of(name);
    keys.iter().find(|key| key.name == own)
}

/// The name of a key that looks most like one that does not exist, if one looks like it at all.
#[must_use]
pub fn nearest(name: &str) -> Option<String> {
    let (keys, own) = table_of(name);
    let last = |name: &str| name.rsplit('.').next().unwrap_or(name).to_owned();
    // The names alone: keys of one section would look alike by it, and the section may be wrong.
    let likeness = |key: &Key| strsim::jaro_winkler(&last(key.name), &last(own));
    let best = keys.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    let before = name.strip_suffix(own).unwrap_or_default();
    (likeness(best) > 0.75).then(|| format!("{before}{}", best.name))
}

/// The keys a name is looked for in, and the name it has there.
fn table_of(name: &str) -> (&'static [Key], &str) {
    let of_profile = name.strip_prefix("profiles.").and_then(|rest| rest.split_once('.'));
    of_profile.map_or((KEYS, name), |(_, own)| (PROFILE_KEYS, own))
}

impl Shape {
    /// What fits, in words.
    #[must_use]
    pub fn words(self) -> String {
        match self {
            Self::Switch => "true or false".to_owned(),
            Self::Word(words) => format!("one of {}", words.join(", ")),
            Self::Words(words) => format!("a list of some of {}", words.join(", ")),
            Self::Theme => "auto, dark, light, plain or the NAME of themes/NAME.toml".to_owned(),
            Self::Text => "text".to_owned(),
            Self::Ids => "a list of ids of datasets".to_owned(),
            Self::Number(low, high) if low == high => low.to_string(),
            Self::Number(low, high) => format!("a whole number from {low} to {high}"),
            Self::Time => "a time of 1s to 24h, like 90s or 10m".to_owned(),
        }
    }

    /// Whether a value fits.
    #[must_use]
    pub fn fits(self, value: &Value) -> bool {
        match self {
            Self::Switch => value.is_bool(),
            Self::Word(words) => value.as_str().is_some_and(|word| words.contains(&word)),
            Self::Words(words) => value.as_array().is_some_and(|values| {
                values.iter().all(|value| value.as_str().is_some_and(|word| words.contains(&word)))
            }),
            Self::Theme => value.as_str().is_some_and(|word| word.parse::<ThemeChoice>().is_ok()),
            Self::Text => value.as_str().is_some_and(|text| !text.trim().is_empty()),
            Self::Ids => value.as_array().is_some_and(|values| {
                let is_id = |id: &str| id.parse::<DatasetId>().is_ok();
                values.iter().all(|value| value.as_str().is_some_and(is_id))
            }),
            Self::Number(low, high) => {
                value.as_integer().is_some_and(|number| (low..=high).contains(&number))
            }
            Self::Time => {
                let time = value.as_str().and_then(|text| humantime::parse_duration(text).ok());
                time.is_some_and(|time| (1..=86_400).contains(&time.as_secs()))
            }
        }
    }

    /// The value that a word of the command line or of the environment stands for.
    #[must_use]
    pub fn read(self, word: &str) -> Option<Value> {
        let list = || word.split(',').map(str::trim).filter(|word| !word.is_empty());
        let value = match self {
            Self::Switch => Value::Boolean(switch(word)?),
            Self::Number(..) => Value::Integer(word.trim().parse().ok()?),
            Self::Words(_) | Self::Ids => {
                list().map(|word| Value::from(word.to_owned())).collect::<Vec<_>>().into()
            }
            Self::Word(words) => {
                let known = words.iter().find(|known| known.eq_ignore_ascii_case(word.trim()));
                Value::from(known.map_or(word, |known| *known).to_owned())
            }
            Self::Theme | Self::Text | Self::Time => Value::from(word.to_owned()),
        };
        self.fits(&value).then_some(value)
    }

    /// What fits, in the words of JSON Schema.
    #[must_use]
    pub fn schema(self) -> serde_json::Value {
        match self {
            Self::Switch => json!({ "type": "boolean" }),
            Self::Word(words) => json!({ "type": "string", "enum": words }),
            Self::Words(words) => {
                json!({ "type": "array", "items": { "type": "string", "enum": words } })
            }
            Self::Theme => json!({ "type": "string", "pattern": "^[A-Za-z0-9_-]+$" }),
            Self::Text => json!({ "type": "string", "minLength": 1 }),
            Self::Ids => {
                json!({ "type": "array", "items": { "type": "string", "format": "uuid" } })
            }
            Self::Number(low, high) => {
                json!({ "type": "integer", "minimum": low, "maximum": high })
            }
            Self::Time => json!({ "type": "string", "pattern": "^[0-9]+ *(s|m|h|[a-z]+).*$" }),
        }
    }
}

/// A switch as people write it into a variable.
fn switch(word: &str) -> Option<bool> {
    match word.trim().to_lowercase().as_str() {
        "true" | "1" | "yes" | "on" => Some(true),
        "false" | "0" | "no" | "off" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x09_the_nearest_key_is_named_and_a_far_one_is_not() {
        for (typed, meant) in [
            ("ui.them", Some("ui.theme")),
            ("theme", Some("ui.theme")),
            ("search.download_dir", Some("export.download_dir")),
            ("profiles.lab.pipeline", Some("profiles.lab.pipeline_url")),
            ("ui.colour", None),
            ("zzz", None),
        ] {
            assert_eq!(nearest(typed).as_deref(), meant, "{typed}");
        }
    }

    #[test]
    fn p61_values_fit_or_do_not() {
        for (name, word, fits) in [
            ("ui.mouse", "off", true),
            ("ui.mouse", "maybe", false),
            ("ui.graphics", "Kitty", true),
            ("ui.theme", "../up", false),
            ("ui.notify", "bell,toast", true),
            ("search.granularity", "4", true),
            ("search.granularity", "5", false),
            ("poll.min", "2s", true),
            ("poll.min", "0s", false),
            ("profiles.x.token_ttl", "10m", true),
            ("profiles.x.kind", "cloud", false),
        ] {
            let key = find(name).unwrap();
            assert_eq!(key.shape.read(word).is_some(), fits, "{name} = {word}");
        }
    }
}
