//! `tessera query add` and `tessera query check`: extends queries by a filter, and reports their errors. Each filter of the
//! query language has a subcommand of `query add`.

use std::io::{self, IsTerminal as _};

use clap::{Arg, builder::PossibleValuesParser};
use tessera_model::{
    Anchor, AnchorKind, Enrichment, Filter, MediaId, TagId,
    enrichment::missing_model_warning,
    vql::{
        ColumnName, ColumnValue, FileProperty, InvalidField, IssueFilter, IssueMode, IssueName,
        LabelRule, MAX_FILTERS, MAX_URL_CHARS, Operator, Property, long_query_warning,
        unknown_format_warning, unpublished_issue_warning,
    },
};
use tessera_wire::vql::{self, TextPosition, VqlError};

use crate::cli::prelude::*;
use crate::cli::{
    input_options::{NamedQuery, QueryOptions, QuerySource, located_problem},
    local::full_text_error,
    output::unless_closed,
};

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

impl QueryAddOptions {
    pub(super) async fn extended_query(self, context: &Context) -> CliResult<Vec<Filter>> {
        let filter = self.kind.to_filter(context).await?;
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

/// A problem of a query. It is an error if the service would reject the query, and a note
/// otherwise.
struct QueryDiagnostic {
    is_error: bool,
    problem: VqlError,
}

pub(super) async fn run(context: &Context, source: &QuerySource) -> CliResult {
    let NamedQuery { name, text } = source.read_or_stdin()?;
    let (filters, mut diagnostics) = parse_errors(context, &text);
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

/// Returns the filters of a query to save, unless the local service would refuse it.
pub(super) fn accepted_filters(context: &Context, source: &QuerySource) -> CliResult<Vec<Filter>> {
    let query = source.read_or_stdin()?;
    let filters = query.filters()?;
    let mut errors = filters.iter().enumerate().filter_map(|(at, it)| local_error(context, at, it));
    match errors.next() {
        Some(problem) => {
            let message = located_problem(&query.name, &query.text, "", &problem);
            Err(CliError::new(Exit::Invalid, message))
        }
        None => Ok(filters),
    }
}

fn parse_errors(context: &Context, text: &str) -> (Vec<Filter>, Vec<QueryDiagnostic>) {
    let (mut filters, mut errors) = (Vec::new(), Vec::new());
    let each = vql::read_each(text).unwrap_or_else(|whole| vec![Err(whole)]);
    for (index, parsed) in each.into_iter().enumerate() {
        let problem = match parsed {
            Ok(filter) => {
                let problem = local_error(context, index, &filter);
                filters.push(filter);
                problem
            }
            Err(problem) => Some(problem),
        };
        errors.extend(problem.map(|problem| QueryDiagnostic { is_error: true, problem }));
    }
    (filters, errors)
}

/// Returns why the local service refuses a filter that other services may accept. Without a local folder, nothing is
/// known about the service.
fn local_error(context: &Context, index: usize, filter: &Filter) -> Option<VqlError> {
    context.target().ok()?.local_folder()?;
    let (field, reason) = vql::refused_value(filter).or_else(|| match filter {
        Filter::FullText(text) => Some(("text.value", full_text_error(text.as_str())?)),
        _ => None,
    })?;
    Some(VqlError { filter: Some(index), field: Some(field.to_owned()), reason })
}

fn value_notes(filters: &[Filter]) -> Vec<QueryDiagnostic> {
    let mut notes = Vec::new();
    for (index, filter) in filters.iter().enumerate() {
        let found = match filter {
            Filter::Issue(IssueFilter { kind, .. }) => {
                Some("issues.value").zip(unpublished_issue_warning(kind.as_str()))
            }
            Filter::Property(filter) => Some("format.value").zip(unknown_format_warning(filter)),
            _ => None,
        };
        notes.extend(found.map(|(field, warning)| note(Some(index), Some(field), warning)));
    }
    let characters = vql::url_chars(filters);
    notes.extend(long_query_warning(characters).map(|warning| {
        let is_error = characters > MAX_URL_CHARS;
        QueryDiagnostic { is_error, ..note(None, None, warning) }
    }));
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
    let work = async |connection: &Connection<'_>| {
        let dataset = connection.dataset(None).await?;
        Ok(connection.client.enrichment(dataset.id).await?)
    };
    let fetched = context.read(&[Endpoint::Enrichment], work).await;
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
        let document = Document::new("tessera.query_check/1", fields);
        return context.out.print(&document);
    }
    let line = |diagnostic: &QueryDiagnostic| {
        let level = if diagnostic.is_error { "" } else { "note: " };
        let line = located_problem(name, text, level, &diagnostic.problem);
        format!("{}\n", SafeText::detail(&line))
    };
    unless_closed(context.out.print_text(&diagnostics.iter().map(line).collect::<String>()))
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
    /// User tags, all of which a media item must have.
    ///
    /// Names of tags need the dataset, by --folder or --dataset.
    Tags {
        /// The only operator.
        #[arg(value_name = "OP", value_parser = ["is"])]
        _op: String,
        /// Names or IDs of the tags.
        #[arg(required = true, value_name = "TAG")]
        tags: Vec<String>,
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
    /// Path in the folder of the dataset, for local services only.
    ///
    /// `train` matches everything in this folder, `train/*.jpg` files, `**/x_?.png` files in any folder.
    #[command(mut_args = with_operators_of(FileProperty::Path))]
    Path(PropertyOptions),
    /// Name of the file, with the same patterns.
    #[command(mut_args = with_operators_of(FileProperty::Name))]
    Name(PropertyOptions),
    /// Size of the file in bytes.
    #[command(mut_args = with_operators_of(FileProperty::Size))]
    Size(PropertyOptions),
    /// Width in pixels.
    #[command(mut_args = with_operators_of(FileProperty::Width))]
    Width(PropertyOptions),
    /// Height in pixels.
    #[command(mut_args = with_operators_of(FileProperty::Height))]
    Height(PropertyOptions),
    /// Width divided by height.
    #[command(mut_args = with_operators_of(FileProperty::Aspect))]
    Aspect(PropertyOptions),
    /// Format of the file, for example `jpeg`.
    #[command(mut_args = with_operators_of(FileProperty::Format))]
    Format(PropertyOptions),
    /// When the picture was taken, or else when its file was changed: 2024, 2024-05 or 2024-05-17.
    #[command(mut_args = with_operators_of(FileProperty::Date))]
    Date(PropertyOptions),
    /// The rating that you have given, 1 to 5.
    #[command(mut_args = with_operators_of(FileProperty::Rating))]
    Rating(PropertyOptions),
    /// A column of your own, from sidecars and tables.
    Column {
        /// Name of the column.
        #[arg(value_name = "NAME")]
        name: String,
        #[command(flatten)]
        comparison: PropertyOptions,
    },
    /// At least one filter of a query.
    #[command(name = "any_of")]
    AnyOf {
        /// The filters: a JSON array, or the file that contains it.
        #[arg(value_name = "QUERY")]
        query: PathBuf,
    },
    /// Not the filter of a query.
    Not {
        /// The filter: a JSON array with one filter, or the file that contains it.
        #[arg(value_name = "QUERY")]
        query: PathBuf,
    },
}

/// Offers only the operators of a property.
fn with_operators_of(property: FileProperty) -> impl Fn(Arg) -> Arg {
    move |argument| {
        if argument.get_id() != "operator" {
            return argument;
        }
        let names = property.operators().into_iter().map(Operator::as_str);
        argument.value_parser(PossibleValuesParser::new(names))
    }
}

/// How a property is compared.
#[derive(Debug, Args)]
struct PropertyOptions {
    /// The operator.
    #[arg(value_name = "OP",
          value_parser = PossibleValuesParser::new(Operator::ALL.iter().map(|it| it.as_str())))]
    operator: String,
    /// The value; several for `one_of` and `not_one_of`.
    #[arg(required = true, value_name = "VALUE", allow_negative_numbers = true)]
    values: Vec<String>,
}

