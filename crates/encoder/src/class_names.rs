//! Finds the names of the classes of a classifier, in the places and forms in which tools write them: the configuration
//! of the model, the metadata of its ONNX file, or a list in a file beside it.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use tessera_model::composed;

use crate::{
    classifier::{imagenet_ids, is_synset},
    error::LoadError,
    model_folder::{CONFIG, ModelFolder},
    tool_settings::timm_group,
};

/// The files that may contain the names, one per line or as JSON.
pub const LABEL_FILES: [&str; 23] = [
    "labels.txt",
    "classes.txt",
    "class_names.txt",
    "label_names.txt",
    "labels_map.txt",
    "imagenet_classes.txt",
    "imagenet_labels.txt",
    "imagenet1000_clsidx_to_labels.txt",
    "synset_words.txt",
    "synset.txt",
    "labels.json",
    "classes.json",
    "class_names.json",
    "label_map.json",
    "id2label.json",
    "idx_to_class.json",
    "class_to_idx.json",
    "class_indices.json",
    "index_to_name.json",
    "imagenet_classes.json",
    "imagenet_class_index.json",
    "imagenet_labels.json",
    "categories.json",
];
/// The keys under which names are found, the most specific first.
const KEYS: [&str; 8] = [
    "label_names",
    "labels",
    "id2label",
    "label2id",
    "names",
    "class_names",
    "classes",
    "categories",
];
const MAX_CLASSES: usize = 1 << 16;
/// The number of classes of `ImageNet`. A model of `timm` with this number of classes needs no names.
const IMAGENET_CLASSES: usize = 1_000;

/// The names of the classes, by number.
#[derive(Default)]
pub struct ClassNames {
    /// A class without a name has an empty one.
    pub names: Vec<String>,
    /// Where the names are from, for messages.
    pub source: String,
    /// Whether numbers were omitted, so that more classes without a name may follow.
    pub has_gaps: bool,
    /// The number of classes that the configuration states.
    pub count: Option<usize>,
    /// Why the names were not found although there are some. Only a model with scores needs names.
    pub problem: Option<LoadError>,
}

impl ClassNames {
    /// Finds the names. Names that `config` does not contain are added to `defaults`.
    pub fn find(
        folder: &ModelFolder,
        config: &Value,
        metadata: Option<&Value>,
        defaults: &mut Vec<String>,
    ) -> Self {
        let group = timm_group(config);
        let count = [&config["num_classes"], &config["num_labels"], &group["num_classes"]];
        let count = count.into_iter().find_map(number_of);
        // Names of exporters such as `LABEL_0` are counted, too.
        let count = count.or_else(|| config["id2label"].as_object().map(Map::len));
        let mut problem = None;
        let mut found = Self::in_config(folder, config).unwrap_or_else(|cause| {
            problem = Some(cause);
            None
        });
        if found.is_none() {
            found = match metadata {
                Some(names) => Self::numbered(names, "the metadata of its ONNX file"),
                None => Self::in_files(folder, defaults).unwrap_or_else(|cause| {
                    problem.get_or_insert(cause);
                    None
                }),
            };
        }
        if let Some(found) = found {
            return Self { count, ..found };
        }
        if !group.is_null() && count == Some(IMAGENET_CLASSES) {
            let source = "ImageNet".to_owned();
            defaults.push(format!("{CONFIG} names no classes; taken: those of {source}"));
            let names = imagenet_ids();
            return Self { names, source, has_gaps: false, count, problem: None };
        }
        Self { count, problem, ..Self::default() }
    }

    fn in_config(folder: &ModelFolder, config: &Value) -> Result<Option<Self>, LoadError> {
        let group = timm_group(config);
        for (key, names) in KEYS.iter().flat_map(|key| [(key, config), (key, group)]) {
            let names = &names[*key];
            if !is_list(names) {
                continue;
            }
            let found = Self::numbered(names, &format!("{key} in {CONFIG}")).ok_or_else(|| {
                let reason = format!(
                    "has class names without a name for each number from 0 ({key}); download it again"
                );
                LoadError::new("file", &folder.find(CONFIG), &reason)
            })?;
            if found.names.iter().all(|name| is_placeholder(name)) {
                continue;
            }
            let descriptions = [&config["label_descriptions"], &group["label_descriptions"]];
            let describe = |name: String| {
                let described = descriptions.iter().find_map(|all| all[&name].as_str());
                described.map_or(name.clone(), |words| id_or_words(&name, words))
            };
            let names = found.names.into_iter().map(describe).collect();
            return Ok(Some(Self { names, ..found }));
        }
        Ok(None)
    }

