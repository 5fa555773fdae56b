//! Tests that every setting has a description and every default a key, and generates the JSON Schema of the settings,
//! which `tessera config schema` prints: `TESSERA_WRITE=1 cargo test --test tests schema`.

use std::{fs, path::Path};

use serde_json::{Map, Value, json};
use tessera_config::{
    custom_command::MAX_NAME_CHARS,
    key::{KEYS, PROFILE_KEYS, SettingKey, ValueType},
};

const DEFAULT_CONFIG: &str = include_str!("../../assets/config.toml");

#[test]
fn every_key_has_a_description_and_every_default_a_key() {
    for key in KEYS.iter().chain(PROFILE_KEYS) {
        let sentence = comment_of_setting(key);
        assert!(sentence.len() > 10 && !sentence.contains('#'), "{}: {sentence}", key.name);
    }
    let schema = schema();
    assert_eq!(schema["properties"]["ui"]["properties"]["theme"]["default"], "auto");
    assert_eq!(schema["properties"]["search"]["properties"]["granularity"]["maximum"], 4);
    let profile = &schema["properties"]["profiles"]["additionalProperties"];
    assert_eq!(profile["properties"]["kind"]["enum"][2], "local");
    assert_eq!(schema["additionalProperties"], false);
}

#[test]
fn the_schema_describes_the_settings_of_the_program() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/config.schema.json");
    let expected = format!("{:#}\n", schema());
    if std::env::var_os("TESSERA_WRITE").is_some() {
        fs::write(&path, &expected).unwrap();
    }
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text, expected, "run TESSERA_WRITE=1 cargo test --test tests schema");
}

fn value_schema(value_type: ValueType) -> Value {
    match value_type {
        ValueType::Boolean => json!({ "type": "boolean" }),
        ValueType::Choice(words) => json!({ "type": "string", "enum": words }),
        ValueType::ChoiceList(words) => {
            json!({ "type": "array", "items": { "type": "string", "enum": words } })
        }
        ValueType::Theme => json!({ "type": "string", "pattern": "^[A-Za-z0-9_-]+$" }),
        ValueType::Text => json!({ "type": "string", "minLength": 1 }),
        ValueType::DatasetIds => {
            json!({ "type": "array", "items": { "type": "string", "format": "uuid" } })
        }
        ValueType::Integer(low, high) => {
            json!({ "type": "integer", "minimum": low, "maximum": high })
        }
        ValueType::Duration => json!({ "type": "string", "pattern": "^[0-9]+ *(s|m|h|[a-z]+).*$" }),
        ValueType::CustomCommands => commands_schema(),
    }
}

fn commands_schema() -> Value {
    json!({
        "type": "array",
        "items": {
            "type": "object",
            "required": ["name", "run"],
            "additionalProperties": false,
            "properties": {
                "name": { "type": "string", "minLength": 1, "maxLength": MAX_NAME_CHARS },
                "run": { "type": "array", "minItems": 1, "items": { "type": "string" } },
                "key": { "type": "string", "minLength": 1 },
                "terminal": { "type": "boolean" },
            },
        },
    })
}

struct CommentReader {
    /// The current section. Every profile's section is `profiles`.
    section: String,
    /// The comment lines that precede the next key.
    pending_comment: Vec<&'static str>,
}

/// Returns the comment about a setting in the default file: the lines above its key, or the text
/// after it on the same line.
fn comment_of_setting(key: &SettingKey) -> String {
    let (section, name) = match key.name.rsplit_once('.') {
        _ if !key.profile_kinds.is_empty() => ("profiles", key.name),
        Some(parts) => parts,
        None => ("", key.name),
    };
    let mut reader = CommentReader { section: String::new(), pending_comment: Vec::new() };
    DEFAULT_CONFIG
        .lines()
        .find_map(|line| reader.read_line(line, section, name))
        .unwrap_or_default()
}

impl CommentReader {
    /// Returns the comment if this line defines the key `name` of `section`.
    fn read_line(&mut self, line: &'static str, section: &str, name: &str) -> Option<String> {
        let bare = line.trim_start_matches('#').trim();
        if let Some(heading) = bare.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            heading.split('.').next().unwrap_or_default().clone_into(&mut self.section);
            self.pending_comment.clear();
            return None;
        }
        let assigned = bare.split_once(" = ").filter(|(key, _)| !key.contains(' '));
        let Some((key, value)) = assigned else {
            match line.strip_prefix('#') {
                Some(comment) => self.pending_comment.push(comment.trim()),
                None => self.pending_comment.clear(),
            }
            return None;
        };
        let above = std::mem::take(&mut self.pending_comment).join(" ");
        if (self.section.as_str(), key) != (section, name) {
            return None;
        }
        let beside = value.split_once(" # ").map(|(_, beside)| beside.trim().to_owned());
        if section == "profiles" { beside } else { Some(above) }
    }
}

fn schema() -> Value {
    let shipped: toml::Table = toml::from_str(DEFAULT_CONFIG).unwrap();
    let mut whole = Map::new();
    let mut sections: Map<String, Value> = Map::new();
    for key in KEYS {
        let described = key_schema(key, default_value(&shipped, key.name));
        match key.name.split_once('.') {
            Some((section, key_name)) => {
                let section = sections.entry(section).or_insert_with(|| json!({}));
                section[key_name] = described;
            }
            None => {
                whole.insert(key.name.to_owned(), described);
            }
        }
    }
    for (name, keys) in sections {
        whole.insert(name, object_schema(&keys));
    }
    let keys: Map<String, Value> =
        PROFILE_KEYS.iter().map(|key| (key.name.to_owned(), key_schema(key, None))).collect();
    let mut profile = object_schema(&Value::Object(keys));
    profile["required"] = json!(["kind"]);
    whole.insert(
        "profiles".to_owned(),
        json!({
            "type": "object",
            "propertyNames": { "pattern": "^[A-Za-z0-9_-]{1,40}$" },
            "additionalProperties": profile,
        }),
    );
    let mut schema = object_schema(&Value::Object(whole));
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("tessera config.toml");
    schema
}

fn object_schema(keys: &Value) -> Value {
    json!({ "type": "object", "properties": keys, "additionalProperties": false })
}

fn key_schema(key: &SettingKey, default: Option<Value>) -> Value {
    let mut shape = value_schema(key.value_type);
    shape["description"] = json!(comment_of_setting(key));
    if let Some(default) = default {
        shape["default"] = default;
    }
    shape
}

fn default_value(shipped: &toml::Table, name: &str) -> Option<Value> {
    let mut parts = name.split('.');
    let first = shipped.get(parts.next()?)?;
    let value = parts.try_fold(first, |value, part| value.get(part))?;
    serde_json::to_value(value).ok()
}
