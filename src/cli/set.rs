//! `tessera set`: combines search results that were saved as documents.

use crate::cli::prelude::*;
use crate::cli::{
    read_file_or_stdin,
    search::saved_search::{EXCLUDED, SavedSearch, UNLISTED},
};
use tessera_model::{
    MediaId, Preview,
    set_algebra::{FoundCluster, Members, SetOperator, combine},
    text::grouped_with_noun,
};
use tessera_wire::fields::count;

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
        combined.iter().filter_map(|found| combined_row(found, operator, &a, &b)).collect();
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
    let uncompared = uncompared_members(operator, &combined, &a, &b);
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

/// Returns the number of members without a preview that may be missing in the result, or may be too many in it.
fn uncompared_members(
    operator: SetOperator,
    combined: &[FoundCluster],
    a: &SavedSearch,
    b: &SavedSearch,
) -> u64 {
    if operator != SetOperator::Union {
        return a.members_without_preview().saturating_add(b.members_without_preview());
    }
    let previewed = combined.iter().filter(|found| found.members == Members::Previewed);
    let merged = previewed.map(|found| found.cluster.id).filter(|id| a.in_both(b, *id));
    merged.map(|id| a.unlisted(id).saturating_add(b.unlisted(id))).fold(0, u64::saturating_add)
}

fn read_search(path: &Path) -> CliResult<SavedSearch> {
    SavedSearch::parse(&read_file_or_stdin(path)?).map_err(|reason| {
        let name = SafeText::file_name(&path.to_string_lossy());
        CliError::usage(format!("{name}: {reason}")).with_remedy("tessera search ... --json > FILE")
    })
}

/// Returns the row of a cluster as saved, with its search, which a selection needs. A cluster that is in neither result
/// as it is now stands only for its previews.
fn combined_row(
    found: &FoundCluster,
    operator: SetOperator,
    a: &SavedSearch,
    b: &SavedSearch,
) -> Option<Value> {
    let id = found.cluster.id;
    let sources = [a, b].into_iter().filter(|saved| saved.row(id).is_some());
    let sources: Vec<&SavedSearch> = sources.collect();
    let unchanged = sources.iter().find(|saved| saved.found(id) == Some(found));
    let saved = unchanged.or(sources.first())?;
    let mut row = saved.row(id)?.clone();
    row["_query"] = saved.query(id).clone();
    let excluded = count(&row, EXCLUDED).unwrap_or(0);
    row[EXCLUDED] = excluded.into();
    if unchanged.is_none() {
        let is_merged = operator == SetOperator::Union && sources.len() > 1;
        let merged = if is_merged { &sources[..] } else { &sources[..1] };
        let before: Vec<Value> = merged.iter().flat_map(|saved| saved.previews(id)).collect();
        let keep = |preview: &Preview| before.iter().find(|it| media_of(it) == Some(preview.media));
        let kept: Vec<Value> = found.cluster.previews.iter().filter_map(keep).cloned().collect();
        let removed = saved.previews(id).count().saturating_sub(kept.len()) as u64;
        row["previews"] = kept.into();
        row[EXCLUDED] = excluded.saturating_add(removed).into();
        let unlisted = merged.iter().map(|saved| saved.unlisted(id));
        row[UNLISTED] = unlisted.fold(0, u64::saturating_add).into();
    }
    Some(row)
}

fn media_of(preview: &Value) -> Option<MediaId> {
    preview["media_id"].as_str()?.parse().ok()
}
