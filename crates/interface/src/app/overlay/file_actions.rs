//! Acts on the originals of the selection: asks for a folder, shows what would happen, and starts the action after the
//! user has confirmed it. The worker acts, so the interface stays usable.

use tessera_curation::{
    FileAction, FileActionPreview, LastAction, LinkKind, Outcome, TargetLayout,
    duplicates::DuplicateGroup, first_skipped,
};
use tessera_model::{
    Selection, SelectionEntry,
    text::{count_with_noun, grouped_with_noun},
};

use crate::app::overlay::prelude::*;
use crate::drawing::wrapped_rows;

/// Shows what an action does to which files, and asks for confirmation.
#[derive(Clone, Debug)]
pub struct FileActionConfirmation {
    dataset: DatasetId,
    preview: Box<FileActionPreview>,
}

/// Returns the rows that a line takes in a dialog of this width, which wraps long lines inside its frame.
fn rows_in_dialog(line: &SafeText, columns: u16) -> usize {
    usize::from(wrapped_rows(line.as_str(), columns.saturating_sub(3)))
}

impl FileActionConfirmation {
    /// Returns the lines of the dialog, the most important ones first. As many files are named as its size allows.
    fn lines(&self, (columns, rows): (u16, u16)) -> Vec<SafeText> {
        let mut lines = self.notes();
        let rows_of = |line: &SafeText| rows_in_dialog(line, columns);
        let used: usize = lines.iter().map(rows_of).sum();
        let mut free = usize::from(rows).saturating_sub(used + 2);
        let mut left = self.preview.plan.files().count();
        for step in self.preview.plan.files() {
            let line = SafeText::file_name(&step.source.to_string_lossy());
            // A row stays free for the number of the other files.
            let needed = rows_of(&line) + usize::from(left > 1);
            if needed > free {
                break;
            }
            (free, left) = (free - rows_of(&line), left - 1);
            lines.push(line);
        }
        if left > 0 && free > 0 {
            let more = grouped_with_noun(left as u64, "more file", "more files");
            lines.push(SafeText::detail(&format!("and {more}")));
        }
        lines
    }

    /// Describes the action, and what the user may not expect.
    fn notes(&self) -> Vec<SafeText> {
        let plan = &self.preview.plan;
        let mut lines = vec![self.preview.summary()];
        lines.push("Nothing is replaced. The action can be undone.".to_owned());
        lines.extend(self.preview.warnings());
        if self.preview.can_rewrite_annotations() {
            lines.push(
                "Press a to rewrite the annotation files, too. Each old file stays.".to_owned(),
            );
        }
        if !plan.skipped.is_empty() {
            let files = count_with_noun(plan.skipped.len(), "file is", "files are");
            lines.push(format!("{files} left alone:"));
            lines.extend(first_skipped(&plan.skipped));
        }
        lines.iter().map(|line| SafeText::detail(line)).collect()
    }
}

impl Dialog for FileActionConfirmation {
    fn handle_key(&mut self, chord: Chord, _: &mut App) -> KeyResult {
        if chord.key == Key::Char('a') {
            self.preview.rewrite_annotations();
        }
        KeyResult::of_confirmation(chord, self.preview.plan.action.keeps_originals())
    }

    fn preferred_size(&self, screen: (u16, u16)) -> (u16, u16) {
        let columns = screen.0.saturating_sub(4).min(110);
        let lines = self.lines((columns, screen.1));
        let rows: usize = lines.iter().map(|line| rows_in_dialog(line, columns)).sum();
        (columns, u16::try_from(rows + 2).unwrap_or(u16::MAX).min(screen.1))
    }

    fn hints(&self) -> &'static str {
        if self.preview.plan.action.keeps_originals() {
            "Enter act   Esc close"
        } else {
            "y act   Esc close"
        }
    }

    fn accept(self: Box<Self>, app: &mut App) {
        app.outbox.notify(Level::Success, format!("started: {}", self.preview.summary()));
        let request = Request::CarryOut(self.dataset, self.preview);
        app.outbox.send(Lane::FileAction(self.dataset), request);
    }

    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let lines = self.lines((area.width, area.height));
        ctx.texts_dialog(area, "Act on original files", &lines);
    }
}

/// Returns the action on files that moves, copies or links to a folder.
pub fn to_folder(action: Action, folder: std::path::PathBuf) -> FileAction {
    let layout = TargetLayout { folder, keeps_folders: false };
    match action {
        Action::CopyFiles => FileAction::Copy(layout),
        Action::LinkFiles => FileAction::Link(LinkKind::Hard, layout),
        _ => FileAction::Move(layout),
    }
}

