//! The picker of a query image.

use ratatui::{layout::Rect, style::Style};

use super::Draw;
use crate::{
    app::{
        Remote,
        overlay::{FilePicker, file_picker::FileCandidate},
        pane::scroll_top,
    },
    ui::{
        DrawContext,
        widget::{display_width, field_area, format_bytes, group_digits},
    },
};
use tessera_model::SafeText;

impl Draw for FilePicker {
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
                let canvas = ctx.app.screen().canvas(parts.picture.width, parts.picture.height);
                ctx.draw_picture(parts.picture, view, canvas);
            }
            None => ctx.picture_placeholder(parts.picture, "no preview"),
        }
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

/// The name of a candidate, and what it is.
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
