//! What lies over the panes and takes the keys: one file per layer, with its state and its keys.
//!
//! A layer is a small state machine: a key changes it, leaves it or says yes. What yes means is
//! told in `App::accept`, a line per layer.

pub mod action_menu;
pub mod add_media;
pub mod archive_inspector;
pub mod caption;
pub mod dataset_id_input;
pub mod export;
pub mod fact_sheet;
pub mod file_picker;
pub mod filter_input;
pub mod help;
pub mod job_detail;
pub mod log;
pub mod palette;
pub mod path_input;
pub mod pick_list;
pub mod picture_test;
pub mod profiles;
pub mod region_picker;
pub mod reindex;
pub mod saved_views;
pub mod scroll;
pub mod selection_file;
pub mod sort;
pub mod text_field;

use ratatui::layout::Rect;
use tui_input::Input;

pub use action_menu::ActionMenu;
pub use add_media::{AddMediaField, AddMediaForm, SourceCheck, SourceTab};
pub use archive_inspector::ArchiveInspector;
pub use caption::CaptionSearchForm;
pub use dataset_id_input::DatasetIdInput;
pub use export::{ExportField, ExportForm};
pub use fact_sheet::FactSheet;
pub use file_picker::FilePicker;
pub use filter_input::FilterInput;
pub use help::Help;
pub use job_detail::JobDetail;
pub use palette::Palette;
pub use path_input::PathInput;
pub use pick_list::{PickItem, PickList};
pub use picture_test::PictureTest;
pub use region_picker::RegionPicker;
pub use reindex::ReindexConfirmation;
pub use saved_views::{ViewList, ViewNameInput};
pub use scroll::ScrollState;
pub use selection_file::{SelectionFileInput, SelectionFileMode};

use crate::{
    app::{App, Combination, Mouse, query::FilterKind, view::sort_filter::SortOrder},
    config::Destination,
    input::Chord,
};
use tessera_model::HistoryEntry;

/// The layer on top, if any.
#[derive(Clone, Debug)]
pub enum Overlay {
    /// The help.
    Help(Help),
    /// The form that starts an export.
    Export(ExportForm),
    /// The line that asks for a caption search.
    CaptionSearch(CaptionSearchForm),
    /// The picker of a query image.
    FilePicker(FilePicker),
    /// The saved views.
    SavedViews(ViewList),
    /// The line that names a saved view.
    NameView(ViewNameInput),
    /// The kinds of filters.
    FilterKinds(PickList<FilterKind>),
    /// The line that filters what is loaded.
    Filter(FilterInput),
    /// The menu of orders.
    Sort(PickList<SortOrder>),
    /// The searches of the past.
    History(PickList<HistoryEntry>),
    /// The tabs to combine this one with.
    Combine(PickList<Combination>),
    /// The line that names a selection file.
    SelectionFile(SelectionFileInput),
    /// The region picker on a query image.
    RegionPicker(RegionPicker),
    /// The menu of actions.
    Menu(ActionMenu),
    /// The command palette.
    Palette(Palette),
    /// The deployments that can be switched to.
    Profiles(PickList<Destination>),
    /// The log of exchanges, notices and changes.
    Log(PickList<FactSheet>),
    /// The line that takes the id of a dataset.
    DatasetId(DatasetIdInput),
    /// Facts that are only read.
    Facts(FactSheet),
    /// The states a job went through.
    JobDetail(JobDetail),
    /// The form that adds media.
    AddMedia(Box<AddMediaForm>),
    /// What is inside an archive.
    ArchiveInspector(Box<ArchiveInspector>),
    /// The question before a reindex.
    Reindex(ReindexConfirmation),
    /// The test picture.
    PictureTest(Box<PictureTest>),
}

/// What a key did to a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyResult {
    /// It stays, changed or not.
    Stay,
    /// It goes, and nothing else happens.
    Close,
    /// It goes, and what it asked for happens.
    Accept,
}

impl Overlay {
    /// Takes a key. The layer is off the app meanwhile.
    fn handle_key(&mut self, chord: Chord, app: &App) -> KeyResult {
        match self {
            Self::Help(help) => help.handle_key(chord),
            Self::Export(form) => form.handle_key(chord),
            Self::CaptionSearch(line) => line.handle_key(chord),
            Self::FilePicker(picker) => picker.handle_key(chord, app),
            Self::FilterKinds(pick) => pick.handle_key(chord),
            Self::Filter(asked) => asked.handle_key(chord),
            Self::Sort(pick) => pick.handle_key(chord),
            Self::History(pick) => pick.handle_key(chord),
            Self::Combine(pick) => pick.handle_key(chord),
            Self::SelectionFile(line) => line.handle_key(chord),
            Self::RegionPicker(picker) => picker.handle_key(chord, app),
            Self::SavedViews(list) => list.key(chord),
            Self::NameView(line) => line.handle_key(chord),
            Self::Menu(menu) => menu.handle_key(chord),
            Self::Palette(palette) => palette.handle_key(chord),
            Self::Profiles(pick) => pick.handle_key(chord),
            Self::Log(pick) => pick.handle_key(chord),
            Self::DatasetId(line) => line.handle_key(chord),
            Self::Facts(sheet) => sheet.handle_key(chord),
            Self::JobDetail(view) => view.scroll.handle_key(chord),
            Self::AddMedia(form) => form.handle_key(chord),
            Self::Reindex(question) => question.handle_key(chord),
            Self::ArchiveInspector(layer) => layer.handle_key(chord, app),
            Self::PictureTest(test) => test.handle_key(chord),
        }
    }

