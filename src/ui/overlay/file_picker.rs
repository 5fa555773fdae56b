//! The picker of a query image.

use ratatui::{layout::Rect, text::Line};

use crate::{
    app::{
        Remote,
        overlay::{FilePicker, file_picker::FileCandidate},
        pane::scroll_top,
    },
    ui::{
        DrawContext,
        overlay::Draw,
        widget::{
            bordered, centered_message, format_bytes, group_digits, picture_placeholder, put,
            text_field,
        },
    },
};
use tessera_model::SafeText;

impl Draw for FilePicker {
    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        bordered(ctx, area, Line::from(" Search by a picture on this machine "), true);
        let parts = FilePicker::areas(area);
        let theme = ctx.theme;
        put(ctx, parts.path, 0, &[(" path ", theme.dim)]);
        let place =
            Rect { x: parts.path.x + 6, width: parts.path.width.saturating_sub(7), ..parts.path };
        if self.path.text.value().is_empty() {
            put(ctx, place, 0, &[("  type or drop a path", theme.dim)]);
        }
        text_field(ctx, place, &self.path.text, true);
        draw_candidates(ctx, parts.candidates, self);
        if !parts.picture.is_empty() {
            draw_preview(ctx, parts.picture, self);
        }
    }
}

fn draw_candidates(ctx: &mut DrawContext, area: Rect, picker: &FilePicker) {
    let listed = picker.listing(ctx.app);
    if let Some(failure) = listed.and_then(Remote::failure) {
        let sentence = failure.to_string();
        return centered_message(ctx, area, ctx.theme.moving, &[&sentence]);
    }
    let offers = picker.candidates(ctx.app);
    if offers.is_empty() {
        let known = listed.is_some_and(|listed| listed.value().is_some());
        let words = if known { "no matching file" } else { "reading the folder" };
        return put(ctx, area, 0, &[(" ", ctx.theme.dim), (words, ctx.theme.dim)]);
    }
    let left_off = listed.and_then(Remote::value).map_or(0, |folder| folder.omitted);
    let rows = area.height.saturating_sub(u16::from(left_off > 0));
    let top = scroll_top(0, picker.cursor, usize::from(rows));
    for (row, (place, each)) in (0..rows).zip(offers.into_iter().enumerate().skip(top)) {
        draw_candidate(ctx, area, row, each, place == picker.cursor);
    }
    if left_off > 0 {
        let words = format!(" {} more not listed", group_digits(left_off as u64));
        put(ctx, area, rows, &[(&words, ctx.theme.dim)]);
    }
}

fn draw_candidate(ctx: &mut DrawContext, area: Rect, row: u16, offer: FileCandidate, here: bool) {
    let theme = ctx.theme;
    let (name, style, end) = match offer {
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
    let cursor = if here { " ▸ " } else { "   " };
    let parts = [(cursor, theme.accent), (name.as_str(), style), (end.as_str(), theme.dim)];
    put(ctx, area, row, &parts);
    if here {
        let line = Rect { y: area.y + row, height: 1, ..area };
        ctx.buf.set_style(line, theme.selected);
    }
}

fn draw_preview(ctx: &mut DrawContext, area: Rect, picker: &FilePicker) {
    match picker.preview_picture(ctx.app) {
        Some(sight) => {
            ctx.draw_picture(area, sight, ctx.app.canvas(area.width, area.height));
        }
        None => picture_placeholder(ctx, area, "no preview"),
    }
}
