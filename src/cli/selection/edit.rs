//! `tessera selection add`, `remove` and `exclude`, with the interface's rules: selecting a cluster
//! absorbs its selected members, and a member of a selected cluster can be excluded, never selected
//! twice.

use std::path::PathBuf;

use clap::Args;

use super::{SelectionOptions, SelectionStore, results};
use crate::cli::{CliError, Context, Exit, item_options::ItemOptions, read_file_or_stdin};
use tessera_model::{
    Basket, ClusterId, EntryContent, EntryId, MediaId, Selection, SelectionChange, SelectionEntry,
    text::count_with_noun,
};

#[derive(Debug, Args)]
pub struct SelectionAddOptions {
    #[command(flatten)]
    selection: SelectionOptions,
    #[command(flatten)]
    items: ItemOptions,
    /// Select every cluster in the output of `tessera search --json` or `tessera set`; - for
    /// standard input.
    #[arg(long, value_name = "FILE")]
    from_results: Option<PathBuf>,
}

impl SelectionAddOptions {
    pub(super) async fn run(self, context: &Context) -> Result<Exit, CliError> {
        let Self { selection: which, items: marks, from_results } = self;
        if marks.is_empty() && from_results.is_none() {
            return Err(CliError::usage(
                "nothing to select; give --media, --cluster or --from-results",
            ));
        }
        let kept = SelectionStore::open(context, which).await?;
        let mut all: Vec<SelectionEntry> = marks.to_marks().collect();
        if let Some(path) = from_results {
            let found = results::marks_from_results(&read_file_or_stdin(&path)?, kept.dataset);
            let refused = |reason| CliError::usage(format!("{}: {reason}", path.display()));
            all.extend(found.map_err(refused)?);
        }
        let mut basket = Basket::new(kept.load_or_default()?);
        let (change, covered) = add_marks(&mut basket, all);
        kept.save(basket.selection())?;
        report_change(context, basket.selection(), change, covered);
        Ok(Exit::Done)
    }
}

/// Selects entries. Returns the change, and how many media items a selected cluster already
/// contains.
fn add_marks(basket: &mut Basket, marks: Vec<SelectionEntry>) -> (SelectionChange, usize) {
    let (mut change, mut covered) = (SelectionChange::default(), 0);
    for mark in marks {
        let holder = match mark.content {
            EntryContent::MediaItem(medium, within) => {
                containing_cluster(basket.selection(), medium, within)
            }
            EntryContent::Cluster(_) => None,
        };
        if let (Some(cluster), EntryId::MediaItem(medium)) = (holder, mark.id()) {
            covered += 1;
            if is_excluded(basket.selection(), cluster, medium) {
                basket.toggle_media_item(mark);
            }
            continue;
        }
        let SelectionChange { added, absorbed: swallowed, .. } = basket.select([mark]);
        change.added += added;
        change.absorbed += swallowed;
    }
    (change, covered)
}

/// The selected cluster that contains a media item, as far as known.
fn containing_cluster(
    selection: &Selection,
    medium: MediaId,
    within: Option<ClusterId>,
) -> Option<ClusterId> {
    within
        .filter(|id| selection.cluster(*id).is_some())
        .or_else(|| selection.cluster_containing(medium))
}

fn is_excluded(selection: &Selection, cluster: ClusterId, medium: MediaId) -> bool {
    selection.cluster(cluster).is_some_and(|marked| marked.excluded.contains(&medium))
}

fn report_change(
    context: &Context,
    selection: &Selection,
    change: SelectionChange,
    covered: usize,
) {
    let singles = match change.absorbed {
        0 => String::new(),
        swallowed => format!(", absorbing {swallowed} selected media items"),
    };
    let inspection = match covered {
        0 => String::new(),
        covered => format!(", {covered} already in selected clusters"),
    };
    let words =
        format!("{} more{singles}{inspection}", count_with_noun(change.added, "entry", "entries"));
    let totals = selection.totals();
    let rows = format!("{}{} media", totals.estimate_sign(), totals.export_rows());
    context.messages.info(format!(
        "{words}; now {} of {rows}",
        count_with_noun(selection.len(), "entry", "entries")
    ));
}

pub(super) async fn remove(
    context: &Context,
    which: SelectionOptions,
    marks: &ItemOptions,
) -> Result<Exit, CliError> {
    if marks.is_empty() {
        return Err(CliError::usage("nothing to remove; give --media or --cluster"));
    }
    let kept = SelectionStore::open(context, which).await?;
    let mut basket = Basket::new(kept.load()?);
    let missing =
        marks.to_marks().filter(|mark| basket.selection().get(mark.id()).is_none()).count();
    let removed = basket.remove(marks.to_marks().map(|mark| mark.id()));
    if removed == 0 {
        return Err(
            CliError::not_found("none of them is selected").with_remedy("tessera selection show")
        );
    }
    kept.save(basket.selection())?;
    if missing > 0 {
        context.messages.warn(format!("{missing} of them were not selected"));
    }
    let left = count_with_noun(basket.selection().len(), "entry", "entries");
    context
        .messages
        .info(format!("{} gone, {left} left", count_with_noun(removed, "entry", "entries")));
    Ok(Exit::Done)
}

/// Excludes media items from selected clusters: those after `^` of a cluster, and those known to be
/// in a selected one.
pub(super) async fn exclude(
    context: &Context,
    which: SelectionOptions,
    marks: &ItemOptions,
) -> Result<Exit, CliError> {
    let kept = SelectionStore::open(context, which).await?;
    let mut basket = Basket::new(kept.load()?);
    let named = marks.cluster.iter().flat_map(|members| {
        members.exclude.iter().map(move |medium| (*medium, Some(members.cluster)))
    });
    let media: Vec<_> = marks.media.iter().map(|medium| (*medium, None)).chain(named).collect();
    if media.is_empty() {
        let message = "nothing to exclude; give --media ID, or --cluster ID^ID,..";
        return Err(CliError::usage(message));
    }
    let mut left_out = 0;
    for (medium, within) in media {
        let cluster = require_containing_cluster(basket.selection(), medium, within)?;
        if is_excluded(basket.selection(), cluster, medium) {
            continue;
        }
        let Some(mark) = basket.selection().get(EntryId::Cluster(cluster)).cloned() else {
            continue;
        };
        basket.toggle_media_item(SelectionEntry {
            content: EntryContent::MediaItem(medium, Some(cluster)),
            ..mark
        });
        left_out += 1;
    }
    kept.save(basket.selection())?;
    let totals = basket.selection().totals();
    let rows = format!("{}{} media", totals.estimate_sign(), totals.export_rows());
    context.messages.info(format!("excluded {left_out} more; now {rows}"));
    Ok(Exit::Done)
}

fn require_containing_cluster(
    selection: &Selection,
    medium: MediaId,
    within: Option<ClusterId>,
) -> Result<ClusterId, CliError> {
    let not_found =
        |message: String| CliError::not_found(message).with_remedy("tessera selection show");
    match within {
        Some(cluster) if selection.cluster(cluster).is_some() => Ok(cluster),
        Some(cluster) => Err(not_found(format!("the cluster {cluster} is not selected"))),
        None => selection.cluster_containing(medium).ok_or_else(|| {
            not_found(format!(
                "no selected cluster is known to contain {medium}; give it with --cluster ID^{medium}"
            ))
        }),
    }
}
