//! Defines the options with which commands take queries and items of a selection: from arguments, files or standard
//! input.

use std::str::FromStr;

use crate::cli::prelude::*;
use crate::cli::{keyboard, read_file_or_stdin};
use tessera_model::{
    ClusterId, EntityType, EntryContent, Filter, Granularity, MediaId, SelectedCluster,
    SelectionEntry,
};
use tessera_wire::vql::{self, TextPosition, VqlError};

/// The dataset of a command that takes nothing else.
#[derive(Debug, Args)]
pub struct NamedDataset {
    /// ID or name of the dataset, or its folder.
    pub dataset: Option<String>,
}

/// A query of the command line: its text, or the file that contains it.
#[derive(Clone, Debug, Default, Args)]
pub struct QueryOptions {
    /// The query: a JSON array of filters.
    #[arg(long, value_name = "JSON", conflicts_with = "file")]
    vql: Option<String>,
    /// File with the query; - for standard input.
    #[arg(long = "file", short = 'f', value_name = "FILE", id = "file")]
    file: Option<PathBuf>,
}

/// A query of the command line, which can also be given without an option.
#[derive(Clone, Debug, Default, Args)]
pub struct QuerySource {
    /// The query: a JSON array of filters, or the file that contains it; - for standard input.
    #[arg(value_name = "QUERY", conflicts_with_all = ["vql", "file"])]
    query: Option<PathBuf>,
    #[command(flatten)]
    options: QueryOptions,
}

/// The text of a query, and the name of its source for messages.
pub struct NamedQuery {
    pub name: String,
    pub text: String,
}

impl QueryOptions {
    pub fn new(vql: Option<String>, file: Option<PathBuf>) -> Self {
        Self { vql, file }
    }

    pub fn is_empty(&self) -> bool {
        self.vql.is_none() && self.file.is_none()
    }

    /// Returns the query, or `None` if none is given.
    pub fn read(&self) -> CliResult<Option<NamedQuery>> {
        match (&self.vql, &self.file) {
            (Some(text), _) => NamedQuery::new("--vql".to_owned(), text.clone()).map(Some),
            (None, Some(file)) => NamedQuery::from_file(file).map(Some),
            (None, None) => Ok(None),
        }
    }
}

impl From<QueryOptions> for QuerySource {
    fn from(options: QueryOptions) -> Self {
        Self { query: None, options }
    }
}

impl QuerySource {
    /// Returns the query, or `None` if none is given.
    pub fn read(&self) -> CliResult<Option<NamedQuery>> {
        match &self.query {
            Some(argument) => NamedQuery::from_argument(argument).map(Some),
            None => self.options.read(),
        }
    }

    /// Returns the query, which is read from standard input if none is given.
    pub fn read_or_stdin(&self) -> CliResult<NamedQuery> {
        match self.read()? {
            Some(query) => Ok(query),
            None => NamedQuery::new("-".to_owned(), keyboard::read_text()?),
        }
    }

    pub fn filters(&self) -> CliResult<Vec<Filter>> {
        self.read_or_stdin()?.filters()
    }
}

impl NamedQuery {
    fn new(name: String, text: String) -> CliResult<Self> {
        Ok(Self { text: require_nonempty(&name, text)?, name })
    }

    /// Reads an argument that is a query or names the file that contains it.
    pub fn from_argument(argument: &Path) -> CliResult<Self> {
        match argument.to_str().filter(|text| text.trim_start().starts_with('[')) {
            Some(text) => Self::new("QUERY".to_owned(), text.to_owned()),
            None if argument.as_os_str() != "-" && !argument.exists() => Err(CliError::usage(format!(
                "`{}` is neither a JSON array of filters, which begins with [, nor an existing file",
                argument.display()
            ))
            .with_remedy("tessera query new")),
            None => Self::from_file(argument),
        }
    }

    fn from_file(file: &Path) -> CliResult<Self> {
        Self::new(file.display().to_string(), read_file_or_stdin(file)?)
    }

