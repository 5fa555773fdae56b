//! The basket of a dataset: its [`Selection`], changed in whole steps that can be taken back.
//!
//! Rules of marking: a cluster swallows the single marks of its members, and a
//! member of a marked cluster is left out or taken in again, never marked twice.

use crate::{
    Cluster, ClusterId, EntryContent, EntryId, MediaId, Preview, Query, SafeText, Search,
    SelectedCluster, Selection, SelectionEntry, selection::PositionedEntry,
};

/// Steps that can be taken back.
const MAX_UNDO_STEPS: usize = 200;

/// What each mark becomes; done, it gives the step that undoes it.
type SelectionEdit = Vec<(EntryId, Option<PositionedEntry>)>;

/// What each mark is to become.
type EditPlan = Vec<(EntryId, Option<SelectionEntry>)>;

/// A selection with its past.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Basket {
    selection: Selection,
    undo_stack: Vec<SelectionEdit>,
    redo_stack: Vec<SelectionEdit>,
}

/// What a step did, to be told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SelectionChange {
    /// Marks that came.
    pub added: usize,
    /// Marks that went.
    pub removed: usize,
    /// Single marks that went because a cluster swallowed them.
    pub absorbed: usize,
}

/// What marking a medium came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToggleOutcome {
    /// It is marked by itself.
    Selected,
    /// It is not marked any more.
    Deselected,
    /// It is left out of its marked cluster.
    Excluded,
    /// It is exported with its marked cluster again.
    Included,
}

/// The mark of a cluster that `search` found.
pub fn cluster_entry(cluster: &Cluster, search: &Search) -> SelectionEntry {
    let first = cluster.previews.first();
    SelectionEntry {
        name: first.map_or_else(|| SafeText::name(&cluster.id.short()), |it| it.file_name.clone()),
        entity: cluster.entity,
        granularity: search.granularity,
        content: EntryContent::Cluster(SelectedCluster {
            id: cluster.id,
            filters: search.filters.clone(),
            member_count: cluster.size(),
            count_is_minimum: matches!(search.query, Query::Caption { .. }),
            previewed: cluster.previews.iter().map(|preview| preview.media).collect(),
            excluded: [].into(),
            stale: false,
        }),
    }
}

/// The mark of a medium that `search` showed in `cluster`.
pub fn media_item_entry(preview: &Preview, cluster: &Cluster, search: &Search) -> SelectionEntry {
    SelectionEntry {
        name: preview.file_name.clone(),
        entity: cluster.entity,
        granularity: search.granularity,
        content: EntryContent::MediaItem(preview.media, Some(cluster.id)),
    }
}

impl Basket {
    /// A basket without a past.
    pub fn new(selection: Selection) -> Self {
        Self { selection, ..Self::default() }
    }

    /// What is marked.
    pub fn selection(&self) -> &Selection {
        &self.selection
    }

    /// Marks clusters that are not marked yet, with their single marks swallowed.
    pub fn select(
        &mut self,
        clusters: impl IntoIterator<Item = SelectionEntry>,
    ) -> SelectionChange {
        let (step, change) = self.plan(clusters, false);
        self.apply_plan(step);
        change
    }

    /// As [`Basket::mark`], as a part of the step before.
    pub fn select_in_last_step(
        &mut self,
        clusters: impl IntoIterator<Item = SelectionEntry>,
    ) -> SelectionChange {
        let (step, change) = self.plan(clusters, false);
        let step = self.with_positions(step);
        let mut back = self.apply_edit(step);
        if let Some(last) = self.undo_stack.last_mut() {
            back.append(last);
            *last = back;
        } else if !back.is_empty() {
            self.undo_stack.push(back);
        }
        self.redo_stack.clear();
        change
    }

    /// Marks those clusters that are not marked, and takes the marks of the others away.
    pub fn invert(
        &mut self,
        clusters: impl IntoIterator<Item = SelectionEntry>,
    ) -> SelectionChange {
        let (step, change) = self.plan(clusters, true);
        self.apply_plan(step);
        change
    }

