//! Reads the frames of an animated WebP. The crate `image` decodes each frame as a picture of its own. Its reader of
//! animations leaves frames visible that the file removes, or else damages frames without alpha
//! (<https://github.com/image-rs/image-webp/issues/178>).

use std::{io::Cursor, iter};

use image::{
    Delay, DynamicImage, Frame, Frames, GenericImage as _, ImageDecoder as _, RgbaImage,
    codecs::webp::WebPDecoder, imageops,
};

use crate::limits::{MAX_DECODE_BYTES, memory_limit};

/// The number of bytes before the chunks of a file, and before the chunks of a frame.
const FILE_HEADER: usize = 12;
const FRAME_HEADER: usize = 16;
/// The header of a frame with its position, size, duration and these flags.
const DISPOSE: u8 = 1;
const DO_NOT_BLEND: u8 = 2;

/// Returns the pictures that a viewer shows, up to the first damaged frame.
pub fn webp_frames(bytes: &[u8], (width, height): (u32, u32)) -> Frames<'_> {
    let mut frames = chunks(bytes.get(FILE_HEADER..).unwrap_or_default())
        .filter_map(|(kind, body)| (kind == b"ANMF").then_some(body));
    let (mut canvas, mut removed) = (None, None);
    Frames::new(Box::new(iter::from_fn(move || {
        let frame = StoredFrame::read(frames.next()?)?;
        let (x, y) = frame.at;
        let is_inside = x + frame.size.0 <= width && y + frame.size.1 <= height;
        let pixels = is_inside.then(|| frame.decode())??;
        let canvas = canvas.get_or_insert_with(|| RgbaImage::new(width, height));
        if let Some(StoredFrame { at: (x, y), size, .. }) = removed.take() {
            let clear = RgbaImage::new(size.0, size.1);
            canvas.copy_from(&clear, x, y).ok()?;
        }
        if frame.flags & DO_NOT_BLEND == 0 {
            imageops::overlay(canvas, &pixels, x.into(), y.into());
        } else {
            canvas.copy_from(&pixels, x, y).ok()?;
        }
        let delay = Delay::from_numer_denom_ms(frame.milliseconds, 1);
        removed = (frame.flags & DISPOSE != 0).then_some(frame);
        Some(Ok(Frame::from_parts(canvas.clone(), 0, 0, delay)))
    })))
}

struct StoredFrame<'a> {
    at: (u32, u32),
    size: (u32, u32),
    milliseconds: u32,
    flags: u8,
    chunks: &'a [u8],
}

impl<'a> StoredFrame<'a> {
    fn read(body: &'a [u8]) -> Option<Self> {
        let (header, chunks) = body.split_first_chunk::<FRAME_HEADER>()?;
        let [x, y, width, height, milliseconds] = [0, 3, 6, 9, 12]
            .map(|at| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], 0]));
        let (at, size) = ((2 * x, 2 * y), (width + 1, height + 1));
        Some(Self { at, size, milliseconds, flags: header[15], chunks })
    }

    /// Decodes the pixels of the frame alone.
    fn decode(&self) -> Option<RgbaImage> {
        let size = [self.size.0, self.size.1].map(|side| (side - 1).to_le_bytes());
        // Only a frame with a chunk of alpha needs this header, which says that it has alpha.
        let header = [&b"VP8X\x0A\0\0\0\x10\0\0\0"[..], &size[0][..3], &size[1][..3]].concat();
        let header = if self.chunks.starts_with(b"ALPH") { &*header } else { &[] };
        let length = u32::try_from(4 + header.len() + self.chunks.len()).ok()?.to_le_bytes();
        let file = [b"RIFF", &length[..], b"WEBP", header, self.chunks].concat();
        let mut decoder = WebPDecoder::new(Cursor::new(file)).ok()?;
        decoder.set_limits(memory_limit(MAX_DECODE_BYTES)).ok()?;
        let is_as_stated = decoder.dimensions() == self.size;
        is_as_stated
            .then(|| DynamicImage::from_decoder(decoder).ok())?
            .map(DynamicImage::into_rgba8)
    }
}

