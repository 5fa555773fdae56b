//! A part of a picture, made as large as the canvas allows.

use image::imageops::crop_imm;

use super::{
    Canvas, Thumbnail,
    decode::{self, DecodeError},
    encode,
    fit::Fit,
};
use crate::model::Region;

/// Decodes a picture and fits the `part` of it into `canvas`. The thumbnail tells the size of the
/// whole picture as that of its original.
///
/// # Errors
/// What [`decode::decode`] refuses.
pub fn closeup(bytes: &[u8], canvas: Canvas, part: Region) -> Result<Thumbnail, DecodeError> {
    let decoded = decode::decode_for(bytes, |original| {
        let (_, size) = cut(original, part);
        // As much of the whole as leaves enough of the part.
        let shorter = u64::from(original.0.min(original.1));
        let enough = u64::from(Fit::new(size, canvas).enough(size)) * shorter;
        u32::try_from(enough.div_ceil(u64::from(size.0.min(size.1)))).unwrap_or(u32::MAX)
    })?;
    let ((x, y), (width, height)) = cut(decoded.pixels.dimensions(), part);
    let pixels = crop_imm(&decoded.pixels, x, y, width, height).to_image();
    let fit = Fit::new(cut(decoded.original, part).1, canvas);
    let encoded = encode(&pixels, fit, canvas.protocol)?;
    Ok(Thumbnail { cells: fit.cells, original: decoded.original, encoded })
}

/// The part in whole pixels of a picture of `size`: its upper left corner and its size, which is
/// never empty.
fn cut(size: (u32, u32), part: Region) -> ((u32, u32), (u32, u32)) {
    let (x, width) = span(size.0, part.x, part.width);
    let (y, height) = span(size.1, part.y, part.height);
    ((x, y), (width, height))
}

fn span(side: u32, start: f64, length: f64) -> (u32, u32) {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "fractions of a side: within it, and never negative"
    )]
    let at = |fraction: f64| (f64::from(side) * fraction).round() as u32;
    let from = at(start).min(side.saturating_sub(1));
    (from, at(start + length).clamp(from + 1, side.max(from + 1)) - from)
}

#[cfg(test)]
mod tests {
    use image::{ImageFormat, RgbImage};

    use super::*;
    use crate::picture::{Encoded, Protocol};

    #[test]
    fn p54_a_closeup_shows_its_part_alone() {
        let picture = RgbImage::from_fn(100, 60, |x, y| {
            image::Rgb(if x >= 50 && y < 30 { [0, 200, 0] } else { [200, 0, 0] })
        });
        let mut bytes = std::io::Cursor::new(Vec::new());
        picture.write_to(&mut bytes, ImageFormat::Png).expect("encoded");
        let canvas =
            Canvas { columns: 20, rows: 10, cell: (10, 20), protocol: Protocol::HalfBlock };
        let part = Region::new(0.5, 0.0, 0.5, 0.5).expect("inside");
        let thumbnail = closeup(bytes.get_ref(), canvas, part).expect("a thumbnail");
        assert_eq!((thumbnail.cells, thumbnail.original), ((20, 6), (100, 60)));
        let Encoded::Pixels(pixels) = thumbnail.encoded else { panic!("half-blocks") };
        assert!(pixels.iter().all(|pixel| pixel[1] > 150 && pixel[0] < 60), "{pixels:?}");
    }

    #[test]
    fn u12_the_smallest_part_is_one_pixel() {
        let corner = Region::new(1.0 - 1e-9, 0.999_999, 1e-9, 1e-9).expect("inside");
        assert_eq!(cut((100, 60), corner), ((99, 59), (1, 1)));
        let whole = Region::new(0.0, 0.0, 1.0, 1.0).expect("inside");
        assert_eq!(cut((1, 7), whole), ((0, 0), (1, 7)));
    }
}
