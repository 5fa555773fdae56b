//! Lists to pick one row from: the filter above, the matches below.

use ratatui::{
    layout::Rect,
    text::{Line, Span},
};

use super::Draw;
use crate::{
    app::{
        overlay::{CommandList, Palette, PickItem, PickList},
        pane::scroll_top,
        wrapping::wrapped_rows,
    },
    ui::{
        DrawContext,
        widget::{below, display_width, field_area, fitting_items, rows_of_line, text_cells},
    },
};

const MAX_PREFIX_WIDTH: usize = 14;

impl Draw for CommandList {
    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let inside = draw_frame(ctx, area, self.title.as_str());
        let (list, picture) = self.areas(inside);
        draw_list(ctx, list, &self.list);
        let Some(area) = picture else { return };
        match self.picture(ctx.app, area) {
            Some((view, canvas)) => _ = ctx.draw_picture(area, view, canvas),
            None => ctx.picture_placeholder(area, "not loaded"),
        }
    }
}

impl Draw for Palette {
    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let inside = ctx.dialog(area, "Command");
        draw_list(ctx, inside, &self.list);
    }
}

fn draw_list(ctx: &mut DrawContext, inside: Rect, list: &PickList) {
    ctx.put(inside, 0, &[(" ▸ ", ctx.theme.accent)]);
    let field = field_area(inside, 0, 3);
    if list.filter.value().is_empty() {
        ctx.put(field, 0, &[("  type to filter", ctx.theme.dim)]);
    }
    ctx.text_field(field, &list.filter, true);
    let matches = list.matches();
    // The blank row is used where the matches need it.
    let rows = below(inside, 1);
    let is_full = rows_of_items(ctx, rows, list, &matches) >= usize::from(rows.height);
    let rows = if is_full { rows } else { below(inside, 2) };
    if matches.is_empty() {
        let is_filtered = !list.filter.value().is_empty();
        let text = if is_filtered { "   no match; Backspace widens the filter" } else { "   none" };
        ctx.put(rows, 0, &[(text, ctx.theme.dim)]);
    }
    draw_items(ctx, rows, list, &matches);
}

/// Draws the frame with the title; a title that is too long for it, such as a reason, is above the filter.
fn draw_frame(ctx: &mut DrawContext, area: Rect, title: &str) -> Rect {
    if text_cells(title).saturating_add(4) <= area.width {
        return ctx.dialog(area, title);
    }
    let inside = ctx.frame(area, "", true);
    let text_rows = wrapped_rows(title, inside.width.saturating_sub(1));
    let head = Rect { height: text_rows.min(inside.height), ..inside };
    let title = Line::from(vec![Span::raw(" "), Span::styled(title, ctx.theme.accent)]);
    ctx.put_lines(head, &[title]);
    below(inside, text_rows)
}

fn rows_of_items(ctx: &DrawContext, rows: Rect, list: &PickList, matches: &[&PickItem]) -> usize {
    let cells = usize::from(rows.width);
    item_lines(ctx, cells, list, matches).iter().map(|line| rows_of_line(line, cells)).sum()
}

fn item_lines(
    ctx: &DrawContext,
    cells: usize,
    list: &PickList,
    matches: &[&PickItem],
) -> Vec<Line<'static>> {
    let widest = |text: fn(&PickItem) -> &str| {
        list.items().iter().map(|item| display_width(text(item))).max().unwrap_or(0)
    };
    let prefix_width = widest(|item| item.prefix.as_str()).min(MAX_PREFIX_WIDTH);
    let label_width = widest(|item| item.label.as_str()).min(cells / 2);
    let line = |(index, item): (usize, &&PickItem)| {
        let digit = (list.is_numbered() && index < 9).then_some(index + 1);
        item_line(ctx, item, (prefix_width, label_width), (index == list.cursor, digit))
    };
    matches.iter().enumerate().map(line).collect()
}

/// Draws the matches. Long ones are wrapped while there are rows, and the selected one is shown in full if it is
/// cut nevertheless.
fn draw_items(ctx: &mut DrawContext, rows: Rect, list: &PickList, matches: &[&PickItem]) {
    // The area may have been laid out for a larger screen.
    let rows = rows.intersection(ctx.buf.area);
    let cells = usize::from(rows.width);
    let lines = item_lines(ctx, cells, list, matches);
    let needed: usize = lines.iter().map(|line| rows_of_line(line, cells)).sum();
    let is_cut = lines.get(list.cursor).is_some_and(|line| line.width() > cells);
    let rows = match matches.get(list.cursor) {
        Some(item) if is_cut && needed > usize::from(rows.height) => {
            ctx.text_below(rows, &full_text(item, cells))
        }
        _ => rows,
    };
    let height = usize::from(rows.height);
    let top = if lines.len() > height { scroll_top(0, list.cursor, height) } else { 0 };
    let visible = &lines[top..lines.len().min(top + height)];
    let mut row = 0;
    for (index, item) in (top..).zip(fitting_items(visible, cells, height)) {
        for line in item {
            ctx.buf.set_line(rows.x, rows.y + row, &line, rows.width);
            ctx.select_row(rows, row, index == list.cursor);
            row += 1;
        }
    }
}

/// What a row cuts: the note, and the label where that is long.
fn full_text(item: &PickItem, cells: usize) -> String {
    let (label, note) = (item.label.as_str(), item.note.as_str());
    let is_label_whole = display_width(label) + MAX_PREFIX_WIDTH < cells && !note.is_empty();
    if is_label_whole { note.to_owned() } else { format!("{label}  {note}") }
}

fn item_line(
    ctx: &DrawContext,
    item: &PickItem,
    (prefix_width, label_width): (usize, usize),
    (selected, digit): (bool, Option<usize>),
) -> Line<'static> {
    let theme = ctx.theme;
    let (style, key) = if item.disabled { (theme.dim, theme.dim) } else { (theme.text, theme.key) };
    let pad = |text: &str, cells: usize| " ".repeat(cells.saturating_sub(display_width(text)) + 2);
    let (prefix, label) = (item.prefix.as_str(), item.label.as_str());
    let cursor = if selected { "▸" } else { " " };
    let digit = digit.map_or_else(|| "  ".to_owned(), |digit| format!("{digit} "));
    let mut parts = vec![
        Span::styled(cursor, theme.accent),
        Span::styled(digit, theme.dim),
        Span::styled(prefix.to_owned(), key),
    ];
    if prefix_width > 0 {
        parts.push(Span::styled(pad(prefix, prefix_width), style));
    }
    parts.push(Span::styled(label.to_owned(), style));
    if !item.note.is_empty() {
        parts.push(Span::styled(pad(label, label_width), style));
        parts.push(Span::styled(item.note.to_string(), theme.dim));
    }
    Line::from(parts)
}
