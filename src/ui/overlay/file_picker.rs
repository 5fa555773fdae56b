//! The picker of a query image, and the text field that forms share.

use ratatui::{layout::Rect, text::Line};
use tui_input::Input;

use crate::{
    app::{
        Remote,
        overlay::{FilePicker, file_picker::FileCandidate},
        pane::scroll_top,
    },
    ui::{
        DrawContext,
        widget::{
            bordered, centered_message, display_width, format_bytes, group_digits,
            picture_placeholder, put,
        },
    },
};
use tessera_model::SafeText;

/// Draws the picker.
pub(super) fn draw(screen: &mut DrawContext, area: Rect, picker: &FilePicker) {
    bordered(screen, area, Line::from(" Similar to a file of this machine "), true);
    let parts = FilePicker::areas(area);
    let theme = screen.theme;
    put(screen, parts.path, 0, &[(" path ", theme.dim)]);
    let place =
        Rect { x: parts.path.x + 6, width: parts.path.width.saturating_sub(7), ..parts.path };
    if picker.path.text.value().is_empty() {
        put(screen, place, 0, &[("  type or drop a path; ~/ works", theme.dim)]);
    }
    text_field(screen, place, &picker.path.text, true);
    draw_candidates(screen, parts.candidates, picker);
    if !parts.picture.is_empty() {
        draw_preview(screen, parts.picture, picker);
    }
}

fn draw_candidates(screen: &mut DrawContext, area: Rect, picker: &FilePicker) {
    let listed = picker.listing(screen.app);
    if let Some(failure) = listed.and_then(Remote::failure) {
        let sentence = failure.to_string();
        return centered_message(screen, area, screen.theme.moving, &[&sentence]);
    }
    let offers = picker.candidates(screen.app);
    if offers.is_empty() {
        let known = listed.is_some_and(|listed| listed.value().is_some());
        let words = if known { "nothing here begins like this" } else { "reading the folder" };
        return put(screen, area, 0, &[(" ", screen.theme.dim), (words, screen.theme.dim)]);
    }
    let left_off = listed.and_then(Remote::value).map_or(0, |folder| folder.omitted);
    let rows = area.height.saturating_sub(u16::from(left_off > 0));
    let top = scroll_top(0, picker.cursor, usize::from(rows));
    for (row, (place, each)) in (0..rows).zip(offers.into_iter().enumerate().skip(top)) {
        draw_candidate(screen, area, row, each, place == picker.cursor);
    }
    if left_off > 0 {
        let words = format!(" {} more are not listed", group_digits(left_off as u64));
        put(screen, area, rows, &[(&words, screen.theme.dim)]);
    }
}

fn draw_candidate(
    screen: &mut DrawContext,
    area: Rect,
    row: u16,
    offer: FileCandidate,
    here: bool,
) {
    let theme = screen.theme;
    let (name, style, end) = match offer {
        FileCandidate::Recent(path) => {
            (SafeText::file_name(&path.to_string_lossy()), theme.text, "  again".to_owned())
        }
        FileCandidate::FolderEntry(_, entry) if entry.is_folder => {
            (entry.name.clone(), theme.accent, "/".to_owned())
        }
        FileCandidate::FolderEntry(_, entry) if entry.is_picture() => {
            (entry.name.clone(), theme.text, format!("  {}", format_bytes(entry.bytes)))
        }
        FileCandidate::FolderEntry(_, entry) => {
            (entry.name.clone(), theme.dim, "  no picture".to_owned())
        }
    };
    let cursor = if here { " ▸ " } else { "   " };
    let parts = [(cursor, theme.accent), (name.as_str(), style), (end.as_str(), theme.dim)];
    put(screen, area, row, &parts);
    if here {
        let line = Rect { y: area.y + row, height: 1, ..area };
        screen.buf.set_style(line, theme.selected);
    }
}

fn draw_preview(screen: &mut DrawContext, area: Rect, picker: &FilePicker) {
    match picker.preview_picture(screen.app) {
        Some(sight) => {
            screen.draw_picture(area, sight, screen.app.canvas(area.width, area.height));
        }
        None => picture_placeholder(screen, area, "no picture here"),
    }
}

/// A text field on one line, scrolled so that the cursor is visible.
pub(in crate::ui) fn text_field(
    screen: &mut DrawContext,
    area: Rect,
    input: &Input,
    focused: bool,
) {
    let cells = usize::from(area.width).max(1);
    let shown = SafeText::file_name(input.value());
    let before: String = input.value().chars().take(input.cursor()).collect();
    let cursor = display_width(SafeText::file_name(&before).as_str());
    let skip = (cursor + 1).saturating_sub(cells);
    let visible: String = skip_columns(shown.as_str(), skip);
    let style = screen.theme.text;
    put(screen, area, 0, &[(&visible, style)]);
    if focused && let Ok(at) = u16::try_from(cursor - skip.min(cursor)) {
        let spot = Rect { x: area.x + at.min(area.width.saturating_sub(1)), width: 1, ..area };
        screen.buf.set_style(spot, screen.theme.selected);
    }
}

/// The text without its first `cells` cells.
fn skip_columns(text: &str, cells: usize) -> String {
    let mut gone = 0;
    text.chars()
        .skip_while(|c| {
            let skip = gone < cells;
            gone += display_width(c.encode_utf8(&mut [0; 4]));
            skip
        })
        .collect()
}
