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
    /// The preview without the annotation files, while they are rewritten, too.
    without_annotations: Option<Box<FileActionPreview>>,
    scroll: ScrollState,
    /// The form from which the action was planned.
    form: Option<Box<dyn Dialog>>,
}

/// The number of files that a preview names on a screen, where it scrolls, and in accessible mode, where it is read whole.
const MAX_FILES: usize = 2_000;
const MAX_READ_FILES: usize = 200;

/// Returns the rows that a line takes in a dialog of this width, which wraps long lines inside its frame.
fn rows_in_dialog(line: &SafeText, columns: u16) -> usize {
    usize::from(wrapped_rows(line.as_str(), columns.saturating_sub(3)))
}

fn safe_lines(lines: &[String]) -> Vec<SafeText> {
    lines.iter().map(|line| SafeText::detail(line)).collect()
}

impl FileActionConfirmation {
    fn head(&self) -> [SafeText; 2] {
        let note = "Nothing is replaced. The action can be undone.";
        [SafeText::detail(&self.preview.summary()), SafeText::detail(note)]
    }

    fn warnings(&self) -> Vec<SafeText> {
        safe_lines(&self.preview.warnings())
    }

    /// Names the files that are left alone, and then those that are acted on.
    fn files(&self, max_files: usize) -> Vec<SafeText> {
        let plan = &self.preview.plan;
        let mut lines = Vec::new();
        if !plan.skipped.is_empty() {
            let files = count_with_noun(plan.skipped.len(), "file is", "files are");
            lines.push(format!("{files} left alone:"));
            lines.extend(first_skipped(&plan.skipped));
        }
        let mut lines = safe_lines(&lines);
        let acted_on = plan.files().take(max_files);
        lines.extend(acted_on.map(|step| SafeText::file_name(&step.source.to_string_lossy())));
        let left = plan.files().count().saturating_sub(max_files);
        if left > 0 {
            let more = grouped_with_noun(left as u64, "more file", "more files");
            lines.push(SafeText::detail(&format!("and {more}")));
        }
        lines
    }

    fn has_annotations(&self) -> bool {
        self.without_annotations.is_some() || self.preview.can_rewrite_annotations()
    }

    fn toggle_annotations(&mut self) {
        if let Some(without) = self.without_annotations.take() {
            self.preview = without;
        } else if self.preview.can_rewrite_annotations() {
            self.without_annotations = Some(self.preview.clone());
            self.preview.rewrite_annotations();
        }
    }
}

impl Dialog for FileActionConfirmation {
    fn handle_key(&mut self, chord: Chord, _: &mut App) -> KeyResult {
        if chord.key == Key::Char('a') {
            self.toggle_annotations();
        }
        match KeyResult::of_confirmation(chord, self.preview.plan.action.keeps_originals()) {
            KeyResult::Close => KeyResult::Back,
            KeyResult::Stay => {
                self.scroll.handle_key(chord);
                KeyResult::Stay
            }
            result => result,
        }
    }

    fn preferred_size(&self, screen: (u16, u16)) -> (u16, u16) {
        let columns = screen.0.saturating_sub(4).min(110);
        let lines = self.head().into_iter().chain(self.warnings()).chain(self.files(MAX_FILES));
        let rows: usize = lines.map(|line| rows_in_dialog(&line, columns)).sum();
        (columns, u16::try_from(rows + 2).unwrap_or(u16::MAX).min(screen.1))
    }

