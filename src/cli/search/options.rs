//! The options of searches.

use std::{num::NonZeroUsize, path::PathBuf};

use clap::{Args, builder::NonEmptyStringValueParser};

use super::query_image::QueryImageOptions;
use crate::{
    cli::{CliError, CliResult, Exit, query_source::parse_filters, read_file_or_stdin},
    config::SearchDefaults,
};
use tessera_client::TextSearchPath;
use tessera_model::{
    DatasetId, EntityType, Filter, Fraction, Granularity, QueryText, Search, TagId,
    vql::{InvalidField, LabelRule},
};

#[derive(Debug, Args)]
pub struct CaptionOptions {
    /// What to search for.
    #[arg(value_parser = parse_text)]
    pub text: QueryText,
    /// Keep only scores below this, 0.0 to 1.0: lower is stricter.
    #[arg(long, value_name = "SCORE", value_parser = parse_fraction)]
    pub max_score: Option<Fraction>,
    // The API does not specify the path of text searches.
    /// Path of text searches below `/api/v1` [default: `explore/{dataset_id}`].
    #[arg(long, value_name = "PATH", value_parser = parse_path)]
    pub path: Option<TextSearchPath>,
    #[command(flatten)]
    pub options: SearchOptions,
}

#[derive(Debug, Args)]
pub struct ImageOptions {
    #[command(flatten)]
    pub picture: QueryImageOptions,
    /// Register the image and print its anchor, without searching.
    #[arg(long)]
    pub anchor_only: bool,
    #[command(flatten)]
    pub cut: CutOptions,
    #[command(flatten)]
    pub options: SearchOptions,
}

/// Searches by image have no maximum score in the interface: the program omits what is beyond it.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct CutOptions {
    /// Keep only clusters with scores below this, 0.0 to 1.0: lower is stricter.
    #[arg(long, value_name = "SCORE", value_parser = parse_fraction)]
    pub max_score: Option<Fraction>,
}

#[derive(Debug, Args)]
pub struct SearchOptions {
    /// Members of the clusters: images or objects.
    #[arg(long, value_name = "KIND")]
    pub entity: Option<EntityType>,
    /// Granularity of the clusters: 0 (finest) to 4.
    #[arg(long, value_name = "0-4")]
    pub granularity: Option<Granularity>,
    #[command(flatten)]
    pub filters: FilterOptions,
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
#[derive(Debug, Args)]
pub struct FilterOptions {
    /// A label; media items must have at least one of several; repeatable.
    #[arg(long = "label", value_name = "LABEL")]
    labels: Vec<String>,
    /// The UUID of a user tag; media items must have all of several; repeatable.
    #[arg(long = "tag", value_name = "UUID")]
    tags: Vec<TagId>,
    /// Filters of the query language, as a JSON array.
    #[arg(long, value_name = "JSON", conflicts_with = "file")]
    vql: Option<String>,
    /// File with filters; - for standard input.
    #[arg(long = "file", short = 'f', value_name = "FILE", id = "file")]
    file: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Args)]
pub struct PageOptions {
    /// First page, from 0; a page has up to 100 clusters.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub page: u32,
    /// Fetch all further pages.
    #[arg(long)]
    pub all: bool,
    /// Maximum number of clusters; fetches as many pages as needed.
    #[arg(long, value_name = "N")]
    pub limit: Option<NonZeroUsize>,
}

#[expect(clippy::struct_excessive_bools, reason = "flags of the command line")]
#[derive(Clone, Copy, Debug, Args)]
pub struct DisplayOptions {
    /// Print a row per preview instead of per cluster.
    #[arg(long)]
    pub flat: bool,
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

impl SearchOptions {
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
            page: self.pages.page,
            ..Search::browse(dataset)
        }
    }
}

impl FilterOptions {
    pub fn read(&self) -> CliResult<Vec<Filter>> {
        let mut filters = match (&self.vql, &self.file) {
            (Some(text), _) => parse_filters("--vql", text.clone())?,
            (None, Some(path)) => {
                parse_filters(&path.display().to_string(), read_file_or_stdin(path)?)?
            }
            (None, None) => Vec::new(),
        };
        let error = |flag: &str, invalid: InvalidField| {
            CliError::new(Exit::Invalid, format!("{flag}: {}", invalid.reason))
        };
        if !self.labels.is_empty() {
            let labels = self.labels.iter().map(String::as_str);
            let filter = Filter::labels(LabelRule::OneOf, labels);
            filters.push(filter.map_err(|invalid| error("--label", invalid))?);
        }
        if !self.tags.is_empty() {
            let filter = Filter::tags(self.tags.clone());
            filters.push(filter.map_err(|invalid| error("--tag", invalid))?);
        }
        Ok(filters)
    }
}

fn parse_text(raw: &str) -> Result<QueryText, String> {
    QueryText::new(raw).map_err(|invalid| invalid.reason)
}

fn parse_fraction(raw: &str) -> Result<Fraction, String> {
    let number = raw.trim().parse().ok().and_then(Fraction::new);
    number.ok_or_else(|| "expected a number from 0.0 to 1.0".to_owned())
}

pub fn parse_path(raw: &str) -> Result<TextSearchPath, String> {
    TextSearchPath::parse(raw).map_err(|failure| failure.to_string())
}
