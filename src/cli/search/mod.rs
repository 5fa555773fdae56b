//! `tessera search`: ranks clusters by text, image, media item or anchor, filters and lists them.

mod anchor;
mod command;
mod contact_sheet;
mod document;
mod execute;
mod options;
mod page_cursor;
mod query_image;
mod request;
mod results;
mod save;

use self::request::{RankingSource, SearchRequest};
pub use self::{command::SearchCommand, options::SearchOptions};
use crate::cli::{CliResult, Context};
use tessera_client::ApiOperation;
use tessera_model::SavedView;

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
