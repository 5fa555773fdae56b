//! Similarity transforms: rotation, scaling and shift of the corners of a copy.

/// Pixel coordinates in the downscaled picture.
pub type Point = (f32, f32);

/// Largest accepted scaling factor, squared.
const MAX_SQUARED_SCALE: f32 = 6.25;
/// Steepest accepted rotation, as tangent; descriptors do not match beyond.
const MAX_TURN_TANGENT: f32 = 0.5;
/// Smallest distance of two points that determine a rotation, squared.
const MIN_SQUARED_BASELINE: f32 = 400.0;
/// Largest distance of a point from its expected position, squared.
const SQUARED_TOLERANCE: f32 = 16.0;

/// A rotation and scaling (as complex factor), then a shift.
#[derive(Clone, Copy, Debug)]
pub struct Transform {
    factor: Point,
    shift: Point,
}

impl Transform {
    /// The transform from the points of `from` to those of `to`, if it is plausible for a copy.
    pub fn between(from: [Point; 2], to: [Point; 2]) -> Option<Self> {
        let way = |[(ax, ay), (bx, by)]: [Point; 2]| (ax - bx, ay - by);
        let ((x, y), (u, v)) = (way(from), way(to));
        let length = x * x + y * y;
        let factor = ((u * x + v * y) / length, (v * x - u * y) / length);
        let scaling = squared_norm(factor);
        let plausible = length >= MIN_SQUARED_BASELINE
            && (MAX_SQUARED_SCALE.recip()..MAX_SQUARED_SCALE).contains(&scaling)
            && factor.1.abs() <= MAX_TURN_TANGENT * factor.0;
        plausible.then(|| {
            let turned = complex_product(factor, from[0]);
            Self { factor, shift: (to[0].0 - turned.0, to[0].1 - turned.1) }
        })
    }

    pub fn apply(self, point: Point) -> Point {
        let turned = complex_product(self.factor, point);
        (turned.0 + self.shift.0, turned.1 + self.shift.1)
    }

    pub fn fits(self, from: Point, to: Point) -> bool {
        let (x, y) = self.apply(from);
        squared_norm((x - to.0, y - to.1)) <= SQUARED_TOLERANCE * squared_norm(self.factor)
    }
}

fn complex_product(a: Point, b: Point) -> Point {
    (a.0 * b.0 - a.1 * b.1, a.1 * b.0 + a.0 * b.1)
}

fn squared_norm((x, y): Point) -> f32 {
    x * x + y * y
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_points_determine_rotation_scale_and_shift() {
        let (sine, cosine) = 10_f32.to_radians().sin_cos();
        let moved = |(x, y): Point| {
            (1.4 * (cosine * x - sine * y) + 30.0, 1.4 * (sine * x + cosine * y) - 12.0)
        };
        let from = [(20.0, 30.0), (150.0, 90.0)];
        let found = Transform::between(from, from.map(moved)).unwrap();
        let (x, y) = found.apply((200.0, 10.0));
        let (u, v) = moved((200.0, 10.0));
        assert!((x - u).abs() < 1e-3 && (y - v).abs() < 1e-3);
        assert!(found.fits((200.0, 10.0), (u + 3.0, v - 3.0)));
        assert!(!found.fits((200.0, 10.0), (u + 9.0, v)));
    }

    #[test]
    fn implausible_transforms_are_rejected() {
        let from = [(20.0, 30.0), (150.0, 30.0)];
        let to = |a, b| Transform::between(from, [a, b]);
        assert!(to((20.0, 30.0), (150.0, 30.0)).is_some());
        assert!(to((150.0, 30.0), (20.0, 30.0)).is_none(), "upside down");
        assert!(to((20.0, 30.0), (20.0, 160.0)).is_none(), "a quarter turn");
        assert!(to((20.0, 30.0), (30.0, 30.0)).is_none(), "a tenth of the size");
        assert!(Transform::between([(5.0, 5.0); 2], [(5.0, 5.0); 2]).is_none(), "one place");
    }
}
