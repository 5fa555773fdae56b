//! `tessera query`: queries as text (`vql`, a JSON array of filters), and the views that are kept by
//! name. Nothing here needs the service but `run`, and `check` where a dataset is named.

mod add;
mod check;
mod views;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::cli::{CliError, Context, Document, Exit, context::read_stdin, read_file_or_stdin};
use tessera_model::Filter;
use tessera_wire::vql::{self, TextPosition, VqlError};

/// The commands.
#[derive(Debug, Subcommand)]
pub enum QueryCommand {
    /// Print an empty query, to add filters to.
    New,
    /// Print a query with one filter more; all filters must hold (AND).
    Add(add::QueryAddOptions),
    /// Check a query without sending it: every mistake with its line and column. With --dataset,
    /// also whether the dataset has the enrichment that it needs.
    Check(QuerySource),
    /// Print a query spelled in one way, whatever way it was written.
    Fmt(QuerySource),
    /// Tell a query in sentences.
    Explain(QuerySource),
    #[command(flatten)]
    Views(views::ViewCommand),
}

/// A query that somebody wrote.
#[derive(Clone, Debug, Args)]
pub struct QuerySource {
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
pub async fn run(context: &Context, command: QueryCommand) -> Result<Exit, CliError> {
    match command {
        QueryCommand::New => print_query(context, &[]),
        QueryCommand::Add(add) => print_query(context, &add.extended_query()?),
        QueryCommand::Check(written) => check::run(context, &written).await,
        QueryCommand::Fmt(written) => print_query(context, &written.filters()?),
        QueryCommand::Explain(written) => explain(context, &written.filters()?),
        QueryCommand::Views(views) => views::run(context, views).await,
    }
}

impl QuerySource {
    /// What it is called in a sentence about it.
    fn name(&self) -> String {
        match &self.file {
            Some(file) if file.as_os_str() != "-" => file.display().to_string(),
            _ if self.vql.is_some() => "--vql".to_owned(),
            _ => "-".to_owned(),
        }
    }

    fn text(&self) -> Result<String, CliError> {
        let text = match (&self.vql, &self.file) {
            (Some(vql), _) => return Ok(vql.clone()),
            (None, Some(file)) => read_file_or_stdin(file)?,
            (None, None) => read_stdin()?,
        };
        require_nonempty(&self.name(), text)
    }

    /// Its filters.
    ///
    /// # Errors
    /// It cannot be read, or [`Exit::Invalid`] with the first mistake and its place.
    fn filters(&self) -> Result<Vec<Filter>, CliError> {
        parse_filters(&self.name(), self.text()?)
    }
}

/// The filters of a text; `name` is what it is called in a sentence about it.
///
/// # Errors
/// [`Exit::Invalid`]: it is empty, or with the first mistake and its place.
pub fn parse_filters(name: &str, text: String) -> Result<Vec<Filter>, CliError> {
    let text = require_nonempty(name, text)?;
    vql::read_lenient(&text).map_err(|problem| {
        let sentence = located_problem(name, &text, "", &problem);
        CliError::new(Exit::Invalid, sentence).with_remedy("tessera query check")
    })
}

/// In a pipe an empty text is a command that failed before: it must not widen the query.
fn require_nonempty(name: &str, text: String) -> Result<String, CliError> {
    if !text.trim().is_empty() {
        return Ok(text);
    }
    let sentence = format!("{name}: there is no query in it");
    Err(CliError::new(Exit::Invalid, sentence).with_remedy("tessera query new"))
}

/// A problem with its place and level in front, as compilers tell it: `FILE:LINE:COLUMN: note: ...`.
fn located_problem(name: &str, text: &str, level: &str, problem: &VqlError) -> String {
    let TextPosition { line, column } = TextPosition::locate(problem, text);
    format!("{name}:{line}:{column}: {level}{problem}")
}

fn print_query(context: &Context, filters: &[Filter]) -> Result<Exit, CliError> {
    context.out.print_json(&query_json(filters))?;
    Ok(Exit::Done)
}

/// Filters as they are sent.
fn query_json(filters: &[Filter]) -> Value {
    // What was just written is JSON.
    serde_json::from_str(&vql::write(filters)).unwrap_or_default()
}

fn explain(context: &Context, filters: &[Filter]) -> Result<Exit, CliError> {
    if context.out.is_machine() {
        let rows: Vec<Value> = filters
            .iter()
            .map(|filter| json!({ "filter": query_json(std::slice::from_ref(filter))[0], "_means": filter.to_string() }))
            .collect();
        let answer = json!({ "filters": rows });
        context.print(&Document::list("tessera.explanation/1", answer, "filters", &[]))?;
        return Ok(Exit::Done);
    }
    let told: Vec<String> = filters.iter().map(Filter::to_string).collect();
    context.out.print_text(&match told.as_slice() {
        [] => "every medium passes: there are no filters\n".to_owned(),
        [only] => format!("a medium passes when {only}\n"),
        several => format!("a medium passes when\n  {}\n", several.join(", and\n  ")),
    })?;
    Ok(Exit::Done)
}
