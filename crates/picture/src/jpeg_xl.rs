//! Decodes the first frame of a JPEG XL file. The frame is decoded in bands, because the decoder needs much memory per
//! pixel. The boxes of the file are read here, because the decoder would expand compressed metadata without a limit.

use std::borrow::Cow;

use image::{ColorType, RgbImage};
use jxl_oxide::{
    AllocTracker, CropInfo, EnumColourEncoding, JxlImage, JxlThreadPool, Moxcms, RenderingIntent,
    image::ExtraChannelInfo,
};

use crate::{
    iso_boxes::{exif_structure, split_box},
    limits::{Deadline, DecodeError, MAX_DECODE_BYTES, check_size, lock_if_large},
    raster::downscale,
    tiff_samples::divide_by_alpha,
};

/// Bands are so large that decoding the neighborhood of each band again costs little.
const BAND_PIXELS: u32 = 4_000_000;
/// The memory that the decoder needs for each pixel of a band.
const BYTES_PER_PIXEL: u64 = 32;

/// A picture whose header has been read.
pub struct JpegXl(JxlImage);

impl JpegXl {
    pub fn open(bytes: &[u8]) -> Result<Self, DecodeError> {
        let limit = usize::try_from(MAX_DECODE_BYTES).unwrap_or(usize::MAX);
        let mut image = JxlImage::builder()
            // No thread pool is needed, because several pictures are decoded in parallel.
            .pool(JxlThreadPool::none())
            .alloc_tracker(AllocTracker::with_limit(limit))
            .read(&*JpegXlContainer::read(bytes).codestream)
            .map_err(|error| DecodeError(format!("damaged JPEG XL: {error}")))?;
        check_size((image.width(), image.height()))?;
        if image.num_loaded_keyframes() == 0 {
            return Err(DecodeError("truncated JPEG XL".to_owned()));
        }
        // This color management system converts colors that an ICC profile describes.
        image.set_cms(Moxcms);
        image.request_color_encoding(EnumColourEncoding::srgb(RenderingIntent::Relative));
        Ok(Self(image))
    }

    /// Returns the upright width and height. The decoder applies the orientation itself.
    pub fn size(&self) -> (u32, u32) {
        (self.0.width(), self.0.height())
    }

    /// Decodes the picture to sRGB, with at least `min_side` pixels on the shorter side.
    pub fn decode(mut self, min_side: u32) -> Result<RgbImage, DecodeError> {
        let (width, height) = self.size();
        let factor = (width.min(height) / min_side.max(1)).clamp(1, 64);
        let rows = (BAND_PIXELS / width / factor).max(1) * factor;
        let _lock = lock_if_large(BYTES_PER_PIXEL * u64::from(width) * u64::from(rows.min(height)));
        let (deadline, mut pixels) = (Deadline::new(), Vec::new());
        for top in (0..height).step_by(rows as usize) {
            deadline.check()?;
            let band = CropInfo { width, height: rows.min(height - top), left: 0, top };
            pixels.extend_from_slice(self.decode_band(band, factor)?.as_raw());
        }
        RgbImage::from_raw(width.div_ceil(factor), height.div_ceil(factor), pixels)
            .ok_or_else(|| DecodeError("the decoder gave too few pixels".to_owned()))
    }

    fn decode_band(&mut self, band: CropInfo, factor: u32) -> Result<RgbImage, DecodeError> {
        self.0.set_image_region(band);
        let frame = self.0.render_frame(0);
        let frame = frame.map_err(|error| DecodeError(format!("damaged JPEG XL: {error}")))?;
        let mut stream = frame.stream();
        let color = match stream.channels() {
            1 => ColorType::L8,
            2 => ColorType::La8,
            3 => ColorType::Rgb8,
            _ => ColorType::Rgba8,
        };
        let size = (stream.width(), stream.height());
        let mut samples = vec![0_u8; (size.0 * size.1 * stream.channels()) as usize];
        stream.write_to_buffer(&mut samples);
        if color.has_alpha() && self.is_premultiplied() {
            divide_by_alpha(&mut samples, color.channel_count().into());
        }
        Ok(downscale(&samples, size, color, factor))
    }

