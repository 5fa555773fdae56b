//! Inspects a downloaded archive: its metadata, a histogram of the uniqueness scores, and its pictures page by page.

use std::path::PathBuf;

use tessera_model::{
    Inspection, PictureSource,
    picture_source::frames_and_videos,
    text::{format_bytes, group_digits, grouped_with_noun},
};
use tessera_picture::{Crop, PictureSubject, PictureView};

use crate::app::overlay::prelude::*;
use crate::{
    app::{JobState, Jobs, pane::inner_area, view::pictures::VisiblePicture},
    drawing::{FormOptions, FormRows, below, gauge, split_columns, wrapped_rows},
};

/// The number of columns at or above which the histogram is beside the facts.
pub const WIDE_COLUMNS: u16 = 72;
/// The rows of the histogram with its heading.
pub const HISTOGRAM_ROWS: u16 = 11;
/// The rows of the facts.
pub const FACT_ROWS: u16 = 9;
/// The column at which values begin.
pub const VALUE_COLUMN: u16 = 23;
/// The cells of a picture with its margin (columns, rows).
const TILE_SIZE: (u16, u16) = (16, 6);

#[derive(Clone, Debug)]
pub struct ArchiveInspector {
    pub path: PathBuf,
    pub inspection: Remote<Inspection>,
    pub first_image: usize,
    pub scroll: ScrollState,
}

impl Dialog for ArchiveInspector {
    fn handle_key(&mut self, chord: Chord, app: &mut App) -> KeyResult {
        let area = self.area(app);
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

    fn pictures(&self, area: Rect, app: &App) -> Vec<(Rect, VisiblePicture)> {
        let images = self.inspection.value().map_or(&[][..], |found| &found.first_images);
        let images = images.get(self.first_image..).unwrap_or_default();
        let picture = |(tile, source): (Rect, &PictureSource)| {
            let PictureSource::Entry(path, name) = source else { return None };
            let subject = PictureSubject::ArchiveEntry(path.clone(), name.clone());
            let view = PictureView { subject, crop: Crop::Full };
            let canvas = app.screen.canvas(tile.width, tile.height);
            Some((tile, VisiblePicture::new(view, source.clone(), canvas)))
        };
        self.tiles(area).into_iter().zip(images).filter_map(picture).collect()
    }

    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let name = SafeText::file_name(&self.path.to_string_lossy());
        let inside = ctx.dialog(area, name.as_str());
        if let Some(failure) = self.inspection.failure() {
            return ctx.centered_message(inside, ctx.theme.failure, &[failure.to_string()]);
        }
        let Some(inspection) = self.inspection.value() else {
            return ctx.centered_message(inside, ctx.theme.dim, &["reading the archive"]);
        };
        let scroll = self.scroll;
        let options = FormOptions { scroll, ..FormOptions::new(VALUE_COLUMN, &[], 0) };
        let text = self.text_area(area);
        ctx.form(text, &options, |rows| {
            if !inspection.has_rows() {
                let facts = rows.reserve(FACT_ROWS);
                draw_facts(&mut rows.ctx, facts, inspection);
            } else if text.width < WIDE_COLUMNS {
                let facts = rows.reserve(FACT_ROWS + 1);
                draw_facts(&mut rows.ctx, facts, inspection);
                self.draw_columns(rows);
                let histogram = rows.reserve(HISTOGRAM_ROWS);
                draw_histogram(&mut rows.ctx, histogram, inspection);
            } else {
                let (left, right) = split_columns(rows.reserve(HISTOGRAM_ROWS), FACT_WIDTH);
                draw_facts(&mut rows.ctx, left, inspection);
                draw_histogram(&mut rows.ctx, right, inspection);
                self.draw_columns(rows);
            }
        });
        for (tile, picture) in self.pictures(area, ctx.app) {
            ctx.draw_picture(tile, picture.view, picture.canvas);
        }
    }
}

impl ArchiveInspector {
    /// Returns the number of columns in the metadata, with their names.
    pub fn columns_text(&self) -> String {
        let columns = self.inspection.value().map_or(&[][..], |found| &found.columns);
        let names: Vec<&str> = columns.iter().map(SafeText::as_str).collect();
        format!("{}: {}", columns.len(), names.join(", "))
    }

    fn draw_columns(&self, rows: &mut FormRows<App>) {
        let theme = rows.ctx.theme;
        let row = rows.reserve(1);
        rows.ctx.put(row, 0, &[(" columns", theme.dim)]);
        let (_, names) = split_columns(row, VALUE_COLUMN);
        let names = Rect { width: names.width.saturating_sub(1), ..names };
        rows.value(names, &self.columns_text(), theme.text);
        rows.blank();
    }

