//! `vql`, a JSON array of filter objects with one key each. This file reads and writes the filters, and locates errors
//! in texts that were written by hand. Reading is strict, because ignoring a filter would select the wrong media.
//!
//! The document leaves two questions open. This crate assumes that an `id` beside the key is ignored, because public
//! clients send one, and that a missing `mode` means `in`.

mod schema;

pub(crate) use schema::label_list_schema;
pub use schema::schemas;

use std::{collections::BTreeMap, fmt};

use serde_json::{Map, Value, json, value::RawValue};
use tessera_model::{
    Anchor, AnchorKind, SafeText,
    vql::{
        ColumnName, ColumnValue, FileProperty, Filter, Fraction, InvalidField, IssueFilter,
        IssueKind, IssueMode, IssueName, Label, LabelRule, MAX_FILTERS, Number, Property,
        PropertyFilter,
    },
};

use crate::tolerant_json::parse_unique;

pub const MAX_BYTES: usize = 64 * 1024;

/// The number of characters of foreign text that an error repeats.
const MAX_QUOTED_CHARS: usize = 40;

/// The reason for rejecting a number that is not a fraction.
const FRACTION: &str = "must be a number from 0.0 to 1.0";

type ReadFilter = fn(&FilterFields) -> Result<Filter, InvalidField>;

/// The key, the fields and the reader of each filter that hosted services may know. The API document does not have
/// `similarity`, `confidence_min` and `confidence_max`, but public clients send them.
const FILTERS: [(&str, &[&str], ReadFilter); 7] = [
    ("text", &["op", "value", "threshold"], text_filter),
    ("labels", &["op", "value"], label_filter),
    ("tags", &["op", "value"], tag_filter),
    ("issues", &["op", "value", "mode", "confidence_min", "confidence_max"], issue_filter),
    ("duplicates", &["op", "value"], duplicate_filter),
    ("uniqueness", &["op", "value"], uniqueness_filter),
    ("similarity", &["op", "value", "threshold"], similarity_filter),
];

/// The reason for rejecting a `vql` text. It is printed as one sentence with its location: `filter 2, labels.value:
/// must be a list of texts`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VqlError {
    /// The index of the filter, counted from 0. `None` if the text as a whole is invalid.
    pub filter: Option<usize>,
    /// A key, or a key and the name of one of its parts.
    pub field: Option<String>,
    pub reason: String,
}

impl fmt::Display for VqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.filter, &self.field) {
            (Some(filter), Some(field)) => write!(f, "filter {filter}, {field}: ")?,
            (Some(filter), None) => write!(f, "filter {filter}: ")?,
            (None, _) => {}
        }
        f.write_str(&self.reason)
    }
}

impl std::error::Error for VqlError {}

/// Reads a `vql` text as the local service does, which knows all issue names and has a range for each number.
pub fn read(text: &str) -> Result<Vec<Filter>, VqlError> {
    let filters = read_lenient(text)?;
    for (index, filter) in filters.iter().enumerate() {
        if let Some((field, reason)) = refused_value(filter) {
            return Err(VqlError { filter: Some(index), field: Some(field.to_owned()), reason });
        }
    }
    Ok(filters)
}

/// Returns the field whose value the local service refuses although a client sends it, and the reason.
pub fn refused_value(filter: &Filter) -> Option<(&'static str, String)> {
    let is_outside = |number: &Number| Fraction::new(number.value()).is_none();
    let range = || FRACTION.to_owned();
    match filter {
        Filter::Issue(IssueFilter { kind: IssueName::Other(_), .. }) => {
            let names = IssueKind::ALL.map(IssueKind::as_str).join(", ");
            Some(("issues.value", format!("must be one of {names}")))
        }
        Filter::Duplicates(similarity) if is_outside(similarity) => {
            Some(("duplicates.value", range()))
        }
        Filter::Uniqueness(score) if is_outside(score) => Some(("uniqueness.value", range())),
        Filter::AnyOf(filters) => filters.as_slice().iter().find_map(refused_value),
        Filter::Not(negated) => refused_value(negated.filter()),
        _ => None,
    }
}

