//! `tessera set`: algebra on the answers of searches, because the interface has no OR and no NOT. It is
//! made of the pages that were saved, and says so.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::cli::{Column, Context, Document, Ended, Exit, read_argument, saved::Saved};
use tessera_model::{
    Cluster, ClusterId, SafeText,
    algebra::{Operator, combine},
};

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Set {
    /// What is in any of the two.
    Union(Pair),
    /// What is in the first and not in the second.
    Minus(Pair),
    /// What is in both.
    Intersect(Pair),
}

/// Two answers of `tessera search --json`.
#[derive(Debug, Args)]
pub struct Pair {
    /// The first; - is standard input.
    a: PathBuf,
    /// The second; - is standard input.
    b: PathBuf,
    /// End with code 9 when one of them does not hold every page of its search.
    #[arg(long)]
    strict: bool,
}

const COLUMNS: &[Column] = &[
    Column::new("SCORE", "relevance_score"),
    Column::new("MEMBERS", "_members"),
    Column::new("LEFT OUT", "_left_out"),
    Column::new("CLUSTER", "cluster_id"),
    Column::new("FIRST FILE", "previews.0.file_name"),
];

/// Combines two answers.
///
/// # Errors
/// One of them is no answer of a search, or they are of two datasets: [`Exit::Usage`].
pub fn run(context: &Context, command: &Set) -> Result<Exit, Ended> {
    let (word, operator, pair) = match command {
        Set::Union(pair) => ("union", Operator::Union, pair),
        Set::Minus(pair) => ("minus", Operator::Difference, pair),
        Set::Intersect(pair) => ("intersect", Operator::Intersection, pair),
    };
    if pair.a.as_os_str() == "-" && pair.b.as_os_str() == "-" {
        return Err(Ended::new(Exit::Usage, "only one of the two can come from standard input"));
    }
    let (a, b) = (read(&pair.a)?, read(&pair.b)?);
    if a.document["dataset_id"] != b.document["dataset_id"] {
        let sentence = "the two answers are of different datasets; a set is of one";
        return Err(Ended::new(Exit::Usage, sentence));
    }
    let combined = combine(&a.clusters, &b.clusters, operator);
    let rows: Vec<Value> = combined.iter().filter_map(|cluster| row(cluster, &a, &b)).collect();
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
    context.answer(&Document::list("tessera.search/1", answer, "clusters", COLUMNS))?;
    context.note.say("made of loaded pages: of a cluster only its previews are compared");
    if complete {
        return Ok(Exit::Done);
    }
    context.note.warn("an answer does not hold every page of its search; --all fetches them");
    Ok(if pair.strict { Exit::Partly } else { Exit::Done })
}

fn read(path: &PathBuf) -> Result<Saved, Ended> {
    Saved::parse(&read_argument(path)?).map_err(|reason| {
        let name = SafeText::file(&path.to_string_lossy());
        Ended::new(Exit::Usage, format!("{name}: {reason}"))
            .remedy("tessera search ... --json > FILE")
    })
}

/// The row of a cluster with the search that found it, which a selection needs to mark it.
fn found(saved: &Saved, id: ClusterId) -> Option<Value> {
    let mut row = saved.row(id)?.clone();
    row["_query"] = saved.query(id).clone();
    Some(row)
}

/// A cluster as it was saved, without the previews that the operation left out.
fn row(cluster: &Cluster, a: &Saved, b: &Saved) -> Option<Value> {
    let mut row = found(a, cluster.id).or_else(|| found(b, cluster.id))?;
    let kept = |preview: &Value| {
        let media = preview["media_id"].as_str().and_then(|id| id.parse().ok());
        cluster.previews.iter().any(|kept| media == Some(kept.media))
    };
    let earlier = row["_left_out"].as_u64().unwrap_or(0);
    let mut left_out = 0;
    if let Some(previews) = row["previews"].as_array_mut() {
        let before = previews.len();
        previews.retain(kept);
        left_out = before - previews.len();
    }
    row["_left_out"] = (earlier + left_out as u64).into();
    Some(row)
}
