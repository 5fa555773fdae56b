//! `tessera query`: queries as text (`vql`, a JSON array of filters), and the views that are kept by
//! name. Nothing here needs the service but `run`, and `check` where a dataset is named.

mod add;
mod check;
mod views;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::cli::{Context, Document, Ended, Exit, context::standard_input, read_argument};
use tessera_model::Filter;
use tessera_wire::vql::{self, Place, VqlProblem};

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Query {
    /// Print an empty query, to add filters to.
    New,
    /// Print a query with one filter more; all filters must hold (AND).
    Add(add::Add),
    /// Check a query without sending it: every mistake with its line and column. With --dataset,
    /// also whether the dataset has the enrichment that it needs.
    Check(Written),
    /// Print a query spelled in one way, whatever way it was written.
    Fmt(Written),
    /// Tell a query in sentences.
    Explain(Written),
    #[command(flatten)]
    Kept(views::Views),
}

/// A query that somebody wrote.
#[derive(Clone, Debug, Args)]
pub struct Written {
    /// The file; - or none: standard input.
    file: Option<PathBuf>,
    /// The query itself, instead of a file.
    #[arg(long, value_name = "JSON", conflicts_with = "file")]
    vql: Option<String>,
}

/// Runs one of them.
///
/// # Errors
/// [`Exit::Invalid`] for a query that would be refused; else whatever keeps the answer away.
pub async fn run(context: &Context, command: Query) -> Result<Exit, Ended> {
    match command {
        Query::New => print(context, &[]),
        Query::Add(add) => print(context, &add.filters()?),
        Query::Check(written) => check::run(context, &written).await,
        Query::Fmt(written) => print(context, &written.filters()?),
        Query::Explain(written) => explain(context, &written.filters()?),
        Query::Kept(views) => views::run(context, views).await,
    }
}

impl Written {
    /// What it is called in a sentence about it.
    fn name(&self) -> String {
        match &self.file {
            Some(file) if file.as_os_str() != "-" => file.display().to_string(),
            _ if self.vql.is_some() => "--vql".to_owned(),
            _ => "-".to_owned(),
        }
    }

    fn text(&self) -> Result<String, Ended> {
        let text = match (&self.vql, &self.file) {
            (Some(vql), _) => return Ok(vql.clone()),
            (None, Some(file)) => read_argument(file)?,
            (None, None) => standard_input()?,
        };
        nonempty(&self.name(), text)
    }

    /// Its filters.
    ///
    /// # Errors
    /// It cannot be read, or [`Exit::Invalid`] with the first mistake and its place.
    fn filters(&self) -> Result<Vec<Filter>, Ended> {
        filters_of(&self.name(), self.text()?)
    }
}

/// The filters of a text; `name` is what it is called in a sentence about it.
///
/// # Errors
/// [`Exit::Invalid`]: it is empty, or with the first mistake and its place.
pub fn filters_of(name: &str, text: String) -> Result<Vec<Filter>, Ended> {
    let text = nonempty(name, text)?;
    vql::read_open(&text).map_err(|problem| {
        let sentence = placed(name, &text, "", &problem);
        Ended::new(Exit::Invalid, sentence).remedy("tessera query check")
    })
}

/// In a pipe an empty text is a command that failed before: it must not widen the query.
fn nonempty(name: &str, text: String) -> Result<String, Ended> {
    if !text.trim().is_empty() {
        return Ok(text);
    }
    let sentence = format!("{name}: there is no query in it");
    Err(Ended::new(Exit::Invalid, sentence).remedy("tessera query new"))
}

/// A problem with its place and level in front, as compilers tell it: `FILE:LINE:COLUMN: note: ...`.
fn placed(name: &str, text: &str, level: &str, problem: &VqlProblem) -> String {
    let Place { line, column } = Place::of(problem, text);
    format!("{name}:{line}:{column}: {level}{problem}")
}

fn print(context: &Context, filters: &[Filter]) -> Result<Exit, Ended> {
    context.out.json(&document(filters))?;
    Ok(Exit::Done)
}

/// Filters as they are sent.
fn document(filters: &[Filter]) -> Value {
    // What was just written is JSON.
    serde_json::from_str(&vql::write(filters)).unwrap_or_default()
}

fn explain(context: &Context, filters: &[Filter]) -> Result<Exit, Ended> {
    if context.out.is_machine() {
        let rows: Vec<Value> = filters
            .iter()
            .map(|filter| json!({ "filter": document(std::slice::from_ref(filter))[0], "_means": filter.to_string() }))
            .collect();
        let answer = json!({ "filters": rows });
        context.answer(&Document::list("tessera.explanation/1", answer, "filters", &[]))?;
        return Ok(Exit::Done);
    }
    let told: Vec<String> = filters.iter().map(Filter::to_string).collect();
    context.out.text(&match told.as_slice() {
        [] => "every medium passes: there are no filters\n".to_owned(),
        [only] => format!("a medium passes when {only}\n"),
        several => format!("a medium passes when\n  {}\n", several.join(", and\n  ")),
    })?;
    Ok(Exit::Done)
}