/// Reads a `vql` text as a client does, which accepts any issue name, because not all names are published, and any value
/// of `duplicates` and `uniqueness`, because the API document states no range.
pub fn read_lenient(text: &str) -> Result<Vec<Filter>, VqlError> {
    read_each(text)?.into_iter().collect()
}

/// Like [`read_lenient`], but returns an error for each invalid filter.
pub fn read_each(text: &str) -> Result<Vec<Result<Filter, VqlError>>, VqlError> {
    let whole = |reason: String| VqlError { filter: None, field: None, reason };
    if text.len() > MAX_BYTES {
        return Err(whole(format!("must be at most {} KiB", MAX_BYTES / 1024)));
    }
    let value = parse_unique(text)
        .map_err(|cause| whole(format!("must be a JSON array of filters: {cause}")))?;
    let Value::Array(items) = value else {
        return Err(whole("must be a JSON array of filters".to_owned()));
    };
    if items.len() > MAX_FILTERS {
        return Err(whole(format!("must be at most {MAX_FILTERS} filters")));
    }
    Ok(items.iter().enumerate().map(|(index, item)| read_filter(index, item)).collect())
}

fn read_filter(index: usize, item: &Value) -> Result<Filter, VqlError> {
    read_object(item).map_err(|(field, reason)| VqlError { filter: Some(index), field, reason })
}

/// The reason for rejecting a filter, and the field of the filter.
type FilterProblem = (Option<String>, String);

fn read_object(item: &Value) -> Result<Filter, FilterProblem> {
    let object = item.as_object().ok_or_else(|| (None, "must be an object".to_owned()))?;
    let mut entries = object.iter().filter(|(key, _)| *key != "id");
    let keys = || {
        let keys = FILTERS.iter().map(|(key, ..)| *key);
        let additions = FileProperty::ALL.map(FileProperty::as_str);
        let keys: Vec<&str> = keys.chain(additions).chain(["column", "any_of", "not"]).collect();
        keys.join(", ")
    };
    let (Some((key, value)), None) = (entries.next(), entries.next()) else {
        return Err((None, format!("must have exactly one key of {}", keys())));
    };
    let invalid = |InvalidField { field, reason }| {
        let field = if field.is_empty() { key.clone() } else { format!("{key}.{field}") };
        (Some(field), reason)
    };
    if let Some((_, fields, read)) = FILTERS.iter().find(|(known, ..)| known == key) {
        return FilterFields::new(value, fields).and_then(|fields| read(&fields)).map_err(invalid);
    }
    match key.as_str() {
        "any_of" => {
            let list =
                value.as_array().ok_or_else(|| InvalidField::new("", "must be a list of filters"));
            let filters = list.map_err(invalid)?.iter().map(|inner| read_inner(key, inner));
            Filter::any_of(filters.collect::<Result<_, _>>()?).map_err(invalid)
        }
        "not" => Filter::negated(read_inner(key, value)?).map_err(invalid),
        "column" => FilterFields::new(value, &["name", "op", "value"])
            .and_then(|fields| {
                let name = ColumnName::new(fields.text("name")?)?;
                property_filter(Property::Column(name), &fields)
            })
            .map_err(invalid),
        _ => match FileProperty::from_keyword(key) {
            Some(property) => FilterFields::new(value, &["op", "value"])
                .and_then(|fields| property_filter(Property::File(property), &fields))
                .map_err(invalid),
            None => {
                Err((None, format!("{} is not a filter; the filters are {}", quoted(key), keys())))
            }
        },
    }
}

/// Reads a filter inside another filter.
fn read_inner(key: &str, item: &Value) -> Result<Filter, FilterProblem> {
    read_object(item).map_err(|(field, reason)| {
        let reason = field.map_or(reason.clone(), |field| format!("{field}: {reason}"));
        (Some(key.to_owned()), reason)
    })
}