    /// Returns the rows that the facts, the names of the columns and the histogram need.
    fn text_rows(&self, width: u16) -> u16 {
        if self.inspection.value().is_some_and(|found| !found.has_rows()) {
            return FACT_ROWS;
        }
        let beside = if width < WIDE_COLUMNS { FACT_ROWS + 1 } else { 0 };
        let columns = width.saturating_sub(VALUE_COLUMN + 1);
        let names = wrapped_rows(&self.columns_text(), columns);
        names.saturating_add(HISTOGRAM_ROWS + beside + 1)
    }

    /// Returns the area of the text, above the pictures.
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
}

impl Jobs {
    pub fn archive_to_inspect(&self) -> Option<&PathBuf> {
        match self.selected()?.state() {
            JobState::Downloaded(archive, _) => Some(&archive.path),
            _ => None,
        }
    }
}

impl ArchiveInspector {
    pub(in crate::app) fn open(app: &mut App) {
        let Some(path) = app.jobs.archive_to_inspect().cloned() else { return };
        let inspection = Remote::default();
        let scroll = ScrollState::default();
        let inspector = ArchiveInspector { path: path.clone(), inspection, first_image: 0, scroll };
        app.overlays.open(inspector);
        app.outbox.send(Lane::Inspect, Request::Inspect(path));
    }

    pub(in crate::app) fn inspection_loaded(app: &mut App, result: Result<Inspection, Failure>) {
        let Some(inspector) = app.overlays.dialog_mut::<ArchiveInspector>() else { return };
        if result.as_ref().is_ok_and(|inspection| inspection.path != inspector.path) {
            return;
        }
        inspector.inspection.finish(app.outbox.now, result);
    }
}

const FACT_WIDTH: u16 = 44;
const BAR_WIDTH: usize = 20;

fn draw_facts(ctx: &mut DrawContext, area: Rect, inspection: &Inspection) {
    let theme = ctx.theme;
    let fact = |name, value| (name, value, theme.text);
    let problem = |name, count| {
        (name, group_digits(count), if count > 0 { theme.attention } else { theme.text })
    };
    let mut facts = vec![fact("size", format_bytes(inspection.bytes))];
    if inspection.has_rows() {
        facts.push(fact("metadata", inspection.metadata_file.to_string()));
        facts.push(fact("rows", group_digits(inspection.rows)));
    } else {
        facts.push(fact("format", inspection.format.as_str().to_owned()));
        facts.push(fact("annotation files", group_digits(inspection.annotation_files)));
        facts.push(fact("the first of them", inspection.metadata_file.to_string()));
    }
    facts.extend(inspection.image_count().map(|count| fact("pictures", group_digits(count))));
    if inspection.has_rows() {
        facts.push(problem("rows without a file", inspection.rows_without_file.count));
        facts.push(problem("files without a row", inspection.files_without_row.count));
    }
    facts.push(problem("unsafe names, skipped", inspection.unsafe_entries.count));
    if inspection.frames > 0 {
        let frames = frames_and_videos(inspection.frames, Some(inspection.videos));
        facts.push(fact("rows that are frames", frames));
    }
    let lines = facts.into_iter().map(|(name, value, style)| {
        let name = Span::styled(format!(" {name:<22}"), theme.dim);
        Line::from(vec![name, Span::styled(value, style)])
    });
    ctx.put_lines(below(area, 1), &lines.collect::<Vec<Line>>());
}

/// Draws the number of rows with a score in each tenth.
fn draw_histogram(ctx: &mut DrawContext, area: Rect, inspection: &Inspection) {
    let theme = ctx.theme;
    let max = inspection.uniqueness.iter().copied().max().unwrap_or(0).max(1);
    let unscored = match inspection.unscored {
        0 => String::new(),
        count => format!("; {} without", grouped_with_noun(count, "row", "rows")),
    };
    ctx.put(area, 0, &[("uniqueness_score", theme.accent), (&unscored, theme.dim)]);
    for (row, (tenth, count)) in (1u16..).zip(inspection.uniqueness.iter().enumerate()) {
        #[expect(clippy::cast_precision_loss, reason = "the length of a bar")]
        let fraction = *count as f64 / max as f64;
        let parts = [
            (format!(".{tenth} "), theme.dim),
            (gauge(fraction, BAR_WIDTH), theme.gauge),
            (format!(" {}", group_digits(*count)), theme.text),
        ];
        ctx.put(area, row, &parts);
    }
}
