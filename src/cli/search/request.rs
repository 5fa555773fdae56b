//! Defines the options of a search, the request that they form, and the query image.

use std::num::NonZeroUsize;

use clap::builder::{NonEmptyStringValueParser, PossibleValuesParser, TypedValueParser as _};
use tessera_client::{QueryImageUpload, TextSearchPath};
use tessera_config::SearchDefaults;
use tessera_model::{
    Anchor, AnchorKind, EntityType, FailureKind, FileOrder, FileSortKey, Filter, Fraction,
    Granularity, HistoryEntry, MediaId, Query, QueryText, Region, SavedView, Status,
    vql::{InvalidField, LabelRule},
};

use crate::cli::prelude::*;
use crate::cli::{
    absolute_path,
    input_options::{NamedQuery, QueryOptions},
    values::{parse_four, parse_region},
};

#[derive(Debug, Subcommand)]
pub enum SearchCommand {
    /// Search captions by meaning, closest first.
    Caption {
        /// What to search for.
        #[arg(value_parser = parse_text)]
        text: QueryText,
        /// Keep only scores below this, 0.0 to 1.0: lower is stricter.
        #[arg(long, value_name = "SCORE", value_parser = parse_fraction)]
        max_score: Option<Fraction>,
        // The API does not specify the path of text searches.
        /// Path of text searches below `/api/v1` [default: `explore/{dataset_id}`].
        #[arg(long, value_name = "PATH", value_parser = parse_path)]
        path: Option<TextSearchPath>,
        #[command(flatten)]
        options: SearchOptions,
    },
    /// Search by an image file, or a region of it.
    Image {
        #[command(flatten)]
        picture: QueryImageOptions,
        /// Register the image and print its anchor, without searching.
        #[arg(long)]
        anchor_only: bool,
        #[command(flatten)]
        cut: CutOptions,
        #[command(flatten)]
        options: SearchOptions,
    },
    /// Search by a media item of the dataset.
    Media {
        /// ID of the media item.
        media: MediaId,
        #[command(flatten)]
        cut: CutOptions,
        #[command(flatten)]
        options: SearchOptions,
    },
    /// Search by an existing anchor, for example from `search image --anchor-only`.
    Anchor {
        /// ID of the anchor.
        anchor: MediaId,
        /// UPLOAD for an uploaded image, MEDIA for a media item of the dataset.
        #[arg(long = "type", value_name = "TYPE")]
        anchor_type: AnchorKind,
        #[command(flatten)]
        cut: CutOptions,
        #[command(flatten)]
        options: SearchOptions,
    },
    /// Search with filters of the query language.
    Vql {
        /// The query: a JSON array of filters, or the file that contains it; - for standard input.
        #[arg(value_name = "QUERY", conflicts_with_all = ["vql", "file"])]
        query: Option<PathBuf>,
        /// Path of text searches below `/api/v1` [default: `explore/{dataset_id}`].
        #[arg(long, value_name = "PATH", value_parser = parse_path)]
        path: Option<TextSearchPath>,
        #[command(flatten)]
        options: SearchOptions,
    },
    /// List the clusters without ranking, in the order of their sizes in the whole dataset.
    Browse {
        #[command(flatten)]
        options: SearchOptions,
    },
}

/// The maximum score of a search by image. The API has no such limit, so the program drops the
/// clusters beyond it.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct CutOptions {
    /// Keep only clusters with scores below this, 0.0 to 1.0: lower is stricter.
    #[arg(long, value_name = "SCORE", value_parser = parse_fraction)]
    pub max_score: Option<Fraction>,
}

/// The keys of `--sort`.
const SORT_KEYS: [&str; 4] = ["name", "date", "bytes", "path"];

