//! Converts component planes to pixels: upsamples chroma, and converts YCbCr to RGB.

use image::RgbImage;

use super::{header::ColorSpace, scan::ComponentPlane};

pub fn to_rgb(planes: &[ComponentPlane], color: ColorSpace, width: u32, height: u32) -> RgbImage {
    let mut picture = RgbImage::new(width, height);
    let width = width as usize;
    let mut spread = [vec![0; width], vec![0; width], vec![0; width]];
    for (y, row) in picture.chunks_exact_mut(3 * width.max(1)).enumerate() {
        let pixels = row.as_chunks_mut::<3>().0;
        if let [first, second, third] = planes {
            let [a, b, c] = &mut spread;
            let rows = (first.row(y, a), second.row(y, b), third.row(y, c));
            match color {
                ColorSpace::Rgb => interleave_rgb(rows, pixels),
                ColorSpace::YCbCr => convert_ycbcr(rows, pixels),
            }
        } else if let [gray] = planes {
            for (pixel, &sample) in pixels.iter_mut().zip(gray.row(y, &mut spread[0])) {
                *pixel = [sample; 3];
            }
        }
    }
    picture
}

fn interleave_rgb((red, green, blue): (&[u8], &[u8], &[u8]), pixels: &mut [[u8; 3]]) {
    for (((pixel, &red), &green), &blue) in pixels.iter_mut().zip(red).zip(green).zip(blue) {
        *pixel = [red, green, blue];
    }
}

fn convert_ycbcr((luma, cb, cr): (&[u8], &[u8], &[u8]), pixels: &mut [[u8; 3]]) {
    for (((pixel, &luma), &cb), &cr) in pixels.iter_mut().zip(luma).zip(cb).zip(cr) {
        *pixel = ycbcr_to_rgb([luma, cb, cr]);
    }
}

/// The JFIF conversion in 16.16 fixed point.
#[inline]
pub fn ycbcr_to_rgb([luma, cb, cr]: [u8; 3]) -> [u8; 3] {
    const HALF: i32 = 1 << 15;
    let luma = (i32::from(luma) << 16) + HALF;
    let (cb, cr) = (i32::from(cb) - 128, i32::from(cr) - 128);
    let sample = |level: i32| (level >> 16).clamp(0, 255) as u8;
    [
        sample(luma + 91_881 * cr),
        sample(luma - 22_554 * cb - 46_802 * cr),
        sample(luma + 116_130 * cb),
    ]
}
