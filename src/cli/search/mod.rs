//! `tessera search`: ranks clusters by a text, an image, a media item or an anchor, filters them,
//! or lists them.

mod anchor;
mod contact_sheet;
mod document;
mod execute;
mod options;
mod page_cursor;
mod query_image;
mod request;
mod results;
mod save;

use clap::Subcommand;

pub use self::options::SearchOptions;
use self::{
    options::{CaptionOptions, ImageOptions, PathOptions, parse_anchor_type},
    request::{RankingSource, SearchRequest},
};
use crate::cli::{CliResult, Context};
use tessera_client::ApiOperation;
use tessera_model::{AnchorKind, MediaId, SavedView};

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
        path: PathOptions,
        #[command(flatten)]
        options: SearchOptions,
    },
    /// List the clusters without ranking, largest first.
    Browse {
        #[command(flatten)]
        options: SearchOptions,
    },
}

pub async fn run(context: &Context, command: SearchCommand) -> CliResult {
    connect_and_execute(context, SearchRequest::from_command(command).await?).await
}

/// Runs a saved view. Options override its entity and granularity, and add filters.
pub async fn run_view(context: &Context, view: SavedView, options: SearchOptions) -> CliResult {
    let mut request = SearchRequest::from_view(view, options).await?;
    request.dataset = request.dataset.filter(|_| context.global.dataset.is_none());
    connect_and_execute(context, request).await
}

async fn connect_and_execute(context: &Context, request: SearchRequest) -> CliResult {
    let about: &[ApiOperation] = match request.ranking {
        RankingSource::Picture(..) => &[ApiOperation::RegisterAnchor],
        RankingSource::Query(_) | RankingSource::Anchor(_) => &[ApiOperation::Explore],
    };
    let mut connection = context.connect(about).await?;
    if let Some(path) = &request.path {
        connection.client = connection.client.with_text_search(path.clone());
    }
    let outcome = execute::execute(&connection, request).await;
    connection.close(outcome).await
}
