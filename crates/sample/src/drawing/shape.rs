//! Shapes for the canvas, in the coordinates of its current transform. An empty shape is `None`.

use tiny_skia::{Path, PathBuilder, Rect, Transform};

/// A point (x, y). x points to the right, and y points down.
pub type Point = (f32, f32);

fn path(draw: impl FnOnce(&mut PathBuilder)) -> Option<Path> {
    let mut path = PathBuilder::new();
    draw(&mut path);
    path.finish()
}

pub fn closed_path((x, y): Point, draw: impl FnOnce(&mut PathBuilder)) -> Option<Path> {
    path(|path| {
        path.move_to(x, y);
        draw(path);
        path.close();
    })
}

pub fn ellipse(x: f32, y: f32, rx: f32, ry: f32) -> Option<Path> {
    PathBuilder::from_oval(Rect::from_xywh(x - rx, y - ry, 2.0 * rx, 2.0 * ry)?)
}

pub fn circle(x: f32, y: f32, r: f32) -> Option<Path> {
    ellipse(x, y, r, r)
}

pub fn rect(x: f32, y: f32, w: f32, h: f32) -> Option<Path> {
    Rect::from_xywh(x, y, w, h).map(PathBuilder::from_rect)
}

pub fn rounded_rect(x: f32, y: f32, w: f32, h: f32, r: f32) -> Option<Path> {
    let r = r.min(w / 2.0).min(h / 2.0);
    let corners = [(x + w, y), (x + w, y + h), (x, y + h), (x, y)];
    let directions = [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)];
    closed_path((x + r, y), |path| {
        for (index, ((cx, cy), (dx, dy))) in corners.into_iter().zip(directions).enumerate() {
            let (ex, ey) = directions[(index + 1) % 4];
            path.line_to(cx - dx * r, cy - dy * r);
            path.quad_to(cx, cy, cx + ex * r, cy + ey * r);
        }
    })
}

pub fn polygon(points: &[Point]) -> Option<Path> {
    let (start, rest) = points.split_first()?;
    closed_path(*start, |path| {
        for &(x, y) in rest {
            path.line_to(x, y);
        }
    })
}

pub fn polyline(points: &[Point]) -> Option<Path> {
    let (&(x, y), rest) = points.split_first()?;
    path(|path| {
        path.move_to(x, y);
        for &(x, y) in rest {
            path.line_to(x, y);
        }
    })
}

/// Returns a closed Catmull-Rom spline through the points.
pub fn closed_spline(points: &[Point]) -> Option<Path> {
    let count = points.len();
    closed_path(*points.first()?, |path| {
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
    })
}

/// Returns a leaf or petal from `from` to `to` whose widest part is `width` wide.
pub fn leaf(from: Point, to: Point, width: f32) -> Option<Path> {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy).max(1e-6);
    let (nx, ny) = (-dy / length * width * 0.66, dx / length * width * 0.66);
    let along = |t: f32, side: f32| (from.0 + dx * t + nx * side, from.1 + dy * t + ny * side);
    closed_path(from, |path| {
        let (a, b) = (along(0.25, 1.0), along(0.8, 1.0));
        path.cubic_to(a.0, a.1, b.0, b.1, to.0, to.1);
        let (a, b) = (along(0.8, -1.0), along(0.25, -1.0));
        path.cubic_to(a.0, a.1, b.0, b.1, from.0, from.1);
    })
}

/// Returns a quadratic Bézier curve with the control point `by`.
pub fn curve(from: Point, by: Point, to: Point) -> Option<Path> {
    path(|path| {
        path.move_to(from.0, from.1);
        path.quad_to(by.0, by.1, to.0, to.1);
    })
}

/// Returns a closed shape of quadratic Bézier curves. Each curve is given by its control point and its end.
pub fn closed_curve(start: Point, edges: &[(Point, Point)]) -> Option<Path> {
    closed_path(start, |path| {
        for &((by_x, by_y), (x, y)) in edges {
            path.quad_to(by_x, by_y, x, y);
        }
    })
}

/// Returns the transform that moves the origin to a point and scales a unit to `size` pixels.
pub fn place_at(x: f32, y: f32, size: f32) -> Transform {
    Transform::from_row(size, 0.0, 0.0, size, x, y)
}
