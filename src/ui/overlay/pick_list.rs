//! A list that one thing is chosen from: the typed filter above, a row per thing below.

use ratatui::{layout::Rect, text::Line};

use crate::{
    app::{
        overlay::{PickItem, PickList},
        pane::scroll_top,
    },
    ui::{
        DrawContext,
        overlay::file_picker,
        widget::{bordered, display_width, put},
    },
};

/// Most cells of the marks before the names.
const MAX_PREFIX_WIDTH: usize = 14;

/// Draws the list in a frame with this title.
pub(super) fn draw<T>(screen: &mut DrawContext, area: Rect, title: &str, pick: &PickList<T>) {
    let inside = bordered(screen, area, Line::from(format!(" {title} ")), true);
    draw_filter(screen, inside, pick);
    let rows = Rect { y: inside.y + 2, height: inside.height.saturating_sub(2), ..inside };
    let shown = pick.matches();
    if shown.is_empty() {
        put(screen, rows, 0, &[("   nothing fits; Backspace widens", screen.theme.dim)]);
    }
    let widest = |text: fn(&PickItem<T>) -> &str| {
        pick.items().iter().map(|choice| display_width(text(choice))).max().unwrap_or(0)
    };
    let marks = widest(|choice| choice.prefix.as_str()).min(MAX_PREFIX_WIDTH);
    let names = widest(|choice| choice.label.as_str()).min(usize::from(inside.width) / 2);
    let top = scroll_top(0, pick.cursor, usize::from(rows.height));
    for (row, (place, choice)) in (0..rows.height).zip(shown.into_iter().enumerate().skip(top)) {
        let here = place == pick.cursor;
        draw_item(screen, rows, row, choice, (marks, names), here);
    }
}

fn draw_filter<T>(screen: &mut DrawContext, inside: Rect, pick: &PickList<T>) {
    let theme = screen.theme;
    put(screen, inside, 0, &[(" ▸ ", theme.accent)]);
    let place =
        Rect { x: inside.x + 3, width: inside.width.saturating_sub(4), height: 1, ..inside };
    if pick.filter.value().is_empty() {
        put(screen, place, 0, &[("  type to filter", theme.dim)]);
    }
    file_picker::text_field(screen, place, &pick.filter, true);
}

fn draw_item<T>(
    screen: &mut DrawContext,
    rows: Rect,
    row: u16,
    choice: &PickItem<T>,
    (marks, names): (usize, usize),
    here: bool,
) {
    let theme = screen.theme;
    let style = if choice.disabled { theme.dim } else { theme.text };
    let pad = |text: &str, cells: usize| " ".repeat(cells.saturating_sub(display_width(text)));
    let mark = choice.prefix.as_str();
    let name = choice.label.as_str();
    let cursor = if here { " ▸ " } else { "   " };
    let before = if marks == 0 { String::new() } else { pad(mark, marks) + "  " };
    let after = pad(name, names) + "  ";
    let key = if choice.disabled { theme.dim } else { theme.key };
    put(
        screen,
        rows,
        row,
        &[
            (cursor, theme.accent),
            (mark, key),
            (&before, style),
            (name, style),
            (&after, style),
            (choice.note.as_str(), theme.dim),
        ],
    );
    if here {
        let line = Rect { y: rows.y + row, height: 1, ..rows };
        screen.buf.set_style(line, screen.theme.selected);
    }
}
