//! JSON schemas of input that is parsed leniently, so that no type of ours describes it.

use serde_json::{Map, Value, json};

use tessera_model::vql::{IssueKind, Label, LabelRule, MAX_FILTERS, MAX_VALUES, QueryText};
use tessera_wire::selection::{MAX_IDS, MAX_ITEMS};

pub fn input_schemas() -> Map<String, Value> {
    let schemas = [
        ("AddMediaForm", add_media()),
        ("QueryImageForm", query_image()),
        ("MediaSelection", selection()),
        ("BoundingBox", bounding_box()),
        ("Vql", vql()),
    ];
    schemas.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect()
}

fn add_media() -> Value {
    let file = json!({"type": "string", "format": "binary"});
    let count = json!({"type": "integer", "minimum": 0, "maximum": u32::MAX});
    json!({
        "type": "object",
        "description": "Exactly one source: s3_uri, files or archive",
        "properties": {
            "s3_uri": {"type": "string", "maxLength": 4096,
                       "description": "Folder in object storage, or a .csv, .parquet or .txt manifest"},
            "files": {"type": "array", "items": file},
            "archive": {"type": "string", "format": "binary",
                        "description": "A .zip, .tar, .tar.gz, .tar.xz or .tar.zst file"},
            "auto_reindex": {"type": "boolean", "default": false},
            "assume_role": {"type": "string", "maxLength": 512, "description": "ARN of a role",
                            "pattern": "^arn:aws[a-z-]*:iam::[0-9]{12}:role/[A-Za-z0-9_+=,.@-]+$"},
            "batch_n_videos": count, "batch_n_images": count, "batch_n_objects": count,
            "use_spot": {"type": "boolean"},
        },
        // A field that is present and empty was not filled in.
        "oneOf": [
            {"required": ["s3_uri"], "properties": {"s3_uri": {"pattern": r"\S"}}},
            {"required": ["files"], "properties": {"files": {"minItems": 1}}},
            {"required": ["archive"]},
        ],
    })
}

fn query_image() -> Value {
    json!({
        "type": "object",
        "required": ["file"],
        "properties": {
            "file": {"type": "string", "format": "binary"},
            "bounding_box": {"type": "string", "description": "As the parameter, if that is missing"},
        },
    })
}

fn bounding_box() -> Value {
    let fraction = json!({"type": "number", "minimum": 0.0, "maximum": 1.0});
    let side = json!({"type": "number", "exclusiveMinimum": 0.0, "maximum": 1.0});
    json!({
        "type": "object",
        "description": "Part of an image, in fractions of it",
        "required": ["x", "y", "width", "height"],
        "properties": {"x": fraction, "y": fraction, "width": side, "height": side},
    })
}

fn selection() -> Value {
    let ids = |least: usize| {
        json!({
            "type": "array", "items": {"type": "string", "format": "uuid"},
            "minItems": least, "maxItems": MAX_IDS,
        })
    };
    let item = |kind: &str, payload: Value| {
        json!({
            "type": "object",
            "required": ["type", "payload"],
            "properties": {"type": {"const": kind}, "payload": payload},
        })
    };
    let media = json!({
        "type": "object", "required": ["media_ids"], "properties": {"media_ids": ids(1)},
    });
    let cluster = json!({
        "type": "object",
        "required": ["cluster_id", "cluster_filters"],
        "properties": {
            "cluster_id": {"type": "string", "format": "uuid"},
            "cluster_filters": {
                "type": "object",
                "required": ["entity_type"],
                "additionalProperties": false,
                "properties": {
                    "entity_type": {"enum": ["IMAGES", "OBJECTS"]},
                    "vql": {"$ref": "#/components/schemas/Vql"},
                    "labels": label_list(),
                },
            },
            "exclude_media_ids": ids(0),
        },
    });
    json!({
        "type": "object",
        "required": ["media_selection"],
        "properties": {"media_selection": {
            "type": "array", "minItems": 1, "maxItems": MAX_ITEMS,
            "items": {"oneOf": [item("media", media), item("cluster", cluster)]},
        }},
    })
}

fn vql() -> Value {
    let fraction = json!({"type": "number", "minimum": 0.0, "maximum": 1.0});
    let text = json!({"type": "string", "minLength": 1, "maxLength": QueryText::MAX_CHARS, "pattern": r"\S"});
    let uuid = json!({"type": "string", "format": "uuid"});
    let rules = LabelRule::ALL.iter().map(|rule| rule.as_str()).collect::<Vec<_>>();
    let kinds = IssueKind::ALL.iter().map(|kind| kind.as_str()).collect::<Vec<_>>();
    let filters = [
        filter("text", &["fts"], &json!({"value": text})),
        filter("text", &["semantic"], &json!({"value": text, "threshold?": fraction})),
        filter("labels", &rules, &json!({"value": label_list()})),
        filter(
            "tags",
            &["is"],
            &json!({"value": {
                "type": "array", "items": uuid, "minItems": 1, "maxItems": MAX_VALUES,
            }}),
        ),
        filter(
            "issues",
            &["issue"],
            &json!({
                "value": {"enum": kinds}, "mode?": {"enum": ["in", "out"]},
                "confidence_min?": fraction, "confidence_max?": fraction,
            }),
        ),
        filter("duplicates", &["duplicates"], &json!({"value": fraction})),
        filter("uniqueness", &["uniqueness"], &json!({"value": fraction})),
        filter("similarity", &["upload", "media"], &json!({"value": uuid, "threshold?": fraction})),
    ];
    json!({
        "type": "array", "maxItems": MAX_FILTERS, "items": {"oneOf": filters},
        "description": "Filters; all of them hold",
    })
}

/// An object with one filter key. Fields whose name ends in `?` are optional.
fn filter(key: &str, operators: &[&str], fields: &Value) -> Value {
    let mut properties = json!({"op": {"enum": operators}});
    let mut required = vec!["op"];
    for (name, schema) in fields.as_object().into_iter().flatten() {
        let (field, optional) = (name.trim_end_matches('?'), name.ends_with('?'));
        properties[field] = schema.clone();
        if !optional {
            required.push(field);
        }
    }
    json!({
        "type": "object",
        "required": [key],
        "additionalProperties": false,
        "properties": {
            "id": {"type": "string", "description": "Ignored"},
            key: {"type": "object", "required": required, "additionalProperties": false,
                  "properties": properties},
        },
    })
}

fn label_list() -> Value {
    json!({
        "type": "array", "minItems": 1, "maxItems": MAX_VALUES,
        "items": {"type": "string", "minLength": 1, "maxLength": Label::MAX_CHARS, "pattern": r"\S"},
    })
}
