//! Computes the diagnostics of a draft at every key, without a request.

use tessera_config::text_enum;
use tessera_model::{EnrichmentModel, FailureKind, enrichment, vql};
use tessera_wire::vql::{refused_value, url_chars};

use crate::app::{
    App, QueryBuilder, Results,
    query::{FilterKind, FilterRow, QueryDraft},
};

text_enum! {
    #[derive(PartialOrd, Ord)]
    pub enum Severity: name {
        /// The query cannot be run, or the service rejected it.
        Error = "error",
        /// The service may reject the query.
        Warning = "warning",
        /// A note about how the query is interpreted.
        Info = "note",
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub severity: Severity,
    pub row: Option<usize>,
    pub text: String,
}

impl Diagnostic {
    fn new(severity: Severity, row: Option<usize>, text: impl Into<String>) -> Self {
        Self { severity, row, text: text.into() }
    }
}

/// Returns all diagnostics of the draft of the open dataset, errors first.
pub fn diagnostics(app: &App) -> Vec<Diagnostic> {
    let draft = app.query.draft(&app.results);
    let problem = draft.json.as_ref().and_then(|json| json.problem.as_ref());
    let mut diagnostics = match problem {
        Some(problem) => {
            let text = format!("{problem}. The query cannot run until this is fixed");
            vec![Diagnostic::new(Severity::Error, None, text)]
        }
        None => incomplete(draft),
    };
    diagnostics.extend(service_rejection(&app.query, &app.results));
    diagnostics.extend(enabled_rows(draft).filter_map(|(index, row)| {
        Some(Diagnostic::new(Severity::Warning, Some(index), row_warning(app, row)?))
    }));
    diagnostics.extend(draft_summary(&app.results, draft));
    diagnostics
}

fn enabled_rows(draft: &QueryDraft) -> impl Iterator<Item = (usize, &FilterRow)> {
    draft.rows.iter().enumerate().filter(|(_, row)| row.enabled)
}

fn incomplete(draft: &QueryDraft) -> Vec<Diagnostic> {
    let error = |(index, row): (usize, &FilterRow)| {
        let error = row.filter().err()?;
        let text = format!("{}.{} {}", row.kind.keyword(), error.field, error.reason);
        Some(Diagnostic::new(Severity::Error, Some(index), text))
    };
    let mut diagnostics: Vec<Diagnostic> = enabled_rows(draft).filter_map(error).collect();
    if let Err(reason) = draft.filters() {
        diagnostics.push(if diagnostics.is_empty() {
            Diagnostic::new(Severity::Error, None, reason)
        } else {
            Diagnostic::new(Severity::Info, None, "The query cannot run until this is fixed")
        });
    }
    diagnostics
}

/// What precedes the number of a filter in a message.
const FILTER_NUMBER: &str = "filter ";

/// Returns the service's rejection of the draft in its present state, with the row that the message
/// names.
fn service_rejection(query: &QueryBuilder, results: &Results) -> Option<Diagnostic> {
    let failure = results.remote_page()?.failure()?;
    let sent = results.view()?.search.filters.as_slice();
    if failure.kind != FailureKind::Invalid || query.draft(results).filters().as_deref() != Ok(sent)
    {
        return None;
    }
    let message = failure.detail.as_ref().unwrap_or(&failure.message);
    let draft = query.draft(results);
    let row = row_mentioned_in(message.as_str(), draft);
    let message = with_number_of_row(message.as_str(), draft);
    Some(Diagnostic::new(Severity::Error, row, format!("the service reports: {message}")))
}

/// Returns the row that a message refers to, by the number of the filter or by the only key that
/// the message names.
fn row_mentioned_in(message: &str, draft: &QueryDraft) -> Option<usize> {
    if let Some((_, row)) = numbered_row(message, draft) {
        return Some(row);
    }
    let mut named = enabled_rows(draft).filter(|(_, row)| {
        message.split(|c: char| !c.is_alphanumeric()).any(|word| word == row.kind.keyword())
    });
    match (named.next(), named.next()) {
        (Some((only, _)), None) => Some(only),
        _ => None,
    }
}

/// Returns the number of a filter as the message writes it, which counts the sent filters from 0, and its row.
fn numbered_row<'m>(message: &'m str, draft: &QueryDraft) -> Option<(&'m str, usize)> {
    let (_, rest) = message.split_once(FILTER_NUMBER)?;
    let number = rest.split(|c: char| !c.is_ascii_digit()).next()?;
    let (row, _) = enabled_rows(draft).nth(number.parse().ok()?)?;
    Some((number, row))
}

/// Writes the number of the row in the form, which counts all rows from 1, in the place of the number of the filter.
fn with_number_of_row(message: &str, draft: &QueryDraft) -> String {
    let Some((number, row)) = numbered_row(message, draft) else { return message.to_owned() };
    message.replacen(&format!("{FILTER_NUMBER}{number}"), &format!("{FILTER_NUMBER}{}", row + 1), 1)
}

fn row_warning(app: &App, row: &FilterRow) -> Option<String> {
    match row.kind {
        FilterKind::Issues
            if app.query.known_values(&app.results).accepted_issue(row.text(0).trim()) =>
        {
            None
        }
        FilterKind::Issues => vql::unpublished_issue_warning(row.text(0)),
        FilterKind::Text if row.choice_keyword() == "semantic" => {
            missing_enrichment(app, EnrichmentModel::ANY_FOR_SEMANTIC)
        }
        FilterKind::Text => missing_enrichment(app, EnrichmentModel::ANY_FOR_CAPTIONS),
        FilterKind::Labels => missing_enrichment(app, EnrichmentModel::ANY_FOR_LABELS),
        FilterKind::Duplicates | FilterKind::Uniqueness if app.has_local_service() => {
            let (field, reason) = refused_value(&row.filter().ok()?)?;
            Some(format!("{field} {reason}"))
        }
        kind if !FilterKind::known_by(app.has_local_service()).contains(&kind) => Some(format!(
            "{} is an addition of local services; this service does not know it",
            kind.keyword()
        )),
        _ => None,
    }
}

pub fn missing_enrichment(app: &App, models: &[EnrichmentModel]) -> Option<String> {
    let dataset = app.results.view()?.search.dataset;
    enrichment::missing_model_warning(models, app.service_data.enrichment(dataset))
}

fn draft_summary(results: &Results, draft: &QueryDraft) -> Vec<Diagnostic> {
    let enabled = enabled_rows(draft).count();
    let disabled = match draft.rows.len() - enabled {
        0 => String::new(),
        count => format!(", {count} disabled (kept, not sent)"),
    };
    let mut texts = Vec::new();
    if !draft.rows.is_empty() {
        texts.push(format!(
            "{enabled} enabled{disabled}; media must match all enabled filters (AND)"
        ));
    }
    if let (Ok(filters), Some(view)) = (draft.filters(), results.view()) {
        texts.extend(vql::long_query_warning(url_chars(&filters)));
        if view.search.filters != filters {
            texts.push("the results on screen are from another query; F5 runs this one".to_owned());
        }
    }
    texts.into_iter().map(|text| Diagnostic::new(Severity::Info, None, text)).collect()
}
