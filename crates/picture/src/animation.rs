//! Reads animations in GIF, APNG and WebP: their frames in the order of time, with bounded memory and work.

use std::{io::Cursor, iter};

use image::{
    AnimationDecoder, ColorType, Delay, DynamicImage, Frames, ImageDecoder, ImageResult, RgbImage,
    RgbaImage,
    codecs::{gif::GifDecoder, png::PngDecoder, webp::WebPDecoder},
    imageops,
    metadata::Orientation,
};

use crate::{
    decode::catch_decoder_panic,
    format::PictureFormat,
    limits::{DecodeError, MAX_DECODE_BYTES, MAX_DECODER_BYTES, lock_memory, memory_limit},
    raster::{RasterDecoder, to_picture, with_room_for_frame},
    source_colors::SourceColors,
    webp_frames::webp_frames,
};

/// The maximum number of pixels in all decoded frames. The limit is needed because a few bytes can repeat a frame
/// endlessly.
const MAX_PIXELS: u64 = 4 << 30;
/// The memory per pixel: the picture, the one after it, and two more pictures in which decoders combine frames, with
/// four bytes per pixel each.
const BYTES_PER_PIXEL: u64 = 16;
/// Browsers show a frame with a shorter duration (mostly zero) for a tenth of a second.
const SHORTEST_SECONDS: f64 = 0.02;
const DEFAULT_SECONDS: f64 = 0.1;

/// A complete frame of an animation, as a viewer shows it.
pub struct AnimationFrame<'a> {
    /// When the frame is shown, from the start of the animation.
    pub seconds: f64,
    /// The pixels as stored.
    pixels: RgbaImage,
    colors: Option<&'a SourceColors>,
    orientation: Orientation,
}

impl AnimationFrame<'_> {
    /// Returns the upright pixels of the frame in sRGB, with at least `min_side` pixels on the shorter side, or all of
    /// its pixels if it is smaller.
    pub fn into_picture(self, min_side: u32) -> Result<RgbImage, DecodeError> {
        let (size, samples) = (self.pixels.dimensions(), self.pixels.into_raw());
        let pixels = to_picture(samples, size, ColorType::Rgba8, min_side, self.colors)?;
        let mut picture = DynamicImage::ImageRgb8(pixels);
        picture.apply_orientation(self.orientation);
        Ok(picture.into_rgb8())
    }
}

/// Calls `visit` with the frames of an animation in the order of time, until it returns false. A picture with a single
/// frame is not an animation, and has no frames here. A damaged animation ends at the damage.
pub fn visit_frames(
    bytes: &[u8],
    visit: &mut dyn FnMut(AnimationFrame) -> bool,
) -> Result<(), DecodeError> {
    let visited = catch_decoder_panic(|| {
        let bytes = &*with_room_for_frame(bytes);
        let Some((format, frames)) = open(bytes).ok().flatten() else { return Ok(()) };
        let mut raster = RasterDecoder::open(bytes, format)?;
        let (size, orientation) = (raster.size(), raster.orientation());
        let colors = raster.source_colors();
        let pixels = u64::from(size.0) * u64::from(size.1);
        let _lock = lock_memory(BYTES_PER_PIXEL * pixels)?;
        let max_frames = usize::try_from(MAX_PIXELS / pixels.max(1)).unwrap_or(usize::MAX);
        let mut seconds = 0.0;
        let mut frames = frames.take(max_frames).map_while(Result::ok).map(|frame| {
            let start = seconds;
            seconds += shown_seconds(frame.delay());
            let (pixels, colors) = (frame.into_buffer(), colors.as_ref());
            AnimationFrame { seconds: start, pixels, colors, orientation }
        });
        let (Some(first), Some(second)) = (frames.next(), frames.next()) else { return Ok(()) };
        for frame in iter::once(first).chain(iter::once(second)).chain(frames) {
            if !visit(frame) {
                break;
            }
        }
        Ok(())
    });
    visited.unwrap_or(Ok(()))
}

