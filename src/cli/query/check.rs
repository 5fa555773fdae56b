//! `tessera query check`: everything there is to say of a query before it is sent.

use serde_json::{Value, json};

use super::{Written, placed};
use crate::{
    api::Operation as Request,
    cli::{Column, Context, Document, Ended, Exit},
    model::{
        Enrichment, Filter, SafeText,
        enrichment::unmet,
        text::counted,
        vql::{Issue, long, unpublished},
    },
    wire::vql::{self, Place, VqlProblem},
};

const COLUMNS: &[Column] = &[
    Column::new("LINE", "line"),
    Column::new("COLUMN", "column"),
    Column::new("LEVEL", "level"),
    Column::new("MESSAGE", "message"),
];

/// One thing to say; an error when the service would refuse it, else a note.
struct Finding {
    error: bool,
    problem: VqlProblem,
}

/// Checks a query.
///
/// # Errors
/// [`Exit::Invalid`] when it is wrong; [`Exit::Usage`] when it cannot be read at all.
pub(super) async fn run(context: &Context, written: &Written) -> Result<Exit, Ended> {
    let (name, text) = (written.name(), written.text()?);
    let (filters, mut findings) = errors(&text);
    if findings.is_empty() {
        let known = enrichment(context).await;
        findings = notes(&filters, known.as_ref().map(Option::as_ref));
    }
    answer(context, &name, &text, &findings)?;
    let errors = findings.iter().filter(|finding| finding.error).count();
    match errors {
        0 => {
            context.note.say(format!(
                "{name}: {}, nothing wrong",
                counted(filters.len(), "filter", "filters")
            ));
            Ok(Exit::Done)
        }
        errors => {
            let sentence =
                format!("{name}: {}; it would be refused", counted(errors, "mistake", "mistakes"));
            Err(Ended::new(Exit::Invalid, sentence))
        }
    }
}

/// The filters that can be read, and what is wrong with the others.
fn errors(text: &str) -> (Vec<Filter>, Vec<Finding>) {
    let each = vql::read_each(text).unwrap_or_else(|whole| vec![Err(whole)]);
    let (mut filters, mut findings) = (Vec::new(), Vec::new());
    for one in each {
        match one {
            Ok(filter) => filters.push(filter),
            Err(problem) => findings.push(Finding { error: true, problem }),
        }
    }
    (filters, findings)
}

/// What may be refused. `known` is what was told of the dataset, where one is named.
fn notes(filters: &[Filter], known: Option<Option<&Enrichment>>) -> Vec<Finding> {
    let note = |filter, field: Option<&str>, reason| {
        let problem = VqlProblem { filter, field: field.map(str::to_owned), reason };
        Finding { error: false, problem }
    };
    let mut notes = Vec::new();
    for (place, filter) in filters.iter().enumerate() {
        if let Filter::Issue(Issue { kind, .. }) = filter {
            let words = unpublished(kind.as_str());
            notes.extend(words.map(|words| note(Some(place), Some("issues.value"), words)));
        }
        let unmet = known.and_then(|known| unmet(filter.needs(), known));
        notes.extend(unmet.map(|words| note(Some(place), None, words)));
    }
    notes.extend(long(vql::write(filters).len()).map(|words| note(None, None, words)));
    notes
}

/// What is told of the dataset that is named: `None` without one, `Some(None)` when it cannot be
/// read. The query itself is checked either way.
async fn enrichment(context: &Context) -> Option<Option<Enrichment>> {
    context.global.dataset.as_ref()?;
    let read = async {
        let connection = context.connect(&[Request::Enrichment]).await?;
        let dataset = context.dataset(&connection, None).await.map(|dataset| dataset.id);
        let known = match dataset {
            Ok(id) => Ok(connection.client.enrichment(id).await?),
            Err(ended) => Err(ended),
        };
        connection.close(context, Ok(Exit::Done)).await?;
        known
    };
    match read.await {
        Ok(known) => Some(Some(known)),
        Err(ended) => {
            let words = SafeText::detail(&ended.sentence);
            context.note.warn(format!("the enrichment of the dataset is not checked: {words}"));
            Some(None)
        }
    }
}

fn answer(context: &Context, name: &str, text: &str, findings: &[Finding]) -> Result<(), Ended> {
    let rows: Vec<Value> = findings.iter().map(|finding| row(text, finding)).collect();
    if context.out.is_machine() || context.global.csv {
        let valid = !findings.iter().any(|finding| finding.error);
        let answer = json!({ "valid": valid, "remarks": rows });
        return context.answer(&Document::list("tessera.check/1", answer, "remarks", COLUMNS));
    }
    let line = |finding: &Finding| {
        let level = if finding.error { "" } else { "note: " };
        let told = placed(name, text, &finding.problem);
        format!("{level}{}\n", SafeText::detail(&told))
    };
    context.out.text(&findings.iter().map(line).collect::<String>())
}

fn row(text: &str, Finding { error, problem }: &Finding) -> Value {
    let Place { line, column } = Place::of(problem, text);
    json!({
        "level": if *error { "error" } else { "note" },
        "line": line,
        "column": column,
        "filter": problem.filter,
        "field": problem.field,
        "message": problem.reason,
    })
}
