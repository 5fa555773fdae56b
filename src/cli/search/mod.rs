//! `tessera search`: clusters ranked by a text, a picture, a media of the dataset or an anchor, kept by
//! filters, or as they are.

mod anchor;
mod answer;
mod ask;
mod keep;
mod options;
mod pages;
mod picture;
mod sheet;

use clap::{Args, Subcommand};

pub use options::Options;
use picture::{Given, Picture};

use crate::cli::{Context, Ended, Exit};
use tessera_client::{Operation as Request, TextSearchPath};
use tessera_model::{
    Anchor, AnchorKind, DatasetId, Filter, Fraction, MediaId, Query, QueryText, SavedView,
};

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Search {
    /// Search by what captions say, closest meaning first.
    Caption(Caption),
    /// Search by a picture of this machine, or a part of it.
    Image(Image),
    /// Search by a media of the dataset.
    Media {
        /// Its id.
        media: MediaId,
        /// What every search takes.
        #[command(flatten)]
        options: Options,
    },
    /// Search by an anchor again, for example one of `search image --anchor-only`.
    Anchor {
        /// Its id.
        anchor: MediaId,
        /// UPLOAD for a picture that was registered, MEDIA for a media of the dataset.
        #[arg(long = "type", value_name = "TYPE", value_parser = anchor_type)]
        anchor_type: AnchorKind,
        /// What every search takes.
        #[command(flatten)]
        options: Options,
    },
    /// Filter by the query language.
    Vql {
        /// Where text searches are answered.
        #[command(flatten)]
        place: Place,
        /// What every search takes.
        #[command(flatten)]
        options: Options,
    },
    /// List the clusters as they are, the largest first.
    Browse {
        /// What every search takes.
        #[command(flatten)]
        options: Options,
    },
}

/// A search by a caption.
#[derive(Debug, Args)]
pub struct Caption {
    /// What is meant, in words.
    #[arg(value_parser = text)]
    text: QueryText,
    /// Keep only scores below this, from 0.0 to 1.0: lower is stricter.
    #[arg(long, value_name = "SCORE", value_parser = fraction)]
    max_score: Option<Fraction>,
    /// Where text searches are answered.
    #[command(flatten)]
    place: Place,
    /// What every search takes.
    #[command(flatten)]
    options: Options,
}

/// A search by a picture.
#[derive(Debug, Args)]
pub struct Image {
    /// The picture.
    #[command(flatten)]
    picture: picture::Given,
    /// Register the picture and answer with its anchor, without searching.
    #[arg(long)]
    anchor_only: bool,
    /// What every search takes.
    #[command(flatten)]
    options: Options,
}

/// Where text searches are answered: the interface leaves it open (M55).
#[derive(Debug, Args)]
pub struct Place {
    /// Path of text searches below `/api/v1`, when it is not `explore/{dataset_id}`.
    #[arg(long, value_name = "PATH", value_parser = path)]
    path: Option<TextSearchPath>,
}

/// What ranks the clusters.
enum Ranking {
    /// Nothing, or what needs no preparation.
    Ready(Query),
    /// An anchor that exists.
    Anchor(Anchor),
    /// A picture that is registered first; and whether that is all.
    Picture(Picture, bool),
}

/// A command whose options are checked.
struct Question {
    kind: &'static str,
    ranking: Ranking,
    filters: Vec<Filter>,
    path: Option<TextSearchPath>,
    /// The dataset that a saved view belongs to, where none is named.
    dataset: Option<DatasetId>,
    options: Options,
}

/// Runs one of them.
///
/// # Errors
/// Whatever keeps the answer away. A page that is missing after others came is no error but
/// [`Exit::Partly`].
pub async fn run(context: &Context, command: Search) -> Result<Exit, Ended> {
    answer(context, Question::of(command).await?).await
}

/// Runs a saved view. Entity and granularity of the options go before its own, and their filters hold
/// besides.
///
/// # Errors
/// As [`run`]; or its picture cannot be read any more.
pub async fn view(context: &Context, view: SavedView, options: Options) -> Result<Exit, Ended> {
    let mut question = Question::again(view, options).await?;
    question.dataset = question.dataset.filter(|_| context.global.dataset.is_none());
    answer(context, question).await
}

