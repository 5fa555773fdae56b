//! Error bodies: `{"detail": ...}` by the document, and the other shapes services are seen to send.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::lenient::first_text;
use tessera_model::SafeText;

/// The error body as a service writes it.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ProblemBody {
    /// What is wrong, for people.
    pub detail: String,
}

/// The body of a 422 as a service writes it: every parameter that is wrong, and why.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct InvalidBody {
    /// The parameters.
    pub detail: Vec<InvalidParameter>,
}

/// One wrong parameter.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct InvalidParameter {
    /// The kind of mistake, for programs: `missing`, `uuid_parsing`, `value_error`.
    pub r#type: &'static str,
    /// Where it is (`query`, `path`, `body`) and its name.
    pub loc: [&'static str; 2],
    /// What is wrong, for people.
    pub msg: String,
    /// What was given.
    pub input: Option<String>,
}

/// The words of an error body: `detail` as text or as a list of `{loc, msg}`, else `message`,
/// `error`, else the body as text. HTML is reduced to its text. `None` for an empty body.
pub fn read_error_message(body: &[u8]) -> Option<SafeText> {
    let raw = String::from_utf8_lossy(body);
    let words = match serde_json::from_str::<Value>(&raw) {
        Ok(value) => error_message(&value).unwrap_or_else(|| raw.trim().to_owned()),
        Err(_) => strip_html_tags(&raw),
    };
    (!words.is_empty()).then(|| SafeText::detail(&words))
}

fn error_message(value: &Value) -> Option<String> {
    match value.get("detail") {
        Some(Value::Array(items)) => {
            Some(items.iter().map(validation_message).collect::<Vec<_>>().join("; "))
        }
        Some(other @ (Value::Object(_) | Value::Number(_))) => Some(other.to_string()),
        _ => first_text(value, &["detail", "message", "error"]),
    }
}

/// One entry of a validation error: `query.entity_type: Field required`.
fn validation_message(item: &Value) -> String {
    let place = item.get("loc").and_then(Value::as_array).map(|parts| {
        let parts: Vec<String> = parts
            .iter()
            .map(|part| part.as_str().map_or_else(|| part.to_string(), str::to_owned))
            .collect();
        parts.join(".")
    });
    match (place, first_text(item, &["msg"])) {
        (Some(place), Some(message)) => format!("{place}: {message}"),
        (None, Some(message)) => message,
        _ => item.to_string(),
    }
}

fn strip_html_tags(raw: &str) -> String {
    let mut words = String::new();
    let mut inside = false;
    for c in raw.chars() {
        match c {
            '<' => inside = true,
            '>' if inside => {
                inside = false;
                words.push(' ');
            }
            _ if !inside => words.push(c),
            _ => {}
        }
    }
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}
