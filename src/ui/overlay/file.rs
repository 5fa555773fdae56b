//! The picker of a query image, and the text field that forms share.

use ratatui::{layout::Rect, text::Line};
use tui_input::Input;

use crate::{
    app::{
        Remote,
        overlay::{FilePicker, file::Offer},
        pane::scrolled,
    },
    ui::{
        Screen,
        widget::{boxed, bytes, empty_picture, grouped, message, put, width},
    },
};
use tessera_model::SafeText;

/// Draws the picker.
pub(super) fn draw(screen: &mut Screen, area: Rect, picker: &FilePicker) {
    boxed(screen, area, Line::from(" Similar to a file of this machine "), true);
    let parts = FilePicker::parts(area);
    let theme = screen.theme;
    put(screen, parts.line, 0, &[(" path ", theme.dim)]);
    let place =
        Rect { x: parts.line.x + 6, width: parts.line.width.saturating_sub(7), ..parts.line };
    if picker.path.line.value().is_empty() {
        put(screen, place, 0, &[("  type or drop a path; ~/ works", theme.dim)]);
    }
    field(screen, place, &picker.path.line, true);
    offers(screen, parts.offers, picker);
    if !parts.picture.is_empty() {
        picture(screen, parts.picture, picker);
    }
}

fn offers(screen: &mut Screen, area: Rect, picker: &FilePicker) {
    let listed = picker.listed(screen.app);
    if let Some(failure) = listed.and_then(Remote::failure) {
        let sentence = failure.to_string();
        return message(screen, area, screen.theme.moving, &[&sentence]);
    }
    let offers = picker.offers(screen.app);
    if offers.is_empty() {
        let known = listed.is_some_and(|listed| listed.value().is_some());
        let words = if known { "nothing here begins like this" } else { "reading the folder" };
        return put(screen, area, 0, &[(" ", screen.theme.dim), (words, screen.theme.dim)]);
    }
    let left_off = listed.and_then(Remote::value).map_or(0, |folder| folder.left_off);
    let rows = area.height.saturating_sub(u16::from(left_off > 0));
    let top = scrolled(0, picker.cursor, usize::from(rows));
    for (row, (place, each)) in (0..rows).zip(offers.into_iter().enumerate().skip(top)) {
        offer(screen, area, row, each, place == picker.cursor);
    }
    if left_off > 0 {
        let words = format!(" {} more are not listed", grouped(left_off as u64));
        put(screen, area, rows, &[(&words, screen.theme.dim)]);
    }
}

fn offer(screen: &mut Screen, area: Rect, row: u16, offer: Offer, here: bool) {
    let theme = screen.theme;
    let (name, style, end) = match offer {
        Offer::Recent(path) => {
            (SafeText::file(&path.to_string_lossy()), theme.text, "  again".to_owned())
        }
        Offer::Entry(_, entry) if entry.is_folder => {
            (entry.name.clone(), theme.accent, "/".to_owned())
        }
        Offer::Entry(_, entry) if entry.is_picture() => {
            (entry.name.clone(), theme.text, format!("  {}", bytes(entry.bytes)))
        }
        Offer::Entry(_, entry) => (entry.name.clone(), theme.dim, "  no picture".to_owned()),
    };
    let cursor = if here { " ▸ " } else { "   " };
    let parts = [(cursor, theme.accent), (name.as_str(), style), (end.as_str(), theme.dim)];
    put(screen, area, row, &parts);
    if here {
        let line = Rect { y: area.y + row, height: 1, ..area };
        screen.buf.set_style(line, theme.selected);
    }
}

fn picture(screen: &mut Screen, area: Rect, picker: &FilePicker) {
    match picker.sight(screen.app) {
        Some(sight) => {
            screen.sight(area, sight, screen.app.canvas(area.width, area.height));
        }
        None => empty_picture(screen, area, "no picture here"),
    }
}

/// A text field on one line, scrolled so that the cursor is visible.
pub(in crate::ui) fn field(screen: &mut Screen, area: Rect, input: &Input, focused: bool) {
    let cells = usize::from(area.width).max(1);
    let shown = SafeText::file(input.value());
    let before: String = input.value().chars().take(input.cursor()).collect();
    let cursor = width(SafeText::file(&before).as_str());
    let skip = (cursor + 1).saturating_sub(cells);
    let visible: String = skip_cells(shown.as_str(), skip);
    let style = screen.theme.text;
    put(screen, area, 0, &[(&visible, style)]);
    if focused && let Ok(at) = u16::try_from(cursor - skip.min(cursor)) {
        let spot = Rect { x: area.x + at.min(area.width.saturating_sub(1)), width: 1, ..area };
        screen.buf.set_style(spot, screen.theme.selected);
    }
}

/// The text without its first `cells` cells.
fn skip_cells(text: &str, cells: usize) -> String {
    let mut gone = 0;
    text.chars()
        .skip_while(|c| {
            let skip = gone < cells;
            gone += width(c.encode_utf8(&mut [0; 4]));
            skip
        })
        .collect()
}
