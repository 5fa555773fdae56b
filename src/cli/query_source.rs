//! Where a query comes from, and parsing it.

use std::path::PathBuf;

use clap::Args;

use crate::cli::{CliError, CliResult, Exit, context::read_stdin, read_file_or_stdin};
use tessera_model::Filter;
use tessera_wire::vql::{self, TextPosition, VqlError};

#[derive(Clone, Debug, Args)]
pub struct QuerySource {
    /// Query file; - or none: standard input.
    pub file: Option<PathBuf>,
    /// The query itself, instead of a file.
    #[arg(long, value_name = "JSON", conflicts_with = "file")]
    pub vql: Option<String>,
}

impl QuerySource {
    /// The name of the source in messages.
    pub fn name(&self) -> String {
        match &self.file {
            Some(file) if file.as_os_str() != "-" => file.display().to_string(),
            _ if self.vql.is_some() => "--vql".to_owned(),
            _ => "-".to_owned(),
        }
    }

    pub fn text(&self) -> CliResult<String> {
        let text = match (&self.vql, &self.file) {
            (Some(vql), _) => return Ok(vql.clone()),
            (None, Some(file)) => read_file_or_stdin(file)?,
            (None, None) => read_stdin()?,
        };
        require_nonempty(&self.name(), text)
    }

    pub fn filters(&self) -> CliResult<Vec<Filter>> {
        parse_filters(&self.name(), self.text()?)
    }
}

/// Parses a query; `name` is the source in messages.
pub fn parse_filters(name: &str, text: String) -> CliResult<Vec<Filter>> {
    let text = require_nonempty(name, text)?;
    vql::read_lenient(&text).map_err(|problem| {
        let message = located_problem(name, &text, "", &problem);
        CliError::new(Exit::Invalid, message).with_remedy("tessera query check")
    })
}

/// In a pipe, empty input is a failed command: it must not widen the query.
fn require_nonempty(name: &str, text: String) -> CliResult<String> {
    if !text.trim().is_empty() {
        return Ok(text);
    }
    let message = format!("{name}: the query is empty");
    Err(CliError::new(Exit::Invalid, message).with_remedy("tessera query new"))
}

/// A problem with its position, as compilers report it: `FILE:LINE:COLUMN: note: ...`.
pub fn located_problem(name: &str, text: &str, level: &str, problem: &VqlError) -> String {
    let TextPosition { line, column } = TextPosition::locate(problem, text);
    format!("{name}:{line}:{column}: {level}{problem}")
}
