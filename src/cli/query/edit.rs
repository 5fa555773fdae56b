//! `tessera query add` and `tessera query check`: extends queries, and reports their errors.

use std::{
    io::{self, IsTerminal as _},
    path::PathBuf,
};

use clap::{Args, Subcommand, builder::PossibleValuesParser};
use serde_json::{Value, json};

use crate::cli::{
    CliError, CliResult, Column, Context, Document, Exit,
    input_options::{NamedQuery, QueryOptions, QuerySource, located_problem},
};
use tessera_client::Endpoint;
use tessera_model::{
    Anchor, AnchorKind, Enrichment, Filter, MediaId, SafeText, TagId,
    enrichment::missing_model_warning,
    text::count_with_noun,
    vql::{
        InvalidField, IssueFilter, IssueMode, IssueName, LabelRule, MAX_FILTERS,
        long_query_warning, unpublished_issue_warning,
    },
};
use tessera_wire::vql::{self, TextPosition, VqlError};

#[derive(Debug, Args)]
pub struct QueryAddOptions {
    /// File with the query to extend; - or none: standard input. In a terminal, an empty query.
    #[arg(long, short, value_name = "FILE", global = true, conflicts_with = "vql")]
    file: Option<PathBuf>,
    /// The query to extend: a JSON array of filters.
    #[arg(long, value_name = "JSON", global = true)]
    vql: Option<String>,
    #[command(subcommand)]
    kind: FilterCommand,
}

#[derive(Debug, Subcommand)]
enum FilterCommand {
    /// Captions: full text or meaning.
    #[command(subcommand)]
    Text(TextFilterCommand),
    /// Classification labels.
    Labels {
        /// How to compare labels.
        #[arg(value_name = "OP",
              value_parser = PossibleValuesParser::new(LabelRule::ALL.iter().map(|rule| rule.as_str())))]
        rule: String,
        /// The labels.
        #[arg(required = true)]
        labels: Vec<String>,
    },
    /// User tags, by ID: a media item must have all of them.
    Tags {
        /// The only operator.
        #[arg(value_name = "OP", value_parser = ["is"])]
        _op: String,
        /// IDs of the tags.
        #[arg(required = true, value_name = "UUID")]
        tags: Vec<TagId>,
    },
    /// A quality issue; `blur` is the documented one.
    Issues {
        /// Name of the issue.
        #[arg(value_name = "ISSUE")]
        word: String,
        /// Media items with the issue, or without it.
        #[arg(long, default_value = "in", value_parser = ["in", "out"])]
        mode: String,
        /// Minimum confidence, 0 to 1.
        #[arg(long, value_name = "0-1")]
        min_confidence: Option<f64>,
        /// Maximum confidence, 0 to 1.
        #[arg(long, value_name = "0-1")]
        max_confidence: Option<f64>,
    },
    /// Media items with a near-duplicate of at least this similarity.
    Duplicates {
        /// The similarity, 0 to 1.
        #[arg(value_name = "0-1")]
        similarity: f64,
    },
    /// Media items with a uniqueness score above this.
    Uniqueness {
        /// The score, 0 to 1.
        #[arg(value_name = "0-1")]
        score: f64,
    },
    /// Media items that are similar to an image.
    Similarity {
        /// An image in the dataset, or an uploaded one.
        #[arg(value_name = "OP", value_parser = ["media", "upload"])]
        op: String,
        /// ID of the image.
        #[arg(value_name = "UUID")]
        media: MediaId,
        /// Maximum distance, 0 to 1: lower is stricter.
        #[arg(long, value_name = "0-1")]
        max_distance: Option<f64>,
    },
}

#[derive(Debug, Subcommand)]
enum TextFilterCommand {
    /// Captions that match words, with AND, OR, -without and "phrases".
    Fts {
        /// The words.
        text: String,
    },
    /// Captions or images with a meaning similar to a text.
    Semantic {
        /// The text.
        text: String,
        /// Minimum similarity, 0 to 1: higher is stricter.
        #[arg(long, value_name = "0-1")]
        min_sim: Option<f64>,
    },
}

impl QueryAddOptions {
    pub(super) fn extended_query(self) -> CliResult<Vec<Filter>> {
        let filter = self.kind.to_filter().map_err(|InvalidField { field, reason }| {
            let named = match field {
                "threshold" | "confidence_min" | "confidence_max" => format!("{field}: {reason}"),
                _ => reason,
            };
            CliError::usage(named)
        })?;
        let given = QueryOptions::new(self.vql, self.file);
        let is_new = given.is_empty() && io::stdin().is_terminal();
        let mut filters = if is_new { Vec::new() } else { QuerySource::from(given).filters()? };
        if filters.len() == MAX_FILTERS {
            let message = format!("a query has at most {MAX_FILTERS} filters");
            return Err(CliError::new(Exit::Invalid, message));
        }
        filters.push(filter);
        Ok(filters)
    }
}

impl FilterCommand {
    fn to_filter(&self) -> Result<Filter, InvalidField> {
        match self {
            Self::Text(TextFilterCommand::Fts { text }) => Filter::full_text(text),
            Self::Text(TextFilterCommand::Semantic { text, min_sim }) => {
                Filter::semantic(text, *min_sim)
            }
            Self::Labels { rule, labels } => {
                let rule = LabelRule::from_keyword(rule).unwrap_or(LabelRule::OneOf);
                Filter::labels(rule, labels.iter().map(String::as_str))
            }
            Self::Tags { tags, .. } => Filter::tags(tags.clone()),
            Self::Issues { word, mode, min_confidence, max_confidence } => {
                let mode = IssueMode::from_keyword(mode).unwrap_or(IssueMode::In);
                Filter::issue(IssueName::new(word)?, mode, *min_confidence, *max_confidence)
            }
            Self::Duplicates { similarity } => Filter::duplicates(*similarity),
            Self::Uniqueness { score } => Filter::uniqueness(*score),
            Self::Similarity { op, media, max_distance } => {
                let kind = op.parse().unwrap_or(AnchorKind::Media);
                Filter::similar(Anchor { media: *media, kind }, *max_distance)
            }
        }
    }
}

