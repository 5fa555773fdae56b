//! The whole screen: bars, panes, and the overlay above them.

use ratatui::{buffer::Buffer, layout::Rect};

use super::{DrawContext, PictureLayer, Theme, bars, hints, overlay, pane};
use crate::app::App;

pub fn draw(app: &App, theme: &Theme, buf: &mut Buffer, layer: &mut PictureLayer) {
    let overlay = app.overlay.as_ref().map(|overlay| overlay.area(app.size));
    layer.begin_frame(overlay.as_slice());
    let mut ctx = DrawContext { app, theme, buf, layer };
    if app.is_too_small() {
        return ctx.draw_too_small();
    }
    let areas = app.areas();
    bars::header(&mut ctx, areas.header);
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
        (Some(areas.notification), hints::notification),
        (Some(areas.hints), hints::hints),
    ] {
        if let Some(area) = area {
            draw(&mut ctx, area);
        }
    }
    if app.jump_mode {
        bars::jump_letters(&mut ctx);
    }
    if let Some(area) = overlay {
        ctx.layer.allow_on_overlays();
        overlay::draw(&mut ctx, area);
    }
}
