//! Marking, and taking marks away, by the rules of the interface: a cluster swallows the single marks of
//! its members, and a member of a marked cluster is left out, never marked twice.

use std::path::PathBuf;

use clap::Args;

use super::{Kept, Which, results};
use crate::cli::{Context, Ended, Exit, marks::Marks, read_argument};
use tessera_model::{
    Basket, Change, ClusterId, Mark, MarkId, Marked, MediaId, Selection, text::counted,
};

/// What is marked.
#[derive(Debug, Args)]
pub struct Add {
    /// In what.
    #[command(flatten)]
    which: Which,
    /// What is named here.
    #[command(flatten)]
    marks: Marks,
    /// Every cluster in an answer of `tessera search --json`, or of `tessera set`; - is standard input.
    #[arg(long, value_name = "FILE")]
    from_results: Option<PathBuf>,
}

impl Add {
    /// Marks it.
    pub(super) async fn run(self, context: &Context) -> Result<Exit, Ended> {
        let Self { which, marks, from_results } = self;
        if marks.is_empty() && from_results.is_none() {
            return Err(Ended::new(
                Exit::Usage,
                "what is marked? Give --media, --cluster or --from-results",
            ));
        }
        let kept = Kept::open(context, which).await?;
        let mut all: Vec<Mark> = marks.all().collect();
        if let Some(path) = from_results {
            let found = results::marks(&read_argument(&path)?, kept.dataset);
            let refused = |reason| Ended::new(Exit::Usage, format!("{}: {reason}", path.display()));
            all.extend(found.map_err(refused)?);
        }
        let mut basket = Basket::new(kept.older()?);
        let (change, covered) = mark(&mut basket, all);
        kept.write(basket.selection())?;
        told(context, basket.selection(), change, covered);
        Ok(Exit::Done)
    }
}

/// Marks what is not marked. Returns what that changed, and how many media a marked cluster covers
/// already.
fn mark(basket: &mut Basket, marks: Vec<Mark>) -> (Change, usize) {
    let (mut change, mut covered) = (Change::default(), 0);
    for mark in marks {
        let holder = match mark.what {
            Marked::Medium(medium, within) => holder(basket.selection(), medium, within),
            Marked::Cluster(_) => None,
        };
        if let (Some(cluster), MarkId::Medium(medium)) = (holder, mark.id()) {
            covered += 1;
            if is_excluded(basket.selection(), cluster, medium) {
                basket.toggle_medium(mark);
            }
            continue;
        }
        let Change { added, swallowed, .. } = basket.mark([mark]);
        change.added += added;
        change.swallowed += swallowed;
    }
    (change, covered)
}

/// The marked cluster that a medium is a member of, as far as is known.
fn holder(selection: &Selection, medium: MediaId, within: Option<ClusterId>) -> Option<ClusterId> {
    within.filter(|id| selection.cluster(*id).is_some()).or_else(|| selection.holder(medium))
}

fn is_excluded(selection: &Selection, cluster: ClusterId, medium: MediaId) -> bool {
    selection.cluster(cluster).is_some_and(|marked| marked.exclude.contains(&medium))
}

fn told(context: &Context, selection: &Selection, change: Change, covered: usize) {
    let singles = match change.swallowed {
        0 => String::new(),
        swallowed => format!(", {swallowed} single ones inside them are gone"),
    };
    let inside = match covered {
        0 => String::new(),
        covered => format!(", {covered} media are in marked clusters"),
    };
    let words = format!("{} more{singles}{inside}", counted(change.added, "mark", "marks"));
    let totals = selection.totals();
    let rows = format!("{}{} media", totals.sign(), totals.rows());
    context
        .note
        .say(format!("{words}; now {} of {rows}", counted(selection.len(), "mark", "marks")));
}

/// Takes marks away.
pub(super) async fn remove(context: &Context, which: Which, marks: &Marks) -> Result<Exit, Ended> {
    if marks.is_empty() {
        return Err(Ended::new(Exit::Usage, "which marks? Give --media or --cluster"));
    }
    let kept = Kept::open(context, which).await?;
    let mut basket = Basket::new(kept.read()?);
    let missing = marks.all().filter(|mark| basket.selection().get(mark.id()).is_none()).count();
    let removed = basket.remove(marks.all().map(|mark| mark.id()));
    if removed == 0 {
        return Err(
            Ended::new(Exit::NotFound, "none of them is marked").remedy("tessera selection show")
        );
    }
    kept.write(basket.selection())?;
    if missing > 0 {
        context.note.warn(format!("{missing} of them were not marked"));
    }
    let left = counted(basket.selection().len(), "mark", "marks");
    context.note.say(format!("{} gone, {left} left", counted(removed, "mark", "marks")));
    Ok(Exit::Done)
}

/// Leaves media out of marked clusters: those after `^` of a cluster, and those that are known to be in
/// a marked one.
pub(super) async fn exclude(context: &Context, which: Which, marks: &Marks) -> Result<Exit, Ended> {
    let kept = Kept::open(context, which).await?;
    let mut basket = Basket::new(kept.read()?);
    let named = marks.cluster.iter().flat_map(|members| {
        members.exclude.iter().map(move |medium| (*medium, Some(members.cluster)))
    });
    let media: Vec<_> = marks.media.iter().map(|medium| (*medium, None)).chain(named).collect();
    if media.is_empty() {
        let sentence = "which media? Give --media ID, or --cluster ID^ID,..";
        return Err(Ended::new(Exit::Usage, sentence));
    }
    let mut left_out = 0;
    for (medium, within) in media {
        let cluster = holder_of(basket.selection(), medium, within)?;
        if is_excluded(basket.selection(), cluster, medium) {
            continue;
        }
        let Some(mark) = basket.selection().get(MarkId::Cluster(cluster)).cloned() else {
            continue;
        };
        basket.toggle_medium(Mark { what: Marked::Medium(medium, Some(cluster)), ..mark });
        left_out += 1;
    }
    kept.write(basket.selection())?;
    let totals = basket.selection().totals();
    let rows = format!("{}{} media", totals.sign(), totals.rows());
    context.note.say(format!("{left_out} more left out; now {rows}"));
    Ok(Exit::Done)
}

fn holder_of(
    selection: &Selection,
    medium: MediaId,
    within: Option<ClusterId>,
) -> Result<ClusterId, Ended> {
    let not_found =
        |sentence: String| Ended::new(Exit::NotFound, sentence).remedy("tessera selection show");
    match within {
        Some(cluster) if selection.cluster(cluster).is_some() => Ok(cluster),
        Some(cluster) => Err(not_found(format!("the cluster {cluster} is not marked"))),
        None => selection.holder(medium).ok_or_else(|| {
            not_found(format!(
                "no marked cluster is known to hold {medium}; name it with --cluster ID^{medium}"
            ))
        }),
    }
}
