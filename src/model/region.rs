//! A bounding box in fractions of the image, as the interface sends it: `x`, `y`, `width` and
//! `height`, each 0.0-1.0.

/// A rectangle inside an image. Always within it and never empty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Region {
    /// Left edge, fraction of the width.
    pub x: f64,
    /// Top edge, fraction of the height.
    pub y: f64,
    /// Width, fraction of the image's.
    pub width: f64,
    /// Height, fraction of the image's.
    pub height: f64,
}

impl Region {
    /// Builds a region if it lies inside the image and has an area (rule: interface, Limits).
    #[must_use]
    pub fn new(x: f64, y: f64, width: f64, height: f64) -> Option<Self> {
        let inside = |v: f64| (0.0..=1.0).contains(&v);
        let fits = inside(x) && inside(y) && width > 0.0 && height > 0.0;
        (fits && x + width <= 1.0 + 1e-9 && y + height <= 1.0 + 1e-9).then_some(Self {
            x,
            y,
            width,
            height,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn u12_only_boxes_inside_the_image_exist() {
        assert!(Region::new(0.1, 0.2, 0.5, 0.6).is_some());
        for (x, y, w, h) in [(0.9, 0.0, 0.2, 0.1), (-0.1, 0.0, 0.1, 0.1), (0.0, 0.0, 0.0, 1.0)] {
            assert_eq!(Region::new(x, y, w, h), None);
        }
        assert_eq!(Region::new(f64::NAN, 0.0, 0.1, 0.1), None);
        assert_eq!(Region::new(0.0, 0.0, f64::INFINITY, 0.1), None);
    }
}
