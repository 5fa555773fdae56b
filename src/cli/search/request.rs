//! A search command with validated options.

use super::{
    command::SearchCommand,
    options::{CaptionOptions, ImageOptions, SearchOptions},
    query_image::{PreparedQueryImage, QueryImageOptions},
};
use crate::cli::{CliError, CliResult};
use tessera_client::TextSearchPath;
use tessera_model::{Anchor, AnchorKind, DatasetId, Filter, Query, SavedView};

pub enum RankingSource {
    Query(Query),
    Anchor(Anchor),
    /// An image to register, and whether to stop after that.
    Picture(PreparedQueryImage, bool),
}

pub struct SearchRequest {
    pub kind: &'static str,
    pub ranking: RankingSource,
    pub filters: Vec<Filter>,
    pub path: Option<TextSearchPath>,
    /// The dataset of a saved view, unless the options name one.
    pub dataset: Option<DatasetId>,
    pub options: SearchOptions,
}

impl SearchRequest {
    /// Validates everything that needs no service.
    pub async fn from_command(command: SearchCommand) -> CliResult<Self> {
        let (kind, ranking, path, options) = match command {
            SearchCommand::Caption(CaptionOptions { text, max_score, path, options }) => {
                let ranking = RankingSource::Query(Query::Caption { text, max_score });
                ("caption", ranking, path, options)
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
            SearchCommand::Vql { path, options } => {
                ("vql", RankingSource::Query(Query::Browse), path, options)
            }
            SearchCommand::Browse { options } => {
                ("browse", RankingSource::Query(Query::Browse), None, options)
            }
        };
        let filters = options.filters.read()?;
        if kind == "vql" && filters.is_empty() {
            return Err(CliError::usage(
                "give a filter with --vql JSON, -f FILE, --label or --tag",
            ));
        }
        Ok(Self { kind, ranking, filters, path, dataset: None, options })
    }

    pub async fn from_view(view: SavedView, mut options: SearchOptions) -> CliResult<Self> {
        let SavedView { query, query_image, mut filters, dataset, .. } = view;
        filters.extend(options.filters.read()?);
        options.entity.get_or_insert(view.entity);
        options.granularity.get_or_insert(view.granularity);
        let (kind, ranking) = match (query, query_image) {
            (Query::Similar(Anchor { kind: AnchorKind::Upload, .. }), Some((file, region))) => {
                let picture = QueryImageOptions { file, region, pixels: None };
                let picture = PreparedQueryImage::open(picture).await?;
                ("image", RankingSource::Picture(picture, false))
            }
            (Query::Similar(anchor), _) => {
                let kind = if anchor.kind == AnchorKind::Media { "media" } else { "anchor" };
                (kind, RankingSource::Anchor(anchor))
            }
            (query @ Query::Caption { .. }, _) => ("caption", RankingSource::Query(query)),
            (Query::Browse, _) => {
                let kind = if filters.is_empty() { "browse" } else { "vql" };
                (kind, RankingSource::Query(Query::Browse))
            }
        };
        Ok(Self { kind, ranking, filters, path: None, dataset, options })
    }
}
