//! The mouse in the region picker: press and drag draws a region, inside moves it, on an edge
//! moves the edge.

use ratatui::layout::Rect;

use super::RegionPicker;
use crate::{
    app::{App, Mouse, MouseKind},
    model::{Region, region::Pair},
};

/// What the pressed button has hold of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Drag {
    /// The first cell of a new region.
    New((u16, u16)),
    /// The inside, at this cell.
    Inside((u16, u16)),
    /// One edge or two that meet.
    Edges(Edges),
}

/// The edges that follow the mouse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edges {
    left: bool,
    right: bool,
    top: bool,
    bottom: bool,
}

impl RegionPicker {
    /// Takes what the mouse did.
    pub fn mouse(&mut self, mouse: Mouse, app: &App) {
        let Some(covered) = self.covered(app).filter(|_| !self.zoomed) else { return };
        let cell = cell(covered, mouse);
        match (mouse.kind, self.drag) {
            (MouseKind::Click, _) if covered.contains((mouse.column, mouse.row).into()) => {
                self.drag = Some((self.take(covered, cell), self.region));
                self.numbers = None;
            }
            (MouseKind::Drag, Some((drag, start))) => {
                self.region = self.dragged(drag, start, cell, covered, app);
            }
            (MouseKind::Release, Some((_, start))) => {
                self.drag = None;
                self.remember(start);
            }
            _ => {}
        }
    }

    /// What a press on a cell takes hold of. All of the picture has no inside to be moved.
    fn take(&self, covered: Rect, cell: (u16, u16)) -> Drag {
        let ((left, top), (width, height)) = self.region.cells((covered.width, covered.height));
        let (right, bottom) = (left + width - 1, top + height - 1);
        let across = (left..=right).contains(&cell.0);
        let down = (top..=bottom).contains(&cell.1);
        let edges = Edges {
            left: down && cell.0 == left,
            right: down && cell.0 == right && right > left,
            top: across && cell.1 == top,
            bottom: across && cell.1 == bottom && bottom > top,
        };
        let whole = self.region == Region::WHOLE;
        match (edges.left || edges.right || edges.top || edges.bottom, across && down) {
            (true, _) if !whole => Drag::Edges(edges),
            (false, true) if !whole => Drag::Inside(cell),
            _ => Drag::New(cell),
        }
    }

    /// The region of the press after the mouse has come to `cell`.
    fn dragged(
        &self,
        drag: Drag,
        start: Region,
        cell: (u16, u16),
        covered: Rect,
        app: &App,
    ) -> Region {
        let least = self.pixel(app);
        let near = |(column, row)| fraction(covered, column, row);
        let far = |(column, row): (u16, u16)| fraction(covered, column + 1, row + 1);
        match drag {
            Drag::New(at) => {
                let first = (at.0.min(cell.0), at.1.min(cell.1));
                let last = (at.0.max(cell.0), at.1.max(cell.1));
                Region::between(near(first), far(last), least)
            }
            Drag::Inside(at) => {
                let (from, to) = (near(at), near(cell));
                start.moved((to.0 - from.0, to.1 - from.1))
            }
            Drag::Edges(edges) => {
                let (mut one, mut other) = (start.near(), start.far());
                if edges.left {
                    one.0 = near(cell).0.min(other.0 - least.0);
                }
                if edges.top {
                    one.1 = near(cell).1.min(other.1 - least.1);
                }
                if edges.right {
                    other.0 = far(cell).0.max(one.0 + least.0);
                }
                if edges.bottom {
                    other.1 = far(cell).1.max(one.1 + least.1);
                }
                Region::between(one, other, least)
            }
        }
    }
}

/// The cell of the picture that is nearest to the mouse.
fn cell(covered: Rect, mouse: Mouse) -> (u16, u16) {
    let column = mouse.column.clamp(covered.left(), covered.right().max(1) - 1);
    let row = mouse.row.clamp(covered.top(), covered.bottom().max(1) - 1);
    (column - covered.x, row - covered.y)
}

/// The near corner of a cell of the picture.
fn fraction(covered: Rect, column: u16, row: u16) -> Pair {
    let (columns, rows) = (covered.width.max(1), covered.height.max(1));
    (f64::from(column) / f64::from(columns), f64::from(row) / f64::from(rows))
}
