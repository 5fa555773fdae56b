//! The picker of a query image: a path that is completed from the folder it leads into, with the
//! picture under the cursor beside it.

use std::path::{Path, PathBuf};

use ratatui::layout::{Constraint, Layout, Rect};

use crate::{
    app::{
        App, Effect, Level, Overlay, Pane, QueryImage, Remote,
        areas::inside,
        overlay::{PathLine, Press},
        pane::moved,
        view::sights::Visible,
    },
    input::{Chord, Key},
};
use tessera_model::{Folder, FolderEntry, PictureSource};
use tessera_picture::{Part, Sight, Subject};

/// Rows that `PgUp` and `PgDn` move by.
const SCREEN: isize = 10;

/// A half-chosen file.
#[derive(Clone, Debug, Default)]
pub struct FilePicker {
    /// The path as typed.
    pub path: PathLine,
    /// The offer under the cursor.
    pub cursor: usize,
    /// Whether a region of the file is to be picked before it is searched by.
    to_region: bool,
}

/// A file or folder that can be chosen.
#[derive(Clone, Copy, Debug)]
pub enum Offer<'a> {
    /// A file that was searched by in this run.
    Recent(&'a Path),
    /// An entry of a folder.
    Entry(&'a Folder, &'a FolderEntry),
}

impl<'a> Offer<'a> {
    /// The entry of a folder that it is.
    fn entry(self) -> Option<&'a FolderEntry> {
        match self {
            Self::Recent(_) => None,
            Self::Entry(_, entry) => Some(entry),
        }
    }

    /// Its whole path.
    #[must_use]
    pub fn path(self) -> PathBuf {
        match self {
            Self::Recent(path) => path.to_owned(),
            Self::Entry(folder, entry) => folder.path_of(entry),
        }
    }

    fn is_picture(self) -> bool {
        self.entry().is_none_or(FolderEntry::is_picture)
    }
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
        let chosen = offers.get(self.cursor).copied();
        let folder = chosen.and_then(Offer::entry).filter(|entry| entry.is_folder);
        let entries: Vec<&FolderEntry> = offers.iter().copied().filter_map(Offer::entry).collect();
        match (chord.key, folder) {
            (Key::Esc, _) => return Press::Leave,
            (Key::Tab, _) if self.path.complete(&entries) => self.cursor = 0,
            (Key::Enter | Key::Tab, Some(folder)) => {
                self.path.enter(folder);
                self.cursor = 0;
            }
            (Key::Enter, None) => return Press::Accept,
            (Key::Tab, None) if chosen.is_some() => {
                self.to_region = true;
                return Press::Accept;
            }
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

    /// What the typed path may mean, as far as its folder is known; before anything is typed, the
    /// files of this run come first.
    #[must_use]
    pub fn offers<'a>(&self, app: &'a App) -> Vec<Offer<'a>> {
        let fresh = self.path.line.value().is_empty();
        let recent = app.recent.files().filter(|_| fresh).map(|path| Offer::Recent(path.as_path()));
        let listed = self.listed(app).and_then(Remote::value);
        let entries = listed.into_iter().flat_map(|folder| {
            let offers = self.path.offers(folder).into_iter();
            offers.map(move |entry| Offer::Entry(folder, entry))
        });
        recent.chain(entries).collect()
    }

    /// The file that Enter takes: the offer under the cursor, else what is typed.
    fn file(&self, app: &App) -> Option<PathBuf> {
        let offer = self.offers(app).get(self.cursor).map(|offer| offer.path());
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
        let offers = self.offers(app);
        let offer = offers.get(self.cursor).filter(|offer| offer.is_picture())?;
        Some(Sight { of: Subject::File(offer.path()), part: Part::Whole })
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
        let image = QueryImage::file(file);
        if picker.to_region {
            return self.pick_region_of(image);
        }
        self.focus = Pane::Results;
        self.register(image, search, effects);
    }
}
