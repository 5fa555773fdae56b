//! Describes the settings file, from the comments of `assets/config.toml`: text and JSON Schema.

use serde_json::{Map, Value, json};

use super::{
    DEFAULT_CONFIG,
    key::{KEYS, PROFILE_KEYS, SettingKey},
};

struct CommentReader {
    /// `profiles` for the section of any profile.
    section: String,
    /// The comment above the next key.
    pending_comment: Vec<&'static str>,
}

/// The description of a key: the comment above it, or beside it.
pub fn setting_description(key: &SettingKey) -> String {
    let (section, own) = match key.name.rsplit_once('.') {
        _ if !key.profile_kinds.is_empty() => ("profiles", key.name),
        Some(parts) => parts,
        None => ("", key.name),
    };
    let mut reader = CommentReader { section: String::new(), pending_comment: Vec::new() };
    DEFAULT_CONFIG.lines().find_map(|line| reader.read_line(line, section, own)).unwrap_or_default()
}

impl CommentReader {
    /// Returns the description if this line defines the key `own` of `section`.
    fn read_line(&mut self, line: &'static str, section: &str, own: &str) -> Option<String> {
        let bare = line.trim_start_matches('#').trim();
        if let Some(heading) = bare.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            heading.split('.').next().unwrap_or_default().clone_into(&mut self.section);
            self.pending_comment.clear();
            return None;
        }
        let assigned = bare.split_once(" = ").filter(|(name, _)| !name.contains(' '));
        let Some((name, value)) = assigned else {
            match line.strip_prefix('#') {
                Some(comment) => self.pending_comment.push(comment.trim()),
                None => self.pending_comment.clear(),
            }
            return None;
        };
        let above = std::mem::take(&mut self.pending_comment).join(" ");
        if (self.section.as_str(), name) != (section, own) {
            return None;
        }
        let beside = value.split_once(" # ").map(|(_, beside)| beside.trim().to_owned());
        if section == "profiles" { beside } else { Some(above) }
    }
}

pub fn schema() -> Value {
    let shipped: toml::Table = toml::from_str(DEFAULT_CONFIG).unwrap_or_default();
    let mut whole = Map::new();
    let mut sections: Map<String, Value> = Map::new();
    for key in KEYS {
        let described = key_schema(key, default_value(&shipped, key.name));
        match key.name.split_once('.') {
            Some((section, own)) => {
                let section = sections.entry(section).or_insert_with(|| json!({}));
                section[own] = described;
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
    let mut shape = key.value_type.json_schema();
    shape["description"] = json!(setting_description(key));
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