/// Returns the brightness (0 to 255) of `side` x `side` parts of a picture, row by row. Scenes are compared with it.
pub fn gray_square(picture: &RgbImage, side: u32) -> Vec<u8> {
    imageops::grayscale(&imageops::thumbnail(picture, side, side)).into_raw()
}

/// Opens an animation. Returns `None` if the file cannot contain one.
fn open(bytes: &[u8]) -> ImageResult<Option<(PictureFormat, Frames<'_>)>> {
    let reader = Cursor::new(bytes);
    let limit = memory_limit(MAX_DECODE_BYTES);
    let Some(format) = PictureFormat::detect(bytes) else { return Ok(None) };
    let frames = match format {
        PictureFormat::Gif => {
            let mut decoder = GifDecoder::new(reader)?;
            decoder.set_limits(limit)?;
            Some(decoder.into_frames())
        }
        PictureFormat::Png => {
            let mut decoder = PngDecoder::with_limits(reader, memory_limit(MAX_DECODER_BYTES))?;
            decoder.set_limits(limit)?;
            if decoder.is_apng()? { Some(decoder.apng()?.into_frames()) } else { None }
        }
        PictureFormat::WebP => {
            let decoder = WebPDecoder::new(reader)?;
            decoder.has_animation().then(|| webp_frames(bytes, decoder.dimensions()))
        }
        _ => None,
    };
    Ok(frames.map(|frames| (format, frames)))
}

fn shown_seconds(delay: Delay) -> f64 {
    let (milliseconds, divisor) = delay.numer_denom_ms();
    let seconds = f64::from(milliseconds) / f64::from(divisor.max(1)) / 1_000.0;
    if seconds < SHORTEST_SECONDS { DEFAULT_SECONDS } else { seconds }
}

#[cfg(test)]
mod tests {
    use image::{Frame, Rgba, codecs::gif::GifEncoder};

    use super::*;

    fn gif(frames: u8) -> Vec<u8> {
        let mut bytes = Vec::new();
        let frame = |n| Frame::new(RgbaImage::from_pixel(8, 8, Rgba([n, n, n, 255])));
        GifEncoder::new(&mut bytes).encode_frames((0..frames).map(frame)).unwrap();
        bytes
    }

    #[test]
    fn a_picture_with_a_single_frame_has_no_frames_to_visit() {
        for (frames, visited) in [(1, 0), (2, 2), (3, 3)] {
            let mut count = 0;
            visit_frames(&gif(frames), &mut |_| {
                count += 1;
                true
            })
            .unwrap();
            assert_eq!(count, visited, "{frames} frames");
        }
    }

    #[test]
    fn frames_are_upright_and_in_the_colors_of_the_profile() {
        let mut info = png::Info::with_size(2, 1);
        info.color_type = png::ColorType::Rgb;
        let profile = moxcms::ColorProfile::new_display_p3().encode().unwrap();
        info.icc_profile = Some(profile.into());
        let turned = b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0";
        info.exif_metadata = Some(turned[..].into());
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::with_info(&mut bytes, info).unwrap();
        encoder.set_animated(2, 0).unwrap();
        let mut writer = encoder.write_header().unwrap();
        for _ in 0..2 {
            writer.write_image_data(&[200, 80, 60, 0, 0, 0]).unwrap();
        }
        writer.finish().unwrap();
        let mut frames = Vec::new();
        visit_frames(&bytes, &mut |frame| {
            frames.push(frame.into_picture(u32::MAX).unwrap());
            true
        })
        .unwrap();
        assert_eq!(frames.len(), 2);
        for frame in frames {
            // Reference: Display P3 (200, 80, 60) is (216, 69, 50) in sRGB, by the matrices of CSS Color 4.
            assert_eq!((frame.dimensions(), frame.get_pixel(0, 1).0), ((1, 2), [0; 3]));
            let found = frame.get_pixel(0, 0).0;
            assert!(found.iter().zip([216, 69, 50]).all(|(a, b)| a.abs_diff(b) <= 1), "{found:?}");
        }
    }
}
