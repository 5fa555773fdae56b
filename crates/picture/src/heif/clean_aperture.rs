//! The part of an AVIF or HEIC picture that is shown, which the container calls its clean aperture.

/// The size of a part of a picture, and the distance of its center from the center of the picture, horizontally and
/// vertically (ISO/IEC 14496-12, section 12.1.4).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CleanAperture {
    size: [f64; 2],
    distance: [f64; 2],
}

/// A part of a picture in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VisiblePart {
    pub left: u32,
    pub top: u32,
    pub size: (u32, u32),
}

impl CleanAperture {
    /// Reads four fractions of two numbers each.
    pub fn read(body: &[u8]) -> Option<Self> {
        let numbers = body.as_chunks::<4>().0;
        let number = |at: usize| Some(f64::from(i32::from_be_bytes(*numbers.get(at)?)));
        let fraction = |at: usize| {
            let (numerator, denominator) = (number(at)?, number(at + 1)?);
            (denominator > 0.0).then_some(numerator / denominator)
        };
        Some(Self { size: [fraction(0)?, fraction(2)?], distance: [fraction(4)?, fraction(6)?] })
    }

    /// Returns `None` if the part is not inside a picture of this size. Viewers then show the whole picture.
    fn part_of(self, size: (u32, u32)) -> Option<VisiblePart> {
        let (left, width) = part_of_side(self.size[0], self.distance[0], size.0)?;
        let (top, height) = part_of_side(self.size[1], self.distance[1], size.1)?;
        Some(VisiblePart { left, top, size: (width, height) })
    }
}

impl VisiblePart {
    pub fn new(size: (u32, u32), aperture: Option<CleanAperture>) -> Self {
        let part = aperture.and_then(|aperture| aperture.part_of(size));
        part.unwrap_or(Self { left: 0, top: 0, size })
    }
}

/// Returns the start and the length of a part of a side.
fn part_of_side(length: f64, distance: f64, whole: u32) -> Option<(u32, u32)> {
    let start = (distance + (f64::from(whole) - length) / 2.0).round();
    let length = length.round();
    let is_inside = start >= 0.0 && length >= 1.0 && start + length <= f64::from(whole);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "inside a side")]
    let part = is_inside.then_some((start as u32, length as u32));
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(numbers: [i32; 8]) -> VisiblePart {
        let body = numbers.map(i32::to_be_bytes).concat();
        VisiblePart::new((320, 240), CleanAperture::read(&body))
    }

    #[test]
    fn a_part_is_placed_by_its_center() {
        let middle = VisiblePart { left: 80, top: 60, size: (160, 120) };
        assert_eq!(part([160, 1, 120, 1, 0, 1, 0, 1]), middle);
        assert_eq!(part([320, 2, 240, 2, 0, 1, 0, 1]), middle);
        let corner = VisiblePart { left: 0, top: 120, size: (160, 120) };
        assert_eq!(part([160, 1, 120, 1, -80, 1, 60, 1]), corner);
        let odd = VisiblePart { left: 1, top: 0, size: (319, 240) };
        assert_eq!(part([319, 1, 240, 1, 1, 2, 0, 1]), odd);
    }

    #[test]
    fn an_invalid_part_shows_the_whole_picture() {
        let whole = VisiblePart { left: 0, top: 0, size: (320, 240) };
        for numbers in [
            [160, 0, 120, 1, 0, 1, 0, 1],
            [0, 1, 120, 1, 0, 1, 0, 1],
            [160, 1, 120, 1, 81, 1, 0, 1],
            [400, 1, 120, 1, 0, 1, 0, 1],
            [i32::MIN, 1, 120, 1, i32::MAX, 1, 0, -1],
        ] {
            assert_eq!(part(numbers), whole, "{numbers:?}");
        }
        assert_eq!(CleanAperture::read(&[0; 20]), None);
    }
}