/// Requests what an action on the selection would do.
pub fn plan(app: &mut App, action: FileAction) {
    let (Some(dataset), Some(selection)) = (app.dataset(), app.baskets.selection(&app.results))
    else {
        return;
    };
    let (id, items) = (dataset.id, selection.items());
    let leaving = if action.removes() { selection.clone() } else { Selection::default() };
    app.baskets.leaving.insert(id, leaving);
    app.outbox.send(Lane::FileAction(id), Request::PlanFileAction(id, items, action));
}

/// Requests what an action would do to the images of these groups that are not kept.
pub fn plan_duplicates(app: &mut App, groups: Vec<DuplicateGroup>, action: FileAction) {
    if let Some(id) = app.dataset().map(|dataset| dataset.id) {
        app.baskets.leaving.remove(&id);
        app.outbox.send(Lane::FileAction(id), Request::PlanDuplicateAction(id, groups, action));
    }
}

/// Opens the confirmation for a plan, or says why nothing can be done.
pub fn planned(app: &mut App, dataset: DatasetId, preview: Box<FileActionPreview>) {
    if preview.plan.steps.is_empty() {
        let reasons = first_skipped(&preview.plan.skipped);
        let reason = reasons.first().map_or("the selection has no files", String::as_str);
        app.outbox.notify(Level::Warning, format!("no file can be acted on: {reason}"));
    } else {
        let confirmation = FileActionConfirmation { dataset, preview };
        app.overlays.open_or_notify(confirmation, "the preview of the action", &mut app.outbox);
    }
}

/// Reports what an action has done. The selection of the action is removed from the basket if all of its files have left
/// the dataset. If some files stay, the selection stays too, so that the user can try these files again.
pub fn finished(app: &mut App, dataset: DatasetId, outcome: &Outcome) {
    let leaving = app.baskets.leaving.remove(&dataset).filter(|_| outcome.is_whole());
    let deselect = |leaving: Selection| {
        let left = leaving.ordered_entries().into_iter().map(SelectionEntry::id);
        app.baskets.edit_of(dataset, |basket| basket.remove(left), &mut app.outbox)
    };
    let deselected = leaving.and_then(deselect).unwrap_or(0);
    report(app, outcome, deselected);
}

/// Reports what an action, or its reversal, has done, and how many entries were deselected.
pub fn report(app: &mut App, outcome: &Outcome, deselected: usize) {
    let mut parts = vec![format!("{} done", count_with_noun(outcome.done, "file", "files"))];
    if !outcome.not_tried.is_empty() {
        let files = count_with_noun(outcome.not_tried.len(), "file was", "files were");
        parts.push(format!("stopped, {files} not tried"));
    }
    if let Some(first) = first_skipped(&outcome.failed).first() {
        parts.push(format!("{} left alone: {first}", outcome.failed.len()));
    }
    if deselected > 0 {
        let entries = count_with_noun(deselected, "entry was", "entries were");
        parts.push(format!("{entries} deselected; u restores the selection"));
    }
    let level = if outcome.is_whole() { Level::Success } else { Level::Warning };
    app.outbox.notify(level, parts.join("; "));
    app.service_data.datasets.invalidate();
}

/// Asks for confirmation before the last action on files is reverted. It may have been an action on another folder.
#[derive(Clone, Debug)]
pub struct UndoConfirmation {
    dataset: DatasetId,
    action: LastAction,
}

impl UndoConfirmation {
    fn text(&self) -> String {
        let LastAction { text, files_to_undo, .. } = &self.action;
        let files = count_with_noun(*files_to_undo, "file goes back", "files go back");
        format!("{text}: {files}")
    }
}

impl Dialog for UndoConfirmation {
    fn handle_key(&mut self, chord: Chord, _: &mut App) -> KeyResult {
        KeyResult::of_confirmation(chord, false)
    }

    fn preferred_size(&self, screen: (u16, u16)) -> (u16, u16) {
        let columns = screen.0.saturating_sub(4).min(110);
        let rows = rows_in_dialog(&SafeText::detail(&self.text()), columns);
        (columns, u16::try_from(rows + 3).unwrap_or(u16::MAX).min(screen.1))
    }

    fn hints(&self) -> &'static str {
        "y revert   Esc close"
    }

    fn accept(self: Box<Self>, app: &mut App) {
        let request = Request::UndoFileAction(self.dataset, self.action.id);
        app.outbox.send(Lane::FileAction(self.dataset), request);
    }

    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let note = "Nothing is replaced. Files that have changed since stay.";
        ctx.texts_dialog(area, "Revert the last action on files", &[&self.text(), note]);
    }
}

/// Asks which action would be reverted.
pub fn undo(app: &mut App) {
    if let Some(dataset) = app.dataset().map(|dataset| dataset.id) {
        app.outbox.send(Lane::FileAction(dataset), Request::PlanUndo(dataset));
    }
}

pub fn undo_planned(app: &mut App, dataset: DatasetId, action: LastAction) {
    let confirmation = UndoConfirmation { dataset, action };
    app.overlays.open_or_notify(confirmation, "the last action on files", &mut app.outbox);
}
