//! The basket of a dataset: its [`Selection`], changed in whole steps that can be taken back.
//!
//! Rules of marking (features 4.8): a cluster swallows the single marks of its members, and a
//! member of a marked cluster is left out or taken in again, never marked twice.

use crate::{
    Cluster, ClusterId, Mark, MarkId, Marked, MarkedCluster, MediaId, Preview, Query, SafeText,
    Search, Selection, selection::Placed,
};

/// Steps that can be taken back.
const STEPS: usize = 200;

/// What each mark becomes; done, it gives the step that undoes it.
type Step = Vec<(MarkId, Option<Placed>)>;

/// What each mark is to become.
type Plan = Vec<(MarkId, Option<Mark>)>;

/// A selection with its past.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Basket {
    selection: Selection,
    past: Vec<Step>,
    future: Vec<Step>,
}

/// What a step did, to be told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Marks that came.
    pub added: usize,
    /// Marks that went.
    pub removed: usize,
    /// Single marks that went because a cluster swallowed them.
    pub swallowed: usize,
}

/// What marking a medium came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Toggled {
    /// It is marked by itself.
    Marked,
    /// It is not marked any more.
    Unmarked,
    /// It is left out of its marked cluster.
    Excluded,
    /// It is exported with its marked cluster again.
    Included,
}

/// The mark of a cluster that `search` found.
#[must_use]
pub fn cluster_mark(cluster: &Cluster, search: &Search) -> Mark {
    let first = cluster.previews.first();
    Mark {
        name: first.map_or_else(|| SafeText::name(&cluster.id.short()), |it| it.file_name.clone()),
        entity: cluster.entity,
        granularity: search.granularity,
        what: Marked::Cluster(MarkedCluster {
            id: cluster.id,
            filters: search.filters.clone(),
            members: cluster.size(),
            at_least: matches!(search.query, Query::Caption { .. }),
            seen: cluster.previews.iter().map(|preview| preview.media).collect(),
            exclude: [].into(),
            stale: false,
        }),
    }
}

/// The mark of a medium that `search` showed in `cluster`.
#[must_use]
pub fn medium_mark(preview: &Preview, cluster: &Cluster, search: &Search) -> Mark {
    Mark {
        name: preview.file_name.clone(),
        entity: cluster.entity,
        granularity: search.granularity,
        what: Marked::Medium(preview.media, Some(cluster.id)),
    }
}

impl Basket {
    /// A basket without a past.
    #[must_use]
    pub fn new(selection: Selection) -> Self {
        Self { selection, ..Self::default() }
    }

    /// What is marked.
    #[must_use]
    pub fn selection(&self) -> &Selection {
        &self.selection
    }

    /// Marks clusters that are not marked yet, with their single marks swallowed.
    pub fn mark(&mut self, clusters: impl IntoIterator<Item = Mark>) -> Change {
        let (step, change) = self.plan(clusters, false);
        self.take(step);
        change
    }

    /// As [`Basket::mark`], as a part of the step before.
    pub fn mark_on(&mut self, clusters: impl IntoIterator<Item = Mark>) -> Change {
        let (step, change) = self.plan(clusters, false);
        let step = self.placed(step);
        let mut back = self.swap(step);
        if let Some(last) = self.past.last_mut() {
            back.append(last);
            *last = back;
        } else if !back.is_empty() {
            self.past.push(back);
        }
        self.future.clear();
        change
    }

    /// Marks those clusters that are not marked, and takes the marks of the others away.
    pub fn invert(&mut self, clusters: impl IntoIterator<Item = Mark>) -> Change {
        let (step, change) = self.plan(clusters, true);
        self.take(step);
        change
    }

    /// What marking these clusters changes; marked ones lose their mark when `inverted`.
    fn plan(&self, clusters: impl IntoIterator<Item = Mark>, inverted: bool) -> (Plan, Change) {
        let mut plan = Plan::new();
        let mut change = Change::default();
        for mark in clusters {
            let id = mark.id();
            match (self.selection.get(id).is_some(), inverted) {
                (true, false) => {}
                (true, true) => {
                    change.removed += 1;
                    plan.push((id, None));
                }
                (false, _) => {
                    let singles = mark.cluster().map(|cluster| self.selection.singles_of(cluster));
                    let singles = singles.unwrap_or_default();
                    change.swallowed += singles.len();
                    change.added += 1;
                    plan.extend(singles.into_iter().map(|id| (id, None)));
                    plan.push((id, Some(mark)));
                }
            }
        }
        (plan, change)
    }

