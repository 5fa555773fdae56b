//! Draws many points as braille dots, eight in a cell. A cell has the style of the class that most of its points belong
//! to. The window of a plot converts between positions in a plane and cells of the screen.

use std::array;

use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
    style::Style,
};

/// A position in the plane. The second coordinate grows downward, as rows do.
pub(crate) type PlotPosition = [f32; 2];

/// The maximum number of classes of points.
pub(crate) const CLASSES: usize = 7;

/// The part of the plane that a plot shows, by its corners.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlotWindow {
    low: PlotPosition,
    high: PlotPosition,
}

impl PlotWindow {
    /// Returns the smallest window with a margin that contains all positions.
    pub(crate) fn around(positions: impl Iterator<Item = PlotPosition>) -> Self {
        const MARGIN: f32 = 0.03;
        const MIN_SIDE: f32 = 0.01;
        let bounds = positions.fold(None, |bounds: Option<Self>, position| {
            let Self { low, high } = bounds.unwrap_or(Self { low: position, high: position });
            Some(Self {
                low: array::from_fn(|axis| low[axis].min(position[axis])),
                high: array::from_fn(|axis| high[axis].max(position[axis])),
            })
        });
        let Some(Self { low, high }) = bounds else {
            return Self { low: [0.0; 2], high: [1.0; 2] };
        };
        let margin: PlotPosition =
            array::from_fn(|axis| MARGIN * (high[axis] - low[axis]).max(MIN_SIDE));
        Self {
            low: array::from_fn(|axis| low[axis] - margin[axis]),
            high: array::from_fn(|axis| high[axis] + margin[axis]),
        }
    }

    /// Returns the window between two corners, which may be in any order.
    pub(crate) fn between(one: PlotPosition, other: PlotPosition) -> Self {
        Self {
            low: array::from_fn(|axis| one[axis].min(other[axis])),
            high: array::from_fn(|axis| one[axis].max(other[axis])),
        }
    }

    pub(crate) fn center(self) -> PlotPosition {
        array::from_fn(|axis| f32::midpoint(self.low[axis], self.high[axis]))
    }

    pub(crate) fn contains(self, position: PlotPosition) -> bool {
        (0..2).all(|axis| (self.low[axis]..=self.high[axis]).contains(&position[axis]))
    }

    /// Returns the nearest position in the window.
    pub(crate) fn nearest(self, position: PlotPosition) -> PlotPosition {
        array::from_fn(|axis| position[axis].max(self.low[axis]).min(self.high[axis]))
    }

    /// Returns whether all of another window is in this one.
    pub(crate) fn contains_window(self, other: Self) -> bool {
        self.contains(other.low) && self.contains(other.high)
    }

    fn side(self, axis: usize) -> f32 {
        (self.high[axis] - self.low[axis]).max(f32::MIN_POSITIVE)
    }

    /// Returns the squared distance of two positions, in parts of the window.
    pub(crate) fn distance(self, one: PlotPosition, other: PlotPosition) -> f32 {
        (0..2).map(|axis| ((one[axis] - other[axis]) / self.side(axis)).powi(2)).sum()
    }

    /// Zooms by a factor around a position that stays where it is. A window is not zoomed to less than a thousandth of
    /// a side, because coordinates have four digits.
    pub(crate) fn zoomed(self, factor: f32, fixed: PlotPosition) -> Self {
        let around = |corner: PlotPosition| {
            array::from_fn(|axis| fixed[axis] + (corner[axis] - fixed[axis]) / factor)
        };
        let zoomed = Self { low: around(self.low), high: around(self.high) };
        if factor > 1.0 && zoomed.is_smallest() { self } else { zoomed }
    }

    /// Whether the window is too small to be shown.
    pub(crate) fn is_smallest(self) -> bool {
        const SMALLEST: f32 = 1e-3;
        self.side(0).min(self.side(1)) < SMALLEST
    }

    /// Returns the window with a margin on each side.
    pub(crate) fn grown(self, by: PlotPosition) -> Self {
        Self {
            low: array::from_fn(|axis| self.low[axis] - by[axis]),
            high: array::from_fn(|axis| self.high[axis] + by[axis]),
        }
    }

