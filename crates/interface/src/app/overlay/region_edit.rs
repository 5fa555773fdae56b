//! Edits a region in the region picker: with the steps of a key, with its four numbers, and by dragging with the mouse.
//! A drag draws a new region, moves the region from its inside, or resizes the region from an edge.

use ratatui::layout::Rect;
use tessera_config::{input::Chord, text_enum};
use tessera_model::{Region, region::Vec2};
use tui_input::Input;

use crate::app::{
    Mouse,
    overlay::fields::{self, KeyResult, edit},
};

text_enum! {
    /// How far a key moves the region.
    pub enum StepSize: name {
        Pixel = "1 pixel",
        TenPixels = "10 pixels",
        EighthOfCell = "1/8 cell",
        Cell = "1 cell",
    }
}

impl StepSize {
    pub(super) fn finer(self) -> Self {
        Self::ALL[(self as usize).saturating_sub(1)]
    }

    pub(super) fn coarser(self) -> Self {
        Self::ALL[(self as usize + 1).min(Self::ALL.len() - 1)]
    }

    /// Returns the step as a fraction of a picture that has a size of `pixels` and covers `cells`.
    pub(super) fn fraction_of(self, cells: (u16, u16), pixels: (u32, u32)) -> Vec2 {
        let cell = (1.0 / f64::from(cells.0.max(1)), 1.0 / f64::from(cells.1.max(1)));
        let pixel = (1.0 / f64::from(pixels.0.max(1)), 1.0 / f64::from(pixels.1.max(1)));
        let times = |(x, y): Vec2, factor: f64| (x * factor, y * factor);
        match self {
            Self::Pixel => pixel,
            Self::TenPixels => times(pixel, 10.0),
            Self::EighthOfCell => times(cell, 0.125),
            Self::Cell => cell,
        }
    }
}

text_enum! {
    /// One of the four numbers of a region, which are fractions of the picture. They are in the order of the Tab key.
    pub enum RegionField: name {
        X = "x",
        Y = "y",
        Width = "width",
        Height = "height",
    }
}

impl RegionField {
    pub fn value_in(self, region: Region) -> f64 {
        values(region)[self as usize]
    }

    /// Returns the region with this number changed, or `None` if the region would leave the picture.
    fn with_value(self, region: Region, value: f64) -> Option<Region> {
        let mut values = values(region);
        values[self as usize] = value;
        let [x, y, width, height] = values;
        let region = Region::new(x, y, width, height)?;
        // The numbers are rounded to the decimals that are sent.
        Some(Region::from_corners(region.top_left(), region.bottom_right(), (0.0, 0.0)))
    }
}

/// Returns the numbers of a region in the order of [`RegionField::ALL`].
fn values(region: Region) -> [f64; 4] {
    [region.x, region.y, region.width, region.height]
}

#[derive(Clone, Debug)]
pub struct RegionNumberInput {
    pub field: RegionField,
    pub text: Input,
    pub error: Option<&'static str>,
}

impl RegionNumberInput {
    pub(super) fn new(region: Region, last: bool) -> Self {
        Self::at(if last { RegionField::Height } else { RegionField::X }, region)
    }

    fn at(field: RegionField, region: Region) -> Self {
        let text = field.value_in(region).to_string().into();
        Self { field, text, error: None }
    }

    /// Handles a key. A valid number changes the region at once, and Esc goes back to the box.
    pub(super) fn handle_key(&mut self, chord: Chord, region: &mut Region) -> KeyResult {
        match fields::handle_form_key(&mut self.field, &RegionField::ALL, chord) {
            Some(KeyResult::Close) => return KeyResult::Back,
            Some(KeyResult::Accept) if self.error.is_none() => return KeyResult::Accept,
            Some(KeyResult::Accept) => {}
            Some(KeyResult::Stay | KeyResult::Back) => *self = Self::at(self.field, *region),
            None => {
                edit(&mut self.text, chord);
                self.apply(region);
            }
        }
        KeyResult::Stay
    }