async fn answer(context: &Context, question: Question) -> Result<Exit, Ended> {
    let about: &[Request] = match question.ranking {
        Ranking::Picture(..) => &[Request::RegisterAnchor],
        Ranking::Ready(_) | Ranking::Anchor(_) => &[Request::Explore],
    };
    let mut connection = context.connect(about).await?;
    if let Some(path) = &question.path {
        connection.client = connection.client.with_text_search(path.clone());
    }
    let outcome = ask::ask(context, &connection, question).await;
    connection.close(context, outcome).await
}

impl Question {
    /// Checks everything that can be checked without the service (M73).
    async fn of(command: Search) -> Result<Self, Ended> {
        let (kind, ranking, path, options) = match command {
            Search::Caption(Caption { text, max_score, place, options }) => {
                let ranking = Ranking::Ready(Query::Caption { text, max_score });
                ("caption", ranking, place.path, options)
            }
            Search::Image(Image { picture, anchor_only, options }) => {
                let picture = Picture::open(picture).await?;
                ("image", Ranking::Picture(picture, anchor_only), None, options)
            }
            Search::Media { media, options } => {
                let anchor = Anchor { media, kind: AnchorKind::Media };
                ("media", Ranking::Anchor(anchor), None, options)
            }
            Search::Anchor { anchor, anchor_type, options } => {
                let anchor = Anchor { media: anchor, kind: anchor_type };
                ("anchor", Ranking::Anchor(anchor), None, options)
            }
            Search::Vql { place, options } => {
                ("vql", Ranking::Ready(Query::Browse), place.path, options)
            }
            Search::Browse { options } => ("browse", Ranking::Ready(Query::Browse), None, options),
        };
        let filters = options.filters.read()?;
        if kind == "vql" && filters.is_empty() {
            let sentence = "a filter is needed: --vql JSON, -f FILE, --label or --tag";
            return Err(Ended::new(Exit::Usage, sentence));
        }
        Ok(Self { kind, ranking, filters, path, dataset: None, options })
    }

    /// The question that a saved view asks.
    async fn again(view: SavedView, mut options: Options) -> Result<Self, Ended> {
        let SavedView { query, image, mut filters, dataset, .. } = view;
        filters.extend(options.filters.read()?);
        options.entity.get_or_insert(view.entity);
        options.granularity.get_or_insert(view.granularity);
        let (kind, ranking) = match (query, image) {
            (Query::Similar(Anchor { kind: AnchorKind::Upload, .. }), Some((file, region))) => {
                ("image", Ranking::Picture(Picture::open(Given::part(file, region)).await?, false))
            }
            (Query::Similar(anchor), _) => {
                let kind = if anchor.kind == AnchorKind::Media { "media" } else { "anchor" };
                (kind, Ranking::Anchor(anchor))
            }
            (query @ Query::Caption { .. }, _) => ("caption", Ranking::Ready(query)),
            (Query::Browse, _) if filters.is_empty() => ("browse", Ranking::Ready(Query::Browse)),
            (Query::Browse, _) => ("vql", Ranking::Ready(Query::Browse)),
        };
        Ok(Self { kind, ranking, filters, path: None, dataset, options })
    }
}

fn text(raw: &str) -> Result<QueryText, String> {
    QueryText::new(raw).map_err(|invalid| invalid.reason)
}

fn fraction(raw: &str) -> Result<Fraction, String> {
    let number = raw.trim().parse().ok().and_then(Fraction::new);
    number.ok_or_else(|| "a number from 0.0 to 1.0".to_owned())
}

fn anchor_type(raw: &str) -> Result<AnchorKind, String> {
    AnchorKind::parse(raw).ok_or_else(|| "there are UPLOAD and MEDIA".to_owned())
}

fn path(raw: &str) -> Result<TextSearchPath, String> {
    TextSearchPath::parse(raw).map_err(|failure| failure.to_string())
}
