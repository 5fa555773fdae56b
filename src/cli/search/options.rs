//! What every search takes: images or objects, filters, how many pages, and where the answer is kept.

use std::{num::NonZeroUsize, path::PathBuf};

use clap::{Args, builder::NonEmptyStringValueParser};

use crate::{
    cli::{CliError, Exit, query::parse_filters, read_file_or_stdin},
    config::SearchDefaults,
};
use tessera_model::{
    DatasetId, EntityType, Filter, Granularity, Search, TagId,
    vql::{InvalidField, LabelRule},
};

/// The options.
#[derive(Debug, Args)]
pub struct SearchOptions {
    /// What the members of the clusters are: images or objects.
    #[arg(long, value_name = "KIND", value_parser = parse_entity)]
    pub entity: Option<EntityType>,

    /// How coarse the clusters are: 0 (finest) to 4.
    #[arg(long, value_name = "0-4", value_parser = parse_granularity)]
    pub granularity: Option<Granularity>,

    /// What media must be besides.
    #[command(flatten)]
    pub filters: FilterOptions,

    /// How much of the answer is fetched.
    #[command(flatten)]
    pub pages: PageOptions,

    /// How it is shown.
    #[command(flatten)]
    pub display: DisplayOptions,

    /// Keep the question under this name as a saved view, in the place of an older one.
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub save: Option<String>,

    /// Keep all clusters of the answer under this name as a selection, for `export start
    /// --selection NAME`; in the place of an older one.
    #[arg(long, value_name = "NAME")]
    pub mark: Option<String>,

    /// End with code 10 when nothing is found.
    #[arg(long)]
    pub fail_empty: bool,

    /// Send it whatever the status of the dataset is.
    #[arg(long)]
    pub force: bool,
}

/// Filters; all of them hold.
///
/// Labels and tags travel in `vql`, not in the parameters `labels` and `tags`, which mean the same:
/// a saved view, the history and a marked cluster can then keep them all in one way.
#[derive(Debug, Args)]
pub struct FilterOptions {
    /// A label that media have; of several any; repeatable.
    #[arg(long = "label", value_name = "LABEL")]
    labels: Vec<String>,

    /// The UUID of a user tag that media carry; of several all; repeatable.
    #[arg(long = "tag", value_name = "UUID")]
    tags: Vec<TagId>,

    /// Filters of the query language, as a JSON array.
    #[arg(long, value_name = "JSON", conflicts_with = "file")]
    vql: Option<String>,

    /// The same in a file; - is standard input.
    #[arg(long = "file", short = 'f', value_name = "FILE", id = "file")]
    file: Option<PathBuf>,
}

/// How much of the answer is fetched.
#[derive(Clone, Copy, Debug, Args)]
pub struct PageOptions {
    /// The page to begin with, from 0; a page holds up to 100 clusters.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub page: u32,

    /// Every page from there on.
    #[arg(long)]
    pub all: bool,

    /// At most so many clusters, from as many pages as that takes.
    #[arg(long, value_name = "N")]
    pub limit: Option<NonZeroUsize>,
}

/// How the answer is shown.
#[derive(Clone, Copy, Debug, Args)]
pub struct DisplayOptions {
    /// A row for each preview instead of each cluster.
    #[arg(long)]
    pub flat: bool,

    /// Clusters with every field as the service sent it.
    #[arg(long, conflicts_with = "flat")]
    pub raw: bool,

    /// Draw the first picture of each cluster below the answer, 24 at most.
    #[arg(long)]
    pub show: bool,
}

impl SearchOptions {
    /// The search in a dataset that nothing ranks yet, at the page to begin with.
    #[must_use]
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
    /// The filters that are given, checked.
    ///
    /// # Errors
    /// The file cannot be read, or [`Exit::Invalid`]: a filter is wrong, and the sentence tells where.
    pub fn read(&self) -> Result<Vec<Filter>, CliError> {
        let mut filters = match (&self.vql, &self.file) {
            (Some(text), _) => parse_filters("--vql", text.clone())?,
            (None, Some(path)) => {
                parse_filters(&path.display().to_string(), read_file_or_stdin(path)?)?
            }
            (None, None) => Vec::new(),
        };
        let wrong = |flag: &str, invalid: InvalidField| {
            CliError::new(Exit::Invalid, format!("{flag}: {}", invalid.reason))
        };
        if !self.labels.is_empty() {
            let labels = self.labels.iter().map(String::as_str);
            let filter = Filter::labels(LabelRule::OneOf, labels);
            filters.push(filter.map_err(|invalid| wrong("--label", invalid))?);
        }
        if !self.tags.is_empty() {
            let filter = Filter::tags(self.tags.clone());
            filters.push(filter.map_err(|invalid| wrong("--tag", invalid))?);
        }
        Ok(filters)
    }
}

fn parse_entity(raw: &str) -> Result<EntityType, String> {
    EntityType::parse(raw).ok_or_else(|| "there are images and objects".to_owned())
}

fn parse_granularity(raw: &str) -> Result<Granularity, String> {
    let level = raw.trim().parse().ok().and_then(Granularity::new);
    level.ok_or_else(|| "a whole number from 0 (finest) to 4 (coarsest)".to_owned())
}
