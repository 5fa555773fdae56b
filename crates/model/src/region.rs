//! A bounding box in fractions of the image, as the API sends it.

use std::{
    cmp::Ordering,
    hash::{Hash, Hasher},
};

use serde::{Deserialize, Serialize};

/// A point, a distance or a size, as fractions of the image's width and height.
pub type Vec2 = (f64, f64);

/// A non-empty rectangle within the image, in fractions of its size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "BoundingBox")]
pub struct Region {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

/// A rectangle that may be empty or outside the image.
#[derive(Deserialize)]
struct BoundingBox {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

impl TryFrom<BoundingBox> for Region {
    type Error = &'static str;

    fn try_from(found: BoundingBox) -> Result<Self, Self::Error> {
        let region = Self::new(found.x, found.y, found.width, found.height);
        region.ok_or("`bounding_box` must be inside the image and not empty")
    }
}

impl Region {
    /// Returns `None` unless the region lies inside the image and has an area.
    pub fn new(x: f64, y: f64, width: f64, height: f64) -> Option<Self> {
        let inside = |v: f64| (0.0..=1.0).contains(&v);
        let fits = inside(x) && inside(y) && width > 0.0 && height > 0.0;
        // A side that a rounding error made longer than the image would leave no position for the region.
        (fits && x + width <= 1.0 + 1e-9 && y + height <= 1.0 + 1e-9).then_some(Self {
            x,
            y,
            width: width.min(1.0),
            height: height.min(1.0),
        })
    }

    /// Converts a rectangle in pixels (x, y, width, height).
    pub fn from_pixels([x, y, width, height]: [u32; 4], image: (u32, u32)) -> Option<Self> {
        let across = |pixels: u32| f64::from(pixels) / f64::from(image.0);
        let down = |pixels: u32| f64::from(pixels) / f64::from(image.1);
        Self::new(across(x), down(y), across(width), down(height))
    }

    pub const WHOLE: Self = Self { x: 0.0, y: 0.0, width: 1.0, height: 1.0 };
    pub const INNER_HALF: Self = Self { x: 0.25, y: 0.25, width: 0.5, height: 0.5 };