    /// The text field that takes what is pasted, if there is one.
    fn text_input(&mut self) -> Option<&mut Input> {
        match self {
            Self::Help(help) => help.text_input(),
            Self::JobDetail(_)
            | Self::ArchiveInspector(_)
            | Self::Reindex(_)
            | Self::Facts(_)
            | Self::PictureTest(_) => None,
            Self::AddMedia(form) => form.text_input(),
            Self::Log(pick) => Some(pick.text_input()),
            Self::DatasetId(line) => Some(&mut line.text),
            Self::Export(form) => form.text_input(),
            Self::CaptionSearch(line) => Some(line.focused_input()),
            Self::FilePicker(picker) => Some(&mut picker.path.text),
            Self::FilterKinds(pick) => Some(pick.text_input()),
            Self::Filter(asked) => Some(&mut asked.text),
            Self::Sort(pick) => Some(pick.text_input()),
            Self::History(pick) => Some(pick.text_input()),
            Self::Combine(pick) => Some(pick.text_input()),
            Self::SelectionFile(line) => Some(&mut line.path),
            Self::RegionPicker(picker) => {
                picker.number_input.as_mut().map(|numbers| &mut numbers.text)
            }
            Self::SavedViews(list) => Some(list.list.text_input()),
            Self::NameView(line) => Some(&mut line.name),
            Self::Menu(menu) => Some(menu.list.text_input()),
            Self::Palette(palette) => Some(palette.list.text_input()),
            Self::Profiles(pick) => Some(pick.text_input()),
        }
    }

    /// The cells it would like to have, frame included (columns, rows).
    fn preferred_size(&self, screen: (u16, u16)) -> (u16, u16) {
        match self {
            Self::Palette(_) => (96, screen.1.saturating_sub(4).min(24)),
            Self::Help(_) => (88, screen.1.saturating_sub(2)),
            Self::Export(form) => form.preferred_size(screen),
            Self::CaptionSearch(_) | Self::SelectionFile(_) | Self::NameView(_) => (72, 5),
            Self::FilePicker(_) => (110, screen.1.saturating_sub(4).min(30)),
            Self::FilterKinds(pick) => (100, pick.preferred_rows()),
            Self::Filter(_) => (screen.0, 1),
            Self::Sort(pick) => (76, pick.preferred_rows()),
            Self::RegionPicker(_) | Self::ArchiveInspector(_) => screen,
            Self::SavedViews(list) => (100, list.list.preferred_rows().max(8)),
            Self::Menu(menu) => (112, menu.list.preferred_rows()),
            Self::History(pick) => (100, pick.preferred_rows()),
            Self::Combine(pick) => (100, pick.preferred_rows()),
            Self::Profiles(pick) => (86, pick.preferred_rows()),
            Self::DatasetId(_) => (60, 5),
            Self::Log(_) => (116, screen.1.saturating_sub(4)),
            Self::Facts(sheet) => {
                let lines = u16::try_from(sheet.facts.len()).unwrap_or(u16::MAX);
                (100, lines.saturating_add(6).min(screen.1.saturating_sub(4)))
            }
            Self::JobDetail(view) => (86, view.rows),
            Self::AddMedia(_) => (86, 20),
            Self::Reindex(_) => (86, 8),
            Self::PictureTest(_) => (66, 12),
        }
    }

    /// Where it lies on a screen of this size.
    #[must_use]
    pub fn area(&self, screen: (u16, u16)) -> Rect {
        if matches!(self, Self::RegionPicker(_)) {
            return RegionPicker::area(screen);
        }
        if matches!(self, Self::ArchiveInspector(_)) {
            return ArchiveInspector::area(screen);
        }
        let (columns, rows) = self.preferred_size(screen);
        let (width, height) = (screen.0.min(columns), screen.1.min(rows));
        let y = match self {
            // Above the hints, where it hides nothing of what it narrows.
            Self::Filter(_) => screen.1.saturating_sub(2),
            _ => (screen.1 - height) / 3,
        };
        Rect { x: (screen.0 - width) / 2, y, width, height }
    }

