//! Draws sixel and iTerm2 pictures, each by one string over cells that the frame skips.
//!
//! Cells that are no longer skipped differ from the last frame, so the frame writes them and
//! thereby erases the picture. This module clears the area before a new picture, and does not
//! redraw pictures that are still on the screen.

use std::{fmt::Write, sync::Arc};

use ratatui::{
    buffer::{Buffer, CellDiffOption},
    layout::Rect,
};
use tessera_picture::{Canvas, PictureView};

/// The key of a picture. Pictures with equal keys have equal pixels.
pub type PictureKey = (PictureView, Canvas);

#[derive(Debug, Default)]
pub struct Overdraw {
    overlays: Vec<Rect>,
    previous: Vec<(Rect, PictureKey)>,
    current: Vec<(Rect, PictureKey)>,
    pending: Vec<(Rect, Arc<str>)>,
    in_tmux: bool,
}

impl Overdraw {
    pub fn new(in_tmux: bool) -> Self {
        Self { in_tmux, ..Self::default() }
    }

    pub fn begin_frame(&mut self, overlays: &[Rect]) {
        self.overlays = overlays.to_vec();
    }

    /// Excludes the cells of `area` from the frame. Returns `None` if the area is under an overlay, or if the picture
    /// would scroll the screen.
    pub fn place(
        &mut self,
        buffer: &mut Buffer,
        area: Rect,
        key: PictureKey,
        sequence: &Arc<str>,
    ) -> Option<()> {
        let covered = self.overlays.iter().any(|overlay| overlay.intersects(area));
        // A sixel leaves the cursor on the row below it, which scrolls the screen if the picture
        // ends on the last row.
        let scrolls = is_sixel(sequence) && area.bottom() >= buffer.area.bottom();
        if covered || scrolls {
            return None;
        }
        for position in area.positions() {
            let cell = &mut buffer[position];
            cell.reset();
            cell.set_diff_option(CellDiffOption::Skip);
        }
        let placement = (area, key);
        if !self.previous.contains(&placement) {
            self.pending.push((area, Arc::clone(sequence)));
        }
        self.current.push(placement);
        Some(())
    }

    /// Draws the pictures that are not on the screen yet, each in a cleared area.
    pub fn end_frame(&mut self) -> String {
        self.previous = std::mem::take(&mut self.current);
        let mut out = String::new();
        for (area, sequence) in self.pending.drain(..) {
            draw(area, &sequence, self.in_tmux, &mut out);
        }
        out
    }

    /// Forgets what is on the screen, so that every picture is drawn again.
    pub fn reset(&mut self) {
        self.previous.clear();
        self.current.clear();
        self.pending.clear();
    }
}

fn draw(area: Rect, sequence: &str, in_tmux: bool, out: &mut String) {
    // Writing into a string cannot fail.
    let _ = write!(out, "\x1b7\x1b[0m");
    for y in area.top()..area.bottom() {
        let _ = write!(out, "\x1b[{};{}H\x1b[{}X", y + 1, area.x + 1, area.width);
    }
    let _ = write!(out, "\x1b[{};{}H", area.y + 1, area.x + 1);
    // tmux supports sixel, but passes iTerm2 pictures only if they are wrapped.
    if in_tmux && !is_sixel(sequence) {
        let _ = write!(out, "\x1bPtmux;{}\x1b\\", sequence.replace('\x1b', "\x1b\x1b"));
    } else {
        out.push_str(sequence);
    }
    out.push_str("\x1b8");
}

fn is_sixel(sequence: &str) -> bool {
    sequence.starts_with("\x1bP")
}