#[derive(Debug, Default, Args)]
pub struct SearchOptions {
    /// Members of the clusters: images or objects.
    #[arg(long, value_name = "KIND")]
    pub entity: Option<EntityType>,
    /// Granularity of the clusters: 0 (finest) to 4.
    #[arg(long, value_name = "0-4")]
    pub granularity: Option<Granularity>,
    #[command(flatten)]
    pub filters: FilterOptions,
    /// Sort the whole result by its files; only local services do.
    #[arg(long, value_name = "KEY", value_parser = PossibleValuesParser::new(SORT_KEYS).try_map(|key| key.parse::<FileSortKey>()))]
    pub sort: Option<FileSortKey>,
    /// Reverse the order of --sort: newest, largest or Z first.
    #[arg(long, requires = "sort")]
    pub reverse: bool,
    #[command(flatten)]
    pub pages: PageOptions,
    #[command(flatten)]
    pub display: DisplayOptions,
    /// Save the search as a view; replaces a view of the same name.
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub save: Option<String>,
    /// Save all clusters of the results as a selection, for `export start --selection NAME`;
    /// replaces a selection of the same name.
    #[arg(long, value_name = "NAME")]
    pub mark: Option<String>,
    /// Exit with code 10 if nothing is found.
    #[arg(long)]
    pub fail_empty: bool,
    /// Send even if the status of the dataset forbids it.
    #[arg(long)]
    pub force: bool,
}

/// Filters; all of them must match.
///
/// Labels and tags are sent in `vql` rather than in the equivalent parameters `labels` and `tags`:
/// saved views, the history and selected clusters then store all filters the same way.
#[derive(Clone, Debug, Default, Args)]
pub struct FilterOptions {
    /// A label; media items must have at least one of several; repeatable.
    #[arg(long = "label", value_name = "LABEL")]
    labels: Vec<String>,
    /// A user tag, by name or ID; media items must have all of several; repeatable.
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    #[command(flatten)]
    query: QueryOptions,
}

#[derive(Clone, Copy, Debug, Default, Args)]
pub struct PageOptions {
    /// First page, from 0; a page has up to 100 clusters.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub page: u32,
    /// Fetch all further pages.
    #[arg(long)]
    pub all: bool,
    /// Maximum number of rows: clusters, or media items with --flat; fetches as many pages as needed.
    #[arg(long, value_name = "N")]
    pub limit: Option<NonZeroUsize>,
}

#[expect(clippy::struct_excessive_bools, reason = "flags of the command line")]
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct DisplayOptions {
    /// Print a row per media item instead of per cluster, closest first.
    #[arg(long)]
    pub flat: bool,
    /// Print only the paths of the files that were found, one per line and closest first; for local folders.
    #[arg(long, conflicts_with_all = ["raw", "show", "plot"])]
    pub paths: bool,
    /// Like --paths, but end each path with NUL, for `xargs -0`.
    #[arg(long, short = '0', conflicts_with_all = ["raw", "show", "plot"])]
    pub print0: bool,
    /// Print clusters with every field as the service sent it.
    #[arg(long, conflicts_with = "flat")]
    pub raw: bool,
    /// Draw the first picture of each cluster below the results, at most 24.
    #[arg(long)]
    pub show: bool,
    /// Print the scores, labels, tags and caption words of the results as bars instead of rows.
    #[arg(long, conflicts_with_all = ["flat", "raw"])]
    pub plot: bool,
}

impl DisplayOptions {
    pub fn prints_paths(self) -> bool {
        self.paths || self.print0
    }

    /// Whether the rows are media items.
    pub fn is_flat(self) -> bool {
        self.flat || self.prints_paths()
    }
}

impl SearchOptions {
    pub fn order(&self) -> Option<FileOrder> {
        self.sort.map(|by| FileOrder { by, reversed: self.reverse })
    }

    pub fn search(
        &self,
        dataset: DatasetId,
        filters: Vec<Filter>,
        defaults: &SearchDefaults,
    ) -> Search {
        Search {
            filters,
            entity: self.entity.unwrap_or(defaults.entity),
            granularity: self.granularity.unwrap_or(defaults.granularity),
            order: self.order(),
            page: self.pages.page,
            ..Search::browse(dataset)
        }
    }
}

