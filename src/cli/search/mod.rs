//! `tessera search`: ranks clusters by a text, an image, a media item or an anchor, filters them,
//! or lists them.

mod anchor;
mod contact_sheet;
mod document;
mod execute;
mod options;
mod page_cursor;
mod query_image;
mod save;

use clap::{Args, Subcommand};

pub use options::SearchOptions;
use query_image::{PreparedQueryImage, QueryImageOptions};

use crate::cli::{CliError, Context, Exit};
use tessera_client::{ApiOperation, TextSearchPath};
use tessera_model::{
    Anchor, AnchorKind, DatasetId, Filter, Fraction, MediaId, Query, QueryText, SavedView,
};

#[derive(Debug, Subcommand)]
pub enum SearchCommand {
    /// Search captions by meaning, closest first.
    Caption(CaptionOptions),
    /// Search by an image file, or a region of it.
    Image(ImageOptions),
    /// Search by a media item of the dataset.
    Media {
        /// ID of the media item.
        media: MediaId,
        #[command(flatten)]
        options: SearchOptions,
    },
    /// Search by an existing anchor, for example from `search image --anchor-only`.
    Anchor {
        /// ID of the anchor.
        anchor: MediaId,
        /// UPLOAD for an uploaded image, MEDIA for a media item of the dataset.
        #[arg(long = "type", value_name = "TYPE", value_parser = parse_anchor_type)]
        anchor_type: AnchorKind,
        #[command(flatten)]
        options: SearchOptions,
    },
    /// Search with filters of the query language.
    Vql {
        #[command(flatten)]
        place: PathOptions,
        #[command(flatten)]
        options: SearchOptions,
    },
    /// List the clusters without ranking, largest first.
    Browse {
        #[command(flatten)]
        options: SearchOptions,
    },
}

#[derive(Debug, Args)]
pub struct CaptionOptions {
    /// What to search for.
    #[arg(value_parser = parse_text)]
    text: QueryText,
    /// Keep only scores below this, 0.0 to 1.0: lower is stricter.
    #[arg(long, value_name = "SCORE", value_parser = parse_fraction)]
    max_score: Option<Fraction>,
    #[command(flatten)]
    place: PathOptions,
    #[command(flatten)]
    options: SearchOptions,
}

#[derive(Debug, Args)]
pub struct ImageOptions {
    #[command(flatten)]
    picture: query_image::QueryImageOptions,
    /// Register the image and print its anchor, without searching.
    #[arg(long)]
    anchor_only: bool,
    #[command(flatten)]
    options: SearchOptions,
}

/// The path of text searches, which the API does not specify.
#[derive(Debug, Args)]
pub struct PathOptions {
    /// Path of text searches below `/api/v1` [default: `explore/{dataset_id}`].
    #[arg(long, value_name = "PATH", value_parser = parse_path)]
    path: Option<TextSearchPath>,
}

/// What ranks the clusters.
enum RankingSource {
    /// A query that needs no preparation.
    Query(Query),
    Anchor(Anchor),
    /// An image to register, and whether to stop after that.
    Picture(PreparedQueryImage, bool),
}

/// A command with validated options.
struct SearchRequest {
    kind: &'static str,
    ranking: RankingSource,
    filters: Vec<Filter>,
    path: Option<TextSearchPath>,
    /// The dataset of a saved view, unless the options name one.
    dataset: Option<DatasetId>,
    options: SearchOptions,
}

pub async fn run(context: &Context, command: SearchCommand) -> Result<Exit, CliError> {
    connect_and_execute(context, SearchRequest::from_command(command).await?).await
}

/// Runs a saved view. Options override its entity and granularity, and add filters.
pub async fn run_view(
    context: &Context,
    view: SavedView,
    options: SearchOptions,
) -> Result<Exit, CliError> {
    let mut question = SearchRequest::from_view(view, options).await?;
    question.dataset = question.dataset.filter(|_| context.global.dataset.is_none());
    connect_and_execute(context, question).await
}