    /// Whether the colors are multiplied already with the alpha channel.
    fn is_premultiplied(&self) -> bool {
        let mut kinds = self.0.image_header().metadata.ec_info.iter();
        kinds.find_map(ExtraChannelInfo::alpha_associated) == Some(true)
    }
}

/// The first bytes of a file that consists of boxes (ISO/IEC 18181-2).
const SIGNATURE: &[u8] = b"\0\0\0\x0CJXL \r\n\x87\n";

/// The parts of a file that are used. Compressed metadata is ignored.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct JpegXlContainer<'a> {
    /// The picture, joined from its parts.
    pub codestream: Cow<'a, [u8]>,
    /// A TIFF structure with the Exif fields.
    pub exif: Option<&'a [u8]>,
    /// The XMP packet, which is XML.
    pub xmp: Option<&'a [u8]>,
}

impl<'a> JpegXlContainer<'a> {
    /// Reads the boxes up to the first damaged box. A bare codestream has no boxes.
    pub fn read(bytes: &'a [u8]) -> Self {
        let mut read = Self::default();
        if !bytes.starts_with(SIGNATURE) {
            read.codestream = Cow::Borrowed(bytes);
            return read;
        }
        let mut rest = &bytes[SIGNATURE.len()..];
        while let Some((kind, body, after)) = split_box(rest) {
            match &kind {
                b"jxlc" => read.codestream = Cow::Borrowed(body),
                // The number of the part precedes the data. The parts are in order.
                b"jxlp" => read.codestream.to_mut().extend(body.get(4..).unwrap_or_default()),
                b"Exif" if read.exif.is_none() => read.exif = exif_structure(body),
                b"xml " => _ = read.xmp.get_or_insert(body),
                _ => {}
            }
            rest = after;
        }
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(kind: &str, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len() + 8).unwrap().to_be_bytes();
        [&length[..], kind.as_bytes(), body].concat()
    }

    #[test]
    fn parts_of_the_codestream_are_joined_and_compressed_metadata_is_skipped() {
        let file = [
            SIGNATURE.to_vec(),
            part("ftyp", b"jxl \0\0\0\0jxl "),
            part("jxlp", b"\0\0\0\0\xFF\x0A"),
            part("brob", b"xml bomb"),
            part("Exif", b"\0\0\0\x02..II*\0"),
            part("xml ", b"<x/>"),
            part("jxlp", b"\x80\0\0\x01rest"),
        ]
        .concat();
        let read = JpegXlContainer::read(&file);
        assert_eq!(*read.codestream, *b"\xFF\x0Arest");
        assert_eq!((read.exif, read.xmp), (Some(&b"II*\0"[..]), Some(&b"<x/>"[..])));
    }

    #[test]
    fn lengths_of_all_three_kinds_are_read() {
        let long = [&b"\0\0\0\x01jxlc"[..], &18_u64.to_be_bytes(), b"\xFF\x0A"].concat();
        let open = [&b"\0\0\0\0jxlc"[..], b"\xFF\x0A"].concat();
        for body in [long, open, part("jxlc", b"\xFF\x0A")] {
            let file = [SIGNATURE, &body].concat();
            assert_eq!(*JpegXlContainer::read(&file).codestream, *b"\xFF\x0A", "{file:?}");
        }
    }

    #[test]
    fn damaged_lengths_end_the_file() {
        for length in [2_u32, 7] {
            let file = [SIGNATURE, &length.to_be_bytes(), b"jxlc\xFF\x0A"].concat();
            assert_eq!(JpegXlContainer::read(&file), JpegXlContainer::default());
        }
        let bare = JpegXlContainer::read(b"\xFF\x0Arest");
        assert_eq!(*bare.codestream, *b"\xFF\x0Arest");
    }
}
