//! `tessera set`: combines search results that were saved as documents.

use std::collections::HashMap;

use crate::cli::prelude::*;
use crate::cli::read_file_or_stdin;
use tessera_model::{
    Cluster, ClusterId,
    set_algebra::{SetOperator, combine},
    text::grouped_with_noun,
};
use tessera_wire::explore::read_page;

#[derive(Debug, Subcommand)]
pub enum SetCommand {
    /// Print the clusters that are in either result.
    Union(SetOptions),
    /// Print the clusters that are in the first result but not in the second.
    Minus(SetOptions),
    /// Print the clusters that are in both results.
    Intersect(SetOptions),
}

/// Two outputs of `tessera search --json`.
#[derive(Debug, Args)]
pub struct SetOptions {
    /// First results; - for standard input.
    a: PathBuf,
    /// Second results; - for standard input.
    b: PathBuf,
    /// Exit with code 9 if one of them lacks pages of its search, or members of its clusters.
    #[arg(long)]
    strict: bool,
}

pub fn run(context: &Context, command: &SetCommand) -> CliResult {
    let (word, operator, pair) = match command {
        SetCommand::Union(pair) => ("union", SetOperator::Union, pair),
        SetCommand::Minus(pair) => ("minus", SetOperator::Difference, pair),
        SetCommand::Intersect(pair) => ("intersect", SetOperator::Intersection, pair),
    };
    if pair.a.as_os_str() == "-" && pair.b.as_os_str() == "-" {
        return Err(CliError::usage("only one of the two sets can be read from standard input"));
    }
    let (a, b) = (read_search(&pair.a)?, read_search(&pair.b)?);
    if a.document["dataset_id"] != b.document["dataset_id"] {
        return Err(CliError::usage("the two results are of different datasets"));
    }
    let combined = combine(&a.clusters, &b.clusters, operator);
    let rows: Vec<Value> =
        combined.iter().filter_map(|cluster| combined_row(cluster, &a, &b)).collect();
    let complete = a.complete && b.complete;
    let answer = json!({
        "kind": "set",
        "dataset_id": a.document["dataset_id"],
        "query": { "operation": word, "a": a.document["query"], "b": b.document["query"] },
        "page_number": 0,
        "last_page": complete,
        "truncated": !complete,
        "_of_loaded_pages": true,
        "clusters": rows,
    });
    context.print(&Document::new("tessera.clusters/1", answer).with_table("clusters of sets"))?;
    context.messages.info("only loaded pages and their previews were compared");
    let uncompared = match operator {
        SetOperator::Union => 0,
        SetOperator::Difference | SetOperator::Intersection => {
            a.members_without_preview() + b.members_without_preview()
        }
    };
    if uncompared > 0 {
        let members = grouped_with_noun(uncompared, "member", "members");
        context.messages.warn(format!("{members} without a preview were not compared"));
    }
    if complete && uncompared == 0 {
        return Ok(Exit::Done);
    }
    if !complete {
        context.messages.warn("a result lacks pages of its search; fetch them with --all");
    }
    Ok(if pair.strict { Exit::Incomplete } else { Exit::Done })
}

fn read_search(path: &Path) -> CliResult<SavedSearch> {
    SavedSearch::parse(&read_file_or_stdin(path)?).map_err(|reason| {
        let name = SafeText::file_name(&path.to_string_lossy());
        CliError::usage(format!("{name}: {reason}")).with_remedy("tessera search ... --json > FILE")
    })
}

/// Returns the row of a cluster as saved, without its removed previews, and with its search, which
/// a selection needs.
fn combined_row(cluster: &Cluster, a: &SavedSearch, b: &SavedSearch) -> Option<Value> {
    let (saved, row) =
        [a, b].into_iter().find_map(|saved| Some((saved, saved.row(cluster.id)?)))?;
    let mut row = row.clone();
    row["_query"] = saved.query(cluster.id).clone();
    let mut removed = row["_excluded"].as_u64().unwrap_or(0);
    if let Some(previews) = row["previews"].as_array_mut() {
        let before = previews.len();
        previews.retain(|preview| {
            let media = preview["media_id"].as_str().and_then(|id| id.parse().ok());
            cluster.previews.iter().any(|kept| media == Some(kept.media))
        });
        removed += (before - previews.len()) as u64;
    }
    row["_excluded"] = removed.into();
    Some(row)
}

pub struct SavedSearch {
    pub document: Value,
    /// The clusters, without those that cannot be read.
    pub clusters: Vec<Cluster>,
    /// Whether the document contains every page of the search, and every cluster could be read.
    pub complete: bool,
    row_indexes: HashMap<ClusterId, usize>,
}

impl SavedSearch {
    /// Parses a document. The error is a phrase without a subject.
    pub fn parse(source: &str) -> Result<Self, String> {
        let document: Value =
            serde_json::from_str(source).map_err(|error| format!("is not JSON: {error}"))?;
        if document["schema"] != "tessera.clusters/1" {
            return Err("is not a search result (tessera.clusters/1)".to_owned());
        }
        let page = read_page(&document).ok_or("has no `clusters`")?;
        let complete = document["truncated"] == false
            && document["last_page"] == true
            && document["page_number"] == 0
            && page.skipped == 0;
        let rows = document["clusters"].as_array().into_iter().flatten().enumerate();
        let row_indexes = rows
            .filter_map(|(index, row)| Some((row["cluster_id"].as_str()?.parse().ok()?, index)))
            .collect();
        Ok(Self { clusters: page.clusters, complete, row_indexes, document })
    }

    /// Returns the number of members that are known to exist but have no preview in the document.
    fn members_without_preview(&self) -> u64 {
        let missing = |cluster: &Cluster| {
            let shown = cluster.previews.len() as u64;
            cluster.size().map_or(0, |size| size.saturating_sub(shown))
        };
        self.clusters.iter().map(missing).sum()
    }

    pub fn row(&self, id: ClusterId) -> Option<&Value> {
        self.document["clusters"].get(*self.row_indexes.get(&id)?)
    }

    /// Returns the search that found a cluster. After a set operation, a cluster has a search of
    /// its own; otherwise it is the search of the document.
    pub fn query(&self, id: ClusterId) -> &Value {
        let query = self.row(id).map(|row| &row["_query"]).filter(|query| !query.is_null());
        query.unwrap_or(&self.document["query"])
    }
}
