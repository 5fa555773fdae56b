//! Placeholder until the drawing layer lands.
#![expect(missing_docs, reason = "replaced")]
use crate::{
    model::MediaId,
    picture::{Canvas, Encoded, Thumbnail},
};
use ratatui::{buffer::Buffer, layout::Rect};
#[derive(Debug, Default)]
pub struct Layer;
impl Layer {
    pub fn begin_frame(&mut self, _: Option<Rect>) {}
    pub fn place(
        &mut self,
        buf: &mut Buffer,
        area: Rect,
        _: (MediaId, Canvas),
        thumbnail: &Thumbnail,
    ) {
        let Encoded::Pixels(pixels) = &thumbnail.encoded else {
            return;
        };
        let _ = (buf, area, pixels);
    }
}