    fn in_files(
        folder: &ModelFolder,
        defaults: &mut Vec<String>,
    ) -> Result<Option<Self>, LoadError> {
        for file in LABEL_FILES {
            let Some(bytes) = folder.bytes(file)? else { continue };
            let found = Self::from_text(&String::from_utf8_lossy(&bytes), file);
            let found = found.ok_or_else(|| {
                let reason = "has no class names; write one per line, or delete it";
                LoadError::new("file", &folder.find(file), reason)
            })?;
            defaults.push(format!("{CONFIG} names no classes; taken: those of {file}"));
            return Ok(Some(found));
        }
        Ok(None)
    }

    fn from_text(text: &str, source: &str) -> Option<Self> {
        if text.trim_start().starts_with(['{', '[']) {
            let json = json_of(text)?;
            let nested = KEYS.iter().map(|key| &json[*key]).find(|names| is_list(names));
            return Self::numbered(nested.unwrap_or(&json), source);
        }
        let lines: Vec<&str> = text.trim_end().lines().map(str::trim).collect();
        let names = unnumbered(&lines).unwrap_or(lines).into_iter().map(|line| {
            line.split_once(char::is_whitespace)
                .filter(|(id, _)| has_form_of_id(id))
                .map_or_else(|| line.to_owned(), |(id, words)| id_or_words(id, words))
        });
        Self::from_pairs(names.enumerate().collect(), source)
    }

    /// Reads names such as `{"0": "cat", "1": "dog"}`, `{"cat": 0, "dog": 1}` or `["cat", "dog"]`.
    fn numbered(names: &Value, source: &str) -> Option<Self> {
        let pairs: Option<BTreeMap<usize, String>> = match names {
            Value::Array(names) => names.iter().map(name_of).enumerate().map(transposed).collect(),
            Value::Object(names) => {
                let by_number =
                    |(key, name): (&String, _)| Some((key.trim().parse().ok()?, name_of(name)?));
                let by_name = |(name, key)| Some((number_of(key)?, String::clone(name)));
                let forward = names.iter().map(by_number).collect::<Option<_>>();
                forward.or_else(|| names.iter().map(by_name).collect())
            }
            _ => None,
        };
        Self::from_pairs(pairs?, source)
    }

    fn from_pairs(pairs: BTreeMap<usize, String>, source: &str) -> Option<Self> {
        let count = pairs.last_key_value()?.0.checked_add(1)?;
        if count > MAX_CLASSES {
            return None;
        }
        let has_gaps = pairs.len() < count;
        let mut names = vec![String::new(); count];
        for (number, name) in pairs {
            // Filters match labels in NFC, in which keyboards write them.
            names[number] = composed(&name).into_owned();
        }
        Some(Self { names, source: source.to_owned(), has_gaps, count: None, problem: None })
    }

    /// Whether a model that scores this number of classes can have these names.
    pub fn fit(&self, scored: usize) -> bool {
        self.names.len() == scored || self.has_gaps && self.names.len() < scored
    }
}

/// Whether a name is `LABEL_0` or the like, which exporters write for unknown names.
pub fn is_placeholder(name: &str) -> bool {
    let number = name.strip_prefix("LABEL_");
    number.is_some_and(|number| number.bytes().all(|digit| digit.is_ascii_digit()))
}

fn is_list(names: &Value) -> bool {
    names.as_array().is_some_and(|names| !names.is_empty())
        || names.as_object().is_some_and(|names| !names.is_empty())
}

fn transposed((number, name): (usize, Option<String>)) -> Option<(usize, String)> {
    Some((number, name?))
}

fn number_of(value: &Value) -> Option<usize> {
    let number = value.as_u64().or_else(|| value.as_str()?.parse().ok());
    number.and_then(|number| usize::try_from(number).ok())
}

