//! Prompts for one line of text: the id or the name of a dataset, the path of a selection file, or the number of a
//! page.

use std::path::{Path, PathBuf};

use tessera_curation::duplicates::DuplicateGroup;
use tessera_model::{Selection, TagDefinitionChange, tag::tag_name};

use crate::app::overlay::prelude::*;
use crate::{
    app::{
        basket::count_with_noun,
        overlay::{
            fields::{self, PathField, PathKind, expand_path},
            file_actions, tag_list,
        },
        pane::moved_cursor,
        tagging,
    },
    drawing::{FormOptions, Prefilled, field_area, wrapped_rows},
};

#[derive(Clone, Debug, PartialEq)]
pub enum PromptPurpose {
    /// Opens a dataset by its id, even if the service does not list it. The dataset stays in the list ("pinned")
    /// until the exit.
    OpenDataset,
    SaveSelection,
    LoadSelection,
    GoToPage,
    RenameDataset(DatasetId),
    /// The folder for the files that this action moves, copies or links.
    TargetFolder(Action),
    /// The folder for the images of these groups that are not kept.
    MoveDuplicates(Vec<DuplicateGroup>),
    NewTag,
    RenameTag(SafeText),
    /// The number of media of the search to select that differ most from each other.
    SelectDiverse,
}

impl PromptPurpose {
    pub fn title(&self) -> &'static str {
        match self {
            Self::OpenDataset => "Open a dataset by its id",
            Self::SaveSelection => "Save the selection",
            Self::LoadSelection => "Load a selection",
            Self::GoToPage => "Go to a page",
            Self::RenameDataset(_) => "Rename the dataset",
            Self::TargetFolder(Action::CopyFiles) => "Copy the files of the selection",
            Self::TargetFolder(Action::LinkFiles) => "Link the files of the selection",
            Self::TargetFolder(_) => "Move the files of the selection",
            Self::MoveDuplicates(_) => "Move the duplicates that go",
            Self::NewTag => "Create a tag",
            Self::RenameTag(_) => "Rename the tag",
            Self::SelectDiverse => "Select the media that differ most",
        }
    }

    pub fn description(&self) -> &'static str {
        match self {
            Self::OpenDataset => "an id; the service need not list the dataset",
            Self::SaveSelection => "a new file, or a name without extension to use in commands",
            Self::LoadSelection => "a file or a name; replaces the current selection",
            Self::GoToPage => "the number of a page; a page has up to 100 clusters",
            Self::RenameDataset(_) => "the new name; the folder keeps its name",
            Self::TargetFolder(_) | Self::MoveDuplicates(_) => {
                "a folder; sidecars go along, and nothing is replaced"
            }
            Self::RenameTag(_) => "the new name; an existing tag of this name takes over the media",
            Self::NewTag => "a name of at most 100 characters",
            Self::SelectDiverse => "how many of the search; they replace the current selection",
        }
    }
}

#[derive(Clone, Debug)]
pub struct TextPrompt {
    pub purpose: PromptPurpose,
    pub text: Prefilled,
    /// The names of the saved selections, once they are known.
    pub names: Vec<SafeText>,
    /// The dialog that is shown again when the prompt is cancelled.
    pub(super) form: Option<Box<dyn Dialog>>,
}

impl TextPrompt {
    pub(in crate::app) fn new(purpose: PromptPurpose, text: &str) -> Self {
        Self { purpose, text: Prefilled::of_choice(text), names: Vec::new(), form: None }
    }

    /// Returns the typed page, counted from 0.
    fn page(&self, results: &Results) -> Result<u32, String> {
        let typed: Option<u32> = self.text.value().trim().parse().ok();
        let number = typed.and_then(|number| number.checked_sub(1));
        let number = number.ok_or("not a page: type a number from 1")?;
        match results.last_page_number() {
            Some(last) if number > last => Err(format!("the last page is {}", last + 1)),
            _ => Ok(number),
        }
    }

    /// Requests the typed number of media that differ most.
    fn diverse_media(&self, app: &mut App) -> Result<(), String> {
        let number: Option<u32> = self.text.value().trim().parse().ok().filter(|it| *it > 0);
        let number = number.ok_or("type a number from 1")?;
        let search = app.results.view().map(|view| view.search.clone());
        let search = search.ok_or("open a dataset first")?;
        let lane = Lane::SelectDiverse(search.dataset);
        app.outbox.send(lane, Request::SelectDiverse(search, number));
        Ok(())
    }

    fn tag_name(&self) -> Result<String, String> {
        tag_name(self.text.value()).ok_or_else(|| "type a name of 1 to 100 characters".to_owned())
    }

    fn target_folder(&self, setup: &Setup) -> Result<PathBuf, String> {
        let typed = self.text.value().trim();
        let folder = expand_path(typed, setup.home_dir.as_deref());
        let is_whole = !typed.is_empty() && folder.is_absolute();
        is_whole
            .then_some(folder)
            .ok_or("type an absolute path, or one that begins with ~".to_owned())
    }