const CHECK_COLUMNS: &[Column] = &[
    Column::new("LINE", "line"),
    Column::new("COLUMN", "column"),
    Column::new("LEVEL", "level"),
    Column::new("MESSAGE", "message"),
];

/// A problem of a query. It is an error if the service would reject the query, and a note
/// otherwise.
struct QueryDiagnostic {
    is_error: bool,
    problem: VqlError,
}

pub(super) async fn run(context: &Context, source: &QuerySource) -> CliResult {
    let NamedQuery { name, text } = source.read_or_stdin()?;
    let (filters, mut diagnostics) = parse_errors(&text);
    if diagnostics.is_empty() {
        diagnostics = value_notes(&filters);
        if context.global.dataset.is_some() {
            let enrichment = fetch_enrichment(context).await;
            diagnostics.extend(enrichment_notes(&filters, enrichment.as_ref()));
        }
    }
    print_diagnostics(context, &name, &text, &diagnostics)?;
    match diagnostics.iter().filter(|diagnostic| diagnostic.is_error).count() {
        0 => {
            let filters = count_with_noun(filters.len(), "filter", "filters");
            context.messages.info(format!("{name}: {filters}, no errors"));
            Ok(Exit::Done)
        }
        errors => {
            let errors = count_with_noun(errors, "error", "errors");
            let message = format!("{name}: {errors}; the service would reject it");
            Err(CliError::new(Exit::Invalid, message))
        }
    }
}

fn parse_errors(text: &str) -> (Vec<Filter>, Vec<QueryDiagnostic>) {
    let (mut filters, mut errors) = (Vec::new(), Vec::new());
    for parsed in vql::read_each(text).unwrap_or_else(|whole| vec![Err(whole)]) {
        match parsed {
            Ok(filter) => filters.push(filter),
            Err(problem) => errors.push(QueryDiagnostic { is_error: true, problem }),
        }
    }
    (filters, errors)
}

fn value_notes(filters: &[Filter]) -> Vec<QueryDiagnostic> {
    let mut notes = Vec::new();
    for (index, filter) in filters.iter().enumerate() {
        if let Filter::Issue(IssueFilter { kind, .. }) = filter
            && let Some(warning) = unpublished_issue_warning(kind.as_str())
        {
            notes.push(note(Some(index), Some("issues.value"), warning));
        }
    }
    let too_long = long_query_warning(vql::write(filters).len());
    notes.extend(too_long.map(|warning| note(None, None, warning)));
    notes
}

fn enrichment_notes<'a>(
    filters: &'a [Filter],
    known: Option<&'a Enrichment>,
) -> impl Iterator<Item = QueryDiagnostic> + 'a {
    filters.iter().enumerate().filter_map(move |(index, filter)| {
        let warning = missing_model_warning(filter.required_models(), known)?;
        Some(note(Some(index), None, warning))
    })
}

fn note(filter: Option<usize>, field: Option<&str>, reason: String) -> QueryDiagnostic {
    let problem = VqlError { filter, field: field.map(str::to_owned), reason };
    QueryDiagnostic { is_error: false, problem }
}

async fn fetch_enrichment(context: &Context) -> Option<Enrichment> {
    let fetch = async {
        let connection = context.connect(&[Endpoint::Enrichment]).await?;
        let enrichment = async {
            let dataset = connection.dataset(None).await?;
            Ok(connection.client.enrichment(dataset.id).await?)
        };
        let enrichment: CliResult<Enrichment> = enrichment.await;
        connection.close(Ok(Exit::Done)).await?;
        enrichment
    };
    let fetched: CliResult<Enrichment> = fetch.await;
    fetched
        .inspect_err(|error| {
            let reason = SafeText::detail(&error.message);
            context.messages.warn(format!("the dataset's enrichment was not checked: {reason}"));
        })
        .ok()
}

fn print_diagnostics(
    context: &Context,
    name: &str,
    text: &str,
    diagnostics: &[QueryDiagnostic],
) -> CliResult<()> {
    if context.out.is_machine() || context.global.csv {
        let rows: Vec<Value> = diagnostics.iter().map(|it| diagnostic_row(text, it)).collect();
        let valid = !diagnostics.iter().any(|diagnostic| diagnostic.is_error);
        let fields = json!({ "valid": valid, "diagnostics": rows });
        let document =
            Document::list("tessera.query_check/1", fields, "diagnostics", CHECK_COLUMNS);
        return context.out.print(&document);
    }
    let line = |diagnostic: &QueryDiagnostic| {
        let level = if diagnostic.is_error { "" } else { "note: " };
        let line = located_problem(name, text, level, &diagnostic.problem);
        format!("{}\n", SafeText::detail(&line))
    };
    context.out.print_text(&diagnostics.iter().map(line).collect::<String>())
}

fn diagnostic_row(text: &str, QueryDiagnostic { is_error, problem }: &QueryDiagnostic) -> Value {
    let TextPosition { line, column } = TextPosition::locate(problem, text);
    json!({
        "level": if *is_error { "error" } else { "note" },
        "line": line,
        "column": column,
        "filter": problem.filter,
        "field": problem.field,
        "message": problem.reason,
    })
}
