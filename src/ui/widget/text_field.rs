//! Single-line text fields.

use ratatui::layout::Rect;
use tessera_model::SafeText;
use tui_input::Input;

use super::{display_width, put};
use crate::ui::DrawContext;

/// Draws a single-line text field, scrolled so that the cursor is visible.
pub(in crate::ui) fn text_field(ctx: &mut DrawContext, area: Rect, input: &Input, focused: bool) {
    let cells = usize::from(area.width).max(1);
    let shown = SafeText::file_name(input.value());
    let before: String = input.value().chars().take(input.cursor()).collect();
    let cursor = display_width(SafeText::file_name(&before).as_str());
    let skip = (cursor + 1).saturating_sub(cells);
    let visible: String = skip_columns(shown.as_str(), skip);
    let style = ctx.theme.text;
    put(ctx, area, 0, &[(&visible, style)]);
    if focused && let Ok(at) = u16::try_from(cursor - skip.min(cursor)) {
        let spot = Rect { x: area.x + at.min(area.width.saturating_sub(1)), width: 1, ..area };
        ctx.buf.set_style(spot, ctx.theme.selected);
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
