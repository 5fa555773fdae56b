//! Decodes JPEG files at full size whose layout is legal but uncommon: a scan for each component, components with more
//! samples than the first one, or markers that contradict each other. The decoder of the `image` crate draws stripes or
//! other colors for these files, so that another crate decodes them.

use image::{ColorType, RgbImage};
use jpeg_decoder::{ColorTransform, Decoder, Error};

use super::{Jpeg, error::JpegError, header::ColorSpace, scan::ycbcr_to_rgb, scan_headers};
use crate::{
    limits::{Deadline, DecodeError, TimedReader, lock_memory},
    raster::to_picture,
};

const UNSUPPORTED_SAMPLING: &str =
    "a kind of JPEG that cannot be opened: three samplings in separate scans; save it again";

impl Jpeg<'_> {
    /// Decodes a gray or colored picture of an uncommon layout to sRGB, with at least `min_side` pixels on the shorter
    /// side.
    pub fn decode_uncommon(&self, min_side: u32) -> Result<RgbImage, DecodeError> {
        let _lock = lock_memory(self.estimated_bytes())?;
        let mut samples = self.decode_uncommon_samples()?;
        if self.header.color_space() == ColorSpace::YCbCr && self.header.components.len() == 3 {
            samples.as_chunks_mut().0.iter_mut().for_each(|color| *color = ycbcr_to_rgb(*color));
        }
        let color = if self.header.components.len() == 1 { ColorType::L8 } else { ColorType::Rgb8 };
        to_picture(samples, self.size(), color, min_side, self.source_colors().as_ref())
    }

    /// Decodes the samples of all components, as they are stored, of a picture of an uncommon layout.
    pub fn decode_uncommon_samples(&self) -> Result<Vec<u8>, DecodeError> {
        self.decode_samples()?.map_err(|error| describe(&error))
    }

    /// Verifies that the data has all pixels.
    pub fn check_samples(&self) -> Result<(), DecodeError> {
        let _lock = lock_memory(self.estimated_bytes())?;
        self.decode_samples()?.map(drop).map_err(|_| JpegError::Truncated.into())
    }

    /// Returns the samples, or what is wrong with the data. Other failures are about the layout or the time.
    fn decode_samples(&self) -> Result<Result<Vec<u8>, Error>, DecodeError> {
        if self.has_intermediate_scan() {
            return Err(DecodeError(UNSUPPORTED_SAMPLING.to_owned()));
        }
        let deadline = Deadline::new();
        // The decoder needs the end marker, which a complete file may lack. It reads nothing after the first one.
        let complete = [self.bytes, &[0xFF, 0xD9]].concat();
        let mut decoder = Decoder::new(TimedReader::new(&complete, deadline.clone()));
        // These transforms change no color: the first one copies, and the second one only inverts.
        let is_inverted = self.is_cmyk();
        decoder.set_color_transform(if is_inverted {
            ColorTransform::CMYK
        } else {
            ColorTransform::RGB
        });
        let result = decoder.decode();
        deadline.check()?;
        let mut samples = match result {
            Ok(samples) => samples,
            Err(error) => return Ok(Err(error)),
        };
        let (width, height) = self.size();
        if samples.len() as u64 != u64::from(width) * u64::from(height) * self.components() {
            return Err(DecodeError("the decoder gave too few pixels".to_owned()));
        }
        if is_inverted {
            for sample in &mut samples {
                *sample = 255 - *sample;
            }
        }
        Ok(Ok(samples))
    }

    /// Whether a component has a scan of its own that the decoder does not read correctly.
    fn has_intermediate_scan(&self) -> bool {
        let components: Vec<u8> = self.header.intermediate_components().collect();
        scan_headers(self.bytes)
            .any(|header| matches!(header, [1, component, ..] if components.contains(component)))
    }

    /// Returns an upper bound for the peak memory: the samples of each component with those beyond the edge of the
    /// picture, the coefficients of a progressive picture, and the samples that are made from them.
    pub fn estimated_bytes(&self) -> u64 {
        let (across, down) = self.header.mcu_counts();
        let blocks: usize =
            self.header.components.iter().map(|it| it.sampling.0 * it.sampling.1).sum();
        let stored = (across * down * blocks) as u64 * 64;
        let (width, height) = self.size();
        let bytes_per_sample = if self.is_progressive() { 3 } else { 1 };
        bytes_per_sample * stored + u64::from(width) * u64::from(height) * self.components()
    }

    fn components(&self) -> u64 {
        self.header.components.len() as u64
    }
}

fn describe(error: &Error) -> DecodeError {
    DecodeError(match error {
        Error::Unsupported(_) => format!("a kind of JPEG that cannot be opened: {error}"),
        _ => format!("damaged JPEG: {error}"),
    })
}
