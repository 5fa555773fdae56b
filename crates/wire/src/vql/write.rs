//! Writes filters.

use serde_json::{Value, json};

use tessera_model::vql::{Filter, Fraction, IssueFilter, Label};

/// Writes filters; `read` returns the same filters, with numbers to 15 digits.
pub fn write(filters: &[Filter]) -> String {
    Value::Array(filters.iter().map(filter_to_json).collect()).to_string()
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

fn with_number(mut object: Value, field: &str, value: Option<Fraction>) -> Value {
    if let Some(value) = value {
        object[field] = value.value().into();
    }
    object
}
