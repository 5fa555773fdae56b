//! Manages a dataset: asks before its index is removed and before its media are clustered again, chooses the files that
//! belong to it, requests a rescan, and cancels the indexing.

use tessera_model::{
    Dataset, FileChanges, LocalDataset, Operation, PatternLists, RescanResult,
    text::grouped_with_noun,
};

use crate::app::overlay::prelude::*;
use crate::{
    app::{
        jobs::start_reindex,
        overlay::fields::{self, edit, split_words},
    },
    drawing::FormOptions,
    job::JobDataset,
};

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
            (uploads, theme.attention),
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
        app.outbox.send(Lane::ConfirmRemoval(id), Request::LocalDataset(id));
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

#[derive(Clone, Debug)]
pub struct ReindexConfirmation {
    pub dataset: DatasetId,
    pub dataset_name: SafeText,
}

impl Dialog for ReindexConfirmation {
    fn handle_key(&mut self, chord: Chord, _: &mut App) -> KeyResult {
        KeyResult::of_confirmation(chord, true)
    }

    fn preferred_size(&self, screen: (u16, u16)) -> (u16, u16) {
        (86, if screen.0 < 70 { 12 } else { 8 })
    }

    fn hints(&self) -> &'static str {
        "Enter reindex   Esc close"
    }

    fn operation(&self) -> Option<(DatasetId, Operation)> {
        Some((self.dataset, Operation::Reindex))
    }

    fn accept(self: Box<Self>, app: &mut App) {
        start_reindex(app, JobDataset { id: self.dataset, name: self.dataset_name });
    }

    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let inside = ctx.dialog(area, &format!("Reindex {}", self.dataset_name));
        let (app, theme) = (ctx.app, ctx.theme);
        let count = app.service_data.dataset(self.dataset).and_then(Dataset::media_text);
        let count = count.unwrap_or_else(|| "all media".to_owned());
        let has_selection =
            app.baskets.get(self.dataset).is_some_and(|basket| !basket.selection().is_empty());
        let recheck = "Recheck the clusters in the selection afterwards.";
        let lines = [
            (format!("Clusters {count} again.").as_str(), theme.text),
            ("", theme.text),
            ("PARTIAL INDEX → READ ONLY → INDEXING → READY", theme.accent),
            ("Until READY: no additions, exports, or searches by picture.", theme.dim),
            ("Clusters get new ids; open searches are repeated.", theme.dim),
            (if has_selection { recheck } else { "" }, theme.dim),
        ]
        .map(|(text, style)| match text {
            "" => Line::default(),
            _ => Line::styled(format!(" {text}"), style),
        });
        ctx.put_lines(inside, &lines);
    }
}

impl ReindexConfirmation {
    pub(in crate::app) fn open(app: &mut App) {
        if let Some(dataset) = app.target_dataset() {
            let (dataset, dataset_name) = (dataset.id, dataset.name.clone());
            app.overlays.open(ReindexConfirmation { dataset, dataset_name });
        }
    }
}

/// Chooses the files of a local folder that belong to its dataset, with patterns that include and exclude files.
#[derive(Clone, Debug)]
pub struct FilePatterns {
    dataset: DatasetId,
    /// The patterns of the files to include, and of those to exclude.
    lists: [Input; 2],
    /// The position of the focused list.
    focused: usize,
}

impl FilePatterns {
    pub fn patterns(&self) -> PatternLists {
        let [include, exclude] = self.lists.each_ref().map(|list| split_words(list.value()));
        PatternLists { include, exclude }
    }
}

impl Dialog for FilePatterns {
    fn handle_key(&mut self, chord: Chord, _: &mut App) -> KeyResult {
        fields::handle_form_key(&mut self.focused, &[0, 1], chord).unwrap_or_else(|| {
            edit(&mut self.lists[self.focused], chord);
            KeyResult::Stay
        })
    }

    fn preferred_size(&self, screen: (u16, u16)) -> (u16, u16) {
        (86, if screen.0 < 86 { 11 } else { 9 })
    }

    fn hints(&self) -> &'static str {
        "Tab next field   Enter rescan   Esc close"
    }

    fn text_input(&mut self) -> Option<&mut Input> {
        self.lists.get_mut(self.focused)
    }

    fn select_item(&mut self, index: usize, _: &App) {
        self.focused = if index < self.lists.len() { index } else { self.focused };
    }

    fn accept(self: Box<Self>, app: &mut App) {
        let request = Request::Rescan(self.dataset, Some(self.patterns()));
        app.outbox.send(Lane::Manage(self.dataset), request);
    }

    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let inside = ctx.dialog(area, "Choose the files of the dataset");
        let theme = ctx.theme;
        ctx.form(inside, &FormOptions::new(14, &[], self.focused), |rows| {
            rows.text(
                "Patterns as in .gitignore, separated by spaces: *.jpg scans/ !keep.jpg",
                theme.dim,
            );
            rows.text(
                "They are added to those in .tessera.toml. No original is touched.",
                theme.dim,
            );
            rows.blank();
            for (label, list) in ["include only", "exclude"].into_iter().zip(&self.lists) {
                rows.input(label, list, "");
            }
        });
    }
}

/// Requests the patterns of the dataset, which the dialog shows.
pub fn request_patterns(app: &mut App) {
    if let Some(id) = app.target_dataset().map(|dataset| dataset.id) {
        app.outbox.send(Lane::FilePatterns(id), Request::LocalDataset(id));
    }
}

pub fn open_file_patterns(app: &mut App, dataset: DatasetId, patterns: &PatternLists) {
    let lists = [&patterns.include, &patterns.exclude];
    let lists = lists.map(|patterns| Input::new(shell_words::join(patterns)));
    let patterns = FilePatterns { dataset, lists, focused: 1 };
    app.overlays.open_or_notify(patterns, "the choice of files", &mut app.outbox);
}