/// Returns the kinds and bodies of the chunks, up to the first one that is cut off.
fn chunks(mut bytes: &[u8]) -> impl Iterator<Item = (&[u8; 4], &[u8])> {
    iter::from_fn(move || {
        let (kind, after) = bytes.split_first_chunk()?;
        let (length, after) = after.split_first_chunk()?;
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        let body = after.get(..length)?;
        // The padding of the last chunk may be missing.
        bytes = after.get(length.next_multiple_of(2)..).unwrap_or_default();
        Some((kind, body))
    })
}

#[cfg(test)]
mod tests {
    use image::{ExtendedColorType, ImageEncoder as _, codecs::webp::WebPEncoder};

    use super::*;

    const RED: [u8; 4] = [250, 0, 0, 255];
    const CLEAR: [u8; 4] = [0; 4];
    /// 2x2 red pixels without alpha, in the lossy coding.
    const LOSSY: &[u8] =
        b"VP8 (\0\0\0\x90\x01\0\x9d\x01*\x02\0\x02\0\x05@|%\xa0\x02t\xba\0\x03\x98\0\xfe\xe9i\
        \x1dyN\x06M\xff\xcc\xd1\xfaM\xf4\x9b\xb9\x80\0";

    fn chunk(kind: [u8; 4], body: &[u8]) -> Vec<u8> {
        [&kind, &u32::try_from(body.len()).unwrap().to_le_bytes()[..], body].concat()
    }

    /// Returns the chunk of a frame of 2x2 pixels.
    fn frame(x: u8, flags: u8, coded: &[u8]) -> Vec<u8> {
        let header = [x / 2, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 100, 0, 0, flags];
        chunk(*b"ANMF", &[&header, coded].concat())
    }

    fn lossless(color: [u8; 4]) -> Vec<u8> {
        let mut file = Vec::new();
        let encoder = WebPEncoder::new_lossless(&mut file);
        encoder.write_image(&[color; 4].concat(), 2, 2, ExtendedColorType::Rgba8).unwrap();
        file.split_off(FILE_HEADER)
    }

    /// Returns the colors on the left and on the right of the frames in a picture of 4x2 pixels.
    fn shown(frames: &[Vec<u8>]) -> Vec<[[u8; 4]; 2]> {
        let chunks = frames.concat();
        let file = [b"RIFF\0\0\0\0WEBP", &chunks[..]].concat();
        let shown = webp_frames(&file, (4, 2)).map(|frame| {
            let picture = frame.unwrap().into_buffer();
            [0, 2].map(|x| picture.get_pixel(x, 1).0)
        });
        shown.collect()
    }

    #[test]
    fn a_frame_disappears_before_the_next_one_if_the_file_says_so() {
        let red = lossless(RED);
        assert_eq!(shown(&[frame(0, 0, &red), frame(2, 0, &red)])[1], [RED, RED]);
        assert_eq!(shown(&[frame(0, DISPOSE, &red), frame(2, 0, &red)])[1], [CLEAR, RED]);
        let [_, [left, right]] = shown(&[frame(0, DISPOSE, &red), frame(2, 0, LOSSY)])[..] else {
            panic!("two frames")
        };
        assert_eq!(left, CLEAR, "before a frame without alpha");
        assert!(right[0] > 200 && right[1] < 50 && right[3] == 255, "{right:?}");
    }

    #[test]
    fn transparent_pixels_show_the_frame_before_unless_they_replace_it() {
        let (red, clear) = (lossless(RED), lossless(CLEAR));
        let frames = [frame(0, 0, &red), frame(0, 0, &clear), frame(0, DO_NOT_BLEND, &clear)];
        assert_eq!(shown(&frames), [[RED, CLEAR], [RED, CLEAR], [CLEAR, CLEAR]]);
    }

    #[test]
    fn a_damaged_frame_ends_the_animation() {
        let red = lossless(RED);
        let cut = &frame(0, 0, &red)[..40];
        assert_eq!(shown(&[frame(0, 0, &red), cut.to_vec()]).len(), 1);
        assert_eq!(shown(&[frame(0, 0, &red), frame(4, 0, &red)]).len(), 1, "outside");
        let tall = [&[0; 6][..], &[1, 0, 0, 9, 0, 0, 0, 0, 0, 0], &red].concat();
        assert_eq!(shown(&[chunk(*b"ANMF", &tall)]).len(), 0, "another size");
    }
}