    /// Moves the window as little as possible so that it contains a position.
    pub(crate) fn moved_to_contain(self, position: PlotPosition) -> Self {
        let by: PlotPosition = array::from_fn(|axis| {
            (position[axis] - self.high[axis]).max(0.0) + (position[axis] - self.low[axis]).min(0.0)
        });
        Self {
            low: array::from_fn(|axis| self.low[axis] + by[axis]),
            high: array::from_fn(|axis| self.high[axis] + by[axis]),
        }
    }

    /// Returns the sides of a cell of a plot.
    pub(crate) fn cell_sides(self, area: Rect) -> PlotPosition {
        let cells = [area.width, area.height];
        array::from_fn(|axis| self.side(axis) / f32::from(cells[axis].max(1)))
    }

    /// Returns the position at the center of a cell.
    pub(crate) fn position_in(self, area: Rect, cell: Position) -> PlotPosition {
        let from_corner = [cell.x.saturating_sub(area.x), cell.y.saturating_sub(area.y)];
        let sides = self.cell_sides(area);
        array::from_fn(|axis| self.low[axis] + (f32::from(from_corner[axis]) + 0.5) * sides[axis])
    }

    /// Returns the cell of a position, or the nearest one.
    pub(crate) fn cell_of(self, area: Rect, position: PlotPosition) -> Position {
        let sides = self.cell_sides(area);
        let cells = [area.width, area.height];
        let [x, y]: [u16; 2] = array::from_fn(|axis| {
            whole((position[axis] - self.low[axis]) / sides[axis])
                .min(cells[axis].saturating_sub(1))
        });
        Position { x: area.x + x, y: area.y + y }
    }

