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

mod kitty;
mod overdraw;

pub use kitty::delete_all_pictures;

use kitty::{KittyImages, fill_placeholders, shorten_placeholders};
use overdraw::Overdraw;
pub use overdraw::PictureKey;
use ratatui::{buffer::Buffer, layout::Rect, style::Color};
use tessera_picture::{Encoded, Thumbnail, nearest_of_256, squared_distance};

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

    /// Starts a frame. Of pictures that are drawn over the cells, only what no overlay covers is drawn.
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
    /// than the area, or cannot be drawn beside an overlay.
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
pub(crate) fn draw_half_blocks(
    buffer: &mut Buffer,
    area: Rect,
    pixels: &[[u8; 3]],
    depth: ColorDepth,
) {
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColorDepth {
    /// 24-bit colors.
    TrueColor,
    /// 256 colors: a cube and a gray ramp.
    Palette256,
    /// The 16 named colors. Their values depend on the terminal, so xterm's values are assumed.
    Palette16,
}

/// Xterm's values of the named colors, in the order of their indexes.
const XTERM_COLORS: [(Color, [u8; 3]); 16] = [
    (Color::Black, [0, 0, 0]),
    (Color::Red, [205, 0, 0]),
    (Color::Green, [0, 205, 0]),
    (Color::Yellow, [205, 205, 0]),
    (Color::Blue, [0, 0, 238]),
    (Color::Magenta, [205, 0, 205]),
    (Color::Cyan, [0, 205, 205]),
    (Color::Gray, [229, 229, 229]),
    (Color::DarkGray, [127, 127, 127]),
    (Color::LightRed, [255, 0, 0]),
    (Color::LightGreen, [0, 255, 0]),
    (Color::LightYellow, [255, 255, 0]),
    (Color::LightBlue, [92, 92, 255]),
    (Color::LightMagenta, [255, 0, 255]),
    (Color::LightCyan, [0, 255, 255]),
    (Color::White, [255, 255, 255]),
];

/// Returns the index of a named color in the palette of a terminal.
pub fn index_of_named(color: Color) -> u8 {
    let mut named = (0..).zip(XTERM_COLORS);
    named.find(|(_, (other, _))| *other == color).map_or(0, |(index, _)| index)
}

impl ColorDepth {
    pub fn nearest(self, pixel: [u8; 3]) -> Color {
        match self {
            Self::TrueColor => Color::Rgb(pixel[0], pixel[1], pixel[2]),
            Self::Palette256 => Color::Indexed(nearest_of_256(pixel)),
            Self::Palette16 => nearest_of_16(pixel),
        }
    }
}

fn nearest_of_16(pixel: [u8; 3]) -> Color {
    let nearest = XTERM_COLORS.iter().min_by_key(|(_, value)| squared_distance(pixel, *value));
    nearest.map_or(Color::Reset, |(color, _)| *color)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pixel_maps_to_the_nearest_color() {
        assert_eq!(ColorDepth::TrueColor.nearest([1, 2, 3]), Color::Rgb(1, 2, 3));
        for (pixel, number) in
            [([255, 0, 0], 196), ([0, 0, 0], 16), ([130, 128, 127], 244), ([255, 255, 255], 231)]
        {
            assert_eq!(ColorDepth::Palette256.nearest(pixel), Color::Indexed(number), "{pixel:?}");
        }
        for (pixel, color) in [
            ([10, 5, 0], Color::Black),
            ([200, 20, 30], Color::Red),
            ([120, 130, 125], Color::DarkGray),
            ([90, 100, 250], Color::LightBlue),
            ([250, 250, 245], Color::White),
        ] {
            assert_eq!(ColorDepth::Palette16.nearest(pixel), color, "{pixel:?}");
        }
    }
}
