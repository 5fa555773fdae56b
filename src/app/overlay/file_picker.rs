//! Picks a query image by a path with completion, and previews the selected picture.

use std::path::{Path, PathBuf};

use ratatui::{
    layout::{
        Constraint::{Length, Min},
        Layout, Rect,
    },
    style::Style,
};
use tessera_model::{
    FolderEntry, FolderListing, PictureSource, SafeText,
    text::{format_bytes, group_digits},
};
use tessera_picture::{Crop, PictureSubject, PictureView};
use tui_input::Input;

use crate::{
    app::{
        App, Dialog, DrawContext, Level, Overlays, Pane, QueryImage, Remote, ServiceData, Setup,
        overlay::{
            fields::{KeyResult, PathInput, edit, paste_path},
            region_picker::RegionPicker,
        },
        pane::{inner_area, moved_cursor, rows_to_move, scroll_top},
        view::pictures::VisiblePicture,
    },
    drawing::{display_width, field_area},
    input::{Chord, Key},
};

#[derive(Clone, Debug, Default)]
pub struct FilePicker {
    pub path: PathInput,
    pub cursor: usize,
    /// Whether the region picker opens before the search.
    pick_region: bool,
}

#[derive(Clone, Copy, Debug)]
pub enum FileCandidate<'a> {
    /// A query image that was used since the program started.
    Recent(&'a Path),
    FolderEntry(&'a FolderListing, &'a FolderEntry),
}

impl<'a> FileCandidate<'a> {
    fn entry(self) -> Option<&'a FolderEntry> {
        match self {
            Self::Recent(_) => None,
            Self::FolderEntry(_, entry) => Some(entry),
        }
    }

    fn path(self) -> PathBuf {
        match self {
            Self::Recent(path) => path.to_owned(),
            Self::FolderEntry(folder, entry) => folder.entry_path(entry),
        }
    }

    fn is_picture(self) -> bool {
        self.entry().is_none_or(FolderEntry::is_picture)
    }
}

#[derive(Clone, Copy, Debug)]
pub struct FilePickerAreas {
    pub path: Rect,
    pub candidates: Rect,
    /// The area of the preview, which is empty on a narrow screen.
    pub picture: Rect,
}

impl FilePicker {
    pub fn listing<'a>(&self, app: &'a App) -> Option<&'a Remote<FolderListing>> {
        app.service_data.folder_listing(&self.path.folder(app.setup.home_dir.as_deref()))
    }

    /// Returns the completions of the typed path. While nothing is typed, the query images of this run come first.
    pub fn candidates<'a>(&self, app: &'a App) -> Vec<FileCandidate<'a>> {
        let is_empty = self.path.text.value().is_empty();
        let recent = app
            .results
            .recent_images
            .files()
            .filter(|_| is_empty)
            .map(|path| FileCandidate::Recent(path.as_path()));
        let listing = self.listing(app).and_then(Remote::value);
        let entries = listing.into_iter().flat_map(|folder| {
            let completions = self.path.completions(folder).into_iter();
            completions.map(move |entry| FileCandidate::FolderEntry(folder, entry))
        });
        recent.chain(entries).collect()
    }

    /// Returns the file that Enter searches by: the selected candidate, or the typed path if there is no candidate.
    fn selected_file(&self, app: &App) -> Option<PathBuf> {
        let candidate = self.candidates(app).get(self.cursor).map(|candidate| candidate.path());
        candidate.or_else(|| self.path.path(app.setup.home_dir.as_deref()))
    }

    /// Returns why the typed path cannot be a picture, once its folder was read and has no such file.
    fn missing_reason(&self, app: &App) -> Option<String> {
        let folder = self.listing(app)?;
        if let Some(failure) = folder.failure() {
            return Some(failure.to_string());
        }
        let is_missing = folder.value().is_some() && self.candidates(app).is_empty();
        is_missing.then(|| {
            format!("no file has the path {}", SafeText::file_name(self.path.text.value().trim()))
        })
    }

    pub fn areas(area: Rect) -> FilePickerAreas {
        let inner = inner_area(area);
        let [path, _, body] = Layout::vertical([Length(1), Length(1), Min(0)]).areas(inner);
        let preview_width = if inner.width < 70 { 0 } else { inner.width / 2 };
        let [candidates, picture] = Layout::horizontal([Min(0), Length(preview_width)]).areas(body);
        FilePickerAreas { path, candidates, picture }
    }

    pub fn preview_picture(&self, app: &App) -> Option<PictureView> {
        let candidates = self.candidates(app);
        let file = candidates.get(self.cursor).filter(|candidate| candidate.is_picture())?;
        Some(PictureView { subject: PictureSubject::File(file.path()), crop: Crop::Full })
    }
}

