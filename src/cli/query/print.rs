//! Prints a query, as JSON and in sentences.

use serde_json::{Value, json};

use crate::cli::{CliResult, Context, Document, Exit};
use tessera_model::Filter;
use tessera_wire::vql;

pub(super) fn print_query(context: &Context, filters: &[Filter]) -> CliResult {
    context.out.print_json(&query_json(filters)).map(|()| Exit::Done)
}

fn query_json(filters: &[Filter]) -> Value {
    // The text was just serialized, so it is JSON.
    serde_json::from_str(&vql::write(filters)).unwrap_or_default()
}

pub(super) fn explain(context: &Context, filters: &[Filter]) -> CliResult {
    let sentences: Vec<String> = filters.iter().map(Filter::to_string).collect();
    if context.out.is_machine() {
        let as_sent = query_json(filters);
        let rows: Vec<Value> = sentences
            .iter()
            .enumerate()
            .map(|(index, sentence)| json!({ "filter": as_sent[index], "_means": sentence }))
            .collect();
        let fields = json!({ "filters": rows });
        return context.print(&Document::list("tessera.query_explanation/1", fields, "filters", &[]));
    }
    context.print_line(match sentences.as_slice() {
        [] => "matches every media item, because it has no filters".to_owned(),
        [only] => format!("matches media items if {only}"),
        several => format!("matches media items if\n  {}", several.join(", and\n  ")),
    })
}
