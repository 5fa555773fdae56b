//! The view: reads `&App` and writes cells, with a file per pane named like its state in `app/pane`.
//!
//! It keeps no state, except the [`PictureLayer`]: terminals store pictures.

mod bars;
mod overlay;
mod pane;
pub mod picture_layer;
mod results_header;
pub mod theme;
mod tile;
pub mod welcome;
mod widget;

use ratatui::{buffer::Buffer, layout::Rect};

pub use picture_layer::PictureLayer;
pub use theme::Theme;

use crate::app::App;
use tessera_model::Preview;
use tessera_picture::{Canvas, PictureView};

/// What all drawing functions need.
struct DrawContext<'a> {
    app: &'a App,
    theme: &'a Theme,
    buf: &'a mut Buffer,
    layer: &'a mut PictureLayer,
}

/// Draws the whole screen into `buf`.
pub fn draw(app: &App, theme: &Theme, buf: &mut Buffer, layer: &mut PictureLayer) {
    let overlay = app.overlay.as_ref().map(|overlay| overlay.area(app.size));
    layer.begin_frame(overlay.as_slice());
    let mut ctx = DrawContext { app, theme, buf, layer };
    if app.is_too_small() {
        widget::draw_too_small(&mut ctx);
        return;
    }
    let areas = app.areas();
    bars::header(&mut ctx, areas.header);
    if let Some(area) = areas.chips {
        bars::chips(&mut ctx, area);
    }
    if let Some(area) = areas.tabs {
        bars::pane_tabs(&mut ctx, area);
    }
    for (area, draw) in [
        (areas.datasets, pane::datasets as fn(&mut DrawContext, Rect)),
        (areas.status, pane::status),
        (areas.results, pane::results),
        (areas.detail, pane::detail),
        (areas.query, pane::query),
        (areas.jobs, pane::jobs),
        (areas.basket, pane::basket::basket),
    ] {
        if let Some(area) = area {
            draw(&mut ctx, area);
        }
    }
    bars::notification(&mut ctx, areas.notification);
    bars::hints(&mut ctx, areas.hints);
    if app.jump_mode {
        bars::jump_letters(&mut ctx);
    }
    if let Some(area) = overlay {
        ctx.layer.allow_on_overlays();
        overlay::draw(&mut ctx, area);
    }
}

impl DrawContext<'_> {
    fn draw_preview(&mut self, area: Rect, preview: &Preview, canvas: Canvas) {
        self.draw_picture(area, preview.media.into(), canvas);
    }

    /// Draws a picture, or a placeholder with the error. Returns the cells it covers.
    fn draw_picture(&mut self, area: Rect, sight: PictureView, canvas: Canvas) -> Option<Rect> {
        match self.app.store.pictures.get(&sight, canvas) {
            Some(Ok(thumbnail)) => {
                let key = (sight, canvas);
                let covered = self.layer.place(self.buf, area, key, thumbnail);
                // This picture cannot be drawn beside an overlay.
                if covered.is_none() {
                    widget::picture_placeholder(self, area, "");
                }
                return covered;
            }
            Some(Err(reason)) => widget::picture_placeholder(self, area, reason.as_str()),
            None => widget::picture_placeholder(self, area, ""),
        }
        None
    }
}