fn property_filter(property: Property, fields: &FilterFields) -> Result<Filter, InvalidField> {
    let operators = property.operators();
    let choices: Vec<_> = operators.iter().map(|operator| (operator.as_str(), *operator)).collect();
    let operator = fields.keyword("op", &choices)?;
    let value = fields.get("value").ok_or_else(|| InvalidField::new("value", "is missing"))?;
    let values = match value {
        Value::Array(values) if operator.takes_list() => values.iter().map(scalar).collect(),
        _ if operator.takes_list() => Err(InvalidField::new("value", "must be a list of values")),
        value => scalar(value).map(|value| vec![value]),
    };
    Filter::property(property, operator, &values?)
}

fn scalar(value: &Value) -> Result<ColumnValue, InvalidField> {
    match value {
        Value::Bool(flag) => Ok(ColumnValue::Flag(*flag)),
        Value::String(text) => Ok(ColumnValue::Text(text.clone())),
        // As in sidecars, a number that would lose digits is a text.
        Value::Number(number) => Ok(ColumnValue::from_typed(&number.to_string())),
        _ => Err(InvalidField::new("value", "must be a text, a number, true or false")),
    }
}

/// The object behind the key of a filter. An error with an empty field name refers to the object itself.
struct FilterFields<'a>(&'a Map<String, Value>);

impl<'a> FilterFields<'a> {
    fn new(value: &'a Value, known: &[&str]) -> Result<Self, InvalidField> {
        let object = value.as_object();
        let object = object.ok_or_else(|| InvalidField::new("", "must be an object"))?;
        match object.keys().find(|key| !known.contains(&key.as_str())) {
            None => Ok(Self(object)),
            Some(other) => {
                let reason =
                    format!("has no {}; its fields are {}", quoted(other), known.join(", "));
                Err(InvalidField::new("", reason))
            }
        }
    }

