//! Lists to pick one row from: the filter above, the matches below.

use ratatui::{layout::Rect, text::Line};

use crate::{
    app::{
        overlay::{CommandList, Palette, PickItem, PickList},
        pane::scroll_top,
    },
    ui::{
        DrawContext,
        overlay::Draw,
        pane::select_row,
        widget::{bordered, display_width, put, text_field},
    },
};

/// Most cells of the prefixes.
const MAX_PREFIX_WIDTH: usize = 14;

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
    let inside = bordered(ctx, area, Line::from(format!(" {title} ")), true);
    draw_filter(ctx, inside, list);
    let rows = Rect { y: inside.y + 2, height: inside.height.saturating_sub(2), ..inside };
    let matches = list.matches();
    if matches.is_empty() {
        put(ctx, rows, 0, &[("   no match; Backspace widens the filter", ctx.theme.dim)]);
    }
    let widest = |text: fn(&PickItem) -> &str| {
        list.items().iter().map(|item| display_width(text(item))).max().unwrap_or(0)
    };
    let prefix_width = widest(|item| item.prefix.as_str()).min(MAX_PREFIX_WIDTH);
    let label_width = widest(|item| item.label.as_str()).min(usize::from(inside.width) / 2);
    let top = scroll_top(0, list.cursor, usize::from(rows.height));
    for (row, (index, item)) in (0..rows.height).zip(matches.into_iter().enumerate().skip(top)) {
        draw_item(ctx, rows, row, item, (prefix_width, label_width), index == list.cursor);
    }
}

fn draw_filter(ctx: &mut DrawContext, inside: Rect, list: &PickList) {
    let theme = ctx.theme;
    put(ctx, inside, 0, &[(" ▸ ", theme.accent)]);
    let field =
        Rect { x: inside.x + 3, width: inside.width.saturating_sub(4), height: 1, ..inside };
    if list.filter.value().is_empty() {
        put(ctx, field, 0, &[("  type to filter", theme.dim)]);
    }
    text_field(ctx, field, &list.filter, true);
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
    let pad = |text: &str, cells: usize| " ".repeat(cells.saturating_sub(display_width(text)));
    let (prefix, label) = (item.prefix.as_str(), item.label.as_str());
    let cursor = if selected { " ▸ " } else { "   " };
    let gap = if prefix_width == 0 { String::new() } else { pad(prefix, prefix_width) + "  " };
    let parts = [
        (cursor, theme.accent),
        (prefix, key),
        (&gap, style),
        (label, style),
        (&(pad(label, label_width) + "  "), style),
        (item.note.as_str(), theme.dim),
    ];
    put(ctx, rows, row, &parts);
    select_row(ctx, rows, row, selected);
}
