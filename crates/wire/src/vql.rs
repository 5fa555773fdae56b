//! `vql`: a JSON array of filter objects, each with one key. Read strictly, because a filter that
//! is silently left out would select what nobody asked for; a mistake is named by filter and field.
//!
//! Left open by the document and assumed here: an `id` beside the key is ignored (public clients
//! send one), and `mode` may be missing and is then `in`.

mod place;

use std::fmt;

use serde_json::{Map, Value, json};

pub use place::Place;

use tessera_model::{
    Anchor, AnchorKind, SafeText,
    vql::{Filter, Fraction, Issue, IssueKind, IssueWord, Label, LabelRule, MOST_FILTERS, Mode},
};

/// Longest text read, in bytes.
pub const LONGEST: usize = 64 * 1024;

/// The keys a filter object may have.
const KEYS: &str = "text, labels, tags, issues, duplicates, uniqueness, similarity";

/// Characters of foreign text repeated in a sentence.
const QUOTED: usize = 40;

/// Why a `vql` text is refused. Printed, it is one sentence with the place in front:
/// `filter 2, labels.value: must be a list of texts`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VqlProblem {
    /// Which filter, counted from 0; `None` when the text as a whole is wrong.
    pub filter: Option<usize>,
    /// Which field of it: a key, or a key and the name of its part.
    pub field: Option<String>,
    /// What it must be.
    pub reason: String,
}

impl fmt::Display for VqlProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.filter, &self.field) {
            (Some(filter), Some(field)) => write!(f, "filter {filter}, {field}: ")?,
            (Some(filter), None) => write!(f, "filter {filter}: ")?,
            (None, _) => {}
        }
        f.write_str(&self.reason)
    }
}

impl std::error::Error for VqlProblem {}

/// Reads a `vql` text as a service does.
///
/// # Errors
/// It is too long, no JSON array, or holds too many filters or one that is wrong.
pub fn read(text: &str) -> Result<Vec<Filter>, VqlProblem> {
    let filters = read_open(text)?;
    let unknown =
        |filter: &Filter| matches!(filter, Filter::Issue(Issue { kind: IssueWord::Other(_), .. }));
    match filters.iter().position(unknown) {
        None => Ok(filters),
        Some(place) => {
            let known: Vec<&str> = IssueKind::ALL.iter().map(|kind| kind.word()).collect();
            Err(VqlProblem {
                filter: Some(place),
                field: Some("issues.value".to_owned()),
                reason: format!("must be one of {}", known.join(", ")),
            })
        }
    }
}

/// Reads a `vql` text as a client does: the words for issues are not all published, so that any
/// may be sent; the service decides.
///
/// # Errors
/// As [`read`], but for the words of issues.
pub fn read_open(text: &str) -> Result<Vec<Filter>, VqlProblem> {
    read_each(text)?.into_iter().collect()
}

/// As [`read_open`], each filter by itself, so that one mistake does not hide those behind it.
///
/// # Errors
/// The text as a whole is wrong.
pub fn read_each(text: &str) -> Result<Vec<Result<Filter, VqlProblem>>, VqlProblem> {
    let whole = |reason: String| VqlProblem { filter: None, field: None, reason };
    if text.len() > LONGEST {
        return Err(whole(format!("must be at most {} KiB", LONGEST / 1024)));
    }
    let value: Value = serde_json::from_str(text)
        .map_err(|cause| whole(format!("must be a JSON array of filters: {cause}")))?;
    let Value::Array(items) = value else {
        return Err(whole("must be a JSON array of filters".to_owned()));
    };
    if items.len() > MOST_FILTERS {
        return Err(whole(format!("must be at most {MOST_FILTERS} filters")));
    }
    Ok(items.iter().enumerate().map(|(place, item)| filter(place, item)).collect())
}

/// The text of filters; [`read`] gives the same filters back, their numbers to 15 digits.
#[must_use]
pub fn write(filters: &[Filter]) -> String {
    Value::Array(filters.iter().map(object).collect()).to_string()
}

