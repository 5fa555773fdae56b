//! Turning, scaling and shifting: the change of place that corners of a copy have in common.

/// A place in a small copy, in pixels.
pub type Place = (f32, f32);

/// Largest scaling looked for, either way, squared.
const LARGEST: f32 = 6.25;
/// Steepest turn looked for, as tangent; words do not survive a steeper one.
const STEEPEST: f32 = 0.5;
/// Nearest two places that tell a turn, in pixels, squared.
const APART: f32 = 400.0;
/// Farthest a place may lie from where it should, in pixels, squared.
const TOLERANCE: f32 = 16.0;

/// A turn and scaling (as complex factor), then a shift.
#[derive(Clone, Copy, Debug)]
pub struct Transform {
    factor: Place,
    shift: Place,
}

impl Transform {
    /// The one that takes the places of `from` to those of `to`, if it is one a copy may have.
    pub fn between(from: [Place; 2], to: [Place; 2]) -> Option<Self> {
        let way = |[(ax, ay), (bx, by)]: [Place; 2]| (ax - bx, ay - by);
        let ((x, y), (u, v)) = (way(from), way(to));
        let length = x * x + y * y;
        let factor = ((u * x + v * y) / length, (v * x - u * y) / length);
        let scaling = squared(factor);
        let plausible = length >= APART
            && (LARGEST.recip()..LARGEST).contains(&scaling)
            && factor.1.abs() <= STEEPEST * factor.0;
        plausible.then(|| {
            let turned = times(factor, from[0]);
            Self { factor, shift: (to[0].0 - turned.0, to[0].1 - turned.1) }
        })
    }

    /// Where a place goes.
    pub fn apply(self, place: Place) -> Place {
        let turned = times(self.factor, place);
        (turned.0 + self.shift.0, turned.1 + self.shift.1)
    }

    /// Whether `from` goes to about `to`.
    pub fn fits(self, from: Place, to: Place) -> bool {
        let (x, y) = self.apply(from);
        squared((x - to.0, y - to.1)) <= TOLERANCE * squared(self.factor)
    }
}

fn times(a: Place, b: Place) -> Place {
    (a.0 * b.0 - a.1 * b.1, a.1 * b.0 + a.0 * b.1)
}

fn squared((x, y): Place) -> f32 {
    x * x + y * y
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_places_tell_turn_scaling_and_shift() {
        let (sine, cosine) = 10_f32.to_radians().sin_cos();
        let moved = |(x, y): Place| {
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
    fn what_no_copy_has_is_no_transform() {
        let from = [(20.0, 30.0), (150.0, 30.0)];
        let to = |a, b| Transform::between(from, [a, b]);
        assert!(to((20.0, 30.0), (150.0, 30.0)).is_some());
        assert!(to((150.0, 30.0), (20.0, 30.0)).is_none(), "upside down");
        assert!(to((20.0, 30.0), (20.0, 160.0)).is_none(), "a quarter turn");
        assert!(to((20.0, 30.0), (30.0, 30.0)).is_none(), "a tenth of the size");
        assert!(Transform::between([(5.0, 5.0); 2], [(5.0, 5.0); 2]).is_none(), "one place");
    }
}
