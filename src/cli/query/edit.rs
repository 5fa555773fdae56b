//! `tessera query add` and `tessera query check`: extends queries, and reports their errors.

use std::io::{self, IsTerminal as _};

use crate::cli::prelude::*;
use crate::cli::{
    input_options::{NamedQuery, QueryOptions, QuerySource, located_problem},
    local::full_text_error,
    output::unless_closed,
    query::filter_command::FilterCommand,
};
use tessera_model::{
    Enrichment, Filter,
    enrichment::missing_model_warning,
    vql::{IssueFilter, MAX_FILTERS, MAX_URL_CHARS, long_query_warning, unpublished_issue_warning},
};
use tessera_wire::vql::{self, TextPosition, VqlError};

#[derive(Debug, Args)]
pub struct QueryAddOptions {
    /// File with the query to extend; - or none: standard input. In a terminal, an empty query.
    #[arg(long, short, value_name = "FILE", global = true, conflicts_with = "vql")]
    file: Option<PathBuf>,
    /// The query to extend: a JSON array of filters.
    #[arg(long, value_name = "JSON", global = true)]
    vql: Option<String>,
    #[command(subcommand)]
    kind: FilterCommand,
}

impl QueryAddOptions {
    pub(super) async fn extended_query(self, context: &Context) -> CliResult<Vec<Filter>> {
        let filter = self.kind.to_filter(context).await?;
        let given = QueryOptions::new(self.vql, self.file);
        let is_new = given.is_empty() && io::stdin().is_terminal();
        let mut filters = if is_new { Vec::new() } else { QuerySource::from(given).filters()? };
        if filters.len() == MAX_FILTERS {
            let message = format!("a query has at most {MAX_FILTERS} filters");
            return Err(CliError::new(Exit::Invalid, message));
        }
        filters.push(filter);
        Ok(filters)
    }
}

/// A problem of a query. It is an error if the service would reject the query, and a note
/// otherwise.
struct QueryDiagnostic {
    is_error: bool,
    problem: VqlError,
}

pub(super) async fn run(context: &Context, source: &QuerySource) -> CliResult {
    let NamedQuery { name, text } = source.read_or_stdin()?;
    let (filters, mut diagnostics) = parse_errors(context, &text);
    if diagnostics.is_empty() {
        diagnostics = value_notes(&filters);
        if context.global.dataset.is_some() {
            let enrichment = fetch_enrichment(context).await;
            diagnostics.extend(enrichment_notes(&filters, enrichment.as_ref()));
        }
    }
    print_diagnostics(context, &name, &text, &diagnostics)?;
    match diagnostics.iter().filter(|diagnostic| diagnostic.is_error).count() {
        0 => {
            let filters = count_with_noun(filters.len(), "filter", "filters");
            context.messages.info(format!("{name}: {filters}, no errors"));
            Ok(Exit::Done)
        }
        errors => {
            let errors = count_with_noun(errors, "error", "errors");
            let message = format!("{name}: {errors}; the service would reject it");
            Err(CliError::new(Exit::Invalid, message))
        }
    }
}

/// Returns the filters of a query to save, unless the local service would refuse it.
pub(super) fn accepted_filters(context: &Context, source: &QuerySource) -> CliResult<Vec<Filter>> {
    let query = source.read_or_stdin()?;
    let filters = query.filters()?;
    let mut errors = filters.iter().enumerate().filter_map(|(at, it)| local_error(context, at, it));
    match errors.next() {
        Some(problem) => {
            let message = located_problem(&query.name, &query.text, "", &problem);
            Err(CliError::new(Exit::Invalid, message))
        }
        None => Ok(filters),
    }
}

fn parse_errors(context: &Context, text: &str) -> (Vec<Filter>, Vec<QueryDiagnostic>) {
    let (mut filters, mut errors) = (Vec::new(), Vec::new());
    let each = vql::read_each(text).unwrap_or_else(|whole| vec![Err(whole)]);
    for (index, parsed) in each.into_iter().enumerate() {
        let problem = match parsed {
            Ok(filter) => {
                let problem = local_error(context, index, &filter);
                filters.push(filter);
                problem
            }
            Err(problem) => Some(problem),
        };
        errors.extend(problem.map(|problem| QueryDiagnostic { is_error: true, problem }));
    }
    (filters, errors)
}

