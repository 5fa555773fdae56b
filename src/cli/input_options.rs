//! Defines the options with which commands take queries and items of a selection: from arguments, files or standard
//! input.

use std::{path::PathBuf, str::FromStr};

use clap::Args;

use crate::cli::{CliError, CliResult, Exit, read_file_or_stdin, values::read_stdin};
use tessera_model::{
    ClusterId, EntityType, EntryContent, Filter, Granularity, MediaId, SafeText, SelectedCluster,
    SelectionEntry,
};
use tessera_wire::vql::{self, TextPosition, VqlError};

#[derive(Clone, Debug, Args)]
pub struct QuerySource {
    /// Query file; - or none: standard input.
    pub file: Option<PathBuf>,
    /// The query itself, instead of a file.
    #[arg(long, value_name = "JSON", conflicts_with = "file")]
    pub vql: Option<String>,
}

impl QuerySource {
    /// Returns the name of the source for messages.
    pub fn name(&self) -> String {
        match &self.file {
            Some(file) if file.as_os_str() != "-" => file.display().to_string(),
            _ if self.vql.is_some() => "--vql".to_owned(),
            _ => "-".to_owned(),
        }
    }

    pub fn text(&self) -> CliResult<String> {
        let text = match (&self.vql, &self.file) {
            (Some(vql), _) => return Ok(vql.clone()),
            (None, Some(file)) => read_file_or_stdin(file)?,
            (None, None) => read_stdin()?,
        };
        require_nonempty(&self.name(), text)
    }

    pub fn filters(&self) -> CliResult<Vec<Filter>> {
        parse_filters(&self.name(), self.text()?)
    }
}

/// Parses a query. `name` is the name of the source for messages.
pub fn parse_filters(name: &str, text: String) -> CliResult<Vec<Filter>> {
    let text = require_nonempty(name, text)?;
    vql::read_lenient(&text).map_err(|problem| {
        let message = located_problem(name, &text, "", &problem);
        CliError::new(Exit::Invalid, message).with_remedy("tessera query check")
    })
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
    #[arg(long, value_name = "ENTITY", requires = "cluster", default_value = "images")]
    entity: EntityType,
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