    /// Returns the request that saves or loads the selection.
    fn selection_request(&self, app: &App) -> Result<(Lane, Request), String> {
        let typed = self.text.value().trim();
        if typed.is_empty() {
            return Err("type the path of a file".to_owned());
        }
        let selection = app.baskets.selection(&app.results);
        let (Some(view), Some(selection)) = (app.results.view(), selection) else {
            return Err("open a dataset first".to_owned());
        };
        let (dataset, saves) = (view.search.dataset, self.purpose == PromptPurpose::SaveSelection);
        let file = expand_path(typed, app.setup.home_dir.as_deref());
        // A text without a folder or an extension is the name of a saved selection, as in commands.
        let is_name = typed.starts_with("tag:") || !typed.contains(['/', '.', '~']);
        let request = match (saves, is_name) {
            (true, false) => Request::SaveSelection(file, dataset, selection.clone()),
            (true, true) => Request::SaveNamed(typed.to_owned(), dataset, selection.clone()),
            (false, false) => Request::LoadSelection(file, dataset),
            (false, true) => Request::LoadNamed(typed.to_owned(), dataset),
        };
        let lane = if saves { Lane::SaveSelection } else { Lane::LoadSelection };
        Ok((lane, request))
    }

    /// Does what the prompt is for, or returns why the text is not accepted.
    fn carry_out(&self, app: &mut App) -> Result<(), String> {
        let typed = self.text.value().trim();
        match &self.purpose {
            PromptPurpose::OpenDataset => {
                let reason = "not a dataset id: type one like 8d057245-3fac-523b-ab70-4812919e09a1";
                let id: DatasetId = typed.parse().map_err(|_| reason)?;
                if app.service_data.dataset(id).is_some() {
                    app.open_dataset(id);
                    app.panes.focus = Pane::Results;
                    return Ok(());
                }
                // The response opens a dataset that is not pinned, and a failure is shown.
                app.service_data.pinned.remove(&id);
                app.outbox.send(Lane::Dataset(id), Request::Dataset(id));
            }
            PromptPurpose::SaveSelection | PromptPurpose::LoadSelection => {
                let (lane, request) = self.selection_request(app)?;
                app.outbox.send(lane, request);
            }
            PromptPurpose::GoToPage => {
                let number = self.page(&app.results)?;
                app.results.go_to_page(number, 0);
            }
            PromptPurpose::RenameDataset(_) if typed.is_empty() => {
                return Err("type a name for the dataset".to_owned());
            }
            PromptPurpose::RenameDataset(id) => {
                let request = Request::RenameDataset(*id, typed.to_owned());
                app.outbox.send(Lane::Manage(*id), request);
            }
            PromptPurpose::TargetFolder(action) => {
                let folder = self.target_folder(&app.setup)?;
                file_actions::plan(app, file_actions::to_folder(*action, folder));
            }
            PromptPurpose::MoveDuplicates(groups) => {
                let folder = self.target_folder(&app.setup)?;
                let action = file_actions::to_folder(Action::MoveFiles, folder);
                file_actions::plan_duplicates(app, groups.clone(), action);
            }
            PromptPurpose::NewTag => {
                tagging::define_tag(app, &self.tag_name()?, TagDefinitionChange::Create(None));
            }
            PromptPurpose::RenameTag(from) => {
                let to = TagDefinitionChange::Rename(self.tag_name()?);
                tag_list::define_listed_tag(app, from, to);
            }
            PromptPurpose::SelectDiverse => self.diverse_media(app)?,
        }
        Ok(())
    }

    pub(in crate::app) fn open(overlays: &mut Overlays, purpose: PromptPurpose) {
        overlays.open(TextPrompt::new(purpose, ""));
    }

    pub(in crate::app) fn open_for_rename(app: &mut App) {
        if let Some((id, name)) = app.target_dataset().map(|it| (it.id, it.name.clone())) {
            app.overlays.open(TextPrompt::new(PromptPurpose::RenameDataset(id), name.received()));
        }
    }

    pub(in crate::app) fn open_for_selection_file(app: &mut App, purpose: PromptPurpose) {
        let folder = app.setup.download_dir();
        let folder = folder.as_str().trim_end_matches('/');
        let name = app.dataset().map_or("selection", |dataset| dataset.name.as_str());
        let path = format!("{folder}/{}.json", name.replace('/', "_"));
        let id = app.dataset().map(|dataset| dataset.id);
        if let Some(id) = id.filter(|_| purpose == PromptPurpose::LoadSelection) {
            app.outbox.send(Lane::SelectionNames, Request::SelectionNames(id));
        }
        let prompt = TextPrompt::new(purpose, "");
        app.overlays.open(TextPrompt { text: Prefilled::new(&path), ..prompt });
    }

    /// Offers the names of the saved selections of the dataset.
    pub(in crate::app) fn names_loaded(overlays: &mut Overlays, names: Vec<SafeText>) {
        let prompt = overlays.dialog_mut::<Self>();
        if let Some(prompt) = prompt.filter(|it| it.purpose == PromptPurpose::LoadSelection) {
            prompt.names = names;
        }
    }

