//! Checks that every document a command prints has the shape that `tessera spec` describes: all required fields, and no
//! undocumented ones.

use std::{fs, sync::LazyLock};

use serde_json::{Map, Value};

use super::{picture_folder, run, serve};

const DOCUMENTS: &str = include_str!("../../assets/documents.json");
static SCHEMAS: LazyLock<Map<String, Value>> =
    LazyLock::new(|| serde_json::from_str(DOCUMENTS).unwrap());

#[test]
fn each_document_is_described_once() {
    // The parser keeps only the last of several descriptions with the same name.
    let described = DOCUMENTS.lines().filter(|line| line.starts_with(" \"tessera.")).count();
    assert_eq!(described, SCHEMAS.len());
}

/// A document without a table would be printed as nothing outside of JSON.
#[test]
fn each_document_of_a_command_has_a_table() {
    let tables: Map<String, Value> =
        serde_json::from_str(include_str!("../../assets/tables.json")).unwrap();
    let files = walkdir::WalkDir::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src/cli")).into_iter();
    let files = files.map(|entry| entry.unwrap().into_path()).filter(|path| path.is_file());
    let sources: Vec<String> = files.map(|file| fs::read_to_string(file).unwrap()).collect();
    let named = |start: &str| -> Vec<&str> {
        let calls = sources.iter().flat_map(|source| source.split(start).skip(1));
        let literals = calls.filter_map(|call| call.trim_start().strip_prefix('"'));
        literals.map(|literal| literal.split('"').next().unwrap()).collect()
    };
    let documents = [named("Document::new("), named(".with_table(")].concat();
    assert!(documents.len() > 50, "{documents:?}");
    for name in documents {
        assert!(tables.contains_key(name), "{name} has no table");
    }
    for (name, table) in &tables {
        let quoted = format!("\"{name}\"");
        assert!(sources.iter().any(|source| source.contains(&quoted)), "{name} is not used");
        assert!(table["columns"].is_array(), "{name} has no columns");
        assert!(SCHEMAS.contains_key(name) || !name.starts_with("tessera."), "{name}");
    }
}

/// Panics if a printed document differs from its description.
pub fn assert_described(written: &str) {
    let lines = || written.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let documents: Vec<Value> =
        serde_json::from_str(written).map_or_else(|_| lines(), |whole| vec![whole]);
    for document in documents {
        if let Some(name) = document["schema"].as_str().filter(|name| name.starts_with("tessera."))
        {
            let schema = SCHEMAS.get(name).unwrap_or_else(|| panic!("{name} is not described"));
            let fault = fault(schema, &document, name);
            assert_eq!(fault, None, "{document}");
        }
    }
}

/// Returns where a value differs from its schema. Only the keywords of JSON Schema that our schemas
/// use are supported.
fn fault(schema: &Value, value: &Value, at: &str) -> Option<String> {
    let of_type = match &schema["type"] {
        Value::Null => true,
        Value::Array(kinds) => kinds.iter().any(|kind| is_a(kind, value)),
        kind => is_a(kind, value),
    };
    if !of_type || schema.get("const").is_some_and(|only| only != value) {
        return Some(format!("{at} is {value}, and not {schema}"));
    }
    match (value, &schema["properties"], &schema["additionalProperties"]) {
        (Value::Array(items), ..) => {
            items.iter().find_map(|item| fault(&schema["items"], item, &format!("{at}[]")))
        }
        (Value::Object(fields), Value::Object(known), _) => {
            let required = schema["required"].as_array().into_iter().flatten();
            let missing =
                required.filter_map(Value::as_str).find(|name| !fields.contains_key(*name));
            missing.map(|name| format!("{at} lacks {name}")).or_else(|| {
                fields.iter().find_map(|(name, value)| match known.get(name) {
                    None => Some(format!("{at}.{name} is not described")),
                    Some(schema) => fault(schema, value, &format!("{at}.{name}")),
                })
            })
        }
        (Value::Object(fields), _, each @ Value::Object(_)) => {
            fields.iter().find_map(|(name, value)| fault(each, value, &format!("{at}.{name}")))
        }
        _ => None,
    }
}

