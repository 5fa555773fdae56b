//! `tessera query check`: everything there is to say of a query before it is sent.

use serde_json::{Value, json};

use super::{Written, placed};
use crate::cli::{Column, Context, Document, Ended, Exit};
use tessera_client::Operation as Request;
use tessera_model::{
    Enrichment, Filter, SafeText,
    enrichment::unmet,
    text::counted,
    vql::{Issue, long, unpublished},
};
use tessera_wire::vql::{self, Place, VqlProblem};

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
        findings = notes(&filters);
        if context.global.dataset.is_some() {
            findings.extend(needs(&filters, enrichment(context).await.as_ref()));
        }
    }
    answer(context, &name, &text, &findings)?;
    let errors = findings.iter().filter(|finding| finding.error).count();
    match errors {
        0 => {
            context.note.say(format!(
                "{name}: {}, no mistakes",
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

/// What may be refused.
fn notes(filters: &[Filter]) -> Vec<Finding> {
    let mut notes = Vec::new();
    for (place, filter) in filters.iter().enumerate() {
        if let Filter::Issue(Issue { kind, .. }) = filter {
            let words = unpublished(kind.as_str());
            notes.extend(words.map(|words| note(Some(place), Some("issues.value"), words)));
        }
    }
    notes.extend(long(vql::write(filters).len()).map(|words| note(None, None, words)));
    notes
}

/// What the dataset that is named may lack; `known` is what was told of it.
fn needs<'a>(
    filters: &'a [Filter],
    known: Option<&'a Enrichment>,
) -> impl Iterator<Item = Finding> + 'a {
    filters.iter().enumerate().filter_map(move |(place, filter)| {
        unmet(filter.needs(), known).map(|words| note(Some(place), None, words))
    })
}

fn note(filter: Option<usize>, field: Option<&str>, reason: String) -> Finding {
    let problem = VqlProblem { filter, field: field.map(str::to_owned), reason };
    Finding { error: false, problem }
}

/// What is told of the dataset that is named. The query itself is checked also where that cannot be
/// read.
async fn enrichment(context: &Context) -> Option<Enrichment> {
    let read = async {
        let connection = context.connect(&[Request::Enrichment]).await?;
        let known = match context.dataset(&connection, None).await {
            Ok(dataset) => connection.client.enrichment(dataset.id).await.map_err(Ended::from),
            Err(ended) => Err(ended),
        };
        connection.close(context, Ok(Exit::Done)).await?;
        known
    };
    let known: Result<Enrichment, Ended> = read.await;
    known
        .inspect_err(|ended| {
            let words = SafeText::detail(&ended.sentence);
            context.note.warn(format!("the enrichment of the dataset is not checked: {words}"));
        })
        .ok()
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
        let told = placed(name, text, level, &finding.problem);
        format!("{}\n", SafeText::detail(&told))
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
