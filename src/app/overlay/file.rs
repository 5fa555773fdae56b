//! The picker of a query image: a path that is completed from the folder it leads into, with the
//! picture under the cursor beside it.

use std::path::PathBuf;

use ratatui::layout::{Constraint, Layout, Rect};

use crate::{
    app::{
        App, Effect, Level, Overlay, Pane, Remote,
        areas::inside,
        overlay::{PathLine, Press},
        pane::moved,
        sights::Visible,
    },
    input::{Chord, Key},
    model::{Folder, FolderEntry, PictureSource},
    picture::{Part, Sight, Subject},
};

/// Rows that `PgUp` and `PgDn` move by.
const SCREEN: isize = 10;

/// A half-chosen file.
#[derive(Clone, Debug, Default)]
pub struct FilePicker {
    /// The path as typed.
    pub path: PathLine,
    /// The offer under the cursor.
    pub cursor: usize,
}

/// The parts of the picker on screen.
#[derive(Clone, Copy, Debug)]
pub struct Parts {
    /// The typed path.
    pub line: Rect,
    /// The offers.
    pub offers: Rect,
    /// The picture under the cursor; empty where there is no room for it.
    pub picture: Rect,
}

impl FilePicker {
    /// Takes a key.
    pub fn key(&mut self, chord: Chord, app: &App) -> Press {
        let offers = self.offers(app);
        let count = offers.len();
        let folder = offers.get(self.cursor).copied().filter(|entry| entry.is_folder);
        match (chord.key, folder) {
            (Key::Esc, _) => return Press::Leave,
            (Key::Tab, _) if self.path.complete(&offers) => self.cursor = 0,
            (Key::Enter | Key::Tab, Some(folder)) => {
                self.path.enter(folder);
                self.cursor = 0;
            }
            (Key::Enter, None) => return Press::Accept,
            (Key::Tab, None) => {}
            (Key::Up, _) => self.cursor = moved(self.cursor, -1, count),
            (Key::Down, _) => self.cursor = moved(self.cursor, 1, count),
            (Key::PageUp, _) => self.cursor = moved(self.cursor, -SCREEN, count),
            (Key::PageDown, _) => self.cursor = moved(self.cursor, SCREEN, count),
            _ => {
                if self.path.edit(chord) {
                    self.cursor = 0;
                }
            }
        }
        Press::Stay
    }

    /// Takes what is pasted or dropped.
    pub fn paste(&mut self, raw: &str) {
        self.path.paste(raw);
        self.cursor = 0;
    }

    /// The listing of the folder that the typed path leads into, once it is asked for.
    #[must_use]
    pub fn listed<'a>(&self, app: &'a App) -> Option<&'a Remote<Folder>> {
        let folder = self.path.folder(app.setup.home.as_deref());
        let known = app.store.folder.as_ref().filter(|(path, _)| *path == folder);
        known.map(|(_, listed)| listed)
    }

    /// What the typed path may mean, as far as its folder is known.
    #[must_use]
    pub fn offers<'a>(&self, app: &'a App) -> Vec<&'a FolderEntry> {
        let listed = self.listed(app).and_then(Remote::value);
        listed.map_or_else(Vec::new, |folder| self.path.offers(folder))
    }

    /// The offer under the cursor with its path.
    fn chosen<'a>(&self, app: &'a App) -> Option<(PathBuf, &'a FolderEntry)> {
        let folder = self.listed(app).and_then(Remote::value)?;
        let entry = *self.path.offers(folder).get(self.cursor)?;
        Some((folder.path_of(entry), entry))
    }

    /// The file that Enter takes: the offer under the cursor, else what is typed.
    fn file(&self, app: &App) -> Option<PathBuf> {
        let offer = self.chosen(app).map(|(path, _)| path);
        offer.or_else(|| self.path.path(app.setup.home.as_deref()))
    }

    /// Where its parts are on a screen where it lies in `area`.
    #[must_use]
    pub fn parts(area: Rect) -> Parts {
        let inner = inside(area);
        let [line, _, body] =
            Layout::vertical([Constraint::Length(1), Constraint::Length(1), Constraint::Min(0)])
                .areas(inner);
        let beside = if inner.width < 70 { 0 } else { inner.width / 2 };
        let [offers, picture] =
            Layout::horizontal([Constraint::Min(0), Constraint::Length(beside)]).areas(body);
        Parts { line, offers, picture }
    }

    /// The picture under the cursor.
    #[must_use]
    pub fn sight(&self, app: &App) -> Option<Sight> {
        let (path, _) = self.chosen(app).filter(|(_, entry)| entry.is_picture())?;
        Some(Sight { of: Subject::File(path), part: Part::Whole })
    }

    /// The picture under the cursor, to be asked for.
    pub(in crate::app) fn visible(&self, app: &App) -> Option<Visible> {
        let sight = self.sight(app)?;
        let Subject::File(path) = &sight.of else { return None };
        let place = Self::parts(app.overlay.as_ref()?.area(app.size)).picture;
        let source = PictureSource::File(path.clone());
        let canvas = app.canvas(place.width, place.height);
        (!place.is_empty()).then_some(Visible { sight, source, canvas })
    }
}

impl App {
    /// Opens the picker.
    pub(in crate::app) fn ask_for_file(&mut self) {
        // What was listed before may have changed.
        self.store.folder = None;
        self.overlay = Some(Overlay::File(FilePicker::default()));
    }

    /// The folder that a path is being typed in.
    pub(in crate::app) fn wanted_folder(&self) -> Option<PathBuf> {
        match &self.overlay {
            Some(Overlay::File(picker)) => Some(picker.path.folder(self.setup.home.as_deref())),
            _ => None,
        }
    }

    /// Searches by the file that was chosen.
    pub(in crate::app) fn search_by_file(&mut self, picker: FilePicker, effects: &mut Vec<Effect>) {
        let Some(search) = self.view().map(|view| view.search.clone()) else { return };
        let Some(file) = picker.file(self) else {
            let text = "type the path of a picture on this machine, or Esc";
            self.notices.add(self.now, Level::Warning, text);
            self.overlay = Some(Overlay::File(picker));
            return;
        };
        self.focus = Pane::Results;
        self.register(file, search, effects);
    }
}
