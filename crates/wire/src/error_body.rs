//! Error bodies: `{"detail": ...}` by the document, and other observed shapes.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::lenient::first_text;
use tessera_model::SafeText;

/// The error body as a service writes it.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ProblemBody {
    /// The error message.
    pub detail: String,
}

/// The body of a 422: every invalid parameter, and why.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct InvalidBody {
    /// The parameters.
    pub detail: Vec<InvalidParameter>,
}

/// One invalid parameter.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct InvalidParameter {
    /// A code for programs: `missing`, `uuid_parsing`, `value_error`.
    pub r#type: &'static str,
    /// The location (`query`, `path`, `body`) and the name.
    pub loc: [String; 2],
    /// The error message.
    pub msg: String,
    /// The received value.
    pub input: Option<String>,
}

/// The message of an error body: `detail` as text or as a list of `{loc, msg}`, or `message`, or `error`,
/// or the whole body as text. HTML is reduced to its text. `None` for an empty body.
pub fn read_error_message(body: &[u8]) -> Option<SafeText> {
    let raw = String::from_utf8_lossy(body);
    let message = match serde_json::from_str::<Value>(&raw) {
        Ok(value) => error_message(&value).unwrap_or_else(|| raw.trim().to_owned()),
        Err(_) => strip_html_tags(&raw),
    };
    (!message.is_empty()).then(|| SafeText::detail(&message))
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
    let location = item.get("loc").and_then(Value::as_array).map(|parts| {
        let name = |part: &Value| part.as_str().map_or_else(|| part.to_string(), str::to_owned);
        parts.iter().map(name).collect::<Vec<_>>().join(".")
    });
    match (location, first_text(item, &["msg"])) {
        (Some(location), Some(message)) => format!("{location}: {message}"),
        (None, Some(message)) => message,
        _ => item.to_string(),
    }
}

fn strip_html_tags(raw: &str) -> String {
    let mut message = String::new();
    let mut inside = false;
    for c in raw.chars() {
        match c {
            '<' => inside = true,
            '>' if inside => {
                inside = false;
                message.push(' ');
            }
            _ if !inside => message.push(c),
            _ => {}
        }
    }
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}
