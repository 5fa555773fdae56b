//! `vql`: a JSON array of filter objects, each with one key. Read strictly: a filter that was ignored
//! would select the wrong media. Errors name the filter and the field.
//!
//! The document leaves open, and this crate assumes: an `id` beside the key is ignored, because public
//! clients send one, and a missing `mode` is `in`.

mod position;

use std::fmt;

use serde_json::{Map, Value, json};

pub use position::TextPosition;

use tessera_model::{
    Anchor, AnchorKind, SafeText,
    vql::{
        Filter, Fraction, IssueFilter, IssueKind, IssueMode, IssueName, Label, LabelRule,
        MAX_FILTERS,
    },
};

/// Longest text that is read.
pub const MAX_BYTES: usize = 64 * 1024;

/// The keys of filter objects.
const FILTER_KEYS: &str = "text, labels, tags, issues, duplicates, uniqueness, similarity";

/// Characters of foreign text repeated in an error.
const MAX_QUOTED_CHARS: usize = 40;

/// The reason for rejecting a `vql` text. Prints as one sentence with its location:
/// `filter 2, labels.value: must be a list of texts`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VqlError {
    /// 0-based; `None` when the text as a whole is invalid.
    pub filter: Option<usize>,
    /// A key, or a key and the name of its part.
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

/// Reads a `vql` text as a service does: only known issue names.
pub fn read(text: &str) -> Result<Vec<Filter>, VqlError> {
    let filters = read_lenient(text)?;
    let unknown = |filter: &Filter| {
        matches!(filter, Filter::Issue(IssueFilter { kind: IssueName::Other(_), .. }))
    };
    match filters.iter().position(unknown) {
        None => Ok(filters),
        Some(index) => {
            let known: Vec<&str> = IssueKind::ALL.iter().map(|kind| kind.as_str()).collect();
            Err(VqlError {
                filter: Some(index),
                field: Some("issues.value".to_owned()),
                reason: format!("must be one of {}", known.join(", ")),
            })
        }
    }
}

/// Reads a `vql` text as a client does: any issue name, because not all are published.
pub fn read_lenient(text: &str) -> Result<Vec<Filter>, VqlError> {
    read_each(text)?.into_iter().collect()
}

/// Like [`read_lenient`], but with an error for each invalid filter.
pub fn read_each(text: &str) -> Result<Vec<Result<Filter, VqlError>>, VqlError> {
    let whole = |reason: String| VqlError { filter: None, field: None, reason };
    if text.len() > MAX_BYTES {
        return Err(whole(format!("must be at most {} KiB", MAX_BYTES / 1024)));
    }
    let value: Value = serde_json::from_str(text)
        .map_err(|cause| whole(format!("must be a JSON array of filters: {cause}")))?;
    let Value::Array(items) = value else {
        return Err(whole("must be a JSON array of filters".to_owned()));
    };
    if items.len() > MAX_FILTERS {
        return Err(whole(format!("must be at most {MAX_FILTERS} filters")));
    }
    Ok(items.iter().enumerate().map(|(index, item)| read_filter(index, item)).collect())
}

/// Writes filters; [`read`] returns the same filters, with numbers to 15 digits.
pub fn write(filters: &[Filter]) -> String {
    Value::Array(filters.iter().map(filter_to_json).collect()).to_string()
}

fn read_filter(index: usize, item: &Value) -> Result<Filter, VqlError> {
    let error = |field, reason| VqlError { filter: Some(index), field, reason };
    let object = item.as_object().ok_or_else(|| error(None, "must be an object".to_owned()))?;
    let mut entries = object.iter().filter(|(key, _)| *key != "id");
    let (Some((key, value)), None) = (entries.next(), entries.next()) else {
        return Err(error(None, format!("must have exactly one key of {FILTER_KEYS}")));
    };
    let read = match key.as_str() {
        "text" => text_filter,
        "labels" => label_filter,
        "tags" => tag_filter,
        "issues" => issue_filter,
        "duplicates" => duplicate_filter,
        "uniqueness" => uniqueness_filter,
        "similarity" => similarity_filter,
        _ => {
            let reason = format!("{} is not a filter; the filters are {FILTER_KEYS}", quoted(key));
            return Err(error(None, reason));
        }
    };
    let invalid = |(field, reason): FieldError| {
        let field = if field.is_empty() { key.clone() } else { format!("{key}.{field}") };
        error(Some(field), reason)
    };
    read(&FilterFields::new(value).map_err(invalid)?).map_err(invalid)
}

/// A field and what it must be; the empty field is the object itself.
type FieldError = (&'static str, String);

/// The object behind a filter's key.
struct FilterFields<'a>(&'a Map<String, Value>);

impl<'a> FilterFields<'a> {
    fn new(value: &'a Value) -> Result<Self, FieldError> {
        value.as_object().map(Self).ok_or_else(|| ("", "must be an object".to_owned()))
    }

    /// Rejects every field but these.
    fn deny_unknown(&self, known: &[&str]) -> Result<(), FieldError> {
        match self.0.keys().find(|key| !known.contains(&key.as_str())) {
            None => Ok(()),
            Some(other) => {
                Err(("", format!("has no {}; its fields are {}", quoted(other), known.join(", "))))
            }
        }
    }

