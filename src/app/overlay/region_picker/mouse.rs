//! The mouse in the region picker: a drag draws a new region, moves the region from its inside, or
//! resizes it from an edge.

use ratatui::layout::Rect;

use super::RegionPicker;
use crate::app::{App, Mouse, MouseKind};
use tessera_model::{Region, region::Vec2};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Drag {
    /// Draws a new region from this cell.
    Draw((u16, u16)),
    /// Moves the region from this cell.
    Move((u16, u16)),
    /// Moves a vertical edge, a horizontal edge, or both at a corner.
    Resize(Option<DragEdge>, Option<DragEdge>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DragEdge {
    /// Left or top.
    Start,
    /// Right or bottom.
    End,
}

impl DragEdge {
    /// The edge in cell `at` of a span of `length` cells from cell `first`.
    fn at(at: u16, first: u16, length: u16) -> Option<Self> {
        match at {
            _ if at == first => Some(Self::Start),
            _ if at + 1 == first + length => Some(Self::End),
            _ => None,
        }
    }

    /// Moves this edge of a span to a cell, given by its start and end.
    fn drag_to(self, span: &mut Vec2, cell: Vec2, smallest: f64) {
        match self {
            Self::Start => span.0 = cell.0.min(span.1 - smallest),
            Self::End => span.1 = cell.1.max(span.0 + smallest),
        }
    }
}

impl RegionPicker {
    pub(super) fn drag_with(&mut self, mouse: Mouse, app: &App) {
        let Some(picture) = self.picture_cells(app).filter(|_| !self.zoomed) else { return };
        let cell = cell(picture, mouse);
        match (mouse.kind, self.drag) {
            (MouseKind::Click, _) if picture.contains((mouse.column, mouse.row).into()) => {
                self.drag = Some((self.drag_at(picture, cell), self.region));
                self.number_input = None;
            }
            (MouseKind::Drag, Some((drag, start))) => {
                self.region = self.region_after_drag(drag, start, cell, picture, app);
            }
            (MouseKind::Release, Some((_, start))) => {
                self.drag = None;
                self.push_undo(start);
            }
            _ => {}
        }
    }

    /// What a drag from a cell does. A region that covers the picture cannot be moved.
    fn drag_at(&self, picture: Rect, cell: (u16, u16)) -> Drag {
        let ((x, y), (width, height)) = self.region.cells((picture.width, picture.height));
        let inside = (x..x + width).contains(&cell.0) && (y..y + height).contains(&cell.1);
        if !inside || self.region == Region::WHOLE {
            return Drag::Draw(cell);
        }
        match (DragEdge::at(cell.0, x, width), DragEdge::at(cell.1, y, height)) {
            (None, None) => Drag::Move(cell),
            (vertical, horizontal) => Drag::Resize(vertical, horizontal),
        }
    }

    fn region_after_drag(
        &self,
        drag: Drag,
        start: Region,
        cell: (u16, u16),
        picture: Rect,
        app: &App,
    ) -> Region {
        let smallest = self.pixel_size(app);
        let top_left = |(column, row)| fraction(picture, column, row);
        let bottom_right = |(column, row): (u16, u16)| fraction(picture, column + 1, row + 1);
        match drag {
            Drag::Draw(at) => {
                let first = (at.0.min(cell.0), at.1.min(cell.1));
                let last = (at.0.max(cell.0), at.1.max(cell.1));
                Region::from_corners(top_left(first), bottom_right(last), smallest)
            }
            Drag::Move(at) => {
                let (from, to) = (top_left(at), top_left(cell));
                start.translated((to.0 - from.0, to.1 - from.1))
            }
            Drag::Resize(vertical, horizontal) => {
                let (cell_start, cell_end) = (top_left(cell), bottom_right(cell));
                let end = start.bottom_right();
                let (mut x, mut y) = ((start.x, end.0), (start.y, end.1));
                if let Some(edge) = vertical {
                    edge.drag_to(&mut x, (cell_start.0, cell_end.0), smallest.0);
                }
                if let Some(edge) = horizontal {
                    edge.drag_to(&mut y, (cell_start.1, cell_end.1), smallest.1);
                }
                Region::from_corners((x.0, y.0), (x.1, y.1), smallest)
            }
        }
    }
}

/// The cell of the picture nearest to the mouse.
fn cell(picture: Rect, mouse: Mouse) -> (u16, u16) {
    let column = mouse.column.clamp(picture.left(), picture.right().max(1) - 1);
    let row = mouse.row.clamp(picture.top(), picture.bottom().max(1) - 1);
    (column - picture.x, row - picture.y)
}

/// The top left corner of a cell as a fraction of the picture.
fn fraction(picture: Rect, column: u16, row: u16) -> Vec2 {
    let part = |cell: u16, side: u16| f64::from(cell) / f64::from(side.max(1));
    (part(column, picture.width), part(row, picture.height))
}
