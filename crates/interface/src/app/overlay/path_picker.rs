//! Picks a path of this machine with completion. The search by a picture, the forms and the welcome screen share this
//! picker. Its owner reads the folders.

use std::path::{Path, PathBuf};

use ratatui::{
    layout::{
        Constraint::{Length, Min},
        Layout, Rect,
    },
    style::Style,
};
use tessera_config::input::{Chord, Key};
use tessera_model::{
    FolderEntry, FolderListing, SafeText,
    text::{format_bytes, group_digits, grouped_with_noun},
};

use crate::{
    app::{
        overlay::fields::{PathField, PathKind, edit, paste_path},
        pane::{moved_cursor, rows_to_move, scroll_top},
    },
    drawing::{Painter, Theme, display_width, field_area},
    remote::Remote,
};

#[derive(Clone, Copy, Debug)]
pub enum PathCandidate<'a> {
    /// A path that was used since the program started.
    Recent(&'a Path),
    /// The folder whose entries are listed.
    ThisFolder(&'a FolderListing),
    FolderEntry(&'a FolderListing, &'a FolderEntry),
}

impl<'a> PathCandidate<'a> {
    pub fn entry(self) -> Option<&'a FolderEntry> {
        match self {
            Self::Recent(_) | Self::ThisFolder(_) => None,
            Self::FolderEntry(_, entry) => Some(entry),
        }
    }

    pub fn path(self) -> PathBuf {
        match self {
            Self::Recent(path) => path.to_owned(),
            Self::ThisFolder(folder) => folder.path.clone(),
            Self::FolderEntry(folder, entry) => folder.entry_path(entry),
        }
    }

    pub fn is_picture(self) -> bool {
        match self {
            Self::Recent(_) => true,
            Self::ThisFolder(_) => false,
            Self::FolderEntry(_, entry) => entry.is_picture(),
        }
    }
}

/// What the owner of the picker does after a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PickerKey {
    Stay,
    Close,
    /// The path is chosen.
    Choose,
    /// Tab was pressed on a file, which has nothing to complete.
    TabOnFile,
}

#[derive(Clone, Copy, Debug)]
pub struct PickerAreas {
    pub path: Rect,
    pub candidates: Rect,
    /// The area of the preview, which is empty on a narrow screen.
    pub picture: Rect,
}

impl PickerAreas {
    /// Divides the inside of a dialog.
    pub(crate) fn new(inside: Rect) -> Self {
        let [path, _, body] = Layout::vertical([Length(1), Length(1), Min(0)]).areas(inside);
        let preview_width = if inside.width < 70 { 0 } else { inside.width / 2 };
        let [candidates, picture] = Layout::horizontal([Min(0), Length(preview_width)]).areas(body);
        Self { path, candidates, picture }
    }

    /// Divides the inside of a dialog that shows no preview.
    pub(crate) fn without_preview(inside: Rect) -> Self {
        let areas = Self::new(inside);
        let candidates = areas.candidates.union(areas.picture);
        Self { candidates, picture: Rect::default(), ..areas }
    }
}

#[derive(Clone, Debug)]
pub struct PathPicker {
    pub path: PathField,
    pub cursor: usize,
    /// The paths that are offered while nothing is typed.
    recent: Vec<PathBuf>,
}

impl PathPicker {
    /// Creates a picker of query images, which offers those that were used before.
    pub(in crate::app) fn of_pictures(recent: Vec<PathBuf>) -> Self {
        Self { path: PathField::new("", PathKind::Picture), cursor: 0, recent }
    }

    /// Creates a picker that begins with a typed path, or else in the home folder.
    pub(in crate::app) fn begin_with(mut path: PathField, has_home: bool) -> Self {
        if has_home && path.text.value().trim().is_empty() {
            path.text = "~/".into();
        }
        Self { path, cursor: 0, recent: Vec::new() }
    }