    fn hints(&self) -> &'static str {
        match (self.preview.plan.action.keeps_originals(), self.has_annotations()) {
            (true, _) => "↑ ↓ scroll   Enter act   Esc cancel",
            (false, false) => "↑ ↓ scroll   y act   Esc cancel",
            (false, true) => "↑ ↓ scroll   a rewrite annotation files, or not   y act   Esc cancel",
        }
    }

    fn form_below(&mut self) -> Option<&mut Box<dyn Dialog>> {
        self.form.as_mut()
    }

    fn accept(self: Box<Self>, app: &mut App) {
        app.outbox.notify(Level::Success, format!("started: {}", self.preview.summary()));
        let request = Request::CarryOut(self.dataset, self.preview);
        app.outbox.send(Lane::FileAction(self.dataset), request);
    }

    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let inside = ctx.dialog(area, "Act on original files");
        let theme = ctx.theme;
        let [summary, note] = self.head();
        let warnings = self.warnings().into_iter().map(|line| (line, theme.attention));
        let max_files = if ctx.app.setup.is_text { MAX_READ_FILES } else { MAX_FILES };
        let files = self.files(max_files).into_iter().map(|line| (line, theme.dim));
        let lines = [(summary, theme.text), (note, theme.dim)].into_iter();
        let lines = lines.chain(warnings).chain(files);
        let lines = lines.map(|(line, style)| Line::styled(format!(" {line}"), style));
        let lines: Vec<Line> = lines.collect();
        ctx.scrolled_lines(inside, &lines, self.scroll);
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

/// Opens the confirmation for a plan, or says why nothing can be done. Cancelling goes back to the form from which the
/// action was planned.
pub fn planned(
    app: &mut App,
    dataset: DatasetId,
    preview: Box<FileActionPreview>,
    form: Option<Box<dyn Dialog>>,
) {
    if preview.plan.steps.is_empty() {
        app.overlays.open = app.overlays.open.take().or(form);
        let reasons = first_skipped(&preview.plan.skipped);
        let reason = reasons.first().map_or("the selection has no files", String::as_str);
        app.outbox.notify(Level::Warning, format!("no file can be acted on: {reason}"));
    } else {
        let confirmation = FileActionConfirmation {
            dataset,
            preview,
            without_annotations: None,
            scroll: ScrollState::default(),
            form,
        };
        app.overlays.open_or_notify(confirmation, "the preview of the action", &mut app.outbox);
    }
}

/// Reports what an action has done. The selection of the action is removed from the basket if all of its files have left
/// the dataset. If some files stay, the selection stays too, so that the user can try these files again.
pub fn finished(app: &mut App, dataset: DatasetId, action: &FileAction, outcome: &Outcome) {
    let leaving = app.baskets.leaving.remove(&dataset).filter(|_| outcome.is_whole());
    let deselect = |leaving: Selection| {
        let left = leaving.ordered_entries().into_iter().map(SelectionEntry::id);
        app.baskets.edit_of(dataset, |basket| basket.remove(left), &mut app.outbox)
    };
    let deselected = leaving.and_then(deselect).unwrap_or(0);
    let files = count_with_noun(outcome.done, "file", "files");
    let done = match action {
        FileAction::Move(to) => format!("moved {files} to {}", to.folder.display()),
        FileAction::Copy(to) => format!("copied {files} to {}", to.folder.display()),
        FileAction::Link(_, to) => format!("linked {files} in {}", to.folder.display()),
        FileAction::Trash => format!("moved {files} to the trash"),
        FileAction::Replace(_) => format!("replaced {files} by links"),
    };
    let done = if outcome.done > 0 { format!("{done}; g u reverts this") } else { done };
    report(app, outcome, done, deselected);
}

/// Reports that an action was reverted.
pub fn undone(app: &mut App, outcome: &Outcome) {
    let files = count_with_noun(outcome.done, "file", "files");
    report(app, outcome, format!("reverted the action on {files}"), 0);
}

/// Reports what was done, what was not, and how many entries were deselected.
fn report(app: &mut App, outcome: &Outcome, done: String, deselected: usize) {
    let mut parts = vec![done];
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
        app.outbox.send(Lane::FileAction(dataset), Request::PlanUndo);
    }
}

pub fn undo_planned(app: &mut App, dataset: DatasetId, action: LastAction) {
    let confirmation = UndoConfirmation { dataset, action };
    app.overlays.open_or_notify(confirmation, "the last action on files", &mut app.outbox);
}
