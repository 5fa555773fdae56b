//! The fields of forms.

use ratatui::{layout::Rect, style::Style};
use tessera_model::SafeText;
use tui_input::Input;

use super::{display_width, field_area};
use crate::ui::DrawContext;

impl DrawContext<'_> {
    /// Draws the label of a field, with a cursor if it is focused. Returns the area of the field.
    pub(in crate::ui) fn field_label(
        &mut self,
        inside: Rect,
        (row, column): (u16, u16),
        (label, style): (&str, Style),
        focused: bool,
    ) -> Rect {
        let style = if focused { self.theme.accent } else { style };
        let cursor = if focused { " ▸ " } else { "   " };
        self.put(inside, row, &[(cursor, style), (label, style)]);
        field_area(inside, row, column)
    }

    /// Draws a single-line text field, scrolled so that the cursor is visible.
    pub(in crate::ui) fn text_field(&mut self, area: Rect, input: &Input, focused: bool) {
        let cells = usize::from(area.width).max(1);
        let shown = SafeText::file_name(input.value());
        let before: String = input.value().chars().take(input.cursor()).collect();
        let cursor = display_width(SafeText::file_name(&before).as_str());
        let skip = (cursor + 1).saturating_sub(cells);
        self.put(area, 0, &[(skip_columns(shown.as_str(), skip), self.theme.text)]);
        if focused && let Ok(at) = u16::try_from(cursor - skip.min(cursor)) {
            let spot = Rect { x: area.x + at.min(area.width.saturating_sub(1)), width: 1, ..area };
            self.buf.set_style(spot, self.theme.selected);
        }
    }
}

pub(in crate::ui) fn choice_text(choice: &str, focused: bool) -> String {
    if focused { format!("‹ {choice} ›") } else { choice.to_owned() }
}

fn skip_columns(text: &str, cells: usize) -> &str {
    let mut skipped = 0;
    let start = text.char_indices().find(|(_, c)| {
        let is_visible = skipped >= cells;
        skipped += display_width(c.encode_utf8(&mut [0; 4]));
        is_visible
    });
    start.map_or("", |(at, _)| &text[at..])
}
