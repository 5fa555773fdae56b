//! The inspector of a downloaded archive: its metadata, and its pictures page by page.

use std::path::PathBuf;

use ratatui::layout::Rect;
use tessera_model::{Failure, Inspection, PictureSource, SafeText};
use tessera_picture::{Crop, PictureSubject, PictureView};

use super::{Dialog, KeyResult, Overlay, ScrollState};
use crate::{
    app::{
        App, JobState, Remote, areas::inner_area, view::visible_pictures::VisiblePicture,
        wrapping::wrapped_rows,
    },
    input::{Chord, Key},
    message::{Lane, Request},
};

/// From this width on, the histogram is beside the facts (columns).
pub const WIDE_COLUMNS: u16 = 72;
/// Rows of the histogram with its heading, and of the facts.
pub const HISTOGRAM_ROWS: u16 = 11;
pub const FACT_ROWS: u16 = 9;
/// The column where values begin.
pub const VALUE_COLUMN: u16 = 23;
/// Cells of a picture with its margin (columns, rows).
const TILE_SIZE: (u16, u16) = (16, 6);

#[derive(Clone, Debug)]
pub struct ArchiveInspector {
    pub path: PathBuf,
    pub inspection: Remote<Inspection>,
    pub first_image: usize,
    pub scroll: ScrollState,
}

impl Dialog for ArchiveInspector {
    fn handle_key(&mut self, chord: Chord, app: &App) -> KeyResult {
        let area = self.area(app.screen.size);
        let page_size = self.tiles(area).len().max(1);
        let is_scrolled = self.text_rows(inner_area(area).width) > self.text_area(area).height;
        let count = self.inspection.value().map_or(0, |found| found.first_images.len());
        match chord.key {
            Key::Esc | Key::Enter | Key::Char('q') => return KeyResult::Close,
            Key::Up | Key::Down | Key::Char('j' | 'k') if is_scrolled => {
                return self.scroll.handle_key(chord);
            }
            Key::Right | Key::Down | Key::PageDown | Key::Char('j' | 'l' | 'n' | ' ') => {
                let next = self.first_image + page_size;
                self.first_image = if next < count { next } else { self.first_image };
            }
            Key::Left | Key::Up | Key::PageUp | Key::Char('k' | 'h' | 'p') => {
                self.first_image = self.first_image.saturating_sub(page_size);
            }
            _ => {}
        }
        KeyResult::Stay
    }

    fn preferred_size(&self, screen: (u16, u16)) -> (u16, u16) {
        (110, screen.1.saturating_sub(2).min(40))
    }

    fn hints(&self) -> &'static str {
        "↑ ↓ scroll   ← → other pictures   Esc close"
    }

    fn visible_pictures(&self, app: &App) -> Vec<VisiblePicture> {
        self.visible_images(self.area(app.screen.size))
            .map(|(tile, view, source)| VisiblePicture {
                view,
                source: source.clone(),
                compared_with: None,
                canvas: app.screen.canvas(tile.width, tile.height),
            })
            .collect()
    }
}

impl ArchiveInspector {
    /// How many columns the metadata has, and their names.
    pub fn columns_text(&self) -> String {
        let columns = self.inspection.value().map_or(&[][..], |found| &found.columns);
        let names: Vec<&str> = columns.iter().map(SafeText::as_str).collect();
        format!("{}: {}", columns.len(), names.join(", "))
    }

    /// The rows that the facts, the columns and the histogram need.
    fn text_rows(&self, width: u16) -> u16 {
        let beside = if width < WIDE_COLUMNS { FACT_ROWS + 1 } else { 0 };
        let columns = width.saturating_sub(VALUE_COLUMN + 1);
        HISTOGRAM_ROWS + beside + wrapped_rows(&self.columns_text(), columns) + 1
    }

    /// The area of the text, above the pictures.
    pub fn text_area(&self, area: Rect) -> Rect {
        let room = inner_area(area);
        Rect { height: room.height.min(self.text_rows(room.width)), ..room }
    }

    fn tiles(&self, area: Rect) -> Vec<Rect> {
        let (room, text) = (inner_area(area), self.text_area(area));
        let (top, left) = (text.bottom(), room.x + 1);
        let down = room.bottom().saturating_sub(top) / TILE_SIZE.1;
        let across = room.width.saturating_sub(1) / TILE_SIZE.0;
        let tile = |column, row| Rect {
            x: left + column * TILE_SIZE.0,
            y: top + row * TILE_SIZE.1,
            width: TILE_SIZE.0 - 2,
            height: TILE_SIZE.1 - 1,
        };
        (0..down).flat_map(|row| (0..across).map(move |column| tile(column, row))).collect()
    }

    pub fn visible_images(
        &self,
        area: Rect,
    ) -> impl Iterator<Item = (Rect, PictureView, &PictureSource)> {
        let images = self.inspection.value().map_or(&[][..], |found| &found.first_images);
        let images = images.get(self.first_image..).unwrap_or_default();
        self.tiles(area).into_iter().zip(images).filter_map(|(tile, source)| {
            let PictureSource::Entry(path, name) = source else { return None };
            let subject = PictureSubject::ArchiveEntry(path.clone(), name.clone());
            Some((tile, PictureView { subject, crop: Crop::Full }, source))
        })
    }
}

impl App {
    pub fn archive_to_inspect(&self) -> Option<&PathBuf> {
        match self.jobs.selected()?.state() {
            JobState::Downloaded(archive, _) => Some(&archive.path),
            _ => None,
        }
    }

    pub(in crate::app) fn open_archive_inspector(&mut self) {
        let Some(path) = self.archive_to_inspect().cloned() else { return };
        let inspection = Remote::default();
        let scroll = ScrollState::default();
        let inspector = ArchiveInspector { path: path.clone(), inspection, first_image: 0, scroll };
        self.overlays.open(Overlay::ArchiveInspector(Box::new(inspector)));
        self.outbox.send(Lane::Inspect, Request::Inspect(path));
    }

    pub(in crate::app) fn inspection_loaded(&mut self, result: Result<Inspection, Failure>) {
        let Some(Overlay::ArchiveInspector(inspector)) = self.overlays.current_mut() else {
            return;
        };
        if result.as_ref().is_ok_and(|inspection| inspection.path != inspector.path) {
            return;
        }
        inspector.inspection.finish(self.outbox.now, result);
    }
}
