//! `tessera query`: queries as text (`vql`, a JSON array of filters), and saved views. Only `run`,
//! and `check` with a dataset, need the service.

mod add;
mod check;
mod views;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::cli::{CliError, Context, Document, Exit, context::read_stdin, read_file_or_stdin};
use tessera_model::Filter;
use tessera_wire::vql::{self, TextPosition, VqlError};

#[derive(Debug, Subcommand)]
pub enum QueryCommand {
    /// Print an empty query, to add filters to.
    New,
    /// Print a query with one more filter; all filters must match (AND).
    Add(add::QueryAddOptions),
    /// Check a query without sending it, and report every error with its line and column. With
    /// --dataset, also check that the dataset has the required enrichment.
    Check(QuerySource),
    /// Print a query in the canonical format.
    Fmt(QuerySource),
    /// Explain a query in sentences.
    Explain(QuerySource),
    #[command(flatten)]
    Views(views::ViewCommand),
}

#[derive(Clone, Debug, Args)]
pub struct QuerySource {
    /// Query file; - or none: standard input.
    file: Option<PathBuf>,
    /// The query itself, instead of a file.
    #[arg(long, value_name = "JSON", conflicts_with = "file")]
    vql: Option<String>,
}

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
    /// The name of the source in messages.
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

    fn filters(&self) -> Result<Vec<Filter>, CliError> {
        parse_filters(&self.name(), self.text()?)
    }
}

/// Parses a query; `name` is the source in messages.
pub fn parse_filters(name: &str, text: String) -> Result<Vec<Filter>, CliError> {
    let text = require_nonempty(name, text)?;
    vql::read_lenient(&text).map_err(|problem| {
        let message = located_problem(name, &text, "", &problem);
        CliError::new(Exit::Invalid, message).with_remedy("tessera query check")
    })
}

/// In a pipe, empty input is a failed command: it must not widen the query.
fn require_nonempty(name: &str, text: String) -> Result<String, CliError> {
    if !text.trim().is_empty() {
        return Ok(text);
    }
    let message = format!("{name}: the query is empty");
    Err(CliError::new(Exit::Invalid, message).with_remedy("tessera query new"))
}

/// A problem with its position, as compilers report it: `FILE:LINE:COLUMN: note: ...`.
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
    // The text was just serialized, so it is JSON.
    serde_json::from_str(&vql::write(filters)).unwrap_or_default()
}

fn explain(context: &Context, filters: &[Filter]) -> Result<Exit, CliError> {
    if context.out.is_machine() {
        let rows: Vec<Value> = filters
            .iter()
            .map(|filter| json!({ "filter": query_json(std::slice::from_ref(filter))[0], "_means": filter.to_string() }))
            .collect();
        let answer = json!({ "filters": rows });
        return context.print(&Document::list("tessera.explanation/1", answer, "filters", &[]));
    }
    let sentences: Vec<String> = filters.iter().map(Filter::to_string).collect();
    context.out.print_text(&match sentences.as_slice() {
        [] => "matches every media item: there are no filters\n".to_owned(),
        [only] => format!("matches media items if {only}\n"),
        several => format!("matches media items if\n  {}\n", several.join(", and\n  ")),
    })?;
    Ok(Exit::Done)
}