impl Dialog for FilePicker {
    fn handle_key(&mut self, chord: Chord, app: &App) -> KeyResult {
        let candidates = self.candidates(app);
        let count = candidates.len();
        let selected = candidates.get(self.cursor).copied();
        let folder = selected.and_then(FileCandidate::entry).filter(|entry| entry.is_folder);
        let entries: Vec<&FolderEntry> =
            candidates.iter().copied().filter_map(FileCandidate::entry).collect();
        match (chord.key, folder) {
            (Key::Esc, _) => return KeyResult::Close,
            (Key::Tab, _) if self.path.complete(&entries) => self.cursor = 0,
            (Key::Enter | Key::Tab, Some(folder)) => {
                self.path.enter_folder(folder);
                self.cursor = 0;
            }
            (Key::Enter, None) => return KeyResult::Accept,
            (Key::Tab, None) if selected.is_some() => {
                self.pick_region = true;
                return KeyResult::Accept;
            }
            (Key::Tab, None) => {}
            (key, _) => match rows_to_move(key) {
                Some(by) => self.cursor = moved_cursor(self.cursor, by, count),
                None if edit(&mut self.path.text, chord) => self.cursor = 0,
                None => {}
            },
        }
        KeyResult::Stay
    }

    fn preferred_size(&self, screen: (u16, u16)) -> (u16, u16) {
        (110, screen.1.saturating_sub(4).min(30))
    }

    fn hints(&self) -> &'static str {
        "↑ ↓ select   Tab complete, then pick a region   Enter open or search   Esc close"
    }

    fn text_input(&mut self) -> Option<&mut Input> {
        Some(&mut self.path.text)
    }

    fn select_item(&mut self, index: usize, app: &App) {
        self.cursor = moved_cursor(index, 0, self.candidates(app).len());
    }

    fn paste(&mut self, text: &str) {
        paste_path(&mut self.path.text, text);
        self.cursor = 0;
    }

    fn visible_pictures(&self, app: &App) -> Vec<VisiblePicture> {
        let picture = self.preview_picture(app).and_then(|view| {
            let PictureSubject::File(path) = &view.subject else { return None };
            let area = Self::areas(self.area(app.screen.size)).picture;
            let source = PictureSource::File(path.clone());
            let canvas = app.screen.canvas(area.width, area.height);
            (!area.is_empty()).then_some(VisiblePicture {
                view,
                source,
                compared_with: None,
                canvas,
            })
        });
        picture.into_iter().collect()
    }

    fn accept(self: Box<Self>, app: &mut App) {
        let Some(search) = app.results.view().map(|view| view.search.clone()) else { return };
        let selected =
            self.selected_file(app).ok_or_else(|| "type the path of a picture".to_owned());
        let file = match selected.and_then(|file| self.missing_reason(app).map_or(Ok(file), Err)) {
            Ok(file) => file,
            Err(reason) => {
                app.outbox.notify(Level::Warning, reason);
                app.overlays.open(*self);
                return;
            }
        };
        let image = QueryImage::file(file);
        if self.pick_region {
            return RegionPicker::open_on(&mut app.overlays, &app.results, image);
        }
        app.panes.focus = Pane::Results;
        app.results.register_query_image(image, search, &mut app.outbox);
    }

    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        ctx.dialog(area, "Search by a picture on this machine");
        let parts = FilePicker::areas(area);
        let theme = ctx.theme;
        ctx.put(parts.path, 0, &[(" path ", theme.dim)]);
        let field = field_area(parts.path, 0, 6);
        if self.path.text.value().is_empty() {
            ctx.put(field, 0, &[("  type or drop a path", theme.dim)]);
        }
        ctx.text_field(field, &self.path.text, true);
        draw_candidates(ctx, parts.candidates, self);
        if parts.picture.is_empty() {
            return;
        }
        match self.preview_picture(ctx.app) {
            Some(view) => {
                let canvas = ctx.app.screen.canvas(parts.picture.width, parts.picture.height);
                ctx.draw_picture(parts.picture, view, canvas);
            }
            None => ctx.picture_placeholder(parts.picture, "no preview"),
        }
    }
}

