//! The answer of a command, on standard output and nothing else there: a table for people, plain
//! tab-separated rows in a pipe, or a JSON or CSV document for programs.

mod document;
mod escape;
pub(super) mod filter;
mod table;

use std::{
    env,
    io::{self, IsTerminal as _, Write as _},
};

use clap::ColorChoice;
use serde_json::{Map, Value};

pub use document::{Column, Document};

use crate::cli::{Ended, Exit, Global};

/// How the answer is spelled.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Form {
    /// Aligned columns with names above them.
    Table,
    /// Values with tabs between them, no names.
    Tsv,
    /// Values with commas between them, names first.
    Csv,
    /// One document, or these fields of its rows.
    Json(Vec<String>),
    /// A row per line.
    Jsonl,
    /// What an expression of jq makes of the document.
    Filtered(String),
}

/// Standard output with its form.
#[derive(Clone, Debug)]
pub struct Out {
    form: Form,
    color: bool,
    /// Cells of a line; `None` in a pipe.
    width: Option<usize>,
}

impl Out {
    /// Decides the form by the options and by what standard output is.
    #[must_use]
    pub fn new(global: &Global) -> Self {
        let terminal = io::stdout().is_terminal();
        let form = match &global.json {
            _ if let Some(expression) = &global.jq => Form::Filtered(expression.clone()),
            Some(fields) => {
                Form::Json(fields.iter().filter(|field| !field.is_empty()).cloned().collect())
            }
            None if global.jsonl => Form::Jsonl,
            None if global.csv => Form::Csv,
            None if terminal => Form::Table,
            None => Form::Tsv,
        };
        Self { form, color: has_color(global, terminal), width: terminal.then(table::width) }
    }

    /// Whether programs read the answer.
    #[must_use]
    pub fn is_machine(&self) -> bool {
        matches!(self.form, Form::Json(_) | Form::Jsonl | Form::Filtered(_))
    }

    /// Whether it is a table for people.
    #[must_use]
    pub fn is_table(&self) -> bool {
        self.form == Form::Table
    }

    /// Whether events are told as objects, one per line.
    #[must_use]
    pub fn is_jsonl(&self) -> bool {
        self.form == Form::Jsonl
    }

    /// Whether a person looks at it in a terminal.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        self.width.is_some()
    }

    /// Prints an answer.
    ///
    /// # Errors
    /// Standard output is closed, or `--json=FIELDS` names a field that is not there.
    pub fn print(&self, document: &Document) -> Result<(), Ended> {
        let text = match &self.form {
            Form::Table => table::aligned(document, self.color, self.width),
            Form::Tsv => table::separated(document, '\t'),
            Form::Csv => table::comma_separated(document),
            Form::Json(fields) if fields.is_empty() => {
                format!("{}\n", escape::pretty(document.whole()))
            }
            Form::Json(fields) => format!("{}\n", escape::pretty(&chosen(document, fields)?)),
            Form::Filtered(expression) => filter::apply(expression, document.whole())?,
            Form::Jsonl => document.rows().map(|row| escape::line(row) + "\n").collect(),
        };
        self.text(&text)
    }

    /// Prints a document that is for programs alone: whole, if nothing else was asked for.
    ///
    /// # Errors
    /// As [`Out::print`].
    pub fn whole(&self, document: &Document) -> Result<(), Ended> {
        match &self.form {
            Form::Table | Form::Tsv | Form::Csv => {
                self.text(&format!("{}\n", escape::pretty(document.whole())))
            }
            Form::Json(_) | Form::Jsonl | Form::Filtered(_) => self.print(document),
        }
    }

    /// Prints an event: an object on a line for programs, else a line of words.
    ///
    /// # Errors
    /// Standard output is closed.
    pub fn event(&self, event: &Value, words: &str) -> Result<(), Ended> {
        if let Form::Filtered(expression) = &self.form {
            return self.text(&filter::apply(expression, event)?);
        }
        if self.is_machine() {
            return self.text(&(escape::line(event) + "\n"));
        }
        self.text(&format!("{words}\n"))
    }

    /// Prints JSON that is itself the answer: a document of the service, or one to be sent.
    ///
    /// # Errors
    /// Standard output is closed.
    pub fn json(&self, value: &Value) -> Result<(), Ended> {
        match &self.form {
            Form::Filtered(expression) => self.text(&filter::apply(expression, value)?),
            _ => self.text(&format!("{}\n", escape::pretty(value))),
        }
    }

    /// Prints text that is the answer as it is, whatever the form.
    ///
    /// # Errors
    /// Standard output is closed.
    pub fn text(&self, text: &str) -> Result<(), Ended> {
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        Ok(out.flush()?)
    }
}

/// The fields of the rows that were asked for.
fn chosen(document: &Document, fields: &[String]) -> Result<Value, Ended> {
    let known = document.fields();
    if let Some(unknown) = fields.iter().find(|field| !known.contains(&field.as_str()))
        && document.rows().next().is_some()
    {
        let sentence =
            format!("--json: there is no field `{unknown}`; there are: {}", known.join(", "));
        return Err(Ended::new(Exit::Usage, sentence));
    }
    let pick = |row: &Value| {
        let value = |field: &String| row.get(field).cloned().unwrap_or_default();
        Value::Object(
            fields.iter().map(|field| (field.clone(), value(field))).collect::<Map<_, _>>(),
        )
    };
    let mut rows = document.rows().map(pick);
    Ok(if document.is_list() { rows.collect() } else { rows.next().unwrap_or_default() })
}

/// Whether colours are wanted: by the options, by the conventions of the environment, by what it is
/// printed to.
pub(super) fn has_color(global: &Global, terminal: bool) -> bool {
    let set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
    let forced = |name| env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0");
    match global.color {
        _ if global.no_color => false,
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto if set("NO_COLOR") => false,
        ColorChoice::Auto if forced("FORCE_COLOR") || forced("CLICOLOR_FORCE") => true,
        ColorChoice::Auto => terminal && env::var_os("TERM").is_some_and(|term| term != "dumb"),
    }
}
