//! What lies over the panes and takes the keys: one file per layer, with its state and its keys.
//!
//! A layer is a small state machine: a key changes it, leaves it or says yes. What yes means is
//! told in `App::accept`, a line per layer.

pub mod add_media;
pub mod caption;
pub mod export;
pub mod field;
pub mod file;
pub mod filter;
pub mod help;
pub mod inspect;
pub mod log;
pub mod menu;
pub mod palette;
pub mod path;
pub mod pick;
pub mod picture_test;
pub mod pin;
pub mod profiles;
pub mod region;
pub mod reindex;
pub mod scroll;
pub mod selection;
pub mod sheet;
pub mod sort;
pub mod timeline;
pub mod views;

use ratatui::layout::Rect;
use tui_input::Input;

pub use add_media::{AddField, AddMediaForm, Check, Tab};
pub use caption::CaptionLine;
pub use export::{ExportForm, Field};
pub use file::FilePicker;
pub use filter::FilterLine;
pub use help::Help;
pub use inspect::Inside;
pub use menu::Menu;
pub use palette::Palette;
pub use path::PathLine;
pub use pick::{Choice, Pick};
pub use picture_test::PictureTest;
pub use pin::PinLine;
pub use region::RegionPicker;
pub use reindex::ReindexQuestion;
pub use scroll::Scroll;
pub use selection::{SelectionFile, SelectionLine};
pub use sheet::Sheet;
pub use timeline::JobView;
pub use views::{NameLine, ViewList};

use crate::{
    app::{App, Combination, Effect, Mouse, query::Key, view::arrange::Order},
    config::Destination,
    input::Chord,
};
use tessera_model::PastSearch;

/// The layer on top, if any.
#[derive(Clone, Debug)]
pub enum Overlay {
    /// The help.
    Help(Help),
    /// The form that starts an export.
    Export(ExportForm),
    /// The line that asks for a caption search.
    Caption(CaptionLine),
    /// The picker of a query image.
    File(FilePicker),
    /// The saved views.
    Views(ViewList),
    /// The line that names a saved view.
    NameView(NameLine),
    /// The kinds of filters.
    Kinds(Pick<Key>),
    /// The line that filters what is loaded.
    Filter(FilterLine),
    /// The menu of orders.
    Sort(Pick<Order>),
    /// The searches of the past.
    History(Pick<PastSearch>),
    /// The tabs to combine this one with.
    Combine(Pick<Combination>),
    /// The line that names a selection file.
    Selection(SelectionLine),
    /// The region picker on a query image.
    Region(RegionPicker),
    /// The menu of actions.
    Menu(Menu),
    /// The command palette.
    Palette(Palette),
    /// The deployments that can be switched to.
    Profiles(Pick<Destination>),
    /// The log of exchanges, notices and changes.
    Log(Pick<Sheet>),
    /// The line that takes the id of a dataset.
    Pin(PinLine),
    /// Facts that are only read.
    Sheet(Sheet),
    /// The states a job went through.
    Timeline(JobView),
    /// The form that adds media.
    AddMedia(Box<AddMediaForm>),
    /// What is inside an archive.
    Inside(Box<Inside>),
    /// The question before a reindex.
    Reindex(ReindexQuestion),
    /// The test picture.
    PictureTest(Box<PictureTest>),
}

/// What a key did to a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Press {
    /// It stays, changed or not.
    Stay,
    /// It goes, and nothing else happens.
    Leave,
    /// It goes, and what it asked for happens.
    Accept,
}

impl Overlay {
    /// Takes a key. The layer is off the app meanwhile.
    fn key(&mut self, chord: Chord, app: &App) -> Press {
        match self {
            Self::Help(help) => help.key(chord),
            Self::Export(form) => form.key(chord),
            Self::Caption(line) => line.key(chord),
            Self::File(picker) => picker.key(chord, app),
            Self::Kinds(pick) => pick.key(chord),
            Self::Filter(asked) => asked.key(chord),
            Self::Sort(pick) => pick.key(chord),
            Self::History(pick) => pick.key(chord),
            Self::Combine(pick) => pick.key(chord),
            Self::Selection(line) => line.key(chord),
            Self::Region(picker) => picker.key(chord, app),
            Self::Views(list) => list.key(chord),
            Self::NameView(line) => line.key(chord),
            Self::Menu(menu) => menu.key(chord),
            Self::Palette(palette) => palette.key(chord),
            Self::Profiles(pick) => pick.key(chord),
            Self::Log(pick) => pick.key(chord),
            Self::Pin(line) => line.key(chord),
            Self::Sheet(sheet) => sheet.key(chord),
            Self::Timeline(view) => view.scroll.key(chord),
            Self::AddMedia(form) => form.key(chord),
            Self::Reindex(question) => question.key(chord),
            Self::Inside(layer) => layer.key(chord, app),
            Self::PictureTest(test) => test.key(chord),
        }
    }