    fn apply(&mut self, region: &mut Region) {
        let value = self.text.value().trim().parse::<f64>();
        self.error = match value.map(|value| self.field.with_value(*region, value)) {
            Err(_) => Some("a number from 0 to 1"),
            Ok(None) => Some("outside the picture"),
            Ok(Some(changed)) => {
                *region = changed;
                None
            }
        };
    }
}

/// What the mouse does while its button is pressed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Drag {
    /// Draws a new region from this cell.
    Draw((u16, u16)),
    /// Moves the region from this cell.
    Move((u16, u16)),
    /// Moves a vertical edge, a horizontal edge, or both at a corner.
    Resize { vertical: Option<DragEdge>, horizontal: Option<DragEdge> },
}

impl Drag {
    /// Returns what a drag from a cell does. A region that covers the picture cannot be moved.
    pub(super) fn from_cell(region: Region, picture: Rect, cell: (u16, u16)) -> Self {
        let ((x, y), (width, height)) = region.cells((picture.width, picture.height));
        let inside = (x..x + width).contains(&cell.0) && (y..y + height).contains(&cell.1);
        if !inside || region == Region::WHOLE {
            return Self::Draw(cell);
        }
        match (DragEdge::at(cell.0, x, width), DragEdge::at(cell.1, y, height)) {
            (None, None) => Self::Move(cell),
            (vertical, horizontal) => Self::Resize { vertical, horizontal },
        }
    }

    /// Returns the region after a drag to a cell. `start` is the region before the drag, and `smallest` the smallest
    /// size of a region.
    pub(super) fn apply(
        self,
        start: Region,
        picture: Rect,
        cell: (u16, u16),
        smallest: Vec2,
    ) -> Region {
        let top_left = |(column, row)| fraction(picture, column, row);
        let bottom_right = |(column, row): (u16, u16)| fraction(picture, column + 1, row + 1);
        match self {
            Self::Draw(at) => {
                let first = (at.0.min(cell.0), at.1.min(cell.1));
                let last = (at.0.max(cell.0), at.1.max(cell.1));
                Region::from_corners(top_left(first), bottom_right(last), smallest)
            }
            Self::Move(at) => {
                let (from, to) = (top_left(at), top_left(cell));
                start.translated((to.0 - from.0, to.1 - from.1))
            }
            Self::Resize { vertical, horizontal } => {
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DragEdge {
    /// The left or top edge.
    Start,
    /// The right or bottom edge.
    End,
}

impl DragEdge {
    /// Returns the edge in cell `at` of a span of `length` cells from cell `first`.
    fn at(at: u16, first: u16, length: u16) -> Option<Self> {
        match at {
            _ if at == first => Some(Self::Start),
            _ if at + 1 == first + length => Some(Self::End),
            _ => None,
        }
    }

    /// Moves this edge of a span to a cell. The span and the cell are given by their start and end.
    fn drag_to(self, span: &mut Vec2, cell: Vec2, smallest: f64) {
        match self {
            Self::Start => span.0 = cell.0.min(span.1 - smallest),
            Self::End => span.1 = cell.1.max(span.0 + smallest),
        }
    }
}

/// Returns the cell of the picture that is nearest to the mouse.
pub(super) fn cell_under(mouse: Mouse, picture: Rect) -> (u16, u16) {
    let column = mouse.column.clamp(picture.left(), picture.right().max(1) - 1);
    let row = mouse.row.clamp(picture.top(), picture.bottom().max(1) - 1);
    (column - picture.x, row - picture.y)
}

/// Returns the top left corner of a cell as a fraction of the picture.
fn fraction(picture: Rect, column: u16, row: u16) -> Vec2 {
    let part = |cell: u16, side: u16| f64::from(cell) / f64::from(side.max(1));
    (part(column, picture.width), part(row, picture.height))
}