impl FilterOptions {
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.tags.is_empty() && self.query.is_empty()
    }

    /// Returns the filters without the tags, whose names only the dataset knows.
    pub fn read(&self) -> CliResult<Vec<Filter>> {
        let query = self.query.read()?.as_ref().map(NamedQuery::filters).transpose()?;
        let mut filters = query.unwrap_or_default();
        if !self.labels.is_empty() {
            let labels = self.labels.iter().map(String::as_str);
            let filter = Filter::labels(LabelRule::OneOf, labels);
            filters.push(filter.map_err(|InvalidField { reason, .. }| {
                CliError::new(Exit::Invalid, format!("--label: {reason}"))
            })?);
        }
        Ok(filters)
    }

    /// Returns the filter of the tags, if there are any.
    pub async fn tag_filter(
        &self,
        connection: &Connection<'_>,
        dataset: DatasetId,
    ) -> CliResult<Option<Filter>> {
        if self.tags.is_empty() {
            return Ok(None);
        }
        connection.tag_filter(dataset, &self.tags).await.map(Some)
    }
}

pub fn parse_text(raw: &str) -> Result<QueryText, String> {
    QueryText::new(raw).map_err(|invalid| invalid.reason)
}

pub fn parse_fraction(raw: &str) -> Result<Fraction, String> {
    let number = raw.trim().parse().ok().and_then(Fraction::new);
    number.ok_or_else(|| "expected a number from 0.0 to 1.0".to_owned())
}

pub fn parse_path(raw: &str) -> Result<TextSearchPath, String> {
    TextSearchPath::parse(raw).map_err(|failure| failure.to_string())
}

pub enum RankingSource {
    Query(Query),
    Anchor(Anchor),
    /// An image to register, and whether to stop after the registration.
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
    /// Creates a request, and validates everything that needs no service.
    pub async fn from_command(command: SearchCommand) -> CliResult<Self> {
        let no_cut = CutOptions::default();
        let mut filters = Vec::new();
        let (kind, ranking, path, cut, options) = match command {
            SearchCommand::Caption { text, max_score, path, options } => {
                let ranking = RankingSource::Query(Query::Caption { text, max_score });
                ("caption", ranking, path, no_cut, options)
            }
            SearchCommand::Image { picture, anchor_only, cut, options } => {
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
            SearchCommand::Vql { query, path, options } => {
                if let Some(query) = query {
                    filters = NamedQuery::from_argument(&query)?.filters()?;
                }
                ("vql", RankingSource::Query(Query::Browse), path, no_cut, options)
            }
            SearchCommand::Browse { options } => {
                ("browse", RankingSource::Query(Query::Browse), None, no_cut, options)
            }
        };
        filters.extend(options.filters.read()?);
        if options.sort.is_some() && cut.max_score.is_some() {
            let message = "--max-score stops at the first result beyond it, so the results must be closest first; \
                           leave out --sort";
            return Err(CliError::usage(message));
        }
        if kind == "vql" && filters.is_empty() && options.filters.tags.is_empty() {
            return Err(CliError::usage(
                "give a filter with QUERY, --vql JSON, -f FILE, --label or --tag",
            ));
        }
        Ok(Self { kind, ranking, filters, path, cut, dataset: None, options })
    }

    pub async fn from_view(view: SavedView, mut options: SearchOptions) -> CliResult<Self> {
        let SavedView { query, file, region, mut filters, dataset, .. } = view;
        filters.extend(options.filters.read()?);
        options.entity.get_or_insert(view.entity);
        options.granularity.get_or_insert(view.granularity);
        if let (None, Some(FileOrder { by, reversed })) = (options.sort, view.order) {
            (options.sort, options.reverse) = (Some(by), reversed);
        }
        let (kind, ranking) = match (query, file) {
            (query @ Query::Similar(Anchor { kind: AnchorKind::Upload, .. }), Some(file)) => {
                let picture = QueryImageOptions { file, region, pixels: None };
                let picture = PreparedQueryImage::open(picture).await?;
                let picture = PreparedQueryImage { earlier: query, ..picture };
                ("image", RankingSource::Picture(picture, false))
            }
            (Query::Similar(anchor), _) => {
                let kind = if anchor.kind == AnchorKind::Media { "media" } else { "anchor" };
                (kind, RankingSource::Anchor(anchor))
            }
            (query @ Query::Caption { .. }, _) => ("caption", RankingSource::Query(query)),
            (Query::Browse, _) => {
                let is_browse = filters.is_empty() && options.filters.tags.is_empty();
                let kind = if is_browse { "browse" } else { "vql" };
                (kind, RankingSource::Query(Query::Browse))
            }
        };
        let cut = CutOptions::default();
        Ok(Self { kind, ranking, filters, path: None, cut, dataset, options })
    }
}

#[derive(Debug, Args)]
pub struct QueryImageOptions {
    /// A picture file of at most 32 MiB.
    #[arg(value_name = "FILE", id = "picture")]
    pub file: PathBuf,