    /// The text field that takes what is pasted, if there is one.
    fn text(&mut self) -> Option<&mut Input> {
        match self {
            Self::Help(help) => help.text(),
            Self::Timeline(_)
            | Self::Inside(_)
            | Self::Reindex(_)
            | Self::Sheet(_)
            | Self::PictureTest(_) => None,
            Self::AddMedia(form) => form.text(),
            Self::Log(pick) => Some(pick.text()),
            Self::Pin(line) => Some(&mut line.line),
            Self::Export(form) => form.text(),
            Self::Caption(line) => Some(line.field()),
            Self::File(picker) => Some(&mut picker.path.line),
            Self::Kinds(pick) => Some(pick.text()),
            Self::Filter(asked) => Some(&mut asked.line),
            Self::Sort(pick) => Some(pick.text()),
            Self::History(pick) => Some(pick.text()),
            Self::Combine(pick) => Some(pick.text()),
            Self::Selection(line) => Some(&mut line.path),
            Self::Region(picker) => picker.numbers.as_mut().map(|numbers| &mut numbers.typed),
            Self::Views(list) => Some(list.pick.text()),
            Self::NameView(line) => Some(&mut line.name),
            Self::Menu(menu) => Some(menu.pick.text()),
            Self::Palette(palette) => Some(palette.pick.text()),
            Self::Profiles(pick) => Some(pick.text()),
        }
    }

    /// The cells it would like to have, frame included (columns, rows).
    fn size(&self, screen: (u16, u16)) -> (u16, u16) {
        match self {
            Self::Palette(_) => (96, screen.1.saturating_sub(4).min(24)),
            Self::Help(_) => (88, screen.1.saturating_sub(2)),
            Self::Export(form) => form.size(screen),
            Self::Caption(_) | Self::Selection(_) | Self::NameView(_) => (72, 5),
            Self::File(_) => (110, screen.1.saturating_sub(4).min(30)),
            Self::Kinds(pick) => (100, pick.rows()),
            Self::Filter(_) => (screen.0, 1),
            Self::Sort(pick) => (76, pick.rows()),
            Self::Region(_) | Self::Inside(_) => screen,
            Self::Views(list) => (100, list.pick.rows().max(8)),
            Self::Menu(menu) => (112, menu.pick.rows()),
            Self::History(pick) => (100, pick.rows()),
            Self::Combine(pick) => (100, pick.rows()),
            Self::Profiles(pick) => (86, pick.rows()),
            Self::Pin(_) => (60, 5),
            Self::Log(_) => (116, screen.1.saturating_sub(4)),
            Self::Sheet(sheet) => {
                let lines = u16::try_from(sheet.lines.len()).unwrap_or(u16::MAX);
                (100, lines.saturating_add(6).min(screen.1.saturating_sub(4)))
            }
            Self::Timeline(view) => (86, view.rows),
            Self::AddMedia(_) => (86, 20),
            Self::Reindex(_) => (86, 8),
            Self::PictureTest(_) => (66, 12),
        }
    }