    pub fn filters(&self) -> CliResult<Vec<Filter>> {
        let Self { name, text } = self;
        vql::read_lenient(text).map_err(|problem| {
            let message = located_problem(name, text, "", &problem);
            let check = ShellCommand::new("tessera query check");
            let is_file = Path::new(name).is_file();
            let check = if is_file { check.word(name) } else { check.option("--vql", text) };
            CliError::new(Exit::Invalid, message).with_remedy(check)
        })
    }
}

/// Rejects an empty query. In a pipe, empty input comes from a failed command, which must not widen
/// the query.
fn require_nonempty(name: &str, text: String) -> CliResult<String> {
    if !text.trim().is_empty() {
        return Ok(text);
    }
    let message = format!("{name}: the query is empty");
    Err(CliError::new(Exit::Invalid, message).with_remedy("tessera query new"))
}

/// Formats a problem with its position as compilers do: `FILE:LINE:COLUMN: note: ...`.
pub fn located_problem(name: &str, text: &str, level: &str, problem: &VqlError) -> String {
    let TextPosition { line, column } = TextPosition::locate(problem, text);
    format!("{name}:{line}:{column}: {level}{problem}")
}

#[derive(Debug, Args)]
pub struct ItemOptions {
    /// Media items, by ID; repeatable.
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    pub media: Vec<MediaId>,
    /// All members of a cluster except those after `^`; repeatable.
    #[arg(long, value_name = "ID[^ID,..]")]
    pub cluster: Vec<ClusterItem>,
    /// Members of the clusters: images or objects.
    #[arg(long, value_name = "ENTITY", default_value = "images")]
    pub entity: EntityType,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ClusterItem {
    pub cluster: ClusterId,
    pub exclude: Vec<MediaId>,
}

impl FromStr for ClusterItem {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (cluster, exclude) = text.split_once('^').unwrap_or((text, ""));
        let invalid = |kind: &str, id: &str| format!("`{id}` is not a valid {kind} ID");
        let media = exclude.split(',').filter(|id| !id.trim().is_empty());
        let exclude = media.map(|id| id.parse().map_err(|_| invalid("media item", id)));
        Ok(Self {
            cluster: cluster.parse().map_err(|_| invalid("cluster", cluster))?,
            exclude: exclude.collect::<Result<_, _>>()?,
        })
    }
}

impl ItemOptions {
    pub fn is_empty(&self) -> bool {
        self.media.is_empty() && self.cluster.is_empty()
    }

    pub fn entries(&self) -> impl Iterator<Item = SelectionEntry> {
        let entry = |name: String, entity, content| SelectionEntry {
            name: SafeText::name(&name),
            entity,
            granularity: Granularity::default(),
            content,
        };
        let media = self.media.iter().map(move |id| {
            entry(id.short(), EntityType::default(), EntryContent::MediaItem(*id, None))
        });
        let clusters = self.cluster.iter().map(move |members| {
            let content = EntryContent::Cluster(SelectedCluster {
                id: members.cluster,
                filters: Vec::new(),
                member_count: None,
                count_is_minimum: false,
                previewed: [].into(),
                excluded: members.exclude.iter().copied().collect(),
                stale: false,
            });
            entry(members.cluster.short(), self.entity, content)
        });
        media.chain(clusters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_is_parsed_with_its_exclusions() {
        let [cluster, one, two] = [1, 2, 3].map(|n: u128| uuid::Uuid::from_u128(n));
        let members: ClusterItem = format!("{cluster}^{one},{two}").parse().unwrap();
        assert_eq!(members.cluster, ClusterId(cluster));
        assert_eq!(members.exclude, [MediaId(one), MediaId(two)]);
        assert!(cluster.to_string().parse::<ClusterItem>().unwrap().exclude.is_empty());
        let invalid = format!("{cluster}^x").parse::<ClusterItem>().unwrap_err();
        assert_eq!(invalid, "`x` is not a valid media item ID");
        assert!("x".parse::<ClusterItem>().unwrap_err().contains("cluster"));
    }
}
