//! What all drawing functions need. The widgets are further methods of it.

use ratatui::{buffer::Buffer, layout::Rect};

use crate::{
    app::App,
    input::Action,
    ui::{HoverTexts, PictureLayer, Theme},
};
use tessera_picture::{Canvas, PictureView};

pub(super) struct DrawContext<'a> {
    pub app: &'a App,
    pub theme: &'a Theme,
    pub buf: &'a mut Buffer,
    pub layer: &'a mut PictureLayer,
    pub hover: &'a mut HoverTexts,
}

impl DrawContext<'_> {
    pub fn first_key(&self, action: Action) -> Option<String> {
        let app = self.app;
        app.setup().keymap.keys_of(&app.contexts(), action).into_iter().next()
    }

    /// Draws a picture, or a placeholder with the error. Returns the cells it covers.
    pub fn draw_picture(&mut self, area: Rect, view: PictureView, canvas: Canvas) -> Option<Rect> {
        let mut error = "";
        match self.app.store().pictures.get(&view, canvas) {
            Some(Ok(thumbnail)) => {
                let covered = self.layer.place(self.buf, area, (view, canvas), thumbnail);
                // `None`: it cannot be drawn beside an overlay.
                if covered.is_some() {
                    return covered;
                }
            }
            Some(Err(reason)) => error = reason.as_str(),
            None => {}
        }
        self.picture_placeholder(area, error);
        None
    }
}
