//! A list that one thing is chosen from: the typed filter above, a row per thing below.

use ratatui::{layout::Rect, text::Line};

use crate::{
    app::{
        overlay::{Choice, Pick},
        pane::scrolled,
    },
    ui::{
        Screen,
        overlay::file,
        widget::{boxed, put, width},
    },
};

/// Most cells of the marks before the names.
const MARKS: usize = 14;

/// Draws the list in a frame with this title.
pub(super) fn draw<T>(screen: &mut Screen, area: Rect, title: &str, pick: &Pick<T>) {
    let inside = boxed(screen, area, Line::from(format!(" {title} ")), true);
    filter(screen, inside, pick);
    let rows = Rect { y: inside.y + 2, height: inside.height.saturating_sub(2), ..inside };
    let shown = pick.shown();
    if shown.is_empty() {
        put(screen, rows, 0, &[("   nothing fits; Backspace widens", screen.theme.dim)]);
    }
    let widest = |text: fn(&Choice<T>) -> &str| {
        pick.choices().iter().map(|choice| width(text(choice))).max().unwrap_or(0)
    };
    let marks = widest(|choice| choice.mark.as_str()).min(MARKS);
    let names = widest(|choice| choice.text.as_str()).min(usize::from(inside.width) / 2);
    let top = scrolled(0, pick.cursor, usize::from(rows.height));
    for (row, (place, choice)) in (0..rows.height).zip(shown.into_iter().enumerate().skip(top)) {
        let here = place == pick.cursor;
        line(screen, rows, row, choice, (marks, names), here);
    }
}

fn filter<T>(screen: &mut Screen, inside: Rect, pick: &Pick<T>) {
    let theme = screen.theme;
    put(screen, inside, 0, &[(" ▸ ", theme.accent)]);
    let place =
        Rect { x: inside.x + 3, width: inside.width.saturating_sub(4), height: 1, ..inside };
    if pick.typed.value().is_empty() {
        put(screen, place, 0, &[("  type to filter", theme.dim)]);
    }
    file::field(screen, place, &pick.typed, true);
}

fn line<T>(
    screen: &mut Screen,
    rows: Rect,
    row: u16,
    choice: &Choice<T>,
    (marks, names): (usize, usize),
    here: bool,
) {
    let theme = screen.theme;
    let style = if choice.refused { theme.dim } else { theme.text };
    let pad = |text: &str, cells: usize| " ".repeat(cells.saturating_sub(width(text)));
    let mark = choice.mark.as_str();
    let name = choice.text.as_str();
    let cursor = if here { " ▸ " } else { "   " };
    let before = if marks == 0 { String::new() } else { pad(mark, marks) + "  " };
    let after = pad(name, names) + "  ";
    let key = if choice.refused { theme.dim } else { theme.key };
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
