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
        widget::{below, display_width, field_area},
    },
};

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
    let inside = ctx.dialog(area, title);
    ctx.put(inside, 0, &[(" ▸ ", ctx.theme.accent)]);
    let field = field_area(inside, 0, 3);
    if list.filter.value().is_empty() {
        ctx.put(field, 0, &[("  type to filter", ctx.theme.dim)]);
    }
    ctx.text_field(field, &list.filter, true);
    let rows = below(inside, 2);
    let matches = list.matches();
    if matches.is_empty() {
        ctx.put(rows, 0, &[("   no match; Backspace widens the filter", ctx.theme.dim)]);
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
