//! Draws sixel and iTerm2 pictures, each by one string over cells that the frame skips.
//!
//! Cells that are no longer skipped differ from the last frame, so the frame writes them and
//! thereby erases the picture. This module clears the area before a new picture, and does not
//! redraw pictures that are still on the screen.

use std::{fmt::Write, sync::Arc};

use ratatui::{
    buffer::{Buffer, CellDiffOption},
    layout::{Position, Rect},
};
use tessera_picture::{Canvas, PictureView};

use super::sixel_crop::crop;

/// The key of a picture. Pictures with equal keys have equal pixels.
pub type PictureKey = (PictureView, Canvas);

/// A picture with the parts of it that overlays cover.
#[derive(Debug)]
struct Placement {
    area: Rect,
    key: PictureKey,
    covered: Vec<Rect>,
}

impl Placement {
    fn shows(&self, position: Position) -> bool {
        !self.covered.iter().any(|covered| covered.contains(position))
    }

    /// Returns whether this picture needs no drawing after another frame, because all that it shows is on the screen.
    fn is_part_of(&self, before: &Self) -> bool {
        self.area == before.area
            && self.key == before.key
            && before.covered.iter().all(|it| it.positions().all(|at| !self.shows(at)))
    }
}

#[derive(Debug, Default)]
pub struct Overdraw {
    overlays: Vec<Rect>,
    previous: Vec<Placement>,
    current: Vec<Placement>,
    /// The pictures to draw, as indexes of `current`.
    pending: Vec<(usize, Arc<str>)>,
    in_tmux: bool,
}

impl Overdraw {
    pub fn new(in_tmux: bool) -> Self {
        Self { in_tmux, ..Self::default() }
    }

    pub fn begin_frame(&mut self, overlays: &[Rect]) {
        self.overlays = overlays.to_vec();
    }

    /// Excludes the cells of `area` that no overlay covers from the frame. Returns `None` if the picture cannot be
    /// drawn beside an overlay, or would scroll the screen.
    pub fn place(
        &mut self,
        buffer: &mut Buffer,
        area: Rect,
        key: PictureKey,
        sequence: &Arc<str>,
    ) -> Option<()> {
        let covered = self.overlays.iter().map(|overlay| overlay.intersection(area));
        let covered = covered.filter(|covered| !covered.is_empty()).collect();
        let placement = Placement { area, key, covered };
        let is_drawn = self.previous.iter().any(|before| placement.is_part_of(before));
        // tmux removes a whole picture when a cell of it is written. An iTerm2 picture cannot be cropped, but what is
        // on the screen stays there.
        let can_be_beside = !self.in_tmux && (is_drawn || is_sixel(sequence));
        // A sixel leaves the cursor on the row below it, which scrolls the screen if the picture
        // ends on the last row.
        let scrolls = is_sixel(sequence) && area.bottom() >= buffer.area.bottom();
        if scrolls || !(placement.covered.is_empty() || can_be_beside) {
            return None;
        }
        for position in area.positions().filter(|position| placement.shows(*position)) {
            let cell = &mut buffer[position];
            cell.reset();
            cell.set_diff_option(CellDiffOption::Skip);
        }
        if !is_drawn {
            self.pending.push((self.current.len(), Arc::clone(sequence)));
        }
        self.current.push(placement);
        Some(())
    }

    /// Draws the pictures that are not on the screen yet, each in a cleared area.
    pub fn end_frame(&mut self) -> String {
        self.previous = std::mem::take(&mut self.current);
        let mut out = String::new();
        for (index, sequence) in self.pending.drain(..) {
            draw(&self.previous[index], &sequence, self.in_tmux, &mut out);
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

fn draw(placement: &Placement, sequence: &str, in_tmux: bool, out: &mut String) {
    let Placement { area, key: (_, canvas), covered } = placement;
    // Writing into a string cannot fail.
    let _ = write!(out, "\x1b7\x1b[0m");
    for row in area.rows() {
        clear(row, placement, out);
    }
    let _ = write!(out, "\x1b[{};{}H", area.y + 1, area.x + 1);
    // tmux supports sixel, but passes iTerm2 pictures only if they are wrapped.
    if in_tmux && !is_sixel(sequence) {
        let _ = write!(out, "\x1bPtmux;{}\x1b\\", sequence.replace('\x1b', "\x1b\x1b"));
    } else if covered.is_empty() {
        out.push_str(sequence);
    } else {
        out.push_str(&crop(sequence, *area, covered, canvas.cell));
    }
    out.push_str("\x1b8");
}

/// Clears the cells of a row that the picture shows.
fn clear(row: Rect, placement: &Placement, out: &mut String) {
    let shows = |x: u16| placement.shows(Position::new(x, row.y));
    let mut x = row.left();
    while x < row.right() {
        let end = (x..row.right()).find(|other| shows(*other) != shows(x)).unwrap_or(row.right());
        if shows(x) {
            let _ = write!(out, "\x1b[{};{}H\x1b[{}X", row.y + 1, x + 1, end - x);
        }
        x = end;
    }
}

fn is_sixel(sequence: &str) -> bool {
    sequence.starts_with("\x1bP")
}
