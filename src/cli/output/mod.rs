//! Prints the documents of commands to standard output: as tables in a terminal, tab-separated in a pipe, or as JSON or
//! CSV.

pub(super) mod jq;
pub(super) mod table;

pub use table::{Column, Document};

use std::{
    env,
    io::{self, IsTerminal as _, Write as _},
    slice,
    time::Duration,
};

use clap::ColorChoice;
use serde_json::{Map, Value};
use table::TableStyle;

use crate::{
    cli::{CliError, CliResult, GlobalOptions, is_capable_terminal},
    environment::refuses_colors,
};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::retry_on_intr,
};
use tessera_interface::printable_text::PrintableText;

#[derive(Clone, Debug, PartialEq, Eq)]
enum OutputFormat {
    Table,
    /// Tab-separated values without a header.
    Tsv,
    /// Comma-separated values with a header.
    Csv,
    /// One document, or only these fields of its rows.
    Json(Vec<String>),
    /// One row per line.
    Jsonl,
    Jq(String),
}

#[derive(Clone, Debug)]
pub struct Output {
    format: OutputFormat,
    /// The appearance of tables.
    style: TableStyle,
}

impl Output {
    pub fn new(global: &GlobalOptions) -> Self {
        let terminal = io::stdout().is_terminal();
        let format = match &global.json {
            _ if let Some(expression) = &global.jq => OutputFormat::Jq(expression.clone()),
            Some(fields) => OutputFormat::Json(
                fields.iter().filter(|field| !field.is_empty()).cloned().collect(),
            ),
            None if global.jsonl => OutputFormat::Jsonl,
            None if global.csv => OutputFormat::Csv,
            None if terminal => OutputFormat::Table,
            None => OutputFormat::Tsv,
        };
        let style = TableStyle {
            color: use_color(global, terminal),
            width: terminal.then(table::terminal_width),
            full: global.full,
        };
        Self { format, style }
    }

    pub fn is_machine(&self) -> bool {
        matches!(self.format, OutputFormat::Json(_) | OutputFormat::Jsonl | OutputFormat::Jq(_))
    }

    /// Whether people read the output, so that it may be a sentence in place of a document.
    pub fn is_text(&self) -> bool {
        matches!(self.format, OutputFormat::Table | OutputFormat::Tsv)
    }

    /// Fails if a format is requested for a command that prints no document. `reason` says what it prints.
    pub fn require_text(&self, reason: &str) -> CliResult<()> {
        if self.is_text() {
            return Ok(());
        }
        let formats = "remove --json, --jsonl, --csv and --jq";
        Err(CliError::usage(format!("{reason}; {formats}")))
    }

    /// Fails if the output needs the columns of a document, which a response of the service does not have.
    pub fn require_no_columns(&self) -> CliResult<()> {
        let option = match &self.format {
            OutputFormat::Csv => "--csv",
            OutputFormat::Json(fields) if !fields.is_empty() => "--json=FIELDS",
            _ => return Ok(()),
        };
        let message = format!("a response of the service has no columns for {option}; use --jq");
        Err(CliError::usage(message))
    }

    /// Fails if a requested field is not one of the documents of this schema. Commands that change something are
    /// refused before they do it, because a script repeats a command that was refused.
    pub fn require_fields_of(&self, schema: &str) -> CliResult<()> {
        match &self.format {
            OutputFormat::Json(fields) if !fields.is_empty() => {
                require_known(&Document::new(schema, Value::Null), fields)
            }
            _ => Ok(()),
        }
    }

    pub fn is_table(&self) -> bool {
        self.format == OutputFormat::Table
    }

    pub fn is_jsonl(&self) -> bool {
        self.format == OutputFormat::Jsonl
    }

    pub fn is_terminal(&self) -> bool {
        self.style.width.is_some()
    }

    /// Prints a whole document. The command goes on if the reader has closed the pipe.
    pub fn print(&self, document: &Document) -> CliResult<()> {
        unless_closed(self.print_rows(document))
    }

    /// Prints rows of a result that is still being read. Fails if the reader has closed the pipe, so that nothing more is
    /// read.
    pub fn print_rows(&self, document: &Document) -> CliResult<()> {
        let text = match &self.format {
            OutputFormat::Table => table::aligned_table(document, self.style),
            OutputFormat::Tsv => table::tab_separated(document),
            OutputFormat::Csv => table::csv(document),
            OutputFormat::Json(fields) if fields.is_empty() => {
                PrintableText::pretty_json(document.root())
            }
            OutputFormat::Json(fields) => {
                PrintableText::pretty_json(&select_fields(document, fields)?)
            }
            OutputFormat::Jq(expression) => return print_filtered(expression, document.root()),
            OutputFormat::Jsonl => document.rows().map(PrintableText::compact_json).collect(),
        };
        write_stdout(&text)
    }