    /// The regions that a user can select by number.
    pub const PRESETS: [(&'static str, Self); 9] = [
        ("whole picture", Self::WHOLE),
        ("inner half", Self::INNER_HALF),
        ("upper left quarter", Self { x: 0.0, y: 0.0, width: 0.5, height: 0.5 }),
        ("upper right quarter", Self { x: 0.5, y: 0.0, width: 0.5, height: 0.5 }),
        ("lower left quarter", Self { x: 0.0, y: 0.5, width: 0.5, height: 0.5 }),
        ("lower right quarter", Self { x: 0.5, y: 0.5, width: 0.5, height: 0.5 }),
        ("left third", Self { x: 0.0, y: 0.0, width: 0.333_333, height: 1.0 }),
        ("middle third", Self { x: 0.333_333, y: 0.0, width: 0.333_334, height: 1.0 }),
        ("right third", Self { x: 0.666_667, y: 0.0, width: 0.333_333, height: 1.0 }),
    ];

    /// The shortest side of a region, which is the resolution of six decimals.
    const MIN_SIDE: f64 = 1e-6;

    /// Returns the region between two corners, clamped to the image. Its sides are at least as long as `least`.
    pub fn from_corners(one: Vec2, other: Vec2, least: Vec2) -> Self {
        let (x, width) = span(one.0, other.0, least.0);
        let (y, height) = span(one.1, other.1, least.1);
        Self { x, y, width, height }
    }

    pub fn translated(self, by: Vec2) -> Self {
        self.moved_to((self.x + by.0, self.y + by.1))
    }

    /// Moves the top left corner to `near`, or as close as the image allows.
    pub fn moved_to(self, near: Vec2) -> Self {
        let x = near.0.clamp(0.0, 1.0 - self.width);
        let y = near.1.clamp(0.0, 1.0 - self.height);
        Self::from_corners((x, y), (x + self.width, y + self.height), (0.0, 0.0))
    }

    pub fn top_left(self) -> Vec2 {
        (self.x, self.y)
    }

    pub fn bottom_right(self) -> Vec2 {
        (self.x + self.width, self.y + self.height)
    }

    /// Resizes the region by moving its bottom right corner. No side becomes shorter than in `least`.
    pub fn with_bottom_right_moved(self, by: Vec2, least: Vec2) -> Self {
        let far = self.bottom_right();
        let (x, y) = ((far.0 + by.0).max(self.x), (far.1 + by.1).max(self.y));
        Self::from_corners(self.top_left(), (x, y), least)
    }

    /// Resizes the region by moving its top left corner. No side becomes shorter than in `least`.
    pub fn with_top_left_moved(self, by: Vec2, least: Vec2) -> Self {
        let far = self.bottom_right();
        let x = (self.x + by.0).min(far.0 - least.0);
        let y = (self.y + by.1).min(far.1 - least.1);
        Self::from_corners((x, y), far, least)
    }

    pub fn contains(self, point: Vec2) -> bool {
        let far = self.bottom_right();
        (self.x..far.0).contains(&point.0) && (self.y..far.1).contains(&point.1)
    }

    pub fn description(self) -> String {
        let Self { x, y, width, height } = self;
        format!("region {width:.2}×{height:.2} at {x:.2} {y:.2}")
    }

    /// Returns the area as a fraction of the image's area.
    pub fn area(self) -> f64 {
        self.width * self.height
    }

    /// Returns the top left corner and the size in pixels. The size is at least 1 by 1.
    pub fn pixels(self, image: (u32, u32)) -> ((u32, u32), (u32, u32)) {
        let (x, width) = pixels(self.x, self.width, image.0);
        let (y, height) = pixels(self.y, self.height, image.1);
        ((x, y), (width, height))
    }

    /// Returns the first cell that the region covers and the number of cells, in an image drawn with `image` cells.
    pub fn cells(self, image: (u16, u16)) -> ((u16, u16), (u16, u16)) {
        let (x, width) = cells(self.x, self.width, image.0);
        let (y, height) = cells(self.y, self.height, image.1);
        ((x, y), (width, height))
    }

    fn sides(self) -> [f64; 4] {
        // Adding zero normalizes -0.0.
        [self.x, self.y, self.width, self.height].map(|side| side + 0.0)
    }
}

/// Returns start and length of the span between two positions, clamped to 0.0-1.0.
fn span(one: f64, other: f64, min_length: f64) -> (f64, f64) {
    let min_length = min_length.clamp(Region::MIN_SIDE, 1.0);
    let (one, other) = (one.clamp(0.0, 1.0), other.clamp(0.0, 1.0));
    let length = six_decimals((one - other).abs().max(min_length)).max(Region::MIN_SIDE);
    let start = six_decimals(one.min(other)).min(six_decimals(1.0 - length));
    (start, length)
}

fn six_decimals(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

fn pixels(start: f64, length: f64, side: u32) -> (u32, u32) {
    let side = side.max(1);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a part of a side, rounded"
    )]
    let pixel = |position: f64| ((position * f64::from(side)).round() as u32).min(side);
    let first = pixel(start).min(side - 1);
    (first, pixel(start + length).saturating_sub(first).max(1))
}

fn cells(start: f64, length: f64, side: u16) -> (u16, u16) {
    /// Keeps an edge that lies on a cell border from spilling into the next cell by a rounding error.
    const ROUNDING_TOLERANCE: f64 = 1e-4;
    let (side, count) = (side.max(1), f64::from(side.max(1)));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part of a side")]
    let (first, end) = (
        (start * count + ROUNDING_TOLERANCE).floor() as u16,
        ((start + length) * count - ROUNDING_TOLERANCE).ceil() as u16,
    );
    let first = first.min(side - 1);
    (first, end.clamp(first + 1, side) - first)
}

/// `PartialEq` is reflexive, because the numbers are never NaN.
impl Eq for Region {}

impl PartialOrd for Region {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Region {
    fn cmp(&self, other: &Self) -> Ordering {
        let pairs = self.sides().into_iter().zip(other.sides());
        pairs.fold(Ordering::Equal, |order, (one, other)| order.then(one.total_cmp(&other)))
    }
}

impl Hash for Region {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.sides().map(f64::to_bits).hash(state);
    }
}