    fn names_text(&self) -> Option<String> {
        let names: Vec<&str> = self.names.iter().map(SafeText::as_str).collect();
        (!names.is_empty()).then(|| format!("↑ ↓ saved: {}", names.join(", ")))
    }
}

impl Dialog for TextPrompt {
    fn handle_key(&mut self, chord: Chord, _: &mut App) -> KeyResult {
        let step = match chord.key {
            Key::Up => -1,
            Key::Down => 1,
            _ => {
                let result = fields::handle_key(&mut self.text, chord);
                return if result == KeyResult::Close { KeyResult::Back } else { result };
            }
        };
        let shown = self.names.iter().position(|name| name.as_str() == self.text.value());
        let next = match shown {
            Some(shown) => moved_cursor(shown, step, self.names.len()),
            None => 0,
        };
        if let Some(name) = self.names.get(next) {
            self.text = Prefilled::new(name.as_str());
        }
        KeyResult::Stay
    }

    fn preferred_size(&self, _: (u16, u16)) -> (u16, u16) {
        let is_short = matches!(self.purpose, PromptPurpose::OpenDataset | PromptPurpose::GoToPage);
        let columns = if is_short { 60 } else { 72 };
        let names = self.names_text().map_or(0, |text| wrapped_rows(&text, columns - 3));
        (columns, names.saturating_add(5))
    }

    fn hints(&self) -> &'static str {
        match self.purpose {
            PromptPurpose::OpenDataset => "Enter open   Esc close",
            PromptPurpose::SaveSelection => "Tab complete   Ctrl-F browse   Enter save   Esc close",
            PromptPurpose::LoadSelection => {
                "Tab complete   Ctrl-F browse   Enter replace the selection   Esc close"
            }
            PromptPurpose::GoToPage => "Enter go there   Esc close",
            PromptPurpose::RenameDataset(_) | PromptPurpose::RenameTag(_) => {
                "Enter rename   Esc close"
            }
            PromptPurpose::TargetFolder(_) | PromptPurpose::MoveDuplicates(_) => {
                "Tab complete   Ctrl-F browse   Enter preview   Esc close"
            }
            PromptPurpose::NewTag => "Enter create   Esc close",
            PromptPurpose::SelectDiverse => "Enter select   Esc close",
        }
    }

    fn text_input(&mut self) -> Option<&mut Input> {
        Some(self.text.replaced())
    }

    fn field_text(&self) -> Option<String> {
        Some(self.text.value().to_owned())
    }

    fn form_below(&mut self) -> Option<&mut Box<dyn Dialog>> {
        self.form.as_mut()
    }

    fn path_field(&self) -> Option<PathField> {
        let kind = match self.purpose {
            PromptPurpose::SaveSelection | PromptPurpose::LoadSelection => PathKind::File,
            PromptPurpose::TargetFolder(_) | PromptPurpose::MoveDuplicates(_) => PathKind::Folder,
            _ => return None,
        };
        Some(PathField::new(self.text.value(), kind))
    }

    fn set_path(&mut self, path: &str) {
        self.text = Prefilled::of_choice(path);
    }

    fn accept(self: Box<Self>, app: &mut App) {
        match self.carry_out(app) {
            Ok(()) => app.overlays.open = app.overlays.open.take().or(self.form),
            Err(reason) => {
                app.outbox.notify(Level::Warning, reason);
                app.overlays.open(*self);
            }
        }
    }

    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let inside = ctx.dialog(area, self.purpose.title());
        ctx.form(inside, &FormOptions::new(1, &[], 0), |rows| {
            rows.text(self.purpose.description(), rows.ctx.theme.dim);
            let row = rows.reserve(1);
            rows.ctx.prefilled_field(field_area(row, 1), &self.text, true);
            if let Some(names) = self.names_text() {
                rows.text(&names, rows.ctx.theme.dim);
            }
        });
    }
}

impl Outbox {
    pub(in crate::app) fn selection_saved(&mut self, file: &Path) {
        let file = SafeText::file_name(&file.to_string_lossy());
        self.notify(Level::Success, format!("saved the selection to {file}"));
    }
}

pub(in crate::app) fn selection_loaded(app: &mut App, dataset: DatasetId, selection: &Selection) {
    let entries = count_with_noun(selection.len(), "entry", "entries");
    let text = format!("loaded {entries}; u restores the previous selection");
    app.baskets.replace(dataset, selection, &text, &mut app.outbox);
}

/// Selects media that differ most, of which there may be fewer than the user has typed.
pub(in crate::app) fn diverse_selected(app: &mut App, dataset: DatasetId, selection: &Selection) {
    if selection.is_empty() {
        return app.outbox.notify(Level::Warning, "the search finds no images to compare");
    }
    let media = count_with_noun(selection.len(), "media item", "media items");
    let text = format!("selected {media} that differ most; u restores the previous selection");
    app.baskets.replace(dataset, selection, &text, &mut app.outbox);
}