fn is_a(kind: &Value, value: &Value) -> bool {
    match kind.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        other => panic!("no such type: {other}"),
    }
}

#[test]
fn remaining_documents_match_their_schemas() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    picture_folder(home, "birds", &["a.png"]);
    let data = home.join("served");
    let [birds, data] = [&home.join("birds"), &data].map(|path| path.to_str().unwrap().to_owned());
    let serving = serve(home, &[&birds, "--data", &data, "--no-auth"]);
    let base_url = serving.1["base_url"].as_str().unwrap();
    let add = ["profile", "add", "lab", "--kind", "onprem", "--base-url", base_url, "--use"];
    assert_eq!(run(home, &add).0, 0);
    for (arguments, name) in [
        (&["config", "path"][..], "paths"),
        (&["config", "get", "ui.theme"], "setting"),
        (&["version"], "version"),
        (&["version", "--verbose"], "version"),
        (
            &[
                "query",
                "explain",
                "--vql",
                r#"[{"issues":{"op":"issue","value":"dark","mode":"in"}}]"#,
            ],
            "query_explanation",
        ),
        (&["dataset", "show", "birds", "--raw"], "fields"),
        (&["dataset", "pin", "birds"], "pins"),
        (&["search", "browse", "-d", "birds", "--mark", "m"], "clusters"),
        (&["search", "browse", "-d", "birds", "--flat"], "previews"),
        (&["selection", "list", "-d", "birds"], "selections"),
    ] {
        let (code, out, err) = run(home, &[arguments, &["--json"]].concat());
        assert_eq!(code, 0, "{arguments:?}: {err}");
        let document: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(document["schema"], format!("tessera.{name}/1"));
    }
}

/// A list is named by the plural noun of its rows, a single document by a singular noun.
#[test]
fn schemas_are_named_by_one_rule() {
    for (name, schema) in SCHEMAS.iter() {
        let noun = name.strip_prefix("tessera.").and_then(|rest| rest.strip_suffix("/1"));
        let noun = noun.unwrap_or_else(|| panic!("{name}"));
        assert!(noun.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{name}");
        let fields = schema["properties"].as_object().unwrap();
        assert_eq!(&fields["schema"]["const"], name.as_str());
        let has_rows = fields.values().any(|field| field["type"] == "array");
        assert!(has_rows || !noun.ends_with('s'), "{name} is not a list");
    }
}

#[test]
fn the_documentation_names_only_existing_schemas() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let pages = fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    for page in pages.chain([root.join("README.md"), root.join("CHANGELOG.md")]) {
        let Ok(text) = fs::read_to_string(&page) else { continue };
        for (at, _) in text.match_indices("tessera.") {
            let word = |c: char| c.is_ascii_lowercase() || "._/".contains(c) || c.is_ascii_digit();
            let name: String = text[at..].chars().take_while(|c| word(*c)).collect();
            let name = name.trim_end_matches('.');
            if name.contains('/') {
                assert!(SCHEMAS.contains_key(name), "{} names {name}", page.display());
            }
        }
    }
}

#[test]
fn a_document_that_differs_is_noticed() {
    let of = |document: &Value| fault(&SCHEMAS["tessera.version/1"], document, "it");
    let version = serde_json::json!({
        "schema": "tessera.version/1", "version": "1", "commit": null, "api": "v1", "platform": "linux",
        "c_library": null, "optimized": true, "local_deployment": true
    });
    assert_eq!(of(&version), None);
    for (field, value) in
        [("version", Value::Null), ("more", Value::Null), ("schema", "tessera.version/2".into())]
    {
        let mut other = version.clone();
        other[field] = value;
        assert!(of(&other).is_some(), "{other}");
    }
    let mut less = version;
    less.as_object_mut().unwrap().remove("platform");
    assert_eq!(of(&less), Some("it lacks platform".to_owned()));
}