    /// Returns a field. A null field counts as absent.
    fn get(&self, field: &str) -> Option<&'a Value> {
        self.0.get(field).filter(|value| !value.is_null())
    }

    fn text(&self, field: &'static str) -> Result<&'a str, InvalidField> {
        let text = self.get(field).and_then(Value::as_str);
        text.ok_or_else(|| InvalidField::new(field, "must be a text"))
    }

    fn texts(&self, field: &'static str) -> Result<Vec<&'a str>, InvalidField> {
        let list = self.get(field).and_then(Value::as_array);
        let texts = list.and_then(|list| list.iter().map(Value::as_str).collect());
        texts.ok_or_else(|| InvalidField::new(field, "must be a list of texts"))
    }

    fn number(&self, field: &'static str) -> Result<f64, InvalidField> {
        let number = self.get(field).and_then(Value::as_f64);
        number.ok_or_else(|| InvalidField::new(field, "must be a number"))
    }

    fn optional_fraction(&self, field: &'static str) -> Result<Option<f64>, InvalidField> {
        let invalid = |_| InvalidField::new(field, FRACTION);
        self.get(field).map(|_| self.number(field).map_err(invalid)).transpose()
    }

    fn keyword<T: Copy>(
        &self,
        field: &'static str,
        choices: &[(&str, T)],
    ) -> Result<T, InvalidField> {
        let raw = self.get(field).and_then(Value::as_str);
        let chosen = choices.iter().find(|(keyword, _)| raw == Some(keyword));
        chosen.map(|(_, value)| *value).ok_or_else(|| {
            let keywords: Vec<&str> = choices.iter().map(|(keyword, _)| *keyword).collect();
            InvalidField::new(field, format!("must be one of {}", keywords.join(", ")))
        })
    }

    /// Rejects any `op` except `only`.
    fn expect_op(&self, only: &str) -> Result<(), InvalidField> {
        self.keyword("op", &[(only, ())])
    }
}

fn text_filter(fields: &FilterFields) -> Result<Filter, InvalidField> {
    let semantic = fields.keyword("op", &[("fts", false), ("semantic", true)])?;
    let value = fields.text("value")?;
    if semantic {
        return Filter::semantic(value, fields.optional_fraction("threshold")?);
    }
    if fields.get("threshold").is_some() {
        return Err(InvalidField::new("threshold", "is only for semantic, not for fts"));
    }
    Filter::full_text(value)
}

fn label_filter(fields: &FilterFields) -> Result<Filter, InvalidField> {
    let rule = fields.keyword("op", &LabelRule::ALL.map(|rule| (rule.as_str(), rule)))?;
    Filter::labels(rule, fields.texts("value")?)
}

fn tag_filter(fields: &FilterFields) -> Result<Filter, InvalidField> {
    fields.expect_op("is")?;
    let tags = fields.texts("value")?.into_iter().map(str::parse).collect::<Result<_, _>>();
    Filter::tags(tags.map_err(|_| InvalidField::new("value", "must be a list of UUIDs"))?)
}

fn issue_filter(fields: &FilterFields) -> Result<Filter, InvalidField> {
    fields.expect_op("issue")?;
    let kind = IssueName::new(fields.text("value")?)?;
    let mode = match fields.get("mode") {
        None => IssueMode::In,
        Some(_) => fields.keyword("mode", &IssueMode::ALL.map(|mode| (mode.as_str(), mode)))?,
    };
    let min = fields.optional_fraction("confidence_min")?;
    Filter::issue(kind, mode, min, fields.optional_fraction("confidence_max")?)
}

fn duplicate_filter(fields: &FilterFields) -> Result<Filter, InvalidField> {
    fields.expect_op("duplicates")?;
    Filter::duplicates(fields.number("value")?)
}

fn uniqueness_filter(fields: &FilterFields) -> Result<Filter, InvalidField> {
    fields.expect_op("uniqueness")?;
    Filter::uniqueness(fields.number("value")?)
}

fn similarity_filter(fields: &FilterFields) -> Result<Filter, InvalidField> {
    let choices = [("upload", AnchorKind::Upload), ("media", AnchorKind::Media)];
    let kind = fields.keyword("op", &choices)?;
    let media = fields.text("value")?.parse();
    let media = media.map_err(|_| InvalidField::new("value", "must be a UUID"))?;
    Filter::similar(Anchor { media, kind }, fields.optional_fraction("threshold")?)
}

fn quoted(foreign: &str) -> String {
    format!("\"{}\"", SafeText::new(foreign, MAX_QUOTED_CHARS))
}

/// Writes filters. Reading the text again gives the same filters.
pub fn write(filters: &[Filter]) -> String {
    to_json(filters).to_string()
}

pub fn to_json(filters: &[Filter]) -> Value {
    filters.iter().map(filter_to_json).collect()
}

/// Returns the number of characters that filters take in a URL, which escapes most characters that are no letters or
/// digits.
pub fn url_chars(filters: &[Filter]) -> usize {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b" *-._".contains(&byte);
    write(filters).bytes().map(|byte| if is_plain(byte) { 1 } else { 3 }).sum()
}

fn filter_to_json(filter: &Filter) -> Value {
    match filter {
        Filter::FullText(text) => json!({"text": {"op": "fts", "value": text.as_str()}}),
        Filter::Semantic { text, min_similarity } => {
            let body = json!({"op": "semantic", "value": text.as_str()});
            json!({"text": with_number(body, "threshold", *min_similarity)})
        }
        Filter::Labels(rule, labels) => {
            let labels: Vec<&str> = labels.as_slice().iter().map(Label::as_str).collect();
            json!({"labels": {"op": rule.as_str(), "value": labels}})
        }
        Filter::Tags(tags) => json!({"tags": {"op": "is", "value": tags.as_slice()}}),
        Filter::Issue(issue) => json!({ "issues": issue_to_json(issue) }),
        Filter::Duplicates(similarity) => {
            json!({"duplicates": {"op": "duplicates", "value": similarity.value()}})
        }
        Filter::Uniqueness(score) => {
            json!({"uniqueness": {"op": "uniqueness", "value": score.value()}})
        }
        Filter::Similar { anchor, max_distance } => {
            let op = anchor.kind.as_str().to_lowercase();
            let body = json!({"op": op, "value": anchor.media});
            json!({"similarity": with_number(body, "threshold", *max_distance)})
        }
        Filter::Property(filter) => property_to_json(filter),
        Filter::AnyOf(filters) => {
            let filters: Vec<Value> = filters.as_slice().iter().map(filter_to_json).collect();
            json!({ "any_of": filters })
        }
        Filter::Not(negated) => json!({ "not": filter_to_json(negated.filter()) }),
    }
}

fn property_to_json(filter: &PropertyFilter) -> Value {
    let values = filter.values().iter().map(|value| write_scalar(&value.to_scalar()));
    let mut values: Vec<Value> = values.collect();
    let value =
        if filter.operator().takes_list() { Value::Array(values) } else { values.remove(0) };
    let mut body = json!({"op": filter.operator().as_str(), "value": value});
    if let Property::Column(name) = filter.property() {
        body["name"] = name.as_str().into();
    }
    json!({ filter.property().keyword(): body })
}

/// Writes a value. A whole number is written without a decimal point.
pub fn write_scalar(value: &ColumnValue) -> Value {
    match value {
        ColumnValue::Flag(flag) => Value::Bool(*flag),
        ColumnValue::Text(text) => Value::from(text.as_str()),
        ColumnValue::Number(number) => {
            value.to_string().parse::<i64>().map_or_else(|_| json!(number), Value::from)
        }
    }
}

fn issue_to_json(issue: &IssueFilter) -> Value {
    let body = json!({"op": "issue", "value": issue.kind.as_str(), "mode": issue.mode.as_str()});
    let body = with_number(body, "confidence_min", issue.confidence_min);
    with_number(body, "confidence_max", issue.confidence_max)
}

fn with_number(mut object: Value, field: &str, value: Option<Fraction>) -> Value {
    if let Some(value) = value {
        object[field] = value.value().into();
    }
    object
}

/// A line and a column, both counted from 1. Columns are counted in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TextPosition {
    pub line: usize,
    pub column: usize,
}

