//! A search command with validated options.

use super::{
    command::SearchCommand,
    options::{CaptionOptions, CutOptions, ImageOptions, SearchOptions},
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
    pub cut: CutOptions,
    /// The dataset of a saved view, unless the options name one.
    pub dataset: Option<DatasetId>,
    pub options: SearchOptions,
}

impl SearchRequest {
    /// Validates everything that needs no service.
    pub async fn from_command(command: SearchCommand) -> CliResult<Self> {
        let no_cut = CutOptions::default();
        let (kind, ranking, path, cut, options) = match command {
            SearchCommand::Caption(CaptionOptions { text, max_score, path, options }) => {
                let ranking = RankingSource::Query(Query::Caption { text, max_score });
                ("caption", ranking, path, no_cut, options)
            }
            SearchCommand::Image(ImageOptions { picture, anchor_only, cut, options }) => {
                let picture = PreparedQueryImage::open(picture).await?;
                ("image", RankingSource::Picture(picture, anchor_only), None, cut, options)
            }
            SearchCommand::Media { media, cut, options } => {
                let anchor = Anchor { media, kind: AnchorKind::Media };
                ("media", RankingSource::Anchor(anchor), None, cut, options)
            }
            SearchCommand::Anchor { anchor, anchor_type, cut, options } => {
                let anchor = Anchor { media: anchor, kind: anchor_type };
                ("anchor", RankingSource::Anchor(anchor), None, cut, options)
            }
            SearchCommand::Vql { path, options } => {
                ("vql", RankingSource::Query(Query::Browse), path, no_cut, options)
            }
            SearchCommand::Browse { options } => {
                ("browse", RankingSource::Query(Query::Browse), None, no_cut, options)
            }
        };
        let filters = options.filters.read()?;
        if kind == "vql" && filters.is_empty() {
            return Err(CliError::usage(
                "give a filter with --vql JSON, -f FILE, --label or --tag",
            ));
        }
        Ok(Self { kind, ranking, filters, path, cut, dataset: None, options })
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
        let cut = CutOptions::default();
        Ok(Self { kind, ranking, filters, path: None, cut, dataset, options })
    }
}
