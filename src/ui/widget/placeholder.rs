//! Placeholders: messages in empty panes, missing pictures, and a screen that is too small.

use ratatui::{
    layout::Rect,
    style::Style,
    text::{Line, Text},
    widgets::{Paragraph, Widget, Wrap},
};

use crate::{
    app::areas,
    ui::{DrawContext, widget::truncate},
};

/// Draws a few lines in the middle of an area; the style applies to the first.
pub(in crate::ui) fn centered_message(
    ctx: &mut DrawContext,
    area: Rect,
    style: Style,
    lines: &[&str],
) {
    let text: Vec<Line> = lines
        .iter()
        .enumerate()
        .map(|(index, line)| Line::styled(*line, if index == 0 { style } else { ctx.theme.dim }))
        .collect();
    let wanted = lines.iter().map(|line| {
        let cells = super::display_width(line).max(1);
        u16::try_from(cells.div_ceil(usize::from(area.width.max(1)))).unwrap_or(1)
    });
    let height = wanted.sum::<u16>().min(area.height);
    // Wrapping at words can take more rows than this estimate, so the rest of the area is available.
    let y = area.y + (area.height - height) / 3;
    let rest = Rect { y, height: area.bottom() - y, ..area };
    Paragraph::new(Text::from(text)).centered().wrap(Wrap { trim: true }).render(rest, ctx.buf);
}

/// Draws the placeholder of a picture with a short text.
pub(in crate::ui) fn picture_placeholder(ctx: &mut DrawContext, area: Rect, word: &str) {
    let style = ctx.theme.empty;
    for position in area.positions() {
        ctx.buf[position].set_symbol("░").set_style(style);
    }
    if !word.is_empty() && area.height > 0 {
        let word = truncate(&format!(" {word} "), usize::from(area.width));
        let cells = u16::try_from(super::display_width(&word)).unwrap_or(area.width);
        let x = area.x + area.width.saturating_sub(cells) / 2;
        ctx.buf.set_string(x, area.y + area.height / 2, word, ctx.theme.dim);
    }
}

pub(in crate::ui) fn draw_too_small(ctx: &mut DrawContext) {
    let area = Rect::new(0, 0, ctx.app.size.0, ctx.app.size.1);
    let (columns, rows) = areas::MIN_SCREEN;
    let sentence = format!(
        "tessera needs {columns}x{rows} cells; this terminal has {}x{}",
        area.width, area.height
    );
    Paragraph::new(sentence).wrap(Wrap { trim: true }).render(area, ctx.buf);
}
