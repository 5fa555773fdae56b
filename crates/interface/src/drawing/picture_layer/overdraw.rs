//! Draws sixel and iTerm2 pictures, each by one string over cells that the frame skips.
//!
//! Cells that are no longer skipped differ from the last frame, so the frame writes them and
//! thereby erases the picture. This module clears the area before a new picture, and does not
//! redraw pictures that are still on the screen.
//!
//! What a dialog covers is removed from a sixel picture. A sixel is six pixels high, so a covered sixel is removed as a
//! whole. The picture keeps its place, because pixels that are not painted stay as they are on the screen.

use std::{fmt::Write, ops::Range, sync::Arc};

use ratatui::{
    buffer::{Buffer, CellDiffOption},
    layout::{Position, Rect},
};
use tessera_picture::{Canvas, CoveredPart, PictureView, without_covered_sixels};

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

/// Returns the sequence without the sixels that are at least partly in these cells of the picture's area.
fn crop(sequence: &str, area: Rect, covered: &[Rect], cell: (u16, u16)) -> String {
    let pixels = |cells: Range<u16>, start: u16, side: u16| {
        let side = usize::from(side);
        usize::from(cells.start - start) * side..usize::from(cells.end - start) * side
    };
    let covered = covered.iter().map(|it| CoveredPart {
        columns: pixels(it.left()..it.right(), area.x, cell.0),
        rows: pixels(it.top()..it.bottom(), area.y, cell.1),
    });
    without_covered_sixels(sequence, covered.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn covered_sixels_are_blank_and_the_others_stay_in_place() {
        // Two cells of 4x6 pixels in a row, and three rows.
        let picture = "\x1bP0;1;0q\"1;1;8;18#0;2;0;0;0!8~$#1;2;9;9;9!8N-#0!8~-#1~~~!5N\x1b\\";
        let area = Rect::new(10, 5, 2, 3);
        let crop = |covered: &[Rect]| crop(picture, area, covered, (4, 6));
        assert_eq!(crop(&[]), picture);
        assert_eq!(
            crop(&[Rect::new(11, 6, 1, 2)]),
            "\x1bP0;1;0q\"1;1;8;18#0;2;0;0;0!8~$#1;2;9;9;9!8N-#0!4~!4?-#1~~~N!4?\x1b\\"
        );
        assert_eq!(
            crop(&[Rect::new(10, 5, 2, 1), Rect::new(10, 7, 1, 1)]),
            "\x1bP0;1;0q\"1;1;8;18#0;2;0;0;0!8?$#1;2;9;9;9!8?-#0!8~-#1????!4N\x1b\\"
        );
    }

    #[test]
    fn a_sixel_that_is_partly_covered_is_removed_as_a_whole() {
        // A cell of 4x5 pixels: its second row begins within the first sixel.
        let picture = "\x1bP0;1;0q#0~~~~-~~~~\x1b\\";
        let area = Rect::new(0, 0, 1, 2);
        assert_eq!(
            crop(picture, area, &[Rect::new(0, 1, 1, 1)], (4, 5)),
            "\x1bP0;1;0q#0????-????\x1b\\"
        );
    }
}