/// Returns a name, which may also be a number, the id of a synset with its words, or an object with a `name`.
fn name_of(value: &Value) -> Option<String> {
    match value {
        Value::String(name) => Some(name.clone()),
        Value::Null => Some(String::new()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Array(parts) => Some(id_or_words(parts.first()?.as_str()?, parts.last()?.as_str()?)),
        Value::Object(object) => object.get("name")?.as_str().map(str::to_owned),
    }
}

/// Returns the id of a synset whose hypernyms are known. For any other name, its description says more.
fn id_or_words(id: &str, words: &str) -> String {
    if is_synset(id) { id } else { words.trim() }.to_owned()
}

fn has_form_of_id(word: &str) -> bool {
    let number = word.strip_prefix('n');
    number.is_some_and(|it| it.len() == 8 && it.bytes().all(|digit| digit.is_ascii_digit()))
}

/// Removes the numbers from the lines of a file that numbers all of them from 0 or 1: `0 cat`, `1: dog`.
fn unnumbered<'a>(lines: &[&'a str]) -> Option<Vec<&'a str>> {
    let name = |number: usize, line: &'a str| {
        let rest = line.strip_prefix(&number.to_string())?;
        let name = rest.trim_start_matches([' ', '\t', ':', ',', ';', '=']);
        (name.len() < rest.len() && !name.is_empty()).then_some(name)
    };
    let from = |first: usize| (first..).zip(lines).map(|(number, line)| name(number, line));
    from(0).collect::<Option<_>>().or_else(|| from(1).collect())
}

/// Parses JSON, or a dictionary as Python prints it: `{0: 'cat', 1: "dog's"}`.
pub fn json_of(text: &str) -> Option<Value> {
    let parsed = serde_json::from_str(text).ok();
    parsed.or_else(|| serde_json::from_str(&json_of_python(text)).ok())
}

fn json_of_python(text: &str) -> String {
    let mut json = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(first) = rest.next() {
        let mut token = String::new();
        if first == '\'' || first == '"' {
            while let Some(next) = rest.next().filter(|next| *next != first) {
                token.push(if next == '\\' { rest.next().unwrap_or(next) } else { next });
            }
        } else if first.is_ascii_digit() {
            token.push(first);
            while let Some(digit) = rest.next_if(char::is_ascii_digit) {
                token.push(digit);
            }
        } else {
            json.push(first);
            continue;
        }
        json += &Value::from(token).to_string();
    }
    json
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn in_text(text: &str) -> Vec<String> {
        ClassNames::from_text(text, "labels.txt").unwrap().names
    }

    #[test]
    fn lists_are_read_as_lines_json_or_python() {
        for text in [
            "red\ngreen\nblue\n",
            "red\r\ngreen\r\nblue",
            "0 red\n1 green\n2 blue",
            "1: red\n2: green\n3: blue\n",
            "[\"red\", \"green\", \"blue\"]",
            "{\"0\": \"red\", \"1\": \"green\", \"2\": \"blue\"}",
            "{\"red\": 0, \"green\": 1, \"blue\": \"2\"}",
            "{\"names\": [{\"name\": \"red\"}, {\"name\": \"green\"}, {\"name\": \"blue\"}]}",
            "{0: 'red', 1: \"green\",\n 2: 'blue'}",
            "['red', 'green', 'blue']",
        ] {
            assert_eq!(in_text(text), ["red", "green", "blue"], "{text}");
        }
        assert_eq!(in_text("{0: \"dog's\", 1: 'a \\'b\\''}"), ["dog's", "a 'b'"]);
        assert_eq!(in_text("0\n1\n2\n"), ["0", "1", "2"], "digits are names, too");
        assert_eq!(in_text("{\"0\": 0, \"1\": 1}"), ["0", "1"]);
        for number in [99_999_999_999, u64::MAX] {
            let names = format!("{{\"{number}\": \"far\"}}");
            assert!(ClassNames::from_text(&names, "labels.json").is_none());
        }
    }

    #[test]
    fn synsets_keep_their_id_only_if_it_is_known() {
        let lines = "n01440764 tench, Tinca tinca\nn99999999 something else\n";
        assert_eq!(in_text(lines), ["n01440764", "something else"]);
        let index = json!({"0": ["n01440764", "tench"], "1": ["n99999999", "other"]});
        assert_eq!(in_text(&index.to_string()), ["n01440764", "other"]);
    }

    #[test]
    fn numbers_may_be_missing_in_a_dictionary() {
        let found = ClassNames::numbered(&json!({"0": "red", "2": "blue"}), "id2label").unwrap();
        assert_eq!(found.names, ["red", "", "blue"]);
        assert!(found.fit(3) && found.fit(4) && !found.fit(2));
        let whole = ClassNames::numbered(&json!({"0": "red", "1": "blue"}), "id2label").unwrap();
        assert!(whole.fit(2) && !whole.fit(3));
    }
}