    /// What its keys do, for the hint line.
    #[must_use]
    pub fn hints(&self) -> &'static str {
        match self {
            Self::Help(_) => "j k scroll   / search   Esc leave",
            Self::Export(form) => form.hints(),
            Self::DatasetId(_) => "Enter look at it   Esc leave",
            Self::Log(_) => "type to filter   ↑ ↓ choose   Enter look closer   Esc leave",
            Self::Facts(_) | Self::JobDetail(_) => "j k scroll   Esc leave",
            Self::AddMedia(_) => "Tab next field   ← → change   Enter look, then send   Esc leave",
            Self::Reindex(_) => "Enter reindex   Esc leave",
            Self::ArchiveInspector(_) => "← → other pictures   Esc leave",
            Self::PictureTest(_) => {
                "y yes   b half-blocks   n no pictures   Esc ask again next time"
            }
            Self::CaptionSearch(_) => "Tab max score   Enter search   Esc leave",
            Self::FilePicker(_) => {
                "↑ ↓ choose   Tab complete, then pick a region   Enter open or search   Esc leave"
            }
            Self::RegionPicker(picker) => picker.hints(),
            Self::SavedViews(_) => {
                "Enter open   F2 rename   Delete delete   type to filter   Esc leave"
            }
            Self::NameView(_) => "Enter keep   Tab this or any dataset   Esc leave",
            Self::FilterKinds(_) | Self::Menu(_) => {
                "type to filter   ↑ ↓ choose   Enter or 1-9 do it   Esc leave"
            }
            Self::Palette(_) => {
                "type to find   ↑ ↓ choose, ↑ at the top what was typed before   Enter do it   Esc leave"
            }
            Self::Filter(_) => "type to filter   Enter keep   Esc clear",
            Self::Sort(_) => "↑ ↓ choose   Enter sort   Esc leave",
            Self::History(_) => "type to filter   ↑ ↓ choose   Enter run again   Esc leave",
            Self::Combine(_) => "↑ ↓ choose   Enter combine in a new tab   Esc leave",
            Self::SelectionFile(line) => line.mode.hints(),
            Self::Profiles(_) => "Enter open   Esc leave",
        }
    }
}

impl App {
    /// Gives a key to the layer on top.
    pub(in crate::app) fn overlay_key(&mut self, mut overlay: Overlay, chord: Chord) {
        // Whoever goes on typing does not mean what waits to be sent.
        self.submit_pending = false;
        match overlay.handle_key(chord, self) {
            KeyResult::Stay => self.overlay = Some(overlay),
            KeyResult::Close => {}
            KeyResult::Accept => self.submit_overlay(overlay),
        }
    }

    /// Gives what the mouse did to the layer on top, which keeps it from the panes.
    pub(in crate::app) fn overlay_mouse(&mut self, mut overlay: Overlay, mouse: Mouse) {
        if let Overlay::RegionPicker(picker) = &mut overlay {
            picker.handle_mouse(mouse, self);
        }
        self.overlay = Some(overlay);
    }

    /// Pasted text goes into a text field or nowhere; it is never keys.
    pub(in crate::app) fn paste(&mut self, text: &str) {
        if let Some(Overlay::FilePicker(picker)) = &mut self.overlay {
            picker.paste(text);
        } else if let Some(line) = self.overlay.as_mut().and_then(Overlay::text_input) {
            text_field::paste(line, text);
        } else if self.overlay.is_none() && self.is_editing_query() {
            self.paste_in_query(text);
        }
    }

    /// Does what a layer asked for. One that is not content puts itself back.
    pub(in crate::app) fn accept_overlay(&mut self, overlay: Overlay) {
        match overlay {
            Overlay::Help(_)
            | Overlay::ArchiveInspector(_)
            | Overlay::Facts(_)
            | Overlay::JobDetail(_) => {}
            Overlay::DatasetId(line) => self.open_dataset_by_id(line),
            Overlay::Log(pick) => self.overlay = pick.selected().cloned().map(Overlay::Facts),
            Overlay::Export(form) => self.submit_export(form),
            Overlay::CaptionSearch(line) => self.search_by_caption(line),
            Overlay::FilePicker(picker) => self.search_by_file(picker),
            Overlay::SavedViews(list) => self.run_view_action(&list),
            Overlay::NameView(line) => self.submit_view_name(line),
            Overlay::FilterKinds(pick) => {
                if let Some(&key) = pick.selected() {
                    self.add_filter(key);
                }
            }
            Overlay::Palette(palette) => self.run_palette_command(&palette),
            Overlay::AddMedia(form) => self.submit_add_media(form),
            Overlay::Reindex(question) => self.confirm_reindex(question),
            Overlay::Filter(asked) => self.set_filter(asked.pane, asked.text.value().to_owned()),
            Overlay::Sort(pick) => self.apply_order(&pick),
            Overlay::History(pick) => self.rerun_search(&pick),
            Overlay::Combine(pick) => self.combine_tabs(&pick),
            Overlay::SelectionFile(line) => self.submit_selection_file(line),
            Overlay::RegionPicker(picker) => self.search_by_region(picker),
            Overlay::PictureTest(test) => self.save_picture_test_result(&test),
            Overlay::Menu(menu) => {
                if let Some(&action) = menu.list.selected() {
                    self.run_or_explain_action(action);
                }
            }
            Overlay::Profiles(pick) => self.switch_deployment(&pick),
        }
    }
}