    /// What marking these clusters changes; marked ones lose their mark when `inverted`.
    fn plan(
        &self,
        clusters: impl IntoIterator<Item = SelectionEntry>,
        inverted: bool,
    ) -> (EditPlan, SelectionChange) {
        let mut plan = EditPlan::new();
        let mut change = SelectionChange::default();
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
                    change.absorbed += singles.len();
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
    pub fn toggle_media_item(&mut self, mark: SelectionEntry) -> ToggleOutcome {
        let EntryContent::MediaItem(medium, within) = mark.content else {
            self.invert([mark]);
            return ToggleOutcome::Selected;
        };
        let own = within.filter(|id| self.selection.cluster(*id).is_some());
        if let Some(holder) = own.or_else(|| self.selection.cluster_containing(medium)) {
            return self.toggle_member(holder, medium);
        }
        let id = mark.id();
        let marked = self.selection.get(id).is_some();
        self.apply_plan(vec![(id, (!marked).then_some(mark))]);
        if marked { ToggleOutcome::Deselected } else { ToggleOutcome::Selected }
    }

    fn toggle_member(&mut self, holder: ClusterId, medium: MediaId) -> ToggleOutcome {
        let id = EntryId::Cluster(holder);
        let mut mark = self.selection.get(id).cloned();
        let mut excluded = false;
        if let Some(EntryContent::Cluster(cluster)) = mark.as_mut().map(|mark| &mut mark.content) {
            cluster.previewed.insert(medium);
            excluded = cluster.excluded.insert(medium);
            if !excluded {
                cluster.excluded.remove(&medium);
            }
        }
        self.apply_plan(vec![(id, mark)]);
        if excluded { ToggleOutcome::Excluded } else { ToggleOutcome::Included }
    }

    /// Takes marks away.
    pub fn remove(&mut self, marks: impl IntoIterator<Item = EntryId>) -> usize {
        let marks = marks.into_iter().filter(|id| self.selection.get(*id).is_some());
        let plan: EditPlan = marks.map(|id| (id, None)).collect();
        let removed = plan.len();
        self.apply_plan(plan);
        removed
    }

    /// Puts another selection in the place of this one.
    pub fn replace(&mut self, selection: &Selection) {
        let gone = self.selection.ordered_entries().into_iter().map(|mark| (mark.id(), None));
        let come =
            selection.ordered_entries().into_iter().map(|mark| (mark.id(), Some(mark.clone())));
        self.apply_plan(gone.chain(come).collect());
    }

    /// Takes the last step back. `false`: there is none.
    pub fn undo(&mut self) -> bool {
        let Some(step) = self.undo_stack.pop() else { return false };
        let back = self.apply_edit(step);
        self.redo_stack.push(back);
        true
    }

    /// Does the step again that was taken back last. `false`: there is none.
    pub fn redo(&mut self) -> bool {
        let Some(step) = self.redo_stack.pop() else { return false };
        let back = self.apply_edit(step);
        self.undo_stack.push(back);
        true
    }

    /// Whether a step can be taken back.
    pub fn can_undo(&self) -> bool {
        !self.undo_stack.is_empty()
    }

    /// Whether a step can be done again.
    pub fn can_redo(&self) -> bool {
        !self.redo_stack.is_empty()
    }

    /// The dataset was clustered anew: every cluster is in doubt, also those that undo would
    /// bring back. Returns how many of the marked ones are.
    pub fn mark_stale(&mut self) -> usize {
        self.selection.mark_stale();
        let steps = self.undo_stack.iter_mut().chain(&mut self.redo_stack);
        steps.flatten().filter_map(|(_, mark)| mark.as_mut()).for_each(|(_, mark)| mark.expire());
        self.selection.totals().stale
    }

    /// These clusters were just told by the service. Returns how many marks were in doubt.
    pub fn confirm_clusters(&mut self, clusters: &[Cluster]) -> usize {
        self.selection.confirm_clusters(clusters)
    }

    fn apply_plan(&mut self, plan: EditPlan) {
        if plan.is_empty() {
            return;
        }
        let step = self.with_positions(plan);
        let back = self.apply_edit(step);
        self.undo_stack.push(back);
        self.redo_stack.clear();
        if self.undo_stack.len() > MAX_UNDO_STEPS {
            self.undo_stack.remove(0);
        }
    }

    /// A plan with the places of its marks: their own, or after all others.
    fn with_positions(&self, plan: EditPlan) -> SelectionEdit {
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
    fn apply_edit(&mut self, step: SelectionEdit) -> SelectionEdit {
        let mut set = |(id, mark)| (id, self.selection.set(id, mark));
        let mut back: SelectionEdit = step.into_iter().map(&mut set).collect();
        back.reverse();
        back
    }
}