impl TextPosition {
    /// Returns the position of an error: the invalid value, or the narrowest value around it. In invalid JSON, it is
    /// the first invalid character.
    pub fn locate(error: &VqlError, text: &str) -> Self {
        let Some(filter) = error.filter else {
            return parse_unique(text).map_or_else(
                |cause| Self::from_json_position(text, cause.line(), cause.column()),
                |_| Self::from_offset(text, start_of(text)),
            );
        };
        let filters: Vec<&RawValue> = serde_json::from_str(text).unwrap_or_default();
        let mut narrowest = filters.get(filter).copied();
        for key in error.field.iter().flat_map(|field| field.split('.')) {
            let inner = narrowest.and_then(|value| inside(value, key));
            let Some(inner) = inner else { break };
            narrowest = Some(inner);
        }
        // A raw value borrows from the text, so its address gives its offset.
        let offset = |raw: &RawValue| raw.get().as_ptr().addr() - text.as_ptr().addr();
        Self::from_offset(text, narrowest.map_or(0, offset))
    }

    fn from_offset(text: &str, offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line = before.rsplit('\n').next().unwrap_or(before);
        Self { line: before.matches('\n').count() + 1, column: line.chars().count() + 1 }
    }

    /// Converts a position of the JSON parser, which is a line counted from 1 and a byte offset in the line.
    fn from_json_position(text: &str, line: usize, bytes: usize) -> Self {
        let line_text = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
        let before = line_text.char_indices().take_while(|(at, _)| at + 1 < bytes).count();
        Self { line: line.max(1), column: before + 1 }
    }
}

fn inside<'a>(value: &'a RawValue, key: &str) -> Option<&'a RawValue> {
    serde_json::from_str::<BTreeMap<String, &RawValue>>(value.get()).ok()?.remove(key)
}

fn start_of(text: &str) -> usize {
    text.len() - text.trim_start().len()
}