    /// Where it lies on a screen of this size.
    #[must_use]
    pub fn area(&self, screen: (u16, u16)) -> Rect {
        if matches!(self, Self::Region(_)) {
            return RegionPicker::area(screen);
        }
        if matches!(self, Self::Inside(_)) {
            return Inside::area(screen);
        }
        let (columns, rows) = self.size(screen);
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
            Self::Pin(_) => "Enter look at it   Esc leave",
            Self::Log(_) => "type to filter   ↑ ↓ choose   Enter look closer   Esc leave",
            Self::Sheet(_) | Self::Timeline(_) => "j k scroll   Esc leave",
            Self::AddMedia(_) => "Tab next field   ← → change   Enter look, then send   Esc leave",
            Self::Reindex(_) => "Enter reindex   Esc leave",
            Self::Inside(_) => "← → other pictures   Esc leave",
            Self::PictureTest(_) => {
                "y yes   b half-blocks   n no pictures   Esc ask again next time"
            }
            Self::Caption(_) => "Tab max score   Enter search   Esc leave",
            Self::File(_) => {
                "↑ ↓ choose   Tab complete, then pick a region   Enter open or search   Esc leave"
            }
            Self::Region(picker) => picker.hints(),
            Self::Views(_) => "Enter open   F2 rename   Delete delete   type to filter   Esc leave",
            Self::NameView(_) => "Enter keep   Tab this or any dataset   Esc leave",
            Self::Kinds(_) | Self::Menu(_) => {
                "type to filter   ↑ ↓ choose   Enter or 1-9 do it   Esc leave"
            }
            Self::Palette(_) => {
                "type to find   ↑ ↓ choose, ↑ at the top what was typed before   Enter do it   Esc leave"
            }
            Self::Filter(_) => "type to filter   Enter keep   Esc clear",
            Self::Sort(_) => "↑ ↓ choose   Enter sort   Esc leave",
            Self::History(_) => "type to filter   ↑ ↓ choose   Enter run again   Esc leave",
            Self::Combine(_) => "↑ ↓ choose   Enter combine in a new tab   Esc leave",
            Self::Selection(line) => line.purpose.hints(),
            Self::Profiles(_) => "Enter open   Esc leave",
        }
    }
}

impl App {
    /// Gives a key to the layer on top.
    pub(in crate::app) fn key_in_overlay(
        &mut self,
        mut overlay: Overlay,
        chord: Chord,
        effects: &mut Vec<Effect>,
    ) {
        // Whoever goes on typing does not mean what waits to be sent.
        self.held = false;
        match overlay.key(chord, self) {
            Press::Stay => self.overlay = Some(overlay),
            Press::Leave => {}
            Press::Accept => self.accept_fresh(overlay, effects),
        }
    }

    /// Gives what the mouse did to the layer on top, which keeps it from the panes.
    pub(in crate::app) fn mouse_in_overlay(&mut self, mut overlay: Overlay, mouse: Mouse) {
        if let Overlay::Region(picker) = &mut overlay {
            picker.mouse(mouse, self);
        }
        self.overlay = Some(overlay);
    }

    /// Pasted text goes into a text field or nowhere; it is never keys (T21).
    pub(in crate::app) fn paste(&mut self, text: &str) {
        if let Some(Overlay::File(picker)) = &mut self.overlay {
            picker.paste(text);
        } else if let Some(line) = self.overlay.as_mut().and_then(Overlay::text) {
            field::paste(line, text);
        } else if self.overlay.is_none() && self.is_writing_query() {
            self.paste_in_query(text);
        }
    }

    /// Does what a layer asked for. One that is not content puts itself back.
    pub(in crate::app) fn accept(&mut self, overlay: Overlay, effects: &mut Vec<Effect>) {
        match overlay {
            Overlay::Help(_) | Overlay::Inside(_) | Overlay::Sheet(_) | Overlay::Timeline(_) => {}
            Overlay::Pin(line) => self.pin(line, effects),
            Overlay::Log(pick) => self.overlay = pick.chosen().cloned().map(Overlay::Sheet),
            Overlay::Export(form) => self.confirm_export(form, effects),
            Overlay::Caption(line) => self.search_by_caption(line),
            Overlay::File(picker) => self.search_by_file(picker, effects),
            Overlay::Views(list) => self.choose_view(&list, effects),
            Overlay::NameView(line) => self.name_view(line, effects),
            Overlay::Kinds(pick) => {
                if let Some(&key) = pick.chosen() {
                    self.add_filter(key);
                }
            }
            Overlay::Palette(palette) => self.run_command(&palette, effects),
            Overlay::AddMedia(form) => self.add_media(form, effects),
            Overlay::Reindex(question) => self.reindex(question, effects),
            Overlay::Filter(asked) => self.filter(asked.pane, asked.line.value().to_owned()),
            Overlay::Sort(pick) => self.sort(&pick),
            Overlay::History(pick) => self.run_again(&pick, effects),
            Overlay::Combine(pick) => self.combine(&pick),
            Overlay::Selection(line) => self.selection_file(line, effects),
            Overlay::Region(picker) => self.search_by_region(picker, effects),
            Overlay::PictureTest(test) => self.keep_verdict(&test, effects),
            Overlay::Menu(menu) => {
                if let Some(&action) = menu.pick.chosen() {
                    self.choose_action(action, effects);
                }
            }
            Overlay::Profiles(pick) => profiles::switch(&pick, effects),
        }
    }
}
