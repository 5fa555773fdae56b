//! Draws the whole screen: bars, panes, and the overlay above them.

use ratatui::{
    buffer::Buffer,
    layout::Rect,
    widgets::{Clear, Paragraph, Widget, Wrap},
};

use super::{bars, hints, pane, viewer};
use crate::{
    app::{App, areas, overlay::DrawContext},
    drawing::{HoverTexts, PictureLayer, Theme},
};

pub fn draw(app: &App, theme: &Theme, buf: &mut Buffer, layer: &mut PictureLayer) {
    draw_with_texts(app, theme, buf, layer, &mut HoverTexts::default());
}

/// Draws the screen and collects the texts for the cell under the mouse.
pub fn draw_with_texts(
    app: &App,
    theme: &Theme,
    buf: &mut Buffer,
    layer: &mut PictureLayer,
    hover: &mut HoverTexts,
) {
    hover.clear();
    let overlay = app.overlay_area();
    let (line, line_of_hints) = match app.viewer() {
        Some(_) => (app.viewer_areas().hints, app.viewer_areas().hints),
        None => (app.areas().notification, app.areas().hints),
    };
    let notification = hints::notification_area(app, line);
    // A notification of several lines covers the area above its line, so pictures are not drawn
    // there.
    let above = (notification.height > 1).then_some(notification);
    let hints = hints::hints_area(app, line_of_hints);
    let explained = (hints.height > 1).then_some(hints);
    let covered: Vec<Rect> = overlay.into_iter().chain(above).chain(explained).collect();
    layer.begin_frame(&covered);
    let mut ctx = DrawContext { app, theme, buf, layer, hover };
    if app.screen().is_too_small() {
        return draw_too_small(&mut ctx);
    }
    if app.viewer().is_some() {
        viewer::viewer(&mut ctx);
    } else {
        draw_panes(&mut ctx);
    }
    if let (Some(dialog), Some(area)) = (app.overlay(), overlay) {
        // The mouse does not reach the panes below the dialog, so their texts are removed.
        ctx.hover.clear();
        ctx.layer.allow_on_overlays();
        Clear.render(area, ctx.buf);
        dialog.draw(&mut ctx, area);
    }
}

fn draw_panes(ctx: &mut DrawContext) {
    let areas = ctx.app.areas();
    bars::header(ctx, areas.header);
    for (area, draw) in [
        (areas.chips, bars::chips as fn(&mut DrawContext, Rect)),
        (areas.tabs, bars::pane_tabs),
        (areas.datasets, pane::datasets),
        (areas.status, pane::status),
        (areas.results, pane::results),
        (areas.detail, pane::detail),
        (areas.query, pane::query),
        (areas.jobs, pane::jobs),
        (areas.basket, pane::basket::basket),
        (areas.connection, pane::connection),
        (Some(areas.notification), hints::notification),
        (Some(areas.hints), hints::hints),
    ] {
        if let Some(area) = area {
            draw(ctx, area);
        }
    }
    if ctx.app.jump_mode() {
        bars::jump_letters(ctx);
    }
}

fn draw_too_small(ctx: &mut DrawContext) {
    let (width, height) = ctx.app.screen().size;
    let (columns, rows) = areas::MIN_SCREEN;
    let sentence =
        format!("tessera needs {columns}x{rows} cells; this terminal has {width}x{height}");
    let area = Rect { x: 0, y: 0, width, height };
    Paragraph::new(sentence).wrap(Wrap { trim: true }).render(area, ctx.buf);
}
