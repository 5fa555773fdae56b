//! What there is to say of a draft, on every key and without asking anybody: what keeps it from
//! being run, what may be refused, and how it is read.

use crate::app::{
    App,
    query::{Draft, Key, Row},
};
use tessera_model::{EnrichmentModel as Model, FailureKind, enrichment, vql};
use tessera_wire::vql::write;

/// How much a remark matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The query cannot be run, or the service refused it.
    Error,
    /// The service may refuse it.
    Note,
    /// How it is read.
    Plain,
}

/// One thing to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// How much it matters.
    pub severity: Severity,
    /// The row it is about, if it is about one.
    pub row: Option<usize>,
    /// The sentence.
    pub text: String,
}

/// Everything to say of the draft of the open dataset, what matters most first.
#[must_use]
pub fn remarks(app: &App) -> Vec<Remark> {
    let draft = app.draft();
    let mut remarks = Vec::new();
    let problem = draft.json.as_ref().and_then(|json| json.problem.as_ref());
    if let Some(problem) = problem {
        let text = format!("{problem}. Run is off until it can be read");
        remarks.push(Remark { severity: Severity::Error, row: None, text });
    } else {
        remarks.extend(incomplete(draft));
    }
    remarks.extend(refused(app));
    for (place, row) in draft.rows.iter().enumerate().filter(|(_, row)| row.on) {
        remarks.extend(note(app, row).map(|text| Remark {
            severity: Severity::Note,
            row: Some(place),
            text,
        }));
    }
    remarks.extend(plain(app, draft));
    remarks
}

/// The rows that are on and not complete.
fn incomplete(draft: &Draft) -> Vec<Remark> {
    let mut remarks: Vec<Remark> = Vec::new();
    for (place, row) in draft.rows.iter().enumerate().filter(|(_, row)| row.on) {
        if let Err(why) = row.filter() {
            let text = format!("{}.{} {}", row.key.word(), why.field, why.reason);
            remarks.push(Remark { severity: Severity::Error, row: Some(place), text });
        }
    }
    match (draft.filters(), remarks.as_slice()) {
        (Err(reason), []) => {
            remarks.push(Remark { severity: Severity::Error, row: None, text: reason });
        }
        (Err(_), _) => {
            let text = "Run is off until this is mended".to_owned();
            remarks.push(Remark { severity: Severity::Plain, row: None, text });
        }
        (Ok(_), _) => {}
    }
    remarks
}

/// What the service said of the draft as it is, pinned to the row it names (M67).
fn refused(app: &App) -> Option<Remark> {
    let failure = app.remote_page()?.failure()?;
    let sent = app.view()?.search.filters.as_slice();
    if failure.kind != FailureKind::Invalid || app.draft().filters().as_deref() != Ok(sent) {
        return None;
    }
    let words = failure.detail.as_ref().unwrap_or(&failure.sentence);
    let row = named(words.as_str(), app.draft());
    Some(Remark { severity: Severity::Error, row, text: format!("the service says: {words}") })
}

/// The row that a sentence means: by the number of the filter, else by the only key it names.
fn named(words: &str, draft: &Draft) -> Option<usize> {
    let on: Vec<usize> =
        draft.rows.iter().enumerate().filter(|(_, row)| row.on).map(|(place, _)| place).collect();
    let number = words
        .split("filter ")
        .nth(1)
        .and_then(|rest| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse::<usize>().ok());
    if let Some(row) = number.and_then(|number| on.get(number)) {
        return Some(*row);
    }
    let mut named = on.into_iter().filter(|&place| {
        let key = draft.rows[place].key.word();
        words.split(|c: char| !c.is_alphanumeric()).any(|word| word == key)
    });
    match (named.next(), named.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    }
}

/// What may be refused about a row.
fn note(app: &App, row: &Row) -> Option<String> {
    match row.key {
        Key::Issues if app.values().took_issue(row.typed(0).trim()) => None,
        Key::Issues => vql::unpublished(row.typed(0)),
        Key::Text if row.word() == "semantic" => unmet(app, Model::SEMANTIC),
        Key::Text => unmet(app, Model::CAPTIONS),
        Key::Labels => unmet(app, Model::LABELS),
        Key::Tags | Key::Duplicates | Key::Uniqueness | Key::Similarity => None,
    }
}

/// What to say of the enrichment models one of which the open dataset needs.
#[must_use]
pub fn unmet(app: &App, models: &[Model]) -> Option<String> {
    enrichment::unmet(models, app.store.enrichment(app.view()?.search.dataset))
}

/// How the draft is read.
fn plain(app: &App, draft: &Draft) -> Vec<Remark> {
    let plain = |text: String| Remark { severity: Severity::Plain, row: None, text };
    let on = draft.rows.iter().filter(|row| row.on).count();
    let off = draft.rows.len() - on;
    let mut remarks = Vec::new();
    if !draft.rows.is_empty() {
        let kept = if off > 0 { format!(", {off} off (kept, not sent)") } else { String::new() };
        remarks.push(plain(format!("{on} on{kept}; media must pass every one that is on (AND)")));
    }
    if let (Ok(filters), Some(view)) = (draft.filters(), app.view()) {
        remarks.extend(vql::long(write(&filters).len()).map(plain));
        if view.search.filters != filters {
            remarks.push(plain(
                "the results on screen are of another query; F5 runs this one".to_owned(),
            ));
        }
    }
    remarks
}
