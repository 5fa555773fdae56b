//! Manages a dataset of a local folder: asks before its index is removed, requests a rescan, and cancels the indexing.

use tessera_model::{FileChanges, LocalDataset, RescanResult, text::grouped_with_noun};

use crate::app::overlay::prelude::*;

/// Asks for confirmation before the index of a dataset is removed.
#[derive(Clone, Debug)]
pub struct RemovalConfirmation {
    pub dataset: DatasetId,
    pub dataset_name: SafeText,
    /// The number of uploaded files, which are kept.
    pub uploads: u64,
}

impl Dialog for RemovalConfirmation {
    fn handle_key(&mut self, chord: Chord, _: &mut App) -> KeyResult {
        KeyResult::of_confirmation(chord, false)
    }

    fn preferred_size(&self, screen: (u16, u16)) -> (u16, u16) {
        (76, if screen.0 < 70 { 10 } else { 7 })
    }

    fn hints(&self) -> &'static str {
        "y remove   Esc close"
    }

    fn accept(self: Box<Self>, app: &mut App) {
        app.outbox.send(Lane::Manage(self.dataset), Request::RemoveDataset(self.dataset));
    }

    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let inside = ctx.dialog(area, &format!("Remove {}", self.dataset_name));
        let theme = ctx.theme;
        let uploads = match self.uploads {
            0 => String::new(),
            uploads => format!("{} in the index folder.", kept_uploads(uploads)),
        };
        let lines = [
            ("Removes the index of this dataset, and its exports.".to_owned(), theme.text),
            ("The files in its folder are not touched.".to_owned(), theme.text),
            (uploads, theme.moving),
            ("Opening the folder again indexes it again.".to_owned(), theme.dim),
        ];
        let lines: Vec<Line> = lines
            .into_iter()
            .filter(|(text, _)| !text.is_empty())
            .map(|(text, style)| Line::styled(format!(" {text}"), style))
            .collect();
        ctx.put_lines(inside, &lines);
    }
}

fn kept_uploads(uploads: u64) -> String {
    format!("{} stay", grouped_with_noun(uploads, "uploaded file", "uploaded files"))
}

/// Requests the number of uploads, which the confirmation shows.
pub fn request_removal(app: &mut App) {
    if let Some(id) = app.target_dataset().map(|dataset| dataset.id) {
        app.outbox.send(Lane::LocalDataset(id), Request::LocalDataset(id));
    }
}

pub fn confirm_removal(app: &mut App, dataset: DatasetId, local: &LocalDataset) {
    if let Some(name) = app.service_data.dataset(dataset).map(|known| known.name.clone()) {
        let uploads = local.uploads;
        let confirmation = RemovalConfirmation { dataset, dataset_name: name, uploads };
        app.overlays.open_or_notify(confirmation, "the removal", &mut app.outbox);
    }
}

pub fn rescan(app: &mut App) {
    if let Some(id) = app.target_dataset().map(|dataset| dataset.id) {
        app.outbox.send(Lane::Manage(id), Request::Rescan(id, None));
    }
}

pub fn cancel_indexing(app: &mut App) {
    if let Some(id) = app.target_dataset().map(|dataset| dataset.id) {
        app.outbox.send(Lane::Manage(id), Request::CancelIndexing(id));
    }
}

pub fn dataset_removed(app: &mut App, uploads: u64) {
    let kept = if uploads > 0 {
        format!("; {} in the index folder", kept_uploads(uploads))
    } else {
        String::new()
    };
    dataset_changed(app, format!("removed the dataset{kept}"));
}

pub fn dataset_changed(app: &mut App, text: String) {
    app.outbox.notify(Level::Success, text);
    app.service_data.datasets.invalidate();
}

pub fn rescanned(app: &mut App, rescan: RescanResult) {
    let text = match rescan.changes {
        None => "the folder is compared in the background".to_owned(),
        Some(_) if !rescan.is_indexing => "nothing has changed in the folder".to_owned(),
        Some(FileChanges { added, changed, removed }) => {
            format!("{added} files added, {changed} changed, {removed} removed; indexing")
        }
    };
    dataset_changed(app, text);
}
