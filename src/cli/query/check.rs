//! `tessera query check`: reports everything that can be checked without sending a query.

use serde_json::{Value, json};

use super::{QuerySource, located_problem};
use crate::cli::{CliError, Column, Context, Document, Exit};
use tessera_client::ApiOperation;
use tessera_model::{
    Enrichment, Filter, SafeText,
    enrichment::missing_model_warning,
    text::count_with_noun,
    vql::{IssueFilter, long_query_warning, unpublished_issue_warning},
};
use tessera_wire::vql::{self, TextPosition, VqlError};

const CHECK_COLUMNS: &[Column] = &[
    Column::new("LINE", "line"),
    Column::new("COLUMN", "column"),
    Column::new("LEVEL", "level"),
    Column::new("MESSAGE", "message"),
];

/// A problem; an error if the service would reject the query, otherwise a note.
struct QueryDiagnostic {
    is_error: bool,
    problem: VqlError,
}

pub(super) async fn run(context: &Context, written: &QuerySource) -> Result<Exit, CliError> {
    let (name, text) = (written.name(), written.text()?);
    let (filters, mut findings) = parse_errors(&text);
    if findings.is_empty() {
        findings = value_notes(&filters);
        if context.global.dataset.is_some() {
            findings.extend(enrichment_notes(&filters, fetch_enrichment(context).await.as_ref()));
        }
    }
    print_diagnostics(context, &name, &text, &findings)?;
    let errors = findings.iter().filter(|finding| finding.is_error).count();
    match errors {
        0 => {
            context.messages.info(format!(
                "{name}: {}, no errors",
                count_with_noun(filters.len(), "filter", "filters")
            ));
            Ok(Exit::Done)
        }
        errors => {
            let message = format!(
                "{name}: {}; the service would reject it",
                count_with_noun(errors, "error", "errors")
            );
            Err(CliError::new(Exit::Invalid, message))
        }
    }
}

fn parse_errors(text: &str) -> (Vec<Filter>, Vec<QueryDiagnostic>) {
    let each = vql::read_each(text).unwrap_or_else(|whole| vec![Err(whole)]);
    let (mut filters, mut findings) = (Vec::new(), Vec::new());
    for one in each {
        match one {
            Ok(filter) => filters.push(filter),
            Err(problem) => findings.push(QueryDiagnostic { is_error: true, problem }),
        }
    }
    (filters, findings)
}

/// Values that the service may reject.
fn value_notes(filters: &[Filter]) -> Vec<QueryDiagnostic> {
    let mut notes = Vec::new();
    for (place, filter) in filters.iter().enumerate() {
        if let Filter::Issue(IssueFilter { kind, .. }) = filter {
            let words = unpublished_issue_warning(kind.as_str());
            notes.extend(
                words.map(|words| note_diagnostic(Some(place), Some("issues.value"), words)),
            );
        }
    }
    notes.extend(
        long_query_warning(vql::write(filters).len())
            .map(|words| note_diagnostic(None, None, words)),
    );
    notes
}

/// Enrichment that the selected dataset may lack.
fn enrichment_notes<'a>(
    filters: &'a [Filter],
    known: Option<&'a Enrichment>,
) -> impl Iterator<Item = QueryDiagnostic> + 'a {
    filters.iter().enumerate().filter_map(move |(place, filter)| {
        missing_model_warning(filter.required_models(), known)
            .map(|words| note_diagnostic(Some(place), None, words))
    })
}

fn note_diagnostic(filter: Option<usize>, field: Option<&str>, reason: String) -> QueryDiagnostic {
    let problem = VqlError { filter, field: field.map(str::to_owned), reason };
    QueryDiagnostic { is_error: false, problem }
}

/// The enrichment of the selected dataset, if it can be read.
async fn fetch_enrichment(context: &Context) -> Option<Enrichment> {
    let read = async {
        let connection = context.connect(&[ApiOperation::Enrichment]).await?;
        let known = match context.dataset(&connection, None).await {
            Ok(dataset) => connection.client.enrichment(dataset.id).await.map_err(CliError::from),
            Err(error) => Err(error),
        };
        connection.close(context, Ok(Exit::Done)).await?;
        known
    };
    let known: Result<Enrichment, CliError> = read.await;
    known
        .inspect_err(|error| {
            let words = SafeText::detail(&error.message);
            context.messages.warn(format!("the dataset's enrichment was not checked: {words}"));
        })
        .ok()
}

fn print_diagnostics(
    context: &Context,
    name: &str,
    text: &str,
    findings: &[QueryDiagnostic],
) -> Result<(), CliError> {
    let rows: Vec<Value> = findings.iter().map(|finding| diagnostic_row(text, finding)).collect();
    if context.out.is_machine() || context.global.csv {
        let valid = !findings.iter().any(|finding| finding.is_error);
        let answer = json!({ "valid": valid, "remarks": rows });
        return context.out.print(&Document::list(
            "tessera.check/1",
            answer,
            "remarks",
            CHECK_COLUMNS,
        ));
    }
    let line = |finding: &QueryDiagnostic| {
        let level = if finding.is_error { "" } else { "note: " };
        let line = located_problem(name, text, level, &finding.problem);
        format!("{}\n", SafeText::detail(&line))
    };
    context.out.print_text(&findings.iter().map(line).collect::<String>())
}

fn diagnostic_row(
    text: &str,
    QueryDiagnostic { is_error: error, problem }: &QueryDiagnostic,
) -> Value {
    let TextPosition { line, column } = TextPosition::locate(problem, text);
    json!({
        "level": if *error { "error" } else { "note" },
        "line": line,
        "column": column,
        "filter": problem.filter,
        "field": problem.field,
        "message": problem.reason,
    })
}