    /// Prints a document for programs, pretty-printed by default.
    pub fn print_whole(&self, document: &Document) -> CliResult<()> {
        if self.is_machine() {
            return self.print(document);
        }
        unless_closed(write_stdout(&PrintableText::pretty_json(document.root())))
    }

    /// Prints an event. Programs get an object on one line, and users get a sentence.
    pub fn print_event(&self, event: &Value, sentence: &str) -> CliResult<()> {
        match &self.format {
            OutputFormat::Jq(expression) => print_filtered(expression, event),
            _ if self.is_machine() => write_stdout(&PrintableText::compact_json(event)),
            _ => self.print_text(&format!("{sentence}\n")),
        }
    }

    /// Prints JSON that is itself the output, such as a response of the service.
    pub fn print_json(&self, value: &Value) -> CliResult<()> {
        match &self.format {
            OutputFormat::Jq(expression) => print_filtered(expression, value),
            OutputFormat::Jsonl => {
                let rows = value.as_array().map_or(slice::from_ref(value), Vec::as_slice);
                write_stdout(&rows.iter().map(PrintableText::compact_json).collect())
            }
            _ => write_stdout(&PrintableText::pretty_json(value)),
        }
    }

    /// Prints lines after making them printable, regardless of the format.
    pub fn print_text(&self, text: &str) -> CliResult<()> {
        write_stdout(&PrintableText::lines(text))
    }

    /// Writes bytes unchanged to a pipe or a file. Returns `false` for a terminal, which gets
    /// nothing.
    pub fn write_raw(&self, bytes: &[u8]) -> CliResult<bool> {
        if self.is_terminal() {
            return Ok(false);
        }
        write_bytes(bytes)?;
        Ok(true)
    }
}

/// Prints the results of an expression of `--jq`, also if an error follows them.
fn print_filtered(expression: &str, document: &Value) -> CliResult<()> {
    let mut text = PrintableText::default();
    let outcome = jq::apply(expression, document, &mut text);
    let printed = write_stdout(&text);
    outcome.and(printed)
}

/// Returns whether nobody can read standard output any more, now or until the pause ends.
pub fn is_unread_within(pause: Duration) -> bool {
    let output = io::stdout();
    // Without events to wait for, only an output without a reader ends the pause early.
    let mut watched = [PollFd::new(&output, PollFlags::empty())];
    let pause = Timespec::try_from(pause).ok();
    retry_on_intr(|| poll(&mut watched, pause.as_ref())).is_ok_and(|count| count > 0)
}

/// Ignores that the reader has closed the pipe, so that a command ends with its own exit code, and does what follows.
pub fn unless_closed<T: Default>(printed: CliResult<T>) -> CliResult<T> {
    printed.or_else(|error| if error.is_early_end() { Ok(T::default()) } else { Err(error) })
}

/// Writes text to standard output. All text is written here.
pub fn write_stdout(text: &PrintableText) -> CliResult<()> {
    write_bytes(text.as_str().as_bytes())
}

/// Writes the candidates that a shell asked for, in the shell's format. Names are plain words, and their descriptions
/// are [`tessera_model::SafeText`].
pub fn write_candidates(candidates: &[u8]) -> CliResult<()> {
    write_bytes(candidates)
}

/// Writes the characters and control sequences that draw pictures. They come from our encoders and contain no text from
/// outside.
pub fn write_picture(encoded: &str) -> CliResult<()> {
    write_bytes(encoded.as_bytes())
}

fn write_bytes(bytes: &[u8]) -> CliResult<()> {
    let mut out = io::stdout().lock();
    let written = out.write_all(bytes).and_then(|()| out.flush());
    written.map_err(|error| CliError::output(&error))
}

fn require_known(document: &Document, fields: &[String]) -> CliResult<()> {
    let known = document.field_names();
    let Some(unknown) = fields.iter().find(|field| !known.contains(field)) else { return Ok(()) };
    let message = format!("--json: unknown field `{unknown}`; available: {}", known.join(", "));
    Err(CliError::usage(message))
}

fn select_fields(document: &Document, fields: &[String]) -> CliResult<Value> {
    require_known(document, fields)?;
    let pick = |row: &Value| {
        let value = |field: &String| row.get(field).cloned().unwrap_or_default();
        Value::Object(
            fields.iter().map(|field| (field.clone(), value(field))).collect::<Map<_, _>>(),
        )
    };
    let mut rows = document.rows().map(pick);
    Ok(if document.is_list() { rows.collect() } else { rows.next().unwrap_or_default() })
}

fn use_color(global: &GlobalOptions, terminal: bool) -> bool {
    let forced = |name| env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0");
    match global.color {
        _ if global.no_color => false,
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto if refuses_colors() => false,
        ColorChoice::Auto if forced("FORCE_COLOR") || forced("CLICOLOR_FORCE") => true,
        ColorChoice::Auto => terminal && is_capable_terminal(),
    }
}