async fn connect_and_execute(context: &Context, question: SearchRequest) -> Result<Exit, CliError> {
    let about: &[ApiOperation] = match question.ranking {
        RankingSource::Picture(..) => &[ApiOperation::RegisterAnchor],
        RankingSource::Query(_) | RankingSource::Anchor(_) => &[ApiOperation::Explore],
    };
    let mut connection = context.connect(about).await?;
    if let Some(path) = &question.path {
        connection.client = connection.client.with_text_search(path.clone());
    }
    let outcome = execute::execute(context, &connection, question).await;
    connection.close(context, outcome).await
}

impl SearchRequest {
    /// Validates everything that needs no service.
    async fn from_command(command: SearchCommand) -> Result<Self, CliError> {
        let (kind, ranking, path, options) = match command {
            SearchCommand::Caption(CaptionOptions { text, max_score, place, options }) => {
                let ranking = RankingSource::Query(Query::Caption { text, max_score });
                ("caption", ranking, place.path, options)
            }
            SearchCommand::Image(ImageOptions { picture, anchor_only, options }) => {
                let picture = PreparedQueryImage::open(picture).await?;
                ("image", RankingSource::Picture(picture, anchor_only), None, options)
            }
            SearchCommand::Media { media, options } => {
                let anchor = Anchor { media, kind: AnchorKind::Media };
                ("media", RankingSource::Anchor(anchor), None, options)
            }
            SearchCommand::Anchor { anchor, anchor_type, options } => {
                let anchor = Anchor { media: anchor, kind: anchor_type };
                ("anchor", RankingSource::Anchor(anchor), None, options)
            }
            SearchCommand::Vql { place, options } => {
                ("vql", RankingSource::Query(Query::Browse), place.path, options)
            }
            SearchCommand::Browse { options } => {
                ("browse", RankingSource::Query(Query::Browse), None, options)
            }
        };
        let filters = options.filters.read()?;
        if kind == "vql" && filters.is_empty() {
            let message = "give a filter with --vql JSON, -f FILE, --label or --tag";
            return Err(CliError::usage(message));
        }
        Ok(Self { kind, ranking, filters, path, dataset: None, options })
    }

    async fn from_view(view: SavedView, mut options: SearchOptions) -> Result<Self, CliError> {
        let SavedView { query, query_image: image, mut filters, dataset, .. } = view;
        filters.extend(options.filters.read()?);
        options.entity.get_or_insert(view.entity);
        options.granularity.get_or_insert(view.granularity);
        let (kind, ranking) = match (query, image) {
            (Query::Similar(Anchor { kind: AnchorKind::Upload, .. }), Some((file, region))) => (
                "image",
                RankingSource::Picture(
                    PreparedQueryImage::open(QueryImageOptions::cropped(file, region)).await?,
                    false,
                ),
            ),
            (Query::Similar(anchor), _) => {
                let kind = if anchor.kind == AnchorKind::Media { "media" } else { "anchor" };
                (kind, RankingSource::Anchor(anchor))
            }
            (query @ Query::Caption { .. }, _) => ("caption", RankingSource::Query(query)),
            (Query::Browse, _) if filters.is_empty() => {
                ("browse", RankingSource::Query(Query::Browse))
            }
            (Query::Browse, _) => ("vql", RankingSource::Query(Query::Browse)),
        };
        Ok(Self { kind, ranking, filters, path: None, dataset, options })
    }
}

fn parse_text(raw: &str) -> Result<QueryText, String> {
    QueryText::new(raw).map_err(|invalid| invalid.reason)
}

fn parse_fraction(raw: &str) -> Result<Fraction, String> {
    let number = raw.trim().parse().ok().and_then(Fraction::new);
    number.ok_or_else(|| "expected a number from 0.0 to 1.0".to_owned())
}

fn parse_anchor_type(raw: &str) -> Result<AnchorKind, String> {
    AnchorKind::parse(raw).ok_or_else(|| "expected UPLOAD or MEDIA".to_owned())
}

fn parse_path(raw: &str) -> Result<TextSearchPath, String> {
    TextSearchPath::parse(raw).map_err(|failure| failure.to_string())
}
