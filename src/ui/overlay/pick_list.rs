//! Lists to pick one row from: the filter above, the matches below.

use ratatui::layout::Rect;

use super::Draw;
use crate::{
    app::{
        overlay::{CommandList, Palette, PickItem, PickList},
        pane::scroll_top,
    },
    ui::{
        DrawContext,
        widget::{below, display_width, field_area, wrap_words},
    },
};

const MAX_PREFIX_WIDTH: usize = 14;
/// Lines of the note of the selected row.
const MAX_NOTE_LINES: usize = 4;
/// Rows that a list keeps above that note.
const MIN_ROWS: u16 = 2;

impl Draw for CommandList {
    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        draw_list(ctx, area, self.title.as_str(), &self.list);
    }
}

impl Draw for Palette {
    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        draw_list(ctx, area, "Command", &self.list);
    }
}

fn draw_list(ctx: &mut DrawContext, area: Rect, title: &str, list: &PickList) {
    let inside = ctx.dialog(area, title);
    ctx.put(inside, 0, &[(" ▸ ", ctx.theme.accent)]);
    let field = field_area(inside, 0, 3);
    if list.filter.value().is_empty() {
        ctx.put(field, 0, &[("  type to filter", ctx.theme.dim)]);
    }
    ctx.text_field(field, &list.filter, true);
    let matches = list.matches();
    let rows = below(inside, 2);
    if matches.is_empty() {
        ctx.put(rows, 0, &[("   no match; Backspace widens the filter", ctx.theme.dim)]);
    }
    let widest = |text: fn(&PickItem) -> &str| {
        list.items().iter().map(|item| display_width(text(item))).max().unwrap_or(0)
    };
    let prefix_width = widest(|item| item.prefix.as_str()).min(MAX_PREFIX_WIDTH);
    let label_width = widest(|item| item.label.as_str()).min(usize::from(inside.width) / 2);
    let selected = matches.get(list.cursor).copied();
    let rows = draw_selected_note(ctx, rows, selected, (prefix_width, label_width));
    let top = scroll_top(0, list.cursor, usize::from(rows.height));
    for (row, (index, item)) in (0..rows.height).zip(matches.into_iter().enumerate().skip(top)) {
        draw_item(ctx, rows, row, item, (prefix_width, label_width), index == list.cursor);
    }
}

/// Draws the note of the selected row in full below the rows, if the row cuts it. Returns the area of the rows.
fn draw_selected_note(
    ctx: &mut DrawContext,
    rows: Rect,
    item: Option<&PickItem>,
    (prefix_width, label_width): (usize, usize),
) -> Rect {
    let Some(item) = item else { return rows };
    let label = display_width(item.label.as_str()).max(label_width);
    let used = 3 + if prefix_width == 0 { 0 } else { prefix_width + 2 } + label + 2;
    let note = item.note.as_str();
    if used + display_width(note) <= usize::from(rows.width) {
        return rows;
    }
    let cells = usize::from(rows.width.saturating_sub(4));
    let lines: Vec<String> = wrap_words(note, cells, MAX_NOTE_LINES).collect();
    let height = u16::try_from(lines.len()).unwrap_or(u16::MAX);
    if height + MIN_ROWS > rows.height {
        return rows;
    }
    let list = Rect { height: rows.height - height, ..rows };
    for (row, line) in (list.height..).zip(lines) {
        ctx.put(rows, row, &[("   ", ctx.theme.dim), (&line, ctx.theme.text)]);
    }
    list
}

fn draw_item(
    ctx: &mut DrawContext,
    rows: Rect,
    row: u16,
    item: &PickItem,
    (prefix_width, label_width): (usize, usize),
    selected: bool,
) {
    let theme = ctx.theme;
    let (style, key) = if item.disabled { (theme.dim, theme.dim) } else { (theme.text, theme.key) };
    let pad = |text: &str, cells: usize| " ".repeat(cells.saturating_sub(display_width(text)) + 2);
    let (prefix, label) = (item.prefix.as_str(), item.label.as_str());
    let gap = if prefix_width == 0 { String::new() } else { pad(prefix, prefix_width) };
    let parts = [
        (if selected { " ▸ " } else { "   " }, theme.accent),
        (prefix, key),
        (&gap, style),
        (label, style),
        (&pad(label, label_width), style),
        (item.note.as_str(), theme.dim),
    ];
    ctx.put(rows, row, &parts);
    ctx.select_row(rows, row, selected);
}
