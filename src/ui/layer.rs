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

mod colours;
mod diacritics;
mod kitty;
mod overdraw;
#[cfg(test)]
mod tests;

use ratatui::{buffer::Buffer, layout::Rect};

pub use colours::Colours;
use kitty::Store;
use overdraw::Overdraw;
use tessera_picture::{Canvas, Encoded, Sight, Thumbnail};

/// Recognises the same picture again: equal keys mean equal pixels.
pub type Key = (Sight, Canvas);

/// What the terminal can do with a picture, beyond the protocol of the canvas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Surface {
    /// Inside tmux, which passes graphics on only when wrapped.
    pub in_tmux: bool,
    /// The colours that half-blocks may have.
    pub colours: Colours,
}

/// Bytes for the terminal around one frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Writes {
    /// To be written before the frame's cells.
    pub before: String,
    /// To be written after the frame's cells.
    pub after: String,
}

/// The pictures on the screen and in the terminal's memory.
#[derive(Debug)]
pub struct Layer {
    surface: Surface,
    store: Store,
    overdraw: Overdraw,
    frame: u64,
    placed: usize,
    before: String,
}

impl Layer {
    /// A layer for a terminal that shows no picture yet.
    #[must_use]
    pub fn new(surface: Surface) -> Self {
        Self {
            surface,
            store: Store::new(surface.in_tmux),
            overdraw: Overdraw::new(surface.in_tmux),
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
    pub fn on_top(&mut self) {
        self.overdraw.begin_frame(&[]);
    }

    /// Draws a picture in the middle of `area`; the cells it covers, or none when it is not drawn
    /// (it is larger than the area, or lies under an overlay) and something else may be.
    pub fn place(
        &mut self,
        buffer: &mut Buffer,
        area: Rect,
        key: Key,
        thumbnail: &Thumbnail,
    ) -> Option<Rect> {
        let covered = centre(area.intersection(buffer.area), thumbnail.cells)?;
        match &thumbnail.encoded {
            Encoded::Pixels(pixels) => {
                paint(buffer, covered, pixels, self.surface.colours);
            }
            Encoded::Kitty { payload, size } => {
                let picture = (&**payload, *size, thumbnail.cells);
                let colour = self.store.show(key, picture, self.frame, &mut self.before)?;
                kitty::fill(buffer, covered, colour);
            }
            Encoded::Sequence(sequence) => {
                self.overdraw.place(buffer, covered, key, sequence)?;
            }
        }
        self.placed += 1;
        Some(covered)
    }

    /// How many pictures the frame has.
    #[must_use]
    pub fn placed(&self) -> usize {
        self.placed
    }

    /// Ends a frame: what to write around it.
    pub fn end_frame(&mut self) -> Writes {
        self.store.shrink(self.frame, &mut self.before);
        Writes { before: std::mem::take(&mut self.before), after: self.overdraw.end_frame() }
    }

    /// Forgets every picture, for a resize, a suspend or the end: what to write so that the
    /// terminal forgets them too. The screen itself must be cleared or redrawn by the caller.
    pub fn forget_all(&mut self) -> String {
        self.overdraw.forget();
        self.store.clear(&mut self.before);
        std::mem::take(&mut self.before)
    }
}

/// What makes a kitty terminal forget every picture this process can have sent, for a panic hook
/// or a signal, where no layer is at hand.
#[must_use]
pub fn forget_blindly(in_tmux: bool) -> String {
    kitty::delete_all(in_tmux)
}

fn centre(area: Rect, (columns, rows): (u16, u16)) -> Option<Rect> {
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
fn paint(buffer: &mut Buffer, area: Rect, pixels: &[[u8; 3]], colours: Colours) {
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