    /// Marks a medium or takes its mark away; inside a marked cluster leaves it out or takes it
    /// in again.
    pub fn toggle_medium(&mut self, mark: Mark) -> Toggled {
        let Marked::Medium(medium, within) = mark.what else {
            self.invert([mark]);
            return Toggled::Marked;
        };
        let own = within.filter(|id| self.selection.cluster(*id).is_some());
        if let Some(holder) = own.or_else(|| self.selection.holder(medium)) {
            return self.toggle_member(holder, medium);
        }
        let id = mark.id();
        let marked = self.selection.get(id).is_some();
        self.take(vec![(id, (!marked).then_some(mark))]);
        if marked { Toggled::Unmarked } else { Toggled::Marked }
    }

    fn toggle_member(&mut self, holder: ClusterId, medium: MediaId) -> Toggled {
        let id = MarkId::Cluster(holder);
        let mut mark = self.selection.get(id).cloned();
        let mut excluded = false;
        if let Some(Marked::Cluster(cluster)) = mark.as_mut().map(|mark| &mut mark.what) {
            cluster.seen.insert(medium);
            excluded = cluster.exclude.insert(medium);
            if !excluded {
                cluster.exclude.remove(&medium);
            }
        }
        self.take(vec![(id, mark)]);
        if excluded { Toggled::Excluded } else { Toggled::Included }
    }

    /// Takes marks away.
    pub fn remove(&mut self, marks: impl IntoIterator<Item = MarkId>) -> usize {
        let marks = marks.into_iter().filter(|id| self.selection.get(*id).is_some());
        let plan: Plan = marks.map(|id| (id, None)).collect();
        let removed = plan.len();
        self.take(plan);
        removed
    }

    /// Puts another selection in the place of this one.
    pub fn replace(&mut self, selection: &Selection) {
        let gone = self.selection.rows().into_iter().map(|mark| (mark.id(), None));
        let come = selection.rows().into_iter().map(|mark| (mark.id(), Some(mark.clone())));
        self.take(gone.chain(come).collect());
    }

    /// Takes the last step back. `false`: there is none.
    pub fn undo(&mut self) -> bool {
        let Some(step) = self.past.pop() else { return false };
        let back = self.swap(step);
        self.future.push(back);
        true
    }

    /// Does the step again that was taken back last. `false`: there is none.
    pub fn redo(&mut self) -> bool {
        let Some(step) = self.future.pop() else { return false };
        let back = self.swap(step);
        self.past.push(back);
        true
    }

    /// Whether a step can be taken back.
    #[must_use]
    pub fn can_undo(&self) -> bool {
        !self.past.is_empty()
    }

    /// Whether a step can be done again.
    #[must_use]
    pub fn can_redo(&self) -> bool {
        !self.future.is_empty()
    }

    /// The dataset was clustered anew: every cluster is in doubt, also those that undo would
    /// bring back. Returns how many of the marked ones are.
    pub fn expire(&mut self) -> usize {
        self.selection.expire();
        let steps = self.past.iter_mut().chain(&mut self.future);
        steps.flatten().filter_map(|(_, mark)| mark.as_mut()).for_each(|(_, mark)| mark.expire());
        self.selection.totals().stale
    }

    /// These clusters were just told by the service. Returns how many marks were in doubt.
    pub fn confirm(&mut self, told: &[Cluster]) -> usize {
        self.selection.confirm(told)
    }

    fn take(&mut self, plan: Plan) {
        if plan.is_empty() {
            return;
        }
        let step = self.placed(plan);
        let back = self.swap(step);
        self.past.push(back);
        self.future.clear();
        if self.past.len() > STEPS {
            self.past.remove(0);
        }
    }

    /// A plan with the places of its marks: their own, or after all others.
    fn placed(&self, plan: Plan) -> Step {
        let mut end = self.selection.end();
        let mut place = |id| {
            self.selection.place(id).unwrap_or_else(|| {
                end += 1;
                end - 1
            })
        };
        plan.into_iter().map(|(id, mark)| (id, mark.map(|mark| (place(id), mark)))).collect()
    }

    /// Does a step, and gives back the step that undoes it.
    fn swap(&mut self, step: Step) -> Step {
        let mut set = |(id, mark)| (id, self.selection.set(id, mark));
        let mut back: Step = step.into_iter().map(&mut set).collect();
        back.reverse();
        back
    }
}

#[cfg(test)]
mod tests;
