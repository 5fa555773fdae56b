//! The picker of a query image: a path that is completed from the folder it leads into, with the
//! picture under the cursor beside it.

use std::path::{Path, PathBuf};

use ratatui::layout::{Constraint, Layout, Rect};

use crate::{
    app::{
        App, Level, Overlay, Pane, QueryImage, Remote,
        areas::inner_area,
        overlay::{KeyResult, PathInput},
        pane::moved_cursor,
        view::visible_pictures::VisiblePicture,
    },
    input::{Chord, Key},
};
use tessera_model::{FolderEntry, FolderListing, PictureSource};
use tessera_picture::{Crop, PictureSubject, PictureView};

/// Rows that `PgUp` and `PgDn` move by.
const PAGE_ROWS: isize = 10;

/// A half-chosen file.
#[derive(Clone, Debug, Default)]
pub struct FilePicker {
    /// The path as typed.
    pub path: PathInput,
    /// The offer under the cursor.
    pub cursor: usize,
    /// Whether a region of the file is to be picked before it is searched by.
    pick_region: bool,
}

/// A file or folder that can be chosen.
#[derive(Clone, Copy, Debug)]
pub enum FileCandidate<'a> {
    /// A file that was searched by in this run.
    Recent(&'a Path),
    /// An entry of a folder.
    FolderEntry(&'a FolderListing, &'a FolderEntry),
}

impl<'a> FileCandidate<'a> {
    /// The entry of a folder that it is.
    fn entry(self) -> Option<&'a FolderEntry> {
        match self {
            Self::Recent(_) => None,
            Self::FolderEntry(_, entry) => Some(entry),
        }
    }

    /// Its whole path.
    #[must_use]
    pub fn path(self) -> PathBuf {
        match self {
            Self::Recent(path) => path.to_owned(),
            Self::FolderEntry(folder, entry) => folder.path_of(entry),
        }
    }

    fn is_picture(self) -> bool {
        self.entry().is_none_or(FolderEntry::is_picture)
    }
}

/// The parts of the picker on screen.
#[derive(Clone, Copy, Debug)]
pub struct FilePickerAreas {
    /// The typed path.
    pub path: Rect,
    /// The offers.
    pub candidates: Rect,
    /// The picture under the cursor; empty where there is no room for it.
    pub picture: Rect,
}

impl FilePicker {
    /// Takes a key.
    pub fn handle_key(&mut self, chord: Chord, app: &App) -> KeyResult {
        let offers = self.candidates(app);
        let count = offers.len();
        let chosen = offers.get(self.cursor).copied();
        let folder = chosen.and_then(FileCandidate::entry).filter(|entry| entry.is_folder);
        let entries: Vec<&FolderEntry> =
            offers.iter().copied().filter_map(FileCandidate::entry).collect();
        match (chord.key, folder) {
            (Key::Esc, _) => return KeyResult::Close,
            (Key::Tab, _) if self.path.complete(&entries) => self.cursor = 0,
            (Key::Enter | Key::Tab, Some(folder)) => {
                self.path.enter_folder(folder);
                self.cursor = 0;
            }
            (Key::Enter, None) => return KeyResult::Accept,
            (Key::Tab, None) if chosen.is_some() => {
                self.pick_region = true;
                return KeyResult::Accept;
            }
            (Key::Tab, None) => {}
            (Key::Up, _) => self.cursor = moved_cursor(self.cursor, -1, count),
            (Key::Down, _) => self.cursor = moved_cursor(self.cursor, 1, count),
            (Key::PageUp, _) => self.cursor = moved_cursor(self.cursor, -PAGE_ROWS, count),
            (Key::PageDown, _) => self.cursor = moved_cursor(self.cursor, PAGE_ROWS, count),
            _ => {
                if self.path.edit(chord) {
                    self.cursor = 0;
                }
            }
        }
        KeyResult::Stay
    }

    /// Takes what is pasted or dropped.
    pub fn paste(&mut self, raw: &str) {
        self.path.paste(raw);
        self.cursor = 0;
    }

