//! Reads animations in GIF, APNG and WebP: their frames in the order of time, with bounded memory and work.

use std::{io::Cursor, iter};

use image::{
    AnimationDecoder, ColorType, Delay, Frames, ImageDecoder, ImageResult, RgbImage, RgbaImage,
    codecs::{gif::GifDecoder, png::PngDecoder, webp::WebPDecoder},
    imageops,
};

use crate::{
    decode::catch_decoder_panic,
    format::PictureFormat,
    limits::{
        DecodeError, MAX_DECODE_BYTES, MAX_DECODER_BYTES, check_size, lock_memory, memory_limit,
    },
    raster::to_picture,
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
pub struct AnimationFrame {
    /// When the frame is shown, from the start of the animation.
    pub seconds: f64,
    pixels: RgbaImage,
}

impl AnimationFrame {
    /// Returns the pixels of the frame, with at least `min_side` pixels on the shorter side, or all of its pixels if it
    /// is smaller.
    pub fn into_picture(self, min_side: u32) -> Result<RgbImage, DecodeError> {
        let size = self.pixels.dimensions();
        to_picture(self.pixels.into_raw(), size, ColorType::Rgba8, min_side, None)
    }
}

/// Calls `visit` with the frames of an animation in the order of time, until it returns false. A picture with a single
/// frame is not an animation, and has no frames here. A damaged animation ends at the damage.
pub fn visit_frames(
    bytes: &[u8],
    visit: &mut dyn FnMut(AnimationFrame) -> bool,
) -> Result<(), DecodeError> {
    let visited = catch_decoder_panic(|| {
        let Some((size, frames)) = open(bytes).ok().flatten() else { return Ok(()) };
        check_size(size)?;
        let pixels = u64::from(size.0) * u64::from(size.1);
        let _lock = lock_memory(BYTES_PER_PIXEL * pixels)?;
        let max_frames = usize::try_from(MAX_PIXELS / pixels.max(1)).unwrap_or(usize::MAX);
        let mut seconds = 0.0;
        let mut frames = frames.take(max_frames).map_while(Result::ok).map(|frame| {
            let start = seconds;
            seconds += shown_seconds(frame.delay());
            AnimationFrame { seconds: start, pixels: frame.into_buffer() }
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

type SizeAndFrames<'a> = ((u32, u32), Frames<'a>);

/// Opens an animation. Returns `None` if the file cannot contain one.
fn open(bytes: &[u8]) -> ImageResult<Option<SizeAndFrames<'_>>> {
    let reader = Cursor::new(bytes);
    let limit = memory_limit(MAX_DECODE_BYTES);
    Ok(match PictureFormat::detect(bytes) {
        Some(PictureFormat::Gif) => {
            let mut decoder = GifDecoder::new(reader)?;
            decoder.set_limits(limit)?;
            Some((decoder.dimensions(), decoder.into_frames()))
        }
        Some(PictureFormat::Png) => {
            let mut decoder = PngDecoder::with_limits(reader, memory_limit(MAX_DECODER_BYTES))?;
            decoder.set_limits(limit)?;
            let size = decoder.dimensions();
            if decoder.is_apng()? { Some((size, decoder.apng()?.into_frames())) } else { None }
        }
        Some(PictureFormat::WebP) => {
            let mut decoder = WebPDecoder::new(reader)?;
            decoder.set_limits(limit)?;
            let size = decoder.dimensions();
            decoder.has_animation().then(|| (size, decoder.into_frames()))
        }
        _ => None,
    })
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
}