impl FilePicker {
    pub(in crate::app) fn open(overlays: &mut Overlays, service_data: &mut ServiceData) {
        // An earlier listing may be out of date.
        service_data.folder = None;
        overlays.open(FilePicker::default());
    }

    pub(in crate::app) fn folder_to_list(overlays: &Overlays, setup: &Setup) -> Option<PathBuf> {
        let picker: &FilePicker = overlays.dialog()?;
        Some(picker.path.folder(setup.home_dir.as_deref()))
    }
}

fn draw_candidates(ctx: &mut DrawContext, area: Rect, picker: &FilePicker) {
    let listing = picker.listing(ctx.app);
    if let Some(failure) = listing.and_then(Remote::failure) {
        return ctx.centered_message(area, ctx.theme.moving, &[failure.to_string()]);
    }
    let folder = listing.and_then(Remote::value);
    let candidates = picker.candidates(ctx.app);
    if candidates.is_empty() {
        let text = if folder.is_some() { " no matching file" } else { " reading the folder" };
        return ctx.put(area, 0, &[(text, ctx.theme.dim)]);
    }
    let omitted = folder.map_or(0, |folder| folder.omitted);
    let mut rows = Rect { height: area.height.saturating_sub(u16::from(omitted > 0)), ..area };
    if omitted > 0 {
        let text = format!(" {} more not listed", group_digits(omitted as u64));
        ctx.put(area, rows.height, &[(text, ctx.theme.dim)]);
    }
    if let Some(&selected) = candidates.get(picker.cursor) {
        let parts = candidate_parts(ctx, selected);
        let text: String = parts.iter().map(|(text, _)| text.as_str()).collect();
        if display_width(&text) + 3 > usize::from(area.width) {
            rows = ctx.text_below(rows, &text);
        }
    }
    let top = scroll_top(0, picker.cursor, usize::from(rows.height));
    let visible = candidates.into_iter().enumerate().skip(top);
    for (row, (index, candidate)) in (0..rows.height).zip(visible) {
        let selected = index == picker.cursor;
        let cursor = if selected { " ▸ " } else { "   " };
        let mut parts = vec![(cursor.to_owned(), ctx.theme.accent)];
        parts.extend(candidate_parts(ctx, candidate));
        ctx.put(rows, row, &parts);
        ctx.select_row(rows, row, selected);
    }
}

/// Returns the name of a candidate, and what the candidate is.
fn candidate_parts(ctx: &DrawContext, candidate: FileCandidate) -> [(String, Style); 2] {
    let theme = ctx.theme;
    let (name, style, end) = match candidate {
        FileCandidate::Recent(path) => {
            (SafeText::file_name(&path.to_string_lossy()), theme.text, "  used before".to_owned())
        }
        FileCandidate::FolderEntry(_, entry) if entry.is_folder => {
            (entry.name.clone(), theme.accent, "/".to_owned())
        }
        FileCandidate::FolderEntry(_, entry) if entry.is_picture() => {
            (entry.name.clone(), theme.text, format!("  {}", format_bytes(entry.bytes)))
        }
        FileCandidate::FolderEntry(_, entry) => {
            (entry.name.clone(), theme.dim, "  not a picture".to_owned())
        }
    };
    [(name.to_string(), style), (end, theme.dim)]
}
