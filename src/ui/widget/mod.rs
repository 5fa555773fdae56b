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
pub(super) use tessera_model::text::format_bytes;

pub(super) use placeholder::{centered_message, draw_too_small, picture_placeholder};
pub(super) use region_outline::draw_region_outline;
pub(super) use text::{display_width, put, put_all, scrolled_lines, truncate, wrap_words};
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

/// A number with a thousands separator: `48 210`.
pub(super) fn group_digits(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    grouped
}

/// A score with two decimals: `.12`.
pub(super) fn format_score(score: f64) -> String {
    let text = format!("{score:.2}");
    text.strip_prefix('0').map_or_else(|| text.clone(), ToOwned::to_owned)
}

/// A duration as `06:11` or `1:06:11`.
pub(super) fn format_duration(time: std::time::Duration) -> String {
    let seconds = time.as_secs();
    match seconds / 3600 {
        0 => format!("{:02}:{:02}", seconds / 60, seconds % 60),
        hours => format!("{hours}:{:02}:{:02}", seconds / 60 % 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_formatted() {
        assert_eq!(gauge(0.0, 4), " ···");
        assert_eq!(gauge(0.5, 4), "██ ·");
        assert_eq!(gauge(1.0, 4), "████");
        assert_eq!(group_digits(48_210), "48 210");
        assert_eq!(group_digits(7), "7");
        assert_eq!((format_score(0.123), format_score(1.0)), (".12".to_owned(), "1.00".to_owned()));
        assert_eq!(format_duration(std::time::Duration::from_secs(3_671)), "1:01:11");
        assert_eq!(format_bytes(11_400_000), "10.9 MiB");
    }
}