impl PropertyOptions {
    fn to_filter(&self, property: Property) -> Result<Filter, InvalidField> {
        let values = self.values.iter().map(|typed| property.from_typed(typed));
        let values: Vec<ColumnValue> = values.collect();
        let operator = Operator::from_keyword(&self.operator).unwrap_or(Operator::Is);
        Filter::property(property, operator, &values)
    }
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

impl FilterCommand {
    async fn to_filter(&self, context: &Context) -> CliResult<Filter> {
        let filters = |query| NamedQuery::from_argument(query)?.filters();
        let of_file =
            |property, options: &PropertyOptions| options.to_filter(Property::File(property));
        let filter = match self {
            Self::Text(TextFilterCommand::Fts { text }) => Filter::full_text(text),
            Self::Text(TextFilterCommand::Semantic { text, min_sim }) => {
                Filter::semantic(text, *min_sim)
            }
            Self::Labels { rule, labels } => {
                let rule = LabelRule::from_keyword(rule).unwrap_or(LabelRule::OneOf);
                Filter::labels(rule, labels.iter().map(String::as_str))
            }
            Self::Tags { tags, .. } => return tag_filter(context, tags).await,
            Self::Issues { word, mode, min_confidence, max_confidence } => {
                let mode = IssueMode::from_keyword(mode).unwrap_or(IssueMode::In);
                IssueName::new(word)
                    .and_then(|name| Filter::issue(name, mode, *min_confidence, *max_confidence))
            }
            Self::Duplicates { similarity } => Filter::duplicates(*similarity),
            Self::Uniqueness { score } => Filter::uniqueness(*score),
            Self::Similarity { op, media, max_distance } => {
                let kind = op.parse().unwrap_or(AnchorKind::Media);
                Filter::similar(Anchor { media: *media, kind }, *max_distance)
            }
            Self::Path(options) => of_file(FileProperty::Path, options),
            Self::Name(options) => of_file(FileProperty::Name, options),
            Self::Size(options) => of_file(FileProperty::Size, options),
            Self::Width(options) => of_file(FileProperty::Width, options),
            Self::Height(options) => of_file(FileProperty::Height, options),
            Self::Aspect(options) => of_file(FileProperty::Aspect, options),
            Self::Format(options) => of_file(FileProperty::Format, options),
            Self::Date(options) => of_file(FileProperty::Date, options),
            Self::Rating(options) => of_file(FileProperty::Rating, options),
            Self::Column { name, comparison } => {
                ColumnName::new(name).and_then(|name| comparison.to_filter(Property::Column(name)))
            }
            Self::AnyOf { query } => Filter::any_of(filters(query)?),
            Self::Not { query } => match <[Filter; 1]>::try_from(filters(query)?) {
                Ok([filter]) => Filter::negated(filter),
                Err(_) => return Err(CliError::usage("give exactly one filter to negate")),
            },
        };
        filter.map_err(filter_error)
    }
}

fn filter_error(InvalidField { field, reason }: InvalidField) -> CliError {
    CliError::usage(match field {
        "threshold" | "confidence_min" | "confidence_max" | "op" => format!("{field}: {reason}"),
        _ => reason,
    })
}

/// Returns the filter of tags. Only their names need a dataset.
async fn tag_filter(context: &Context, tags: &[String]) -> CliResult<Filter> {
    if let Ok(ids) = tags.iter().map(|tag| tag.parse()).collect::<Result<Vec<TagId>, _>>() {
        return Filter::tags(ids).map_err(filter_error);
    }
    if context.target().is_err() {
        return Err(CliError::usage(format!(
            "the names of tags ({}) need the dataset: --folder DIR; or give the IDs that `tessera tag list` prints",
            tags.join(", ")
        )));
    }
    let work = async |connection: &Connection<'_>| {
        let dataset = connection.dataset(None).await?;
        connection.tag_filter(dataset.id, tags).await
    };
    context.read(&[], work).await
}
