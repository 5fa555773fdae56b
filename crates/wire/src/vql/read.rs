//! Reads filters.

use serde_json::{Map, Value};

use super::VqlError;
use tessera_model::{
    Anchor, AnchorKind, SafeText,
    vql::{
        Filter, InvalidField, IssueFilter, IssueKind, IssueMode, IssueName, LabelRule, MAX_FILTERS,
    },
};

pub const MAX_BYTES: usize = 64 * 1024;

/// Characters of foreign text repeated in an error.
const MAX_QUOTED_CHARS: usize = 40;

type ReadFilter = fn(&FilterFields) -> Result<Filter, InvalidField>;

/// The key, the fields and the reader of each filter.
const FILTERS: [(&str, &[&str], ReadFilter); 7] = [
    ("text", &["op", "value", "threshold"], text_filter),
    ("labels", &["op", "value"], label_filter),
    ("tags", &["op", "value"], tag_filter),
    ("issues", &["op", "value", "mode", "confidence_min", "confidence_max"], issue_filter),
    ("duplicates", &["op", "value"], duplicate_filter),
    ("uniqueness", &["op", "value"], uniqueness_filter),
    ("similarity", &["op", "value", "threshold"], similarity_filter),
];

/// Reads a `vql` text as a service does: only known issue names.
pub fn read(text: &str) -> Result<Vec<Filter>, VqlError> {
    let filters = read_lenient(text)?;
    let unknown = |filter: &Filter| {
        matches!(filter, Filter::Issue(IssueFilter { kind: IssueName::Other(_), .. }))
    };
    match filters.iter().position(unknown) {
        None => Ok(filters),
        Some(index) => Err(VqlError {
            filter: Some(index),
            field: Some("issues.value".to_owned()),
            reason: format!("must be one of {}", IssueKind::ALL.map(IssueKind::as_str).join(", ")),
        }),
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

fn read_filter(index: usize, item: &Value) -> Result<Filter, VqlError> {
    let error = |field, reason| VqlError { filter: Some(index), field, reason };
    let object = item.as_object().ok_or_else(|| error(None, "must be an object".to_owned()))?;
    let mut entries = object.iter().filter(|(key, _)| *key != "id");
    let keys = || FILTERS.map(|(key, ..)| key).join(", ");
    let (Some((key, value)), None) = (entries.next(), entries.next()) else {
        return Err(error(None, format!("must have exactly one key of {}", keys())));
    };
    let Some((_, fields, read)) = FILTERS.iter().find(|(known, ..)| known == key) else {
        let reason = format!("{} is not a filter; the filters are {}", quoted(key), keys());
        return Err(error(None, reason));
    };
    FilterFields::new(value, fields).and_then(|fields| read(&fields)).map_err(|invalid| {
        let InvalidField { field, reason } = invalid;
        let field = if field.is_empty() { key.clone() } else { format!("{key}.{field}") };
        error(Some(field), reason)
    })
}

/// The object behind a filter's key. In its errors, the empty field is the object itself.
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

    /// A field; null counts as absent.
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
        number.ok_or_else(|| InvalidField::new(field, "must be a number from 0.0 to 1.0"))
    }

    fn optional_number(&self, field: &'static str) -> Result<Option<f64>, InvalidField> {
        self.get(field).map(|_| self.number(field)).transpose()
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

    /// Rejects every other `op`.
    fn expect_op(&self, only: &str) -> Result<(), InvalidField> {
        self.keyword("op", &[(only, ())])
    }
}

fn text_filter(fields: &FilterFields) -> Result<Filter, InvalidField> {
    let semantic = fields.keyword("op", &[("fts", false), ("semantic", true)])?;
    let value = fields.text("value")?;
    if semantic {
        return Filter::semantic(value, fields.optional_number("threshold")?);
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
    let min = fields.optional_number("confidence_min")?;
    Filter::issue(kind, mode, min, fields.optional_number("confidence_max")?)
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
    Filter::similar(Anchor { media, kind }, fields.optional_number("threshold")?)
}

fn quoted(foreign: &str) -> String {
    format!("\"{}\"", SafeText::new(foreign, MAX_QUOTED_CHARS))
}
