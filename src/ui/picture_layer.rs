//! Pictures over cells: the thin layer between the frame's buffer and the graphics of a terminal.
//!
//! Half-blocks and kitty placeholders become ordinary cells. A sixel or iTerm2 picture is drawn
//! over cells that the frame then skips; it is sent once, after the frame, and goes away when the
//! frame writes text there again. One frame is drawn like this:
//!
//! ```text
//! layer.begin_frame(&overlays);
//! draw into terminal.get_frame(), calling layer.place(...) for each picture
//! let writes = layer.end_frame();
//! write writes.before;  terminal.flush();  write writes.after;
//! terminal.swap_buffers();  flush the backend
//! ```

mod color_depth;
mod diacritics;
mod kitty;
mod overdraw;
#[cfg(test)]
mod tests;

use ratatui::{buffer::Buffer, layout::Rect};

pub use color_depth::ColorDepth;
use kitty::KittyStore;
use overdraw::Overdraw;
use tessera_picture::{Canvas, Encoded, PictureView, Thumbnail};

/// Recognises the same picture again: equal keys mean equal pixels.
pub type PictureKey = (PictureView, Canvas);

/// What the terminal can do with a picture, beyond the protocol of the canvas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphicsSettings {
    /// Inside tmux, which passes graphics on only when wrapped.
    pub in_tmux: bool,
    /// The colours that half-blocks may have.
    pub color_depth: ColorDepth,
}

/// Bytes for the terminal around one frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TerminalWrites {
    /// To be written before the frame's cells.
    pub before: String,
    /// To be written after the frame's cells.
    pub after: String,
}

/// The pictures on the screen and in the terminal's memory.
#[derive(Debug)]
pub struct PictureLayer {
    settings: GraphicsSettings,
    kitty: KittyStore,
    overdraw: Overdraw,
    frame: u64,
    placed: usize,
    before: String,
}

impl PictureLayer {
    /// A layer for a terminal that shows no picture yet.
    pub fn new(settings: GraphicsSettings) -> Self {
        Self {
            settings,
            kitty: KittyStore::new(settings.in_tmux),
            overdraw: Overdraw::new(settings.in_tmux),
            frame: 0,
            placed: 0,
            before: String::new(),
        }
    }

    /// Starts a frame. Pictures that cannot lie under text stay away from the `overlays`.
    pub fn begin_frame(&mut self, overlays: &[Rect]) {
        self.frame += 1;
        self.placed = 0;
        self.overdraw.begin_frame(overlays);
    }

    /// From here on pictures are drawn on the overlays themselves.
    pub fn allow_on_overlays(&mut self) {
        self.overdraw.begin_frame(&[]);
    }

    /// Draws a picture in the middle of `area`; the cells it covers, or none when it is not drawn
    /// (it is larger than the area, or lies under an overlay) and something else may be.
    pub fn place(
        &mut self,
        buffer: &mut Buffer,
        area: Rect,
        key: PictureKey,
        thumbnail: &Thumbnail,
    ) -> Option<Rect> {
        let covered = centered(area.intersection(buffer.area), thumbnail.cells)?;
        match &thumbnail.encoded {
            Encoded::Pixels(pixels) => {
                draw_half_blocks(buffer, covered, pixels, self.settings.color_depth);
            }
            Encoded::Kitty { payload, size } => {
                let picture = (&**payload, *size, thumbnail.cells);
                let colour = self.kitty.upload(key, picture, self.frame, &mut self.before)?;
                kitty::fill_placeholders(buffer, covered, colour);
            }
            Encoded::Sequence(sequence) => {
                self.overdraw.place(buffer, covered, key, sequence)?;
            }
        }
        self.placed += 1;
        Some(covered)
    }

    /// How many pictures the frame has.
    pub fn placed(&self) -> usize {
        self.placed
    }

    /// Ends a frame: what to write around it.
    pub fn end_frame(&mut self) -> TerminalWrites {
        self.kitty.evict_over_budget(self.frame, &mut self.before);
        TerminalWrites {
            before: std::mem::take(&mut self.before),
            after: self.overdraw.end_frame(),
        }
    }

    /// Forgets every picture, for a resize, a suspend or the end: what to write so that the
    /// terminal forgets them too. The screen itself must be cleared or redrawn by the caller.
    pub fn forget_all(&mut self) -> String {
        self.overdraw.reset();
        self.kitty.clear(&mut self.before);
        std::mem::take(&mut self.before)
    }
}

/// What makes a kitty terminal forget every picture this process can have sent, for a panic hook
/// or a signal, where no layer is at hand.
pub fn delete_all_pictures(in_tmux: bool) -> String {
    kitty::delete_all(in_tmux)
}

fn centered(area: Rect, (columns, rows): (u16, u16)) -> Option<Rect> {
    (columns > 0 && rows > 0 && columns <= area.width && rows <= area.height).then(|| {
        Rect::new(
            area.x + (area.width - columns) / 2,
            area.y + (area.height - rows) / 2,
            columns,
            rows,
        )
    })
}

/// Paints half-blocks: the upper pixel in the foreground, the lower one behind it.
fn draw_half_blocks(buffer: &mut Buffer, area: Rect, pixels: &[[u8; 3]], colours: ColorDepth) {
    let width = usize::from(area.width);
    for (y, rows) in (area.top()..area.bottom()).zip(pixels.chunks_exact(2 * width)) {
        let (upper, lower) = rows.split_at(width);
        for (x, (&top, &bottom)) in (area.left()..area.right()).zip(upper.iter().zip(lower)) {
            let cell = &mut buffer[(x, y)];
            cell.reset();
            cell.set_bg(colours.nearest(bottom));
            if top != bottom {
                cell.set_char('▀').set_fg(colours.nearest(top));
            }
        }
    }
}