fn filter(place: usize, item: &Value) -> Result<Filter, VqlProblem> {
    let problem = |field, reason| VqlProblem { filter: Some(place), field, reason };
    let object = item.as_object().ok_or_else(|| problem(None, "must be an object".to_owned()))?;
    let mut entries = object.iter().filter(|(key, _)| *key != "id");
    let (Some((key, value)), None) = (entries.next(), entries.next()) else {
        return Err(problem(None, format!("must have exactly one key of {KEYS}")));
    };
    let read = match key.as_str() {
        "text" => words,
        "labels" => labels,
        "tags" => tags,
        "issues" => issues,
        "duplicates" => duplicates,
        "uniqueness" => uniqueness,
        "similarity" => similarity,
        _ => {
            let reason = format!("{} is no filter; there are {KEYS}", quoted(key));
            return Err(problem(None, reason));
        }
    };
    let wrong = |(field, reason): Wrong| {
        let field = if field.is_empty() { key.clone() } else { format!("{key}.{field}") };
        problem(Some(field), reason)
    };
    read(&Parts::new(value).map_err(wrong)?).map_err(wrong)
}

/// A field and what it must be; the empty field is the object itself.
type Wrong = (&'static str, String);

/// The object behind a filter's key.
struct Parts<'a>(&'a Map<String, Value>);

impl<'a> Parts<'a> {
    fn new(value: &'a Value) -> Result<Self, Wrong> {
        value.as_object().map(Self).ok_or_else(|| ("", "must be an object".to_owned()))
    }

