//! Error bodies: the documented `{"detail": ...}`, and other observed shapes.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::{fields::first_text, text_encoding::decode_lossy, tolerant_json};
use tessera_model::{ExportState, SafeText};

/// The body of an error.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ProblemBody {
    /// The error message.
    pub detail: String,
}

/// The body of a 422, which lists every invalid parameter with the reason.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct InvalidBody {
    /// The invalid parameters.
    pub detail: Vec<InvalidParameter>,
}

/// One invalid parameter.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct InvalidParameter {
    /// A code for programs: `missing`, `uuid_parsing`, `value_error`.
    pub r#type: &'static str,
    /// The location (`query`, `path`, `body`) and the name of the parameter.
    pub loc: [String; 2],
    /// The error message.
    pub msg: String,
    /// The received value.
    pub input: Option<String>,
}

/// The meaning of `status` in a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusField {
    /// How the request ended: `error`.
    Outcome,
    /// The state of the dataset or export that the response describes: `FAILED`.
    State,
}

/// Returns the message of a body that reports an error, whatever the status code of the response is. A body reports an
/// error by a non-empty `error` or `detail`, by `success: false`, or by its `status`. A dataset or an export that has
/// failed is not an error of the request.
pub fn read_reported_error(value: &Value, meaning: StatusField) -> Option<SafeText> {
    let object = value.as_object()?;
    let status = first_text(value, &["status"]).unwrap_or_default().to_uppercase();
    let failed =
        status == "FATAL_ERROR" || matches!(ExportState::parse(&status), ExportState::Failed(_));
    let has_id = ["id", "dataset_id", "status_new"].iter().any(|key| object.contains_key(*key));
    // `ERROR` without an identifier reports the outcome of the request. With an identifier, it is the state of a
    // dataset or export.
    if meaning == StatusField::State && failed && (has_id || status != "ERROR") {
        return None;
    }
    let reported = failed
        || ["error", "detail"].iter().any(|key| object.get(*key).is_some_and(is_filled))
        || object.get("success") == Some(&Value::Bool(false));
    reported.then(|| SafeText::detail(&error_message(value).unwrap_or_else(|| value.to_string())))
}

fn is_filled(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::Bool(true) => true,
        Value::Number(code) => code.as_f64() != Some(0.0),
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(map) => !map.is_empty(),
    }
}

/// The memory for the values of an error body.
const MAX_ERROR_MEMORY: usize = 8 << 20;

/// Returns the message of an error body: `detail` as text or as a list of `{loc, msg}`, or `message`, or `error`, or
/// the whole body as text. HTML is reduced to its text. `charset` is the encoding that the service declares. Returns
/// `None` for an empty body.
pub fn read_error_message(body: &[u8], charset: Option<&str>) -> Option<SafeText> {
    let raw = decode_lossy(body, charset);
    let message = match tolerant_json::parse(body, charset, MAX_ERROR_MEMORY) {
        Ok((value, _)) => error_message(&value).unwrap_or_else(|| raw.trim().to_owned()),
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

/// Formats one entry of a validation error: `query.entity_type: Field required`.
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