    /// Returns the completions of the typed path. The paths that were used before come first while nothing is typed,
    /// and a folder that can be chosen comes before its entries.
    pub fn candidates<'a>(
        &'a self,
        listing: Option<&'a Remote<FolderListing>>,
    ) -> Vec<PathCandidate<'a>> {
        let is_empty = self.path.text.value().is_empty();
        let recent = self.recent.iter().filter(|_| is_empty);
        let recent = recent.map(|path| PathCandidate::Recent(path.as_path()));
        let folder = listing.and_then(Remote::value);
        let takes_this = self.path.kind.takes_folders() && self.path.name().is_empty();
        let this = folder.filter(|_| takes_this).map(PathCandidate::ThisFolder);
        let entries = folder.into_iter().flat_map(|folder| {
            let completions = self.path.completions(folder).into_iter();
            completions.map(move |entry| PathCandidate::FolderEntry(folder, entry))
        });
        recent.chain(this).chain(entries).collect()
    }

    pub(in crate::app) fn handle_key(
        &mut self,
        chord: Chord,
        listing: Option<&Remote<FolderListing>>,
    ) -> PickerKey {
        let candidates = self.candidates(listing);
        let count = candidates.len();
        let selected = candidates.get(self.cursor).and_then(|candidate| candidate.entry());
        let folder = selected.filter(|entry| entry.is_folder).cloned();
        // The names that are not listed may continue the path differently.
        let is_whole = listing.and_then(Remote::value).is_some_and(|folder| folder.omitted == 0);
        let listed = candidates.iter().filter(|_| is_whole);
        let entries: Vec<FolderEntry> =
            listed.filter_map(|candidate| candidate.entry().cloned()).collect();
        match (chord.key, folder) {
            (Key::Esc, _) => return PickerKey::Close,
            (Key::Tab, _) if self.path.complete(&entries) => self.cursor = 0,
            (Key::Tab, Some(folder)) => self.enter_folder(&folder),
            (Key::Enter, Some(folder)) if !self.path.kind.takes_folders() => {
                self.enter_folder(&folder);
            }
            (Key::Enter, _) => return PickerKey::Choose,
            (Key::Tab, None) if count > 0 && is_whole => return PickerKey::TabOnFile,
            (Key::Tab, None) => {}
            (key, _) => match rows_to_move(key) {
                Some(by) => self.cursor = moved_cursor(self.cursor, by, count),
                None if edit(&mut self.path.text, chord) => self.cursor = 0,
                None => {}
            },
        }
        PickerKey::Stay
    }

    fn enter_folder(&mut self, folder: &FolderEntry) {
        self.path.enter_folder(folder);
        self.cursor = 0;
    }

    /// Returns the chosen path as it would be typed.
    pub(in crate::app) fn chosen_text(&self, listing: Option<&Remote<FolderListing>>) -> String {
        match self.candidates(listing).get(self.cursor) {
            Some(PathCandidate::FolderEntry(_, entry)) => self.path.text_of(entry),
            _ => self.path.text.value().trim().to_owned(),
        }
    }

    pub(in crate::app) fn select(&mut self, index: usize, listing: Option<&Remote<FolderListing>>) {
        self.cursor = moved_cursor(index, 0, self.candidates(listing).len());
    }

    pub(in crate::app) fn paste(&mut self, text: &str) {
        paste_path(&mut self.path.text, text);
        self.cursor = 0;
    }

    /// Draws the field and the candidates.
    pub(crate) fn draw<S>(
        &self,
        ctx: &mut Painter<S>,
        areas: PickerAreas,
        listing: Option<&Remote<FolderListing>>,
    ) {
        ctx.put(areas.path, 0, &[(" path ", ctx.theme.dim)]);
        let field = field_area(areas.path, 6);
        if self.path.text.value().is_empty() {
            ctx.put(field, 0, &[("  type or drop a path", ctx.theme.dim)]);
        }
        ctx.text_field(field, &self.path.text, true);
        self.draw_candidates(ctx, areas.candidates, listing);
    }

    fn draw_candidates<S>(
        &self,
        ctx: &mut Painter<S>,
        area: Rect,
        listing: Option<&Remote<FolderListing>>,
    ) {
        if let Some(failure) = listing.and_then(Remote::failure) {
            return ctx.centered_message(area, ctx.theme.attention, &[failure.to_string()]);
        }
        let folder = listing.and_then(Remote::value);
        let candidates = self.candidates(listing);
        let omitted = folder.map_or(0, |folder| folder.omitted);
        if candidates.is_empty() && omitted == 0 {
            let text = match (folder, self.path.kind) {
                (None, _) => " reading the folder",
                (_, PathKind::Folder) => " no matching folder",
                _ => " no matching file",
            };
            return ctx.put(area, 0, &[(text, ctx.theme.dim)]);
        }
        let mut rows = Rect { height: area.height.saturating_sub(u16::from(omitted > 0)), ..area };
        if omitted > 0 {
            let omitted = group_digits(omitted as u64);
            let text = format!(" {omitted} more; type to find them");
            ctx.put(area, rows.height, &[(text, ctx.theme.dim)]);
        }
        if let Some(&selected) = candidates.get(self.cursor) {
            let parts = candidate_parts(ctx.theme, self.path.kind, selected);
            let text: String = parts.iter().map(|(text, _)| text.as_str()).collect();
            if display_width(&text) + 3 > usize::from(area.width) {
                rows = ctx.text_below(rows, &text);
            }
        }
        let top = scroll_top(0, self.cursor, usize::from(rows.height));
        let visible = candidates.into_iter().enumerate().skip(top);
        for (row, (index, candidate)) in (0..rows.height).zip(visible) {
            let selected = index == self.cursor;
            let cursor = if selected { " ▸ " } else { "   " };
            let mut parts = vec![(cursor.to_owned(), ctx.theme.accent)];
            parts.extend(candidate_parts(ctx.theme, self.path.kind, candidate));
            ctx.put(rows, row, &parts);
            ctx.list_row(rows, row, index, selected);
        }
    }
}

/// Returns the name of a candidate, and what the candidate is.
fn candidate_parts(
    theme: &Theme,
    kind: PathKind,
    candidate: PathCandidate,
) -> [(String, Style); 2] {
    let (name, style, end) = match candidate {
        PathCandidate::Recent(path) => {
            (SafeText::file_name(&path.to_string_lossy()), theme.text, "  used before".to_owned())
        }
        PathCandidate::ThisFolder(folder) => {
            let files = folder.entries.iter().filter(|entry| !entry.is_folder).count();
            let files = grouped_with_noun(files as u64, "file", "files");
            let at_least = if folder.omitted > 0 { "at least " } else { "" };
            (SafeText::detail("this folder"), theme.accent, format!("  {at_least}{files}"))
        }
        PathCandidate::FolderEntry(_, entry) if entry.is_folder => {
            (entry.name.clone(), theme.accent, "/".to_owned())
        }
        PathCandidate::FolderEntry(_, entry) if kind != PathKind::Picture || entry.is_picture() => {
            (entry.name.clone(), theme.text, format!("  {}", format_bytes(entry.bytes)))
        }
        PathCandidate::FolderEntry(_, entry) => {
            (entry.name.clone(), theme.dim, "  not a picture".to_owned())
        }
    };
    [(name.to_string(), style), (end, theme.dim)]
}
