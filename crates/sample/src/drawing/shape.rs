//! Shapes for the canvas, in the coordinates of its current transform. `None` is an empty shape.

use tiny_skia::{Path, PathBuilder, Rect, Transform};

/// x to the right and y downwards.
pub type Point = (f32, f32);

/// An ellipse by its center and radii.
pub fn ellipse(x: f32, y: f32, rx: f32, ry: f32) -> Option<Path> {
    PathBuilder::from_oval(Rect::from_xywh(x - rx, y - ry, 2.0 * rx, 2.0 * ry)?)
}

pub fn circle(x: f32, y: f32, r: f32) -> Option<Path> {
    ellipse(x, y, r, r)
}

/// A rectangle by its upper left corner and size.
pub fn rect(x: f32, y: f32, w: f32, h: f32) -> Option<Path> {
    Rect::from_xywh(x, y, w, h).map(PathBuilder::from_rect)
}

/// A rectangle with corners rounded by `r`.
pub fn rounded_rect(x: f32, y: f32, w: f32, h: f32, r: f32) -> Option<Path> {
    let r = r.min(w / 2.0).min(h / 2.0);
    let mut path = PathBuilder::new();
    path.move_to(x + r, y);
    let corners = [(x + w, y), (x + w, y + h), (x, y + h), (x, y)];
    let directions = [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)];
    for (index, ((cx, cy), (dx, dy))) in corners.into_iter().zip(directions).enumerate() {
        let (ex, ey) = directions[(index + 1) % 4];
        path.line_to(cx - dx * r, cy - dy * r);
        path.quad_to(cx, cy, cx + ex * r, cy + ey * r);
    }
    path.close();
    path.finish()
}

pub fn polygon(points: &[Point]) -> Option<Path> {
    let mut path = lines(points);
    path.close();
    path.finish()
}

pub fn polyline(points: &[Point]) -> Option<Path> {
    lines(points).finish()
}

fn lines(points: &[Point]) -> PathBuilder {
    let mut path = PathBuilder::new();
    for (index, &(x, y)) in points.iter().enumerate() {
        if index == 0 { path.move_to(x, y) } else { path.line_to(x, y) }
    }
    path
}

/// A closed Catmull-Rom spline through the points.
pub fn closed_spline(points: &[Point]) -> Option<Path> {
    let count = points.len();
    let mut path = PathBuilder::new();
    let &(x, y) = points.first()?;
    path.move_to(x, y);
    for index in 0..count {
        let around = |step: usize| points[(index + count + step - 1) % count];
        let (before, from, to, after) = (around(0), around(1), around(2), around(3));
        path.cubic_to(
            from.0 + (to.0 - before.0) / 6.0,
            from.1 + (to.1 - before.1) / 6.0,
            to.0 - (after.0 - from.0) / 6.0,
            to.1 - (after.1 - from.1) / 6.0,
            to.0,
            to.1,
        );
    }
    path.close();
    path.finish()
}

/// A leaf or petal from `from` to `to`, `width` at its widest.
pub fn leaf(from: Point, to: Point, width: f32) -> Option<Path> {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy).max(1e-6);
    let (nx, ny) = (-dy / length * width * 0.66, dx / length * width * 0.66);
    let along = |t: f32, side: f32| (from.0 + dx * t + nx * side, from.1 + dy * t + ny * side);
    let mut path = PathBuilder::new();
    path.move_to(from.0, from.1);
    let (a, b) = (along(0.25, 1.0), along(0.8, 1.0));
    path.cubic_to(a.0, a.1, b.0, b.1, to.0, to.1);
    let (a, b) = (along(0.8, -1.0), along(0.25, -1.0));
    path.cubic_to(a.0, a.1, b.0, b.1, from.0, from.1);
    path.close();
    path.finish()
}

/// A quadratic Bézier curve with the control point `by`.
pub fn curve(from: Point, by: Point, to: Point) -> Option<Path> {
    let mut path = PathBuilder::new();
    path.move_to(from.0, from.1);
    path.quad_to(by.0, by.1, to.0, to.1);
    path.finish()
}

/// Moves the origin to a point and scales a unit to `size` pixels.
pub fn place_at(x: f32, y: f32, size: f32) -> Transform {
    Transform::from_row(size, 0.0, 0.0, size, x, y)
}

/// A closed shape of quadratic Bézier curves, each given by its control point and its end.
pub fn closed_curve(start: Point, edges: &[(Point, Point)]) -> Option<Path> {
    let mut path = PathBuilder::new();
    path.move_to(start.0, start.1);
    for &((by_x, by_y), (x, y)) in edges {
        path.quad_to(by_x, by_y, x, y);
    }
    path.close();
    path.finish()
}
