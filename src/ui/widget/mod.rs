//! Widgets: frames, gauges, lines of text, placeholders, and the format of numbers.

mod placeholder;
mod region_outline;
mod text;
mod text_field;

use ratatui::{
    layout::Rect,
    text::{Line, Span},
    widgets::{Block, BorderType, Widget},
};
pub(super) use tessera_model::text::{
    format_age, format_bytes, format_duration, group_digits, truncate,
};

pub(super) use placeholder::{centered_message, draw_too_small, picture_placeholder};
pub(super) use region_outline::draw_region_outline;
pub(super) use text::{display_width, put, put_all, scrolled_lines, wrap_words};
pub(super) use text_field::text_field;

use crate::{app::Pane, ui::DrawContext};

/// Draws the frame of a pane with its number, name and a short text; returns the inner area. The
/// focused pane has a thick frame, which is visible without color.
pub(super) fn pane_frame(ctx: &mut DrawContext, area: Rect, pane: Pane, words: &str) -> Rect {
    let focused = ctx.app.focus == pane && ctx.app.overlay.is_none();
    let number = pane.number().map_or_else(|| " ".to_owned(), |number| format!(" {number} "));
    let theme = ctx.theme;
    let name = if focused { theme.accent } else { theme.text };
    let title = Line::from(vec![
        Span::styled(number, theme.key),
        Span::styled(pane.name(), name),
        Span::styled(
            if words.is_empty() { " ".to_owned() } else { format!("  {words} ") },
            theme.dim,
        ),
    ]);
    bordered(ctx, area, title, focused)
}

/// Draws a frame with a title; returns the inner area.
pub(super) fn bordered(ctx: &mut DrawContext, area: Rect, title: Line, focused: bool) -> Rect {
    let (kind, style) = if focused {
        (BorderType::Thick, ctx.theme.frame_focus)
    } else {
        (BorderType::Rounded, ctx.theme.frame)
    };
    let block = Block::bordered().border_type(kind).border_style(style).title(title);
    let inside = block.inner(area);
    block.render(area, ctx.buf);
    inside
}

/// A gauge of `cells` cells for a fraction from 0 to 1, in eighths of a cell.
pub(super) fn gauge(fraction: f64, cells: usize) -> String {
    const EIGHTHS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a fraction of a few cells"
    )]
    let eighths = (fraction.clamp(0.0, 1.0) * cells as f64 * 8.0).round() as usize;
    let mut bar = "█".repeat(eighths / 8);
    if eighths / 8 < cells {
        bar.push(EIGHTHS[eighths % 8]);
        bar.push_str(&"·".repeat(cells - eighths / 8 - 1));
    }
    bar
}

/// A score with two decimals: `.12`.
pub(super) fn format_score(score: f64) -> String {
    let text = format!("{score:.2}");
    text.strip_prefix('0').map_or_else(|| text.clone(), ToOwned::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_formatted() {
        assert_eq!(gauge(0.0, 4), " ···");
        assert_eq!(gauge(0.5, 4), "██ ·");
        assert_eq!(gauge(1.0, 4), "████");
        assert_eq!((format_score(0.123), format_score(1.0)), (".12".to_owned(), "1.00".to_owned()));
    }
}
