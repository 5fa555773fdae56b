//! View only: reads `&App`, writes cells. One file per pane, with the same name as its state.
//!
//! Nothing here remembers anything; the [`Layer`] does only because terminals keep pictures, and
//! somebody has to know which.

mod asked;
mod bar;
pub mod layer;
mod overlay;
mod pane;
pub mod theme;
mod tile;
pub mod welcome;
mod widget;

use ratatui::{buffer::Buffer, layout::Rect};

pub use layer::Layer;
pub use theme::Theme;

use crate::app::App;
use tessera_model::Preview;
use tessera_picture::{Canvas, Sight};

/// What every part of the view works with.
struct Screen<'a> {
    app: &'a App,
    theme: &'a Theme,
    buf: &'a mut Buffer,
    layer: &'a mut Layer,
}

/// Draws the whole program into `buf`.
pub fn draw(app: &App, theme: &Theme, buf: &mut Buffer, layer: &mut Layer) {
    let overlay = app.overlay.as_ref().map(|overlay| overlay.area(app.size));
    layer.begin_frame(overlay.as_slice());
    let mut screen = Screen { app, theme, buf, layer };
    if app.is_too_small() {
        widget::too_small(&mut screen);
        return;
    }
    let areas = app.areas();
    bar::header(&mut screen, areas.header);
    if let Some(area) = areas.chips {
        bar::chips(&mut screen, area);
    }
    if let Some(area) = areas.tabs {
        bar::tabs(&mut screen, area);
    }
    for (area, draw) in [
        (areas.datasets, pane::datasets as fn(&mut Screen, Rect)),
        (areas.status, pane::status),
        (areas.results, pane::results),
        (areas.detail, pane::detail),
        (areas.query, pane::query),
        (areas.jobs, pane::jobs),
        (areas.basket, pane::basket::basket),
    ] {
        if let Some(area) = area {
            draw(&mut screen, area);
        }
    }
    bar::notice(&mut screen, areas.notice);
    bar::hints(&mut screen, areas.hints);
    if app.jumping {
        bar::jump_letters(&mut screen);
    }
    if let Some(area) = overlay {
        screen.layer.on_top();
        overlay::draw(&mut screen, area);
    }
}

impl Screen<'_> {
    /// Puts a preview's picture into `area`, or says in place why there is none.
    fn picture(&mut self, area: Rect, preview: &Preview, canvas: Canvas) {
        self.sight(area, preview.media.into(), canvas);
    }

    /// Puts a picture into `area`, or says in place why there is none; the cells it covers.
    fn sight(&mut self, area: Rect, sight: Sight, canvas: Canvas) -> Option<Rect> {
        match self.app.store.pictures.get(&sight, canvas) {
            Some(Ok(thumbnail)) => {
                let key = (sight, canvas);
                let covered = self.layer.place(self.buf, area, key, thumbnail);
                // A picture that cannot lie under an overlay leaves its place empty.
                if covered.is_none() {
                    widget::empty_picture(self, area, "");
                }
                return covered;
            }
            Some(Err(reason)) => widget::empty_picture(self, area, reason.as_str()),
            None => widget::empty_picture(self, area, ""),
        }
        None
    }
}
