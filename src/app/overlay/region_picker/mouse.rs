//! The mouse in the region picker: press and drag draws a region, inside moves it, on an edge
//! moves the edge.

use ratatui::layout::Rect;

use super::RegionPicker;
use crate::app::{App, Mouse, MouseKind};
use tessera_model::{Region, region::Vec2};

/// What the pressed button has hold of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Drag {
    /// The first cell of a new region.
    Draw((u16, u16)),
    /// The inside, at this cell.
    Move((u16, u16)),
    /// An upright edge, a level one, or two that meet in a corner.
    Resize(Option<DragEdge>, Option<DragEdge>),
}

/// One of two opposite edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DragEdge {
    /// The left one or the upper one.
    Near,
    /// The right one or the lower one.
    Far,
}

impl DragEdge {
    /// The edge that lies in cell `at` of a span from cell `first`, `length` cells long.
    fn at(at: u16, first: u16, length: u16) -> Option<Self> {
        match at {
            _ if at == first => Some(Self::Near),
            _ if at + 1 == first + length => Some(Self::Far),
            _ => None,
        }
    }

    /// Moves this edge of the span between two places to a cell that begins and ends at `cell`.
    fn drag_to(self, span: &mut Vec2, cell: Vec2, least: f64) {
        match self {
            Self::Near => span.0 = cell.0.min(span.1 - least),
            Self::Far => span.1 = cell.1.max(span.0 + least),
        }
    }
}

impl RegionPicker {
    /// Takes what the mouse did.
    pub fn handle_mouse(&mut self, mouse: Mouse, app: &App) {
        let Some(covered) = self.picture_cells(app).filter(|_| !self.zoomed) else { return };
        let cell = cell(covered, mouse);
        match (mouse.kind, self.drag) {
            (MouseKind::Click, _) if covered.contains((mouse.column, mouse.row).into()) => {
                self.drag = Some((self.drag_at(covered, cell), self.region));
                self.number_input = None;
            }
            (MouseKind::Drag, Some((drag, start))) => {
                self.region = self.region_after_drag(drag, start, cell, covered, app);
            }
            (MouseKind::Release, Some((_, start))) => {
                self.drag = None;
                self.push_undo(start);
            }
            _ => {}
        }
    }

    /// What a press on a cell takes hold of. All of the picture has no inside to be moved.
    fn drag_at(&self, covered: Rect, cell: (u16, u16)) -> Drag {
        let ((x, y), (width, height)) = self.region.cells((covered.width, covered.height));
        let inside = (x..x + width).contains(&cell.0) && (y..y + height).contains(&cell.1);
        if !inside || self.region == Region::WHOLE {
            return Drag::Draw(cell);
        }
        match (DragEdge::at(cell.0, x, width), DragEdge::at(cell.1, y, height)) {
            (None, None) => Drag::Move(cell),
            (upright, level) => Drag::Resize(upright, level),
        }
    }

    /// The region of the press after the mouse has come to `cell`.
    fn region_after_drag(
        &self,
        drag: Drag,
        start: Region,
        cell: (u16, u16),
        covered: Rect,
        app: &App,
    ) -> Region {
        let smallest = self.pixel_size(app);
        let near = |(column, row)| fraction(covered, column, row);
        let far = |(column, row): (u16, u16)| fraction(covered, column + 1, row + 1);
        match drag {
            Drag::Draw(at) => {
                let first = (at.0.min(cell.0), at.1.min(cell.1));
                let last = (at.0.max(cell.0), at.1.max(cell.1));
                Region::from_corners(near(first), far(last), smallest)
            }
            Drag::Move(at) => {
                let (from, to) = (near(at), near(cell));
                start.translated((to.0 - from.0, to.1 - from.1))
            }
            Drag::Resize(upright, level) => {
                let (before, behind) = (near(cell), far(cell));
                let (mut across, mut down) =
                    ((start.x, start.bottom_right().0), (start.y, start.bottom_right().1));
                if let Some(edge) = upright {
                    edge.drag_to(&mut across, (before.0, behind.0), smallest.0);
                }
                if let Some(edge) = level {
                    edge.drag_to(&mut down, (before.1, behind.1), smallest.1);
                }
                Region::from_corners((across.0, down.0), (across.1, down.1), smallest)
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
fn fraction(covered: Rect, column: u16, row: u16) -> Vec2 {
    let part = |place: u16, side: u16| f64::from(place) / f64::from(side.max(1));
    (part(column, covered.width), part(row, covered.height))
}
