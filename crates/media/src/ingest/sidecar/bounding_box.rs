//! The boxes of sidecars, in fractions or pixels of a picture. A box that reaches beyond the picture is clipped.

use tessera_model::{Region, region::Vec2};

/// Boxes in pixels that differ by less are the same, if they are in the same file.
pub(super) const MAX_ROUNDING: f64 = 0.01;
/// Boxes in pixels that differ by less are the same, if they are in different files, of which one may be rounded.
pub(super) const MAX_ROUNDING_OF_FILES: f64 = 1.0;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BoundingBox {
    /// In fractions of the image.
    Normalized(Region),
    /// In pixels from the top left corner. The box is finite and not empty, but may extend beyond the image.
    Pixels { x: f64, y: f64, width: f64, height: f64 },
}

impl BoundingBox {
    /// Returns the box `[x, y, width, height]` in fractions, clipped to the image. Returns `None` if nothing is left.
    pub fn normalized(sides: [f64; 4]) -> Option<Self> {
        clip_to_image(sides).map(Self::Normalized)
    }

    /// Returns the box `[x, y, width, height]` in pixels. Returns `None` if it is empty or outside the image.
    pub fn pixels([x, y, width, height]: [f64; 4]) -> Option<Self> {
        let finite = [x, y, width, height].iter().all(|side| side.is_finite());
        let area = width > 0.0 && height > 0.0;
        let reaches = x + width > 0.0 && y + height > 0.0;
        (finite && area && reaches).then_some(Self::Pixels { x, y, width, height })
    }

    /// Returns the box around points in pixels. Returns `None` if it is empty or outside the image.
    pub(crate) fn around(points: &[[f64; 2]]) -> Option<Self> {
        Self::pixels(sides_around(points)?)
    }

    /// Returns the box around two boxes in pixels.
    pub(super) fn with(self, other: Self) -> Self {
        match (self, other) {
            (
                Self::Pixels { x, y, width, height },
                Self::Pixels { x: left, y: top, width: across, height: down },
            ) => {
                let (right, bottom) =
                    ((x + width).max(left + across), (y + height).max(top + down));
                let (x, y) = (x.min(left), y.min(top));
                Self::Pixels { x, y, width: right - x, height: bottom - y }
            }
            (one, _) => one,
        }
    }

    /// Whether two boxes in the same unit are the same, apart from rounding by less than this number of pixels.
    pub(super) fn is_almost(self, other: Self, rounding: f64) -> bool {
        match (self, other) {
            (
                Self::Pixels { x, y, width, height },
                Self::Pixels { x: left, y: top, width: across, height: down },
            ) => [x - left, y - top, width - across, height - down]
                .iter()
                .all(|difference| difference.abs() < rounding),
            (one, other) => one == other,
        }
    }

    /// Returns the part of the box that is inside an image of this size. Returns `None` if nothing is left.
    pub fn to_region(&self, width: u32, height: u32) -> Option<Region> {
        self.clipped_to((width.into(), height.into()))
    }

    /// Like [`BoundingBox::to_region`], for a size that a sidecar states.
    pub(super) fn clipped_to(&self, (across, down): Vec2) -> Option<Region> {
        match *self {
            Self::Normalized(region) => Some(region),
            Self::Pixels { x, y, width, height } => {
                clip_to_image([x / across, y / down, width / across, height / down])
            }
        }
    }
}

/// Returns left, top, width and height of the box around points.
pub(super) fn sides_around(points: &[[f64; 2]]) -> Option<[f64; 4]> {
    let span = |axis: usize| {
        let along = || points.iter().map(|point| point[axis]);
        let (low, high) = (along().reduce(f64::min)?, along().reduce(f64::max)?);
        Some((low, high - low))
    };
    let ((x, width), (y, height)) = (span(0)?, span(1)?);
    Some([x, y, width, height])
}

fn clip_to_image([x, y, width, height]: [f64; 4]) -> Option<Region> {
    if ![x, y, width, height].iter().all(|side| side.is_finite()) {
        return None;
    }
    let (left, top) = (x.max(0.0), y.max(0.0));
    let (right, bottom) = ((x + width).min(1.0), (y + height).min(1.0));
    Region::new(left, top, right - left, bottom - top)
}

/// Returns the corners of the box `[x, y, width, height]` that is turned about its center by degrees, clockwise, as CVAT
/// states it.
pub(super) fn turned_box([x, y, width, height]: [f64; 4], degrees: f64) -> Vec<[f64; 2]> {
    turned_corners([x + width / 2.0, y + height / 2.0], [width, height], degrees.to_radians())
}

/// Returns the corners of a box that is turned about its center. The angle is in radians, and clockwise because y
/// points downwards.
pub(super) fn turned_corners(
    [x, y]: [f64; 2],
    [width, height]: [f64; 2],
    angle: f64,
) -> Vec<[f64; 2]> {
    let (sin, cos) = angle.sin_cos();
    let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
    let turned = corners.map(|(right, down)| {
        let (across, along) = (right * width / 2.0, down * height / 2.0);
        [x + across * cos - along * sin, y + across * sin + along * cos]
    });
    turned.to_vec()
}
