//! Describes the filters as JSON schemas.

use serde_json::{Value, json};

use tessera_model::{
    text::capitalize,
    vql::{
        ColumnName, FileProperty, IssueKind, Label, LabelRule, MAX_FILTERS, MAX_VALUES, Operator,
        QueryText,
    },
};

/// The JSON schema of a `vql` text, and the schemas of the filters that it refers to, each with its name in the
/// description of the API. A filter with a name becomes a class of a generated client.
pub fn schemas() -> Vec<(String, Value)> {
    let fraction = json!({"type": "number", "minimum": 0.0, "maximum": 1.0});
    let text = json!({"type": "string", "minLength": 1, "maxLength": QueryText::MAX_CHARS, "pattern": r"\S"});
    let uuid = json!({"type": "string", "format": "uuid"});
    let rules = LabelRule::ALL.iter().map(|rule| rule.as_str()).collect::<Vec<_>>();
    let kinds = IssueKind::ALL.iter().map(|kind| kind.as_str()).collect::<Vec<_>>();
    let tags = json!({"type": "array", "items": uuid, "minItems": 1, "maxItems": MAX_VALUES});
    let scored_text = json!({"value": text, "threshold?": fraction});
    let issue = json!({
        "value": {"enum": kinds}, "mode?": {"enum": ["in", "out"]},
        "confidence_min?": fraction, "confidence_max?": fraction,
    });
    let similar = json!({"value": uuid, "threshold?": fraction});
    let of_score = json!({"value": fraction});
    let simple = [
        ("FullTextFilter", filter_schema("text", &["fts"], &json!({"value": text}))),
        ("SemanticFilter", filter_schema("text", &["semantic"], &scored_text)),
        ("LabelsFilter", filter_schema("labels", &rules, &json!({"value": label_list_schema()}))),
        ("TagsFilter", filter_schema("tags", &["is"], &json!({"value": tags}))),
        ("IssuesFilter", filter_schema("issues", &["issue"], &issue)),
        ("DuplicatesFilter", filter_schema("duplicates", &["duplicates"], &of_score)),
        ("UniquenessFilter", filter_schema("uniqueness", &["uniqueness"], &of_score)),
        ("SimilarityFilter", filter_schema("similarity", &["upload", "media"], &similar)),
    ];
    let named = |(name, schema): (&str, Value)| (name.to_owned(), schema);
    let mut schemas = simple.map(named).to_vec();
    schemas.extend(FileProperty::ALL.map(property_schema));
    schemas.push(named(("ColumnFilter", column_schema())));
    schemas.extend(combined_schemas(&schemas).map(named));
    let filters: Vec<Value> = schemas.iter().map(|(name, _)| reference(name)).collect();
    let list = json!({
        "type": "array", "maxItems": MAX_FILTERS, "items": {"oneOf": filters},
        "description": "Filters; all of them hold",
    });
    schemas.push(named(("Vql", list)));
    schemas
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

fn property_schema(property: FileProperty) -> (String, Value) {
    let (name, operators) = (property.as_str(), property.operators());
    let value = json!({"type": if property.is_number() { "number" } else { "string" }});
    let schema = filter_schema(name, &names(&operators), &json!({"value": value_or_list(&value)}));
    (format!("{}Filter", capitalize(name)), schema)
}

fn column_schema() -> Value {
    let value = json!({"type": ["string", "number", "boolean"]});
    let name = json!({"type": "string", "minLength": 1, "maxLength": ColumnName::MAX_CHARS, "pattern": r"\S"});
    let fields = json!({"name": name, "value": value_or_list(&value)});
    filter_schema("column", &names(&Operator::ALL), &fields)
}

fn names(operators: &[Operator]) -> Vec<&'static str> {
    operators.iter().map(|operator| operator.as_str()).collect()
}

/// A value, or for the operators `one_of` and `not_one_of` a list of values.
fn value_or_list(value: &Value) -> Value {
    let list = json!({"type": "array", "items": value, "minItems": 1, "maxItems": MAX_VALUES});
    json!({"oneOf": [value, list]})
}

/// The filters that contain other filters.
fn combined_schemas(simple: &[(String, Value)]) -> [(&'static str, Value); 2] {
    let ranks =
        |name: &str| ["FullTextFilter", "SemanticFilter", "SimilarityFilter"].contains(&name);
    let conditions = simple.iter().filter(|(name, _)| !ranks(name));
    let conditions: Vec<Value> = conditions.map(|(name, _)| reference(name)).collect();
    let with = |other: &str| json!({"oneOf": conditions.iter().cloned().chain([reference(other)]).collect::<Vec<_>>()});
    let list = json!({
        "type": "array", "items": with("NotFilter"), "minItems": 1, "maxItems": MAX_FILTERS,
    });
    [("AnyOfFilter", keyed("any_of", &list)), ("NotFilter", keyed("not", &with("AnyOfFilter")))]
}

/// An object with one filter key. Fields whose name ends in `?` are optional.
fn filter_schema(key: &str, operators: &[&str], fields: &Value) -> Value {
    let mut properties = json!({"op": {"enum": operators}});
    let mut required = vec!["op"];
    for (name, schema) in fields.as_object().into_iter().flatten() {
        let (field, optional) = (name.trim_end_matches('?'), name.ends_with('?'));
        properties[field] = schema.clone();
        if !optional {
            required.push(field);
        }
    }
    let body = json!({
        "type": "object", "required": required, "additionalProperties": false,
        "properties": properties,
    });
    keyed(key, &body)
}

fn keyed(key: &str, body: &Value) -> Value {
    json!({
        "type": "object",
        "required": [key],
        "additionalProperties": false,
        "properties": {"id": {"type": "string", "description": "Ignored"}, key: body},
    })
}

/// The JSON schema of a list of labels.
pub(crate) fn label_list_schema() -> Value {
    json!({
        "type": "array", "minItems": 1, "maxItems": MAX_VALUES,
        "items": {"type": "string", "minLength": 1, "maxLength": Label::MAX_CHARS, "pattern": r"\S"},
    })
}
