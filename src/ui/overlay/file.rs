//! The line that asks for a query image, and the text field that forms share.

use ratatui::{layout::Rect, text::Line};
use tui_input::Input;

use crate::{
    model::SafeText,
    ui::{
        Screen,
        widget::{boxed, put, width},
    },
};

/// Draws the line.
pub(super) fn draw(screen: &mut Screen, area: Rect, line: &Input) {
    let inside = boxed(screen, area, Line::from(" Similar to a file "), true);
    let theme = screen.theme;
    put(screen, inside, 0, &[(" path of a picture on this machine; ~/ works", theme.dim)]);
    let place =
        Rect { x: inside.x + 1, y: inside.y + 1, width: inside.width.saturating_sub(2), height: 1 };
    field(screen, place, line, true);
}

/// A text field on one line, scrolled so that the cursor is visible.
pub(super) fn field(screen: &mut Screen, area: Rect, input: &Input, focused: bool) {
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
