//! Diagnostics of a draft, computed on every key without a request: what keeps it from running,
//! what the service may reject, and how it is interpreted.

use crate::app::{
    App,
    query::{FilterKind, FilterRow, QueryDraft},
};
use tessera_model::{EnrichmentModel, FailureKind, enrichment, vql};
use tessera_wire::vql::write;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The query cannot be run, or the service rejected it.
    Error,
    /// The service may reject it.
    Warning,
    /// How the query is interpreted.
    Info,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub severity: Severity,
    pub row: Option<usize>,
    pub text: String,
}

/// All diagnostics of the draft of the open dataset, errors first.
pub fn diagnostics(app: &App) -> Vec<Diagnostic> {
    let draft = app.draft();
    let mut diagnostics = Vec::new();
    let problem = draft.json.as_ref().and_then(|json| json.problem.as_ref());
    if let Some(problem) = problem {
        let text = format!("{problem}. The query cannot run until this is fixed");
        diagnostics.push(Diagnostic { severity: Severity::Error, row: None, text });
    } else {
        diagnostics.extend(incomplete(draft));
    }
    diagnostics.extend(service_rejection(app));
    for (index, row) in draft.rows.iter().enumerate().filter(|(_, row)| row.enabled) {
        diagnostics.extend(row_warning(app, row).map(|text| Diagnostic {
            severity: Severity::Warning,
            row: Some(index),
            text,
        }));
    }
    diagnostics.extend(draft_summary(app, draft));
    diagnostics
}

fn incomplete(draft: &QueryDraft) -> Vec<Diagnostic> {
    let mut diagnostics: Vec<Diagnostic> = Vec::new();
    for (index, row) in draft.rows.iter().enumerate().filter(|(_, row)| row.enabled) {
        if let Err(error) = row.filter() {
            let text = format!("{}.{} {}", row.kind.keyword(), error.field, error.reason);
            diagnostics.push(Diagnostic { severity: Severity::Error, row: Some(index), text });
        }
    }
    match (draft.filters(), diagnostics.as_slice()) {
        (Err(reason), []) => {
            diagnostics.push(Diagnostic { severity: Severity::Error, row: None, text: reason });
        }
        (Err(_), _) => {
            let text = "The query cannot run until this is fixed".to_owned();
            diagnostics.push(Diagnostic { severity: Severity::Info, row: None, text });
        }
        (Ok(_), _) => {}
    }
    diagnostics
}

/// What the service said about the draft in its present state, with the row that it names.
fn service_rejection(app: &App) -> Option<Diagnostic> {
    let failure = app.remote_page()?.failure()?;
    let sent = app.view()?.search.filters.as_slice();
    if failure.kind != FailureKind::Invalid || app.draft().filters().as_deref() != Ok(sent) {
        return None;
    }
    let message = failure.detail.as_ref().unwrap_or(&failure.message);
    let row = row_mentioned_in(message.as_str(), app.draft());
    Some(Diagnostic {
        severity: Severity::Error,
        row,
        text: format!("the service reports: {message}"),
    })
}

/// The row that a message refers to: by the number of the filter, or by the only key it names.
fn row_mentioned_in(message: &str, draft: &QueryDraft) -> Option<usize> {
    let on: Vec<usize> = draft
        .rows
        .iter()
        .enumerate()
        .filter(|(_, row)| row.enabled)
        .map(|(index, _)| index)
        .collect();
    let number = message
        .split("filter ")
        .nth(1)
        .and_then(|rest| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse::<usize>().ok());
    if let Some(row) = number.and_then(|number| on.get(number)) {
        return Some(*row);
    }
    let mut named = on.into_iter().filter(|&index| {
        let key = draft.rows[index].kind.keyword();
        message.split(|c: char| !c.is_alphanumeric()).any(|word| word == key)
    });
    match (named.next(), named.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    }
}

/// What the service may reject about a row.
fn row_warning(app: &App, row: &FilterRow) -> Option<String> {
    match row.kind {
        FilterKind::Issues if app.known_values().accepted_issue(row.text(0).trim()) => None,
        FilterKind::Issues => vql::unpublished_issue_warning(row.text(0)),
        FilterKind::Text if row.choice_keyword() == "semantic" => {
            missing_enrichment(app, EnrichmentModel::ANY_FOR_SEMANTIC)
        }
        FilterKind::Text => missing_enrichment(app, EnrichmentModel::ANY_FOR_CAPTIONS),
        FilterKind::Labels => missing_enrichment(app, EnrichmentModel::ANY_FOR_LABELS),
        FilterKind::Tags
        | FilterKind::Duplicates
        | FilterKind::Uniqueness
        | FilterKind::Similarity => None,
    }
}

/// The warning if the open dataset has none of these enrichment models.
pub fn missing_enrichment(app: &App, models: &[EnrichmentModel]) -> Option<String> {
    enrichment::missing_model_warning(models, app.store.enrichment(app.view()?.search.dataset))
}

/// How the draft is interpreted.
fn draft_summary(app: &App, draft: &QueryDraft) -> Vec<Diagnostic> {
    let plain = |text: String| Diagnostic { severity: Severity::Info, row: None, text };
    let on = draft.rows.iter().filter(|row| row.enabled).count();
    let off = draft.rows.len() - on;
    let mut diagnostics = Vec::new();
    if !draft.rows.is_empty() {
        let disabled =
            if off > 0 { format!(", {off} disabled (kept, not sent)") } else { String::new() };
        diagnostics.push(plain(format!(
            "{on} enabled{disabled}; media must match all enabled filters (AND)"
        )));
    }
    if let (Ok(filters), Some(view)) = (draft.filters(), app.view()) {
        diagnostics.extend(vql::long_query_warning(write(&filters).len()).map(plain));
        if view.search.filters != filters {
            diagnostics.push(plain(
                "the results on screen are from another query; F5 runs this one".to_owned(),
            ));
        }
    }
    diagnostics
}