/// Returns why the local service refuses a filter that other services may accept. Without a local folder, nothing is
/// known about the service.
fn local_error(context: &Context, index: usize, filter: &Filter) -> Option<VqlError> {
    context.target().ok()?.local_folder()?;
    let (field, reason) = vql::refused_value(filter).or_else(|| match filter {
        Filter::FullText(text) => Some(("text.value", full_text_error(text.as_str())?)),
        _ => None,
    })?;
    Some(VqlError { filter: Some(index), field: Some(field.to_owned()), reason })
}

fn value_notes(filters: &[Filter]) -> Vec<QueryDiagnostic> {
    let mut notes = Vec::new();
    for (index, filter) in filters.iter().enumerate() {
        if let Filter::Issue(IssueFilter { kind, .. }) = filter
            && let Some(warning) = unpublished_issue_warning(kind.as_str())
        {
            notes.push(note(Some(index), Some("issues.value"), warning));
        }
    }
    let characters = vql::url_chars(filters);
    notes.extend(long_query_warning(characters).map(|warning| {
        let is_error = characters > MAX_URL_CHARS;
        QueryDiagnostic { is_error, ..note(None, None, warning) }
    }));
    notes
}

fn enrichment_notes<'a>(
    filters: &'a [Filter],
    known: Option<&'a Enrichment>,
) -> impl Iterator<Item = QueryDiagnostic> + 'a {
    filters.iter().enumerate().filter_map(move |(index, filter)| {
        let warning = missing_model_warning(filter.required_models(), known)?;
        Some(note(Some(index), None, warning))
    })
}

fn note(filter: Option<usize>, field: Option<&str>, reason: String) -> QueryDiagnostic {
    let problem = VqlError { filter, field: field.map(str::to_owned), reason };
    QueryDiagnostic { is_error: false, problem }
}

async fn fetch_enrichment(context: &Context) -> Option<Enrichment> {
    let work = async |connection: &Connection<'_>| {
        let dataset = connection.dataset(None).await?;
        Ok(connection.client.enrichment(dataset.id).await?)
    };
    let fetched = context.read(&[Endpoint::Enrichment], work).await;
    fetched
        .inspect_err(|error| {
            let reason = SafeText::detail(&error.message);
            context.messages.warn(format!("the dataset's enrichment was not checked: {reason}"));
        })
        .ok()
}

fn print_diagnostics(
    context: &Context,
    name: &str,
    text: &str,
    diagnostics: &[QueryDiagnostic],
) -> CliResult<()> {
    if context.out.is_machine() || context.global.csv {
        let rows: Vec<Value> = diagnostics.iter().map(|it| diagnostic_row(text, it)).collect();
        let valid = !diagnostics.iter().any(|diagnostic| diagnostic.is_error);
        let fields = json!({ "valid": valid, "diagnostics": rows });
        let document = Document::new("tessera.query_check/1", fields);
        return context.out.print(&document);
    }
    let line = |diagnostic: &QueryDiagnostic| {
        let level = if diagnostic.is_error { "" } else { "note: " };
        let line = located_problem(name, text, level, &diagnostic.problem);
        format!("{}\n", SafeText::detail(&line))
    };
    unless_closed(context.out.print_text(&diagnostics.iter().map(line).collect::<String>()))
}

fn diagnostic_row(text: &str, QueryDiagnostic { is_error, problem }: &QueryDiagnostic) -> Value {
    let TextPosition { line, column } = TextPosition::locate(problem, text);
    json!({
        "level": if *is_error { "error" } else { "note" },
        "line": line,
        "column": column,
        "filter": problem.filter,
        "field": problem.field,
        "message": problem.reason,
    })
}