    /// A field; null counts as absent.
    fn get(&self, field: &str) -> Option<&'a Value> {
        self.0.get(field).filter(|value| !value.is_null())
    }

    fn text(&self, field: &'static str) -> Result<&'a str, FieldError> {
        let text = self.get(field).and_then(Value::as_str);
        text.ok_or_else(|| (field, "must be a text".to_owned()))
    }

    fn texts(&self, field: &'static str) -> Result<Vec<&'a str>, FieldError> {
        let list = self.get(field).and_then(Value::as_array);
        let texts = list.and_then(|list| list.iter().map(Value::as_str).collect());
        texts.ok_or_else(|| (field, "must be a list of texts".to_owned()))
    }

    fn number(&self, field: &'static str) -> Result<Option<f64>, FieldError> {
        let number = |value: &Value| value.as_f64();
        let invalid = || (field, "must be a number from 0.0 to 1.0".to_owned());
        self.get(field).map(|value| number(value).ok_or_else(invalid)).transpose()
    }

    fn required_number(&self, field: &'static str) -> Result<f64, FieldError> {
        let missing = || (field, "must be a number from 0.0 to 1.0".to_owned());
        self.number(field)?.ok_or_else(missing)
    }

    /// One of the keywords that `parse` accepts.
    fn keyword<T>(
        &self,
        field: &'static str,
        parse: impl Fn(&str) -> Option<T>,
        known: &[&str],
    ) -> Result<T, FieldError> {
        let word = self.get(field).and_then(Value::as_str).and_then(parse);
        word.ok_or_else(|| (field, format!("must be one of {}", known.join(", "))))
    }
}

fn text_filter(parts: &FilterFields) -> Result<Filter, FieldError> {
    parts.deny_unknown(&["op", "value", "threshold"])?;
    let semantic =
        parts.keyword("op", |word| is_first_of(word, "semantic", "fts"), &["fts", "semantic"])?;
    let value = parts.text("value")?;
    if semantic {
        return Ok(Filter::semantic(value, parts.number("threshold")?)?);
    }
    if parts.get("threshold").is_some() {
        return Err(("threshold", "is only for semantic, not for fts".to_owned()));
    }
    Ok(Filter::full_text(value)?)
}

/// Whether the word is the first or the second; `None` when it is neither.
fn is_first_of(word: &str, one: &str, other: &str) -> Option<bool> {
    (word == one || word == other).then_some(word == one)
}

fn label_filter(parts: &FilterFields) -> Result<Filter, FieldError> {
    parts.deny_unknown(&["op", "value"])?;
    let known: Vec<&str> = LabelRule::ALL.iter().map(|rule| rule.as_str()).collect();
    let rule = parts.keyword("op", LabelRule::parse, &known)?;
    Ok(Filter::labels(rule, parts.texts("value")?)?)
}

fn tag_filter(parts: &FilterFields) -> Result<Filter, FieldError> {
    parts.deny_unknown(&["op", "value"])?;
    expect_op(parts, "is")?;
    let tags = parts.texts("value")?.into_iter().map(str::parse).collect::<Result<_, _>>();
    Ok(Filter::tags(tags.map_err(|_| ("value", "must be a list of UUIDs".to_owned()))?)?)
}

fn issue_filter(parts: &FilterFields) -> Result<Filter, FieldError> {
    parts.deny_unknown(&["op", "value", "mode", "confidence_min", "confidence_max"])?;
    expect_op(parts, "issue")?;
    let kind = IssueName::new(parts.text("value")?)?;
    let mode = match parts.get("mode") {
        None => IssueMode::In,
        Some(_) => parts.keyword("mode", IssueMode::parse, &["in", "out"])?,
    };
    let (min, max) = (parts.number("confidence_min")?, parts.number("confidence_max")?);
    Ok(Filter::issue(kind, mode, min, max)?)
}

fn duplicate_filter(parts: &FilterFields) -> Result<Filter, FieldError> {
    parts.deny_unknown(&["op", "value"])?;
    expect_op(parts, "duplicates")?;
    Ok(Filter::duplicates(parts.required_number("value")?)?)
}

fn uniqueness_filter(parts: &FilterFields) -> Result<Filter, FieldError> {
    parts.deny_unknown(&["op", "value"])?;
    expect_op(parts, "uniqueness")?;
    Ok(Filter::uniqueness(parts.required_number("value")?)?)
}

fn similarity_filter(parts: &FilterFields) -> Result<Filter, FieldError> {
    parts.deny_unknown(&["op", "value", "threshold"])?;
    let upload =
        parts.keyword("op", |word| is_first_of(word, "upload", "media"), &["upload", "media"])?;
    let media = parts.text("value")?.parse();
    let media = media.map_err(|_| ("value", "must be a UUID".to_owned()))?;
    let kind = if upload { AnchorKind::Upload } else { AnchorKind::Media };
    Ok(Filter::similar(Anchor { media, kind }, parts.number("threshold")?)?)
}

/// Rejects every other `op`.
fn expect_op(parts: &FilterFields, only: &'static str) -> Result<(), FieldError> {
    parts.keyword("op", |word| (word == only).then_some(()), &[only])
}

fn quoted(foreign: &str) -> String {
    format!("\"{}\"", SafeText::new(foreign, MAX_QUOTED_CHARS))
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
    }
}

fn issue_to_json(issue: &IssueFilter) -> Value {
    let body = json!({"op": "issue", "value": issue.kind.as_str(), "mode": issue.mode.as_str()});
    let body = with_number(body, "confidence_min", issue.confidence_min);
    with_number(body, "confidence_max", issue.confidence_max)
}

/// Adds a field if it has a value.
fn with_number(mut object: Value, field: &str, value: Option<Fraction>) -> Value {
    if let Some(value) = value {
        object[field] = value.value().into();
    }
    object
}