    /// The listing of the folder that the typed path leads into, once it is asked for.
    #[must_use]
    pub fn listing<'a>(&self, app: &'a App) -> Option<&'a Remote<FolderListing>> {
        let folder = self.path.folder(app.setup.home_dir.as_deref());
        let known = app.store.folder.as_ref().filter(|(path, _)| *path == folder);
        known.map(|(_, listed)| listed)
    }

    /// What the typed path may mean, as far as its folder is known; before anything is typed, the
    /// files of this run come first.
    #[must_use]
    pub fn candidates<'a>(&self, app: &'a App) -> Vec<FileCandidate<'a>> {
        let fresh = self.path.text.value().is_empty();
        let recent = app
            .recent_images
            .files()
            .filter(|_| fresh)
            .map(|path| FileCandidate::Recent(path.as_path()));
        let listed = self.listing(app).and_then(Remote::value);
        let entries = listed.into_iter().flat_map(|folder| {
            let offers = self.path.completions(folder).into_iter();
            offers.map(move |entry| FileCandidate::FolderEntry(folder, entry))
        });
        recent.chain(entries).collect()
    }

    /// The file that Enter takes: the offer under the cursor, else what is typed.
    fn selected_file(&self, app: &App) -> Option<PathBuf> {
        let offer = self.candidates(app).get(self.cursor).map(|offer| offer.path());
        offer.or_else(|| self.path.path(app.setup.home_dir.as_deref()))
    }

    /// Where its parts are on a screen where it lies in `area`.
    #[must_use]
    pub fn areas(area: Rect) -> FilePickerAreas {
        let inner = inner_area(area);
        let [line, _, body] =
            Layout::vertical([Constraint::Length(1), Constraint::Length(1), Constraint::Min(0)])
                .areas(inner);
        let beside = if inner.width < 70 { 0 } else { inner.width / 2 };
        let [offers, picture] =
            Layout::horizontal([Constraint::Min(0), Constraint::Length(beside)]).areas(body);
        FilePickerAreas { path: line, candidates: offers, picture }
    }

    /// The picture under the cursor.
    #[must_use]
    pub fn preview_picture(&self, app: &App) -> Option<PictureView> {
        let offers = self.candidates(app);
        let offer = offers.get(self.cursor).filter(|offer| offer.is_picture())?;
        Some(PictureView { subject: PictureSubject::File(offer.path()), crop: Crop::Full })
    }

    /// The picture under the cursor, to be asked for.
    pub(in crate::app) fn picture_to_load(&self, app: &App) -> Option<VisiblePicture> {
        let sight = self.preview_picture(app)?;
        let PictureSubject::File(path) = &sight.subject else { return None };
        let place = Self::areas(app.overlay.as_ref()?.area(app.size)).picture;
        let source = PictureSource::File(path.clone());
        let canvas = app.canvas(place.width, place.height);
        (!place.is_empty()).then_some(VisiblePicture { view: sight, source, canvas })
    }
}

impl App {
    /// Opens the picker.
    pub(in crate::app) fn open_file_picker(&mut self) {
        // What was listed before may have changed.
        self.store.folder = None;
        self.overlay = Some(Overlay::FilePicker(FilePicker::default()));
    }

    /// The folder that a path is being typed in.
    pub(in crate::app) fn folder_to_list(&self) -> Option<PathBuf> {
        match &self.overlay {
            Some(Overlay::FilePicker(picker)) => {
                Some(picker.path.folder(self.setup.home_dir.as_deref()))
            }
            _ => None,
        }
    }

    /// Searches by the file that was chosen.
    pub(in crate::app) fn search_by_file(&mut self, picker: FilePicker) {
        let Some(search) = self.view().map(|view| view.search.clone()) else { return };
        let Some(file) = picker.selected_file(self) else {
            let text = "type the path of a picture on this machine, or Esc";
            self.notify(Level::Warning, text);
            self.overlay = Some(Overlay::FilePicker(picker));
            return;
        };
        let image = QueryImage::file(file);
        if picker.pick_region {
            return self.open_region_picker_on(image);
        }
        self.focus = Pane::Results;
        self.register_query_image(image, search);
    }
}