    /// Region to search by: x,y,width,height as fractions of the image.
    #[arg(long = "box", value_name = "X,Y,W,H", value_parser = parse_region,
          allow_hyphen_values = true, conflicts_with = "pixels")]
    pub region: Option<Region>,

    /// The same in pixels of the upright image.
    #[arg(long = "box-px", value_name = "X,Y,W,H", value_parser = parse_four::<u32>, id = "pixels",
          allow_hyphen_values = true)]
    pub pixels: Option<[u32; 4]>,
}

#[derive(Debug)]
pub struct PreparedQueryImage {
    image: QueryImageUpload,
    /// The absolute path of the file, because the file is read again when the search is repeated.
    file: PathBuf,
    region: Option<Region>,
    /// The search by an earlier registration of the image, if the search is a saved view.
    earlier: Query,
}

impl PreparedQueryImage {
    /// Reads the file. Nothing is sent yet.
    pub async fn open(options: QueryImageOptions) -> CliResult<Self> {
        let QueryImageOptions { file, region, pixels } = options;
        let image = QueryImageUpload::read(&file).await;
        let image = image.map_err(|failure| CliError::usage(failure.to_string()))?;
        let region = match (pixels, image.size()) {
            (None, Some(_)) => region,
            (None, None) if region.is_none() => None,
            (_, None) => {
                let message = "cannot be decoded, so no region of it can be used";
                return Err(CliError::usage(format!("{}: {message}", file.display())));
            }
            (Some(pixels), Some((width, height))) => {
                let region = Region::from_pixels(pixels, (width, height));
                Some(region.ok_or_else(|| {
                    CliError::usage(format!(
                        "--box-px is not inside the image of {width}x{height} pixels"
                    ))
                })?)
            }
        };
        Ok(Self { image, file: absolute_path(&file)?, region, earlier: Query::Browse })
    }

    pub async fn register(
        self,
        connection: &Connection<'_>,
        dataset: &Dataset,
        search: Search,
    ) -> CliResult<HistoryEntry> {
        let (client, Self { image, file, region, earlier }) = (&connection.client, self);
        let registered =
            client.register_anchor(dataset.id, image, search.entity, search.granularity, region);
        let anchor = registered.await.map_err(|failure| refused(connection, dataset, failure))?;
        let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy();
        let part = region.map_or_else(String::new, |region| format!(", {}", region.description()));
        Ok(HistoryEntry {
            similar_to: Some(SafeText::file_name(&format!("{name}{part}"))),
            file: Some(file),
            region,
            ..HistoryEntry::new(Search { query: earlier, ..search }.with_anchor(anchor))
        })
    }
}

/// Explains a rejected visual search. If the dataset is READY, it most likely lacks a model.
pub fn refused(connection: &Connection<'_>, dataset: &Dataset, failure: Failure) -> CliError {
    if failure.kind != FailureKind::Conflict || dataset.status != Status::Ready {
        return failure.into();
    }
    let cause = "The dataset is READY: most likely it has no visual embedding model";
    CliError::from(failure.with_remedy(cause))
        .with_remedy(connection.suggestion("tessera enrichment show", dataset.id))
}
