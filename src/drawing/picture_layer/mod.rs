//! Connects the cells of a frame with the graphics of the terminal.
//!
//! Half-blocks and kitty placeholders become ordinary cells. A sixel or iTerm2 picture is drawn over
//! cells that the frame skips. Such a picture is sent once, after the frame, and disappears when the
//! frame writes text there. A frame is drawn like this:
//!
//! ```text
//! layer.begin_frame(&overlays);
//! draw into terminal.get_frame(), calling layer.place(...) for each picture
//! let writes = layer.end_frame(buffer);
//! write writes.before;  terminal.flush();  write writes.after;
//! terminal.swap_buffers();  flush the backend
//! ```

mod color_depth;
mod kitty;
mod overdraw;

pub use color_depth::ColorDepth;
pub use kitty::delete_all_pictures;

use ratatui::{buffer::Buffer, layout::Rect, style::Color};
use tessera_picture::{Canvas, Encoded, PictureView, Thumbnail};

use kitty::{KittyImages, fill_placeholders, shorten_placeholders};
use overdraw::Overdraw;

/// The key of a picture. Pictures with equal keys have equal pixels.
pub type PictureKey = (PictureView, Canvas);

/// The properties of the terminal, apart from the protocol, which is part of the canvas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphicsSettings {
    /// Whether the terminal runs inside tmux, which passes only wrapped graphics.
    pub in_tmux: bool,
    pub color_depth: ColorDepth,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TerminalWrites {
    pub before: String,
    pub after: String,
}

#[derive(Debug)]
pub struct PictureLayer {
    settings: GraphicsSettings,
    kitty: KittyImages,
    overdraw: Overdraw,
    /// The areas with placeholders in this frame, each with the color of its picture.
    placeholders: Vec<(Rect, Color)>,
    frame: u64,
    placed: usize,
    before: String,
}

impl PictureLayer {
    pub fn new(settings: GraphicsSettings) -> Self {
        Self {
            settings,
            kitty: KittyImages::new(settings.in_tmux),
            overdraw: Overdraw::new(settings.in_tmux),
            placeholders: Vec::new(),
            frame: 0,
            placed: 0,
            before: String::new(),
        }
    }

    /// Starts a frame. Pictures that cannot be covered by text are not drawn under `overlays`.
    pub fn begin_frame(&mut self, overlays: &[Rect]) {
        self.frame += 1;
        self.placed = 0;
        self.placeholders.clear();
        self.overdraw.begin_frame(overlays);
    }

    /// Allows pictures under overlays from now on, because the following pictures belong to the
    /// overlay.
    pub fn allow_on_overlays(&mut self) {
        self.overdraw.begin_frame(&[]);
    }

    /// Draws a picture in the center of `area` and returns the cells it covers. Returns `None` if the picture is larger
    /// than the area or under an overlay.
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
                let color = self.kitty.upload(key, picture, self.frame, &mut self.before)?;
                fill_placeholders(buffer, covered, color);
                self.placeholders.push((covered, color));
            }
            Encoded::Sequence(sequence) => {
                self.overdraw.place(buffer, covered, key, sequence)?;
            }
        }
        self.placed += 1;
        Some(covered)
    }

    pub fn placed(&self) -> usize {
        self.placed
    }

    /// Ends a frame whose cells are all drawn. Returns what to write before and after the cells.
    pub fn end_frame(&mut self, buffer: &mut Buffer) -> TerminalWrites {
        // In tmux, every cell keeps its diacritics, because tmux may cover the left part of a
        // picture with a menu of its own.
        let areas = if self.settings.in_tmux { &[] } else { self.placeholders.as_slice() };
        for &(area, color) in areas {
            shorten_placeholders(buffer, area, color);
        }
        self.kitty.evict_over_budget(self.frame, &mut self.before);
        TerminalWrites {
            before: std::mem::take(&mut self.before),
            after: self.overdraw.end_frame(),
        }
    }

    /// Forgets all pictures, for a resize, a suspend or the exit. Returns the sequences that delete them from the
    /// terminal. The caller clears or redraws the screen.
    pub fn forget_all(&mut self) -> String {
        self.overdraw.reset();
        self.kitty.clear(&mut self.before);
        std::mem::take(&mut self.before)
    }
}

fn centered(area: Rect, cells: (u16, u16)) -> Option<Rect> {
    let (columns, rows) = cells;
    (columns > 0 && rows > 0 && columns <= area.width && rows <= area.height).then(|| {
        let (x, y) = (area.x + (area.width - columns) / 2, area.y + (area.height - rows) / 2);
        Rect::new(x, y, columns, rows)
    })
}

/// Draws half-blocks. The upper pixel of a cell becomes the foreground, and the lower one the
/// background.
fn draw_half_blocks(buffer: &mut Buffer, area: Rect, pixels: &[[u8; 3]], depth: ColorDepth) {
    let width = usize::from(area.width);
    for (y, rows) in (area.top()..area.bottom()).zip(pixels.chunks_exact(2 * width)) {
        let (upper, lower) = rows.split_at(width);
        for (x, (&top, &bottom)) in (area.left()..area.right()).zip(upper.iter().zip(lower)) {
            let cell = &mut buffer[(x, y)];
            cell.reset();
            cell.set_bg(depth.nearest(bottom));
            if top != bottom {
                cell.set_char('▀').set_fg(depth.nearest(top));
            }
        }
    }
}
