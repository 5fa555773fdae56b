//! The subcommands of `tessera query add`, one for each filter of the query language.

use clap::{Arg, builder::PossibleValuesParser};
use tessera_model::{
    Anchor, AnchorKind, Filter, MediaId, TagId,
    vql::{
        ColumnName, ColumnValue, FileProperty, InvalidField, IssueMode, IssueName, LabelRule,
        Operator, Property,
    },
};

use crate::cli::input_options::NamedQuery;
use crate::cli::prelude::*;

#[derive(Debug, Subcommand)]
pub(super) enum FilterCommand {
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
pub(super) struct PropertyOptions {
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
pub(super) enum TextFilterCommand {
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
    pub(super) async fn to_filter(&self, context: &Context) -> CliResult<Filter> {
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
        filter.map_err(usage)
    }
}

fn usage(InvalidField { field, reason }: InvalidField) -> CliError {
    CliError::usage(match field {
        "threshold" | "confidence_min" | "confidence_max" | "op" => format!("{field}: {reason}"),
        _ => reason,
    })
}

/// Returns the filter of tags. Only their names need a dataset.
async fn tag_filter(context: &Context, tags: &[String]) -> CliResult<Filter> {
    if let Ok(ids) = tags.iter().map(|tag| tag.parse()).collect::<Result<Vec<TagId>, _>>() {
        return Filter::tags(ids).map_err(usage);
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