    /// Refuses every field but these.
    fn only(&self, known: &[&str]) -> Result<(), Wrong> {
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

    fn text(&self, field: &'static str) -> Result<&'a str, Wrong> {
        let text = self.get(field).and_then(Value::as_str);
        text.ok_or_else(|| (field, "must be a text".to_owned()))
    }

    fn texts(&self, field: &'static str) -> Result<Vec<&'a str>, Wrong> {
        let list = self.get(field).and_then(Value::as_array);
        let texts = list.and_then(|list| list.iter().map(Value::as_str).collect());
        texts.ok_or_else(|| (field, "must be a list of texts".to_owned()))
    }

    fn number(&self, field: &'static str) -> Result<Option<f64>, Wrong> {
        let number = |value: &Value| value.as_f64();
        let wrong = || (field, "must be a number from 0.0 to 1.0".to_owned());
        self.get(field).map(|value| number(value).ok_or_else(wrong)).transpose()
    }

    fn needed_number(&self, field: &'static str) -> Result<f64, Wrong> {
        let missing = || (field, "must be a number from 0.0 to 1.0".to_owned());
        self.number(field)?.ok_or_else(missing)
    }

    /// One of the words that `parse` knows.
    fn word<T>(
        &self,
        field: &'static str,
        parse: impl Fn(&str) -> Option<T>,
        known: &[&str],
    ) -> Result<T, Wrong> {
        let word = self.get(field).and_then(Value::as_str).and_then(parse);
        word.ok_or_else(|| (field, format!("must be one of {}", known.join(", "))))
    }
}

fn words(parts: &Parts) -> Result<Filter, Wrong> {
    parts.only(&["op", "value", "threshold"])?;
    let semantic = parts.word("op", |word| kind(word, "semantic", "fts"), &["fts", "semantic"])?;
    let value = parts.text("value")?;
    if semantic {
        return Ok(Filter::semantic(value, parts.number("threshold")?)?);
    }
    if parts.get("threshold").is_some() {
        return Err(("threshold", "belongs to semantic; fts has none".to_owned()));
    }
    Ok(Filter::full_text(value)?)
}

/// Whether the word is the one or the other; `None` when it is neither.
fn kind(word: &str, one: &str, other: &str) -> Option<bool> {
    (word == one || word == other).then_some(word == one)
}

fn labels(parts: &Parts) -> Result<Filter, Wrong> {
    parts.only(&["op", "value"])?;
    let known: Vec<&str> = LabelRule::ALL.iter().map(|rule| rule.word()).collect();
    let rule = parts.word("op", LabelRule::parse, &known)?;
    Ok(Filter::labels(rule, parts.texts("value")?)?)
}

fn tags(parts: &Parts) -> Result<Filter, Wrong> {
    parts.only(&["op", "value"])?;
    operator(parts, "is")?;
    let tags = parts.texts("value")?.into_iter().map(str::parse).collect::<Result<_, _>>();
    Ok(Filter::tags(tags.map_err(|_| ("value", "must be a list of UUIDs".to_owned()))?)?)
}

fn issues(parts: &Parts) -> Result<Filter, Wrong> {
    parts.only(&["op", "value", "mode", "confidence_min", "confidence_max"])?;
    operator(parts, "issue")?;
    let kind = IssueWord::new(parts.text("value")?)?;
    let mode = match parts.get("mode") {
        None => Mode::In,
        Some(_) => parts.word("mode", Mode::parse, &["in", "out"])?,
    };
    let (min, max) = (parts.number("confidence_min")?, parts.number("confidence_max")?);
    Ok(Filter::issue(kind, mode, min, max)?)
}

fn duplicates(parts: &Parts) -> Result<Filter, Wrong> {
    parts.only(&["op", "value"])?;
    operator(parts, "duplicates")?;
    Ok(Filter::duplicates(parts.needed_number("value")?)?)
}

fn uniqueness(parts: &Parts) -> Result<Filter, Wrong> {
    parts.only(&["op", "value"])?;
    operator(parts, "uniqueness")?;
    Ok(Filter::uniqueness(parts.needed_number("value")?)?)
}

fn similarity(parts: &Parts) -> Result<Filter, Wrong> {
    parts.only(&["op", "value", "threshold"])?;
    let upload = parts.word("op", |word| kind(word, "upload", "media"), &["upload", "media"])?;
    let media = parts.text("value")?.parse();
    let media = media.map_err(|_| ("value", "must be a UUID".to_owned()))?;
    let kind = if upload { AnchorKind::Upload } else { AnchorKind::Media };
    Ok(Filter::similar(Anchor { media, kind }, parts.number("threshold")?)?)
}

/// Refuses every `op` but the one the key has.
fn operator(parts: &Parts, only: &'static str) -> Result<(), Wrong> {
    parts.word("op", |word| (word == only).then_some(()), &[only])
}

fn quoted(foreign: &str) -> String {
    format!("\"{}\"", SafeText::new(foreign, QUOTED))
}

fn object(filter: &Filter) -> Value {
    match filter {
        Filter::FullText(text) => json!({"text": {"op": "fts", "value": text.as_str()}}),
        Filter::Semantic { text, min_similarity } => {
            let body = json!({"op": "semantic", "value": text.as_str()});
            json!({"text": with(body, "threshold", *min_similarity)})
        }
        Filter::Labels(rule, labels) => {
            let labels: Vec<&str> = labels.as_slice().iter().map(Label::as_str).collect();
            json!({"labels": {"op": rule.word(), "value": labels}})
        }
        Filter::Tags(tags) => json!({"tags": {"op": "is", "value": tags.as_slice()}}),
        Filter::Issue(issue) => json!({ "issues": issue_object(issue) }),
        Filter::Duplicates(similarity) => {
            json!({"duplicates": {"op": "duplicates", "value": similarity.value()}})
        }
        Filter::Uniqueness(score) => {
            json!({"uniqueness": {"op": "uniqueness", "value": score.value()}})
        }
        Filter::Similar { anchor, max_distance } => {
            let op = anchor.kind.word().to_lowercase();
            let body = json!({"op": op, "value": anchor.media});
            json!({"similarity": with(body, "threshold", *max_distance)})
        }
    }
}

fn issue_object(issue: &Issue) -> Value {
    let body = json!({"op": "issue", "value": issue.kind.as_str(), "mode": issue.mode.word()});
    let body = with(body, "confidence_min", issue.confidence_min);
    with(body, "confidence_max", issue.confidence_max)
}

/// The object with one more field, if that has a value.
fn with(mut object: Value, field: &str, value: Option<Fraction>) -> Value {
    if let Some(value) = value {
        object[field] = value.value().into();
    }
    object
}

#[cfg(test)]
mod tests;