    /// Returns the dot of a position, counted from the corner of the plot, or `None` if it is outside.
    fn dot(self, area: Rect, position: PlotPosition) -> Option<(u16, u16)> {
        if !self.contains(position) {
            return None;
        }
        let dots = [2 * area.width, 4 * area.height];
        let [x, y]: [u16; 2] = array::from_fn(|axis| {
            let part = (position[axis] - self.low[axis]) / self.side(axis);
            whole(part * f32::from(dots[axis])).min(dots[axis].saturating_sub(1))
        });
        Some((x, y))
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
fn whole(number: f32) -> u16 {
    number as u16
}

/// The bits of the dots of a braille character, by column and row.
const BRAILLE: [[u8; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];

#[derive(Clone, Copy, Debug, Default)]
struct PlotCell {
    dots: u8,
    /// The number of points of each class.
    counts: [u32; CLASSES],
    is_marked: bool,
}

/// A point of a plot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PlotPoint {
    pub position: PlotPosition,
    /// The position of its class in the styles of the plot.
    pub class: usize,
    /// Whether its cell is shown as selected.
    pub is_marked: bool,
}

/// If there are more cells than this for a point, points are bullets, because a single dot is hardly visible.
const CELLS_PER_BULLET: usize = 16;

/// Draws points into the cells of an area. Points outside the window are not drawn. Without color, cells have the marks
/// of the classes instead of dots.
pub(crate) fn draw_points(
    buf: &mut Buffer,
    area: Rect,
    window: PlotWindow,
    points: impl Iterator<Item = PlotPoint>,
    (styles, marks): (&[Style; CLASSES], Option<&[char; CLASSES]>),
    mark: Style,
) {
    let area = area.intersection(buf.area);
    let mut drawn = 0;
    let mut cells = vec![PlotCell::default(); usize::from(area.width) * usize::from(area.height)];
    for point in points {
        let Some((x, y)) = window.dot(area, point.position) else { continue };
        let cell = usize::from(y / 4) * usize::from(area.width) + usize::from(x / 2);
        let Some(cell) = cells.get_mut(cell) else { continue };
        drawn += 1;
        cell.dots |= BRAILLE[usize::from(x % 2)][usize::from(y % 4)];
        cell.counts[point.class.min(CLASSES - 1)] += 1;
        cell.is_marked |= point.is_marked;
    }
    for (position, cell) in area.positions().zip(&cells).filter(|(_, cell)| cell.dots > 0) {
        // The first of equally frequent classes wins, so that colors do not flicker.
        let (most, _) = cell
            .counts
            .iter()
            .enumerate()
            .rev()
            .max_by_key(|(_, count)| **count)
            .unwrap_or((0, &0));
        let style = if cell.is_marked { styles[most].patch(mark) } else { styles[most] };
        let braille = char::from_u32(0x2800 + u32::from(cell.dots)).unwrap_or(' ');
        let symbol = match marks {
            Some(marks) => marks[most],
            None if drawn * CELLS_PER_BULLET < cells.len() => '•',
            None => braille,
        };
        buf[position].set_char(symbol).set_style(style);
    }
}

#[cfg(test)]
mod tests {
    use ratatui::style::Color;

    use super::*;

    const AREA: Rect = Rect { x: 1, y: 1, width: 4, height: 2 };

    fn unit() -> PlotWindow {
        PlotWindow::between([1.0, 0.0], [0.0, 1.0])
    }

    #[test]
    fn positions_are_dots_with_the_color_of_most_points() {
        let point = |x: f32, y: f32, class| PlotPoint { position: [x, y], class, is_marked: false };
        let points = [
            point(0.0, 0.0, 0),
            point(0.01, 0.01, 1),
            point(0.02, 0.0, 1),
            point(1.0, 1.0, 2),
            point(1.2, 0.5, 0),
        ];
        let mut buf = Buffer::empty(Rect::new(0, 0, 6, 4));
        let colors = [1, 2, 3, 4, 5, 6, 7].map(|color| Style::new().fg(Color::Indexed(color)));
        draw_points(&mut buf, AREA, unit(), points.into_iter(), (&colors, None), Style::new());
        let drawn = buf.area.positions().filter(|at| buf[*at].symbol() != " ");
        let drawn: Vec<_> = drawn.map(|at| ((at.x, at.y), buf[at].symbol(), buf[at].fg)).collect();
        let sparse = Rect::new(0, 0, 40, 20);
        let mut large = Buffer::empty(sparse);
        draw_points(&mut large, sparse, unit(), points.into_iter(), (&colors, None), Style::new());
        assert_eq!(large[(39, 19)].symbol(), "•");
        let expected = [((1, 1), "⠁", Color::Indexed(2)), ((4, 2), "⢀", Color::Indexed(3))];
        assert_eq!(drawn, expected);
    }

    #[test]
    fn cells_and_positions_correspond() {
        for cell in AREA.positions() {
            assert_eq!(unit().cell_of(AREA, unit().position_in(AREA, cell)), cell);
        }
        assert_eq!(unit().cell_of(AREA, [9.0, -9.0]), Position { x: 4, y: 1 });
    }

    #[test]
    fn a_window_zooms_around_a_position_and_follows_one() {
        let zoomed = unit().zoomed(2.0, [0.0, 1.0]);
        assert_eq!(zoomed, PlotWindow { low: [0.0, 0.5], high: [0.5, 1.0] });
        assert_eq!(zoomed.zoomed(0.5, [0.0, 1.0]), unit());
        let moved = zoomed.moved_to_contain([0.75, 0.25]);
        assert_eq!(moved, PlotWindow { low: [0.25, 0.25], high: [0.75, 0.75] });
        let smallest = (0..40).fold(unit(), |window, _| window.zoomed(2.0, [0.5, 0.5]));
        assert!(smallest.side(0) > 5e-4);
    }

    #[test]
    fn a_window_has_all_positions_and_is_never_empty() {
        let window = PlotWindow::around([[0.2, 0.3], [0.6, 0.3]].into_iter());
        assert!(window.contains([0.2, 0.3]) && window.contains([0.6, 0.3]));
        assert!(window.side(1) > 0.0);
        assert_eq!(PlotWindow::around(std::iter::empty()), unit());
        assert!(unit().distance(unit().nearest([2.0, 0.5]), [1.0, 0.5]) < 1e-6);
        assert!(
            unit().contains_window(unit()) && !unit().contains_window(unit().zoomed(0.9, [0.5; 2]))
        );
    }
}
