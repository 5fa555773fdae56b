//! Crops a picture before it is fitted, or outlines a region in its pixels afterwards.

use std::borrow::Cow;

use image::{RgbImage, imageops::crop_imm};

use super::{Crop, Protocol};
use tessera_model::Region;

/// The outline, and the line around it that keeps it visible on any background.
const LINE_COLOR: [u8; 3] = [255, 255, 255];
const EDGE_COLOR: [u8; 3] = [0, 0, 0];

impl Crop {
    /// The size of the crop of a picture of `original` pixels; each side is at least 1.
    pub(super) fn size_in(self, original: (u32, u32)) -> (u32, u32) {
        match self {
            Self::Full | Self::Highlighted(_) => original,
            Self::Region(region) => {
                let (_, size) = region.pixels(original);
                size
            }
        }
    }

    pub(super) fn apply(self, picture: &RgbImage) -> Cow<'_, RgbImage> {
        match self {
            Self::Full | Self::Highlighted(_) => Cow::Borrowed(picture),
            Self::Region(region) => {
                let ((x, y), (width, height)) = region.pixels(picture.dimensions());
                Cow::Owned(crop_imm(picture, x, y, width, height).to_image())
            }
        }
    }

    /// Dims the pixels around a highlighted region, and outlines it. Half-blocks are too coarse for
    /// lines: the drawing layer draws characters over them.
    pub(super) fn draw_highlight(self, rgb: &mut [u8], size: (u32, u32), protocol: Protocol) {
        if let Self::Highlighted(region) = self {
            dim_outside(rgb, size, region, protocol != Protocol::HalfBlock);
        }
    }
}

/// Dims the pixels outside the region; with `lines` it draws a dark and a bright line inside.
fn dim_outside(rgb: &mut [u8], size: (u32, u32), region: Region, lines: bool) {
    let ((left, top), (width, height)) = region.pixels(size);
    let (right, bottom) = (left + width, top + height);
    let rows = rgb.chunks_exact_mut(3 * size.0.max(1) as usize);
    for (y, row) in (0..).zip(rows) {
        for (x, pixel) in (0..).zip(row.as_chunks_mut::<3>().0) {
            // The distance in pixels from the border of the region; 0 is outside.
            let depth = |at: u32, start: u32, end: u32| {
                if (start..end).contains(&at) { (at - start + 1).min(end - at) } else { 0 }
            };
            match depth(x, left, right).min(depth(y, top, bottom)) {
                0 => *pixel = pixel.map(|sample| sample / 2),
                1 if lines => *pixel = EDGE_COLOR,
                2 | 3 if lines => *pixel = LINE_COLOR,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Canvas, Encoded, thumbnail};

    const CANVAS: Canvas =
        Canvas { columns: 20, rows: 10, cell: (10, 20), protocol: Protocol::HalfBlock };

    /// Left half red, right half blue.
    fn halves() -> Vec<u8> {
        let picture = RgbImage::from_fn(400, 200, |x, _| {
            image::Rgb(if x < 200 { [200, 0, 0] } else { [0, 0, 200] })
        });
        let mut bytes = std::io::Cursor::new(Vec::new());
        picture.write_to(&mut bytes, image::ImageFormat::Png).expect("encoded");
        bytes.into_inner()
    }

    fn pixels(part: Crop) -> (Vec<[u8; 3]>, (u16, u16)) {
        let thumbnail = thumbnail(&halves(), part, CANVAS).expect("a thumbnail");
        assert_eq!(thumbnail.original, (400, 200));
        let Encoded::Pixels(pixels) = thumbnail.encoded else { panic!("not half-blocks") };
        (pixels.to_vec(), thumbnail.cells)
    }

    #[test]
    fn a_crop_fills_the_canvas_with_the_region() {
        let region = Region::new(0.5, 0.0, 0.5, 1.0).expect("inside");
        let (pixels, cells) = pixels(Crop::Region(region));
        assert_eq!(cells, (20, 10));
        assert!(pixels.iter().all(|pixel| *pixel == [0, 0, 200]));
    }

    #[test]
    fn a_frame_dims_what_lies_around_it() {
        let region = Region::new(0.0, 0.0, 0.5, 1.0).expect("inside");
        let (pixels, (columns, rows)) = pixels(Crop::Highlighted(region));
        let at = |x: u16, y: u16| pixels[usize::from(y * columns + x)];
        assert_eq!(at(columns - 2, rows), [0, 0, 100]);
        assert_eq!((at(0, 0), at(5, rows)), ([200, 0, 0], [200, 0, 0]));
    }

    #[test]
    fn the_lines_of_a_frame_are_seen_on_any_ground() {
        for ground in [0, 255] {
            let mut rgb = vec![ground; 3 * 12 * 12];
            dim_outside(&mut rgb, (12, 12), Region::WHOLE, true);
            let row: Vec<u8> = rgb.chunks(3).skip(6 * 12).take(12).map(|pixel| pixel[0]).collect();
            assert_eq!(row[..4], [0, 255, 255, ground]);
            assert_eq!(row[8..], [ground, 255, 255, 0]);
        }
    }
}
