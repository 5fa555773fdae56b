//! The colors of the samples in a file, and their conversion to sRGB, which terminals and the index expect. A file
//! describes its colors by an ICC profile, by the numbers of ITU-T H.273, or by chunks of a PNG.

use std::{ops::RangeInclusive, sync::Arc};

use image::{Rgb, RgbImage};
use moxcms::{
    Chromaticity, CicpColorPrimaries, CicpProfile, ColorPrimaries, ColorProfile, DataColorSpace,
    Layout, MatrixCoefficients, TransferCharacteristics, Transform8BitExecutor, TransformOptions,
    XyY, curve_from_gamma,
};
use parking_lot::Mutex;

use crate::{
    png_chunks::chunk_before_pixels,
    tone_map::{HighDynamicRange, high_dynamic_range_to_srgb},
};

/// Colors whose conversion shows whether a profile differs visibly from sRGB.
const PROBES: [[u8; 3]; 8] = [
    [0, 0, 0],
    [255, 255, 255],
    [128, 128, 128],
    [40, 40, 40],
    [255, 0, 0],
    [0, 255, 0],
    [0, 0, 255],
    [200, 120, 60],
];
/// Plausible exponents of samples in 100,000ths, and the exponents that programs write for sRGB.
const USUAL_EXPONENTS: RangeInclusive<u32> = 20_000..=200_000;
const SRGB_EXPONENTS: RangeInclusive<u32> = 43_000..=48_000;
/// Twice the minimum area of the triangle of the primaries, in squares of 100,000ths. Smaller triangles are ignored as
/// meaningless. The value for sRGB is 2,240,000,000.
const MIN_TWICE_AREA: i64 = 100_000_000;
/// The largest difference (of 255) for which a conversion is not worth its time.
const TOLERANCE: u8 = 3;

/// What a file says about the colors of its samples.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceColors {
    /// An ICC profile for RGB, gray or CMYK.
    Profile(Vec<u8>),
    Coded(CodedColors),
    /// Samples with an exponent, and primaries or those of sRGB.
    Calibrated {
        /// In 100,000ths. Linear light has 100,000.
        exponent: u32,
        /// The chromaticities x and y of white, red, green and blue, in 100,000ths.
        points: Option<[u32; 8]>,
    },
}

impl SourceColors {
    /// Whether the conversion of a pixel depends on the rest of the picture.
    pub fn needs_whole_picture(&self) -> bool {
        matches!(self, Self::Coded(coded) if coded.high_dynamic_range().is_some())
    }
}

/// How to convert the colors of a file.
#[derive(Clone)]
struct Conversion {
    from: DataColorSpace,
    transform: Arc<Transform8BitExecutor>,
}

/// The number of profiles whose conversions are kept. The pictures of a folder share a few profiles.
const MAX_RECENT: usize = 8;
/// The size up to which a profile is kept. Profiles of printers have about 2 MB.
const MAX_KEPT_BYTES: usize = 4 << 20;

/// The colors that were converted most recently, the latest first, with their conversions. The conversion is `None` if
/// the colors are sRGB already or are not understood.
static RECENT: Mutex<Vec<(SourceColors, Option<Conversion>)>> = Mutex::new(Vec::new());

/// Converts an RGB picture, or a gray one if the profile is for gray. A profile that is damaged or for other colors
/// changes nothing.
pub fn to_srgb(picture: &mut RgbImage, colors: &SourceColors) {
    if let SourceColors::Coded(coded) = colors
        && let Some(transfer) = coded.high_dynamic_range()
    {
        return high_dynamic_range_to_srgb(picture, transfer, coded.profile().as_ref());
    }
    let Some(Conversion { from, transform }) = conversion(colors) else { return };
    let source = match from {
        DataColorSpace::Rgb => picture.as_raw().clone(),
        DataColorSpace::Gray if picture.pixels().all(|Rgb([r, g, b])| r == g && g == b) => {
            picture.pixels().map(|pixel| pixel.0[0]).collect()
        }
        _ => return,
    };
    // The conversion fails only if the lengths differ, and in that case it writes nothing.
    let _ = transform.transform(&source, picture);
}

/// Converts rows of `width` pixels of red, green, blue and alpha in place, before they are blended with the background.
pub fn translucent_to_srgb(samples: &mut [u8], width: usize, colors: &SourceColors) {
    let Some(Conversion { from, transform }) = conversion(colors) else { return };
    let channels = match from {
        DataColorSpace::Rgb => 3,
        DataColorSpace::Gray => 1,
        _ => return,
    };
    let (mut stored, mut converted) = (Vec::new(), vec![0; 3 * width]);
    for row in samples.as_chunks_mut::<4>().0.chunks_mut(width) {
        stored.clear();
        stored.extend(row.iter().flat_map(|pixel| &pixel[..channels]));
        let converted = &mut converted[..3 * row.len()];
        if transform.transform(&stored, converted).is_ok() {
            for (pixel, color) in row.iter_mut().zip(converted.as_chunks::<3>().0) {
                pixel[..3].copy_from_slice(color);
            }
        }
    }
}

/// Returns the conversion of CMYK pixels to sRGB, if there is a profile for CMYK.
pub fn cmyk_to_srgb(colors: &SourceColors) -> Option<Arc<Transform8BitExecutor>> {
    let Conversion { from, transform } = conversion(colors)?;
    (from == DataColorSpace::Cmyk).then_some(transform)
}

fn conversion(colors: &SourceColors) -> Option<Conversion> {
    let recent = || RECENT.lock();
    let mut known = recent();
    if let Some(position) = known.iter().position(|(known, _)| known == colors) {
        known[..=position].rotate_right(1);
        return known[0].1.clone();
    }
    drop(known);
    let profile = match colors {
        SourceColors::Profile(bytes) => ColorProfile::new_from_slice(bytes).ok(),
        SourceColors::Coded(coded) => coded.profile(),
        SourceColors::Calibrated { exponent, points } => calibrated_profile(*exponent, *points),
    };
    let conversion = profile.and_then(|profile| create_conversion(&profile));
    if !matches!(colors, SourceColors::Profile(bytes) if bytes.len() > MAX_KEPT_BYTES) {
        let mut known = recent();
        known.insert(0, (colors.clone(), conversion.clone()));
        known.truncate(MAX_RECENT);
    }
    conversion
}

/// Returns sRGB with another transfer curve and other primaries. Returns `None` if both are close to those of sRGB, or
/// make no sense.
fn calibrated_profile(exponent: u32, points: Option<[u32; 8]>) -> Option<ColorProfile> {
    if !USUAL_EXPONENTS.contains(&exponent) {
        return None;
    }
    let mut profile = ColorProfile::new_srgb();
    // The coded colors are removed, because they would take precedence over the curves and the primaries.
    profile.cicp = None;
    let has_other_curve = !SRGB_EXPONENTS.contains(&exponent);
    if has_other_curve {
        let exponent = f32::from(u16::try_from(exponent / 10).ok()?) / 10_000.0;
        let curve = curve_from_gamma(1.0 / exponent);
        profile.red_trc = Some(curve.clone());
        profile.green_trc = Some(curve.clone());
        profile.blue_trc = Some(curve);
    }
    let points = points.and_then(chromaticities);
    if let Some([white, red, green, blue]) = points {
        let white = XyY { x: white.x.into(), y: white.y.into(), yb: 1.0 };
        profile.update_rgb_colorimetry(white, ColorPrimaries { red, green, blue });
    }
    (has_other_curve || points.is_some()).then_some(profile)
}

/// Returns the white point and the primaries. Returns `None` if there are no such colors, or if the primaries lie almost
/// on a line.
fn chromaticities(points: [u32; 8]) -> Option<[Chromaticity; 4]> {
    let [white, red, green, blue] = *points.as_chunks::<2>().0 else { return None };
    let is_color = |[x, y]: [u32; 2]| y > 0 && x.checked_add(y).is_some_and(|sum| sum <= 100_000);
    if ![white, red, green, blue].into_iter().all(is_color) {
        return None;
    }
    let [x, y] = [0, 1].map(|axis| move |point: [u32; 2]| i64::from(point[axis]));
    let twice_area =
        (x(green) - x(red)) * (y(blue) - y(red)) - (x(blue) - x(red)) * (y(green) - y(red));
    #[expect(clippy::cast_precision_loss, reason = "numbers up to 100,000 are exact")]
    let coordinate = |number: u32| number as f32 / 100_000.0;
    let chromaticity = |[x, y]: [u32; 2]| Chromaticity::new(coordinate(x), coordinate(y));
    (twice_area.abs() > MIN_TWICE_AREA).then(|| [white, red, green, blue].map(chromaticity))
}

fn create_conversion(profile: &ColorProfile) -> Option<Conversion> {
    let from = profile.color_space;
    let layout = match from {
        DataColorSpace::Rgb => Layout::Rgb,
        DataColorSpace::Gray => Layout::Gray,
        // CMYK has four samples per pixel, like RGBA.
        DataColorSpace::Cmyk => Layout::Rgba,
        _ => return None,
    };
    let options = TransformOptions::default();
    let transform = profile
        .create_transform_8bit(layout, &ColorProfile::new_srgb(), Layout::Rgb, options)
        .ok()?;
    let is_needed = from != DataColorSpace::Rgb || differs_visibly(&*transform);
    is_needed.then_some(Conversion { from, transform })
}

/// Whether the conversion of an RGB picture changes colors visibly.
fn differs_visibly(transform: &Transform8BitExecutor) -> bool {
    let mut converted = [[0; 3]; PROBES.len()];
    let done = transform.transform(PROBES.as_flattened(), converted.as_flattened_mut());
    let mut samples = PROBES.as_flattened().iter().zip(converted.as_flattened());
    done.is_ok() && samples.any(|(before, after)| before.abs_diff(*after) > TOLERANCE)
}

/// The code of primaries, transfer characteristics or matrices that the file does not specify.
pub const UNSPECIFIED: u64 = 2;

/// Colors that a file describes by numbers of ITU-T H.273, as AVIF, HEIC and PNG do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodedColors {
    pub primaries: u8,
    pub transfer: u8,
}

impl CodedColors {
    pub fn new(primaries: u64, transfer: u64) -> Option<Self> {
        let number = |value| u8::try_from(value).ok();
        Some(Self { primaries: number(primaries)?, transfer: number(transfer)? })
    }

    fn high_dynamic_range(self) -> Option<HighDynamicRange> {
        match self.transfer {
            16 => Some(HighDynamicRange::PerceptualQuantization),
            18 => Some(HighDynamicRange::HybridLogGamma),
            _ => None,
        }
    }

    /// Returns the profile of these colors. Returns `None` if the primaries are reserved or unspecified, which means
    /// sRGB.
    ///
    /// A picture with a transfer characteristic of video is shown with the transfer characteristic of sRGB, as in other
    /// programs.
    pub fn profile(self) -> Option<ColorProfile> {
        let transfer_characteristics = match self.transfer {
            4 => TransferCharacteristics::Bt470M,
            5 => TransferCharacteristics::Bt470Bg,
            8 => TransferCharacteristics::Linear,
            17 => TransferCharacteristics::Smpte428,
            _ => TransferCharacteristics::Srgb,
        };
        let color_primaries = CicpColorPrimaries::try_from(self.primaries).ok()?;
        let cicp = CicpProfile {
            color_primaries,
            transfer_characteristics,
            matrix_coefficients: MatrixCoefficients::Identity,
            full_range: true,
        };
        let profile = ColorProfile::new_from_cicp(cicp);
        // If the primaries are unknown, the profile was not set.
        profile.cicp.is_some().then_some(profile)
    }
}

/// The transfer characteristics that are neither reserved nor unspecified.
const TRANSFERS: [RangeInclusive<u8>; 2] = [1..=1, 4..=18];

/// Returns the colors of a PNG. If it has several descriptions, the first of these is used: a known `cICP`, the profile
/// that was read, `sRGB`, and `gAMA` with `cHRM`. As in browsers, `cHRM` has no effect without `gAMA`.
pub fn png_colors(bytes: &[u8], profile: Option<Vec<u8>>) -> Option<SourceColors> {
    // The third number is 0, because RGB samples have no matrix.
    if let Some(&[primaries, transfer, 0, _full_range]) = chunk_before_pixels(bytes, *b"cICP")
        && TRANSFERS.iter().any(|known| known.contains(&transfer))
        && let coded = (CodedColors { primaries, transfer })
        && coded.profile().is_some()
    {
        return Some(SourceColors::Coded(coded));
    }
    if profile.is_some() || chunk_before_pixels(bytes, *b"sRGB").is_some() {
        return profile.map(SourceColors::Profile);
    }
    let number = |bytes: &[u8; 4]| u32::from_be_bytes(*bytes);
    let exponent = number(chunk_before_pixels(bytes, *b"gAMA")?.first_chunk()?);
    let points = chunk_before_pixels(bytes, *b"cHRM").and_then(|points| {
        <&[[u8; 4]; 8]>::try_from(points.as_chunks().0)
            .ok()
            .map(|points| points.map(|point| number(&point)))
    });
    Some(SourceColors::Calibrated { exponent, points })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn converted_from(colors: &SourceColors, color: [u8; 3]) -> [u8; 3] {
        let mut picture = RgbImage::from_pixel(2, 2, image::Rgb(color));
        to_srgb(&mut picture, colors);
        picture.get_pixel(1, 1).0
    }

    fn converted(profile: &ColorProfile, color: [u8; 3]) -> [u8; 3] {
        converted_from(&SourceColors::Profile(profile.encode().unwrap()), color)
    }

    #[test]
    fn wide_colors_become_those_of_a_screen() {
        let wide = ColorProfile::new_display_p3();
        // Reference: Display P3 (200, 80, 60) is (216, 69, 50) in sRGB, by the matrices of CSS Color 4.
        let [red, green, blue] = converted(&wide, [200, 80, 60]);
        assert!(red.abs_diff(216) <= 1 && green.abs_diff(69) <= 1 && blue.abs_diff(50) <= 1);
        assert_eq!(converted(&wide, [128; 3]), [128; 3], "gray stays gray");
        assert_eq!(converted(&wide, [255, 0, 0])[0], 255);
    }

    #[test]
    fn nothing_changes_for_srgb_and_without_a_usable_profile() {
        assert_eq!(converted(&ColorProfile::new_srgb(), [200, 80, 61]), [200, 80, 61]);
        assert_eq!(converted(&ColorProfile::new_gray_with_gamma(1.0), [9, 8, 7]), [9, 8, 7]);
        let damaged = SourceColors::Profile(b"no profile".to_vec());
        assert_eq!(converted_from(&damaged, [200, 80, 61]), [200, 80, 61]);
    }

    #[test]
    fn coded_colors_are_those_of_the_same_profile() {
        let color = |primaries, transfer| {
            let coded = CodedColors { primaries, transfer };
            converted_from(&SourceColors::Coded(coded), [200, 80, 60])
        };
        let wide = converted(&ColorProfile::new_display_p3(), [200, 80, 60]);
        assert!(color(12, 13).iter().zip(wide).all(|(one, other)| one.abs_diff(other) <= 1));
        assert_eq!(color(1, 13), [200, 80, 60], "sRGB");
        assert_eq!(color(2, 2), [200, 80, 60], "unspecified");
        assert_eq!(color(99, 1), [200, 80, 60], "reserved");
        assert!(color(1, 8)[2] > 120, "linear light");
    }

    #[test]
    fn samples_with_another_exponent_are_encoded_as_those_of_srgb() {
        let gray = |exponent| {
            converted_from(&SourceColors::Calibrated { exponent, points: None }, [55; 3])[0]
        };
        // A linear light of 0.2157 is 0.502 in sRGB.
        assert!(gray(100_000).abs_diff(128) <= 1, "{}", gray(100_000));
        assert!(gray(55_556) > 55, "the exponent of old screens");
        assert_eq!([gray(45_455), gray(0), gray(u32::MAX)], [55; 3]);
    }

    #[test]
    fn primaries_with_a_white_point_are_those_of_their_profile() {
        let color = |exponent, points| {
            let points = Some(points);
            converted_from(&SourceColors::Calibrated { exponent, points }, [200, 80, 60])
        };
        let wide = converted(&ColorProfile::new_display_p3(), [200, 80, 60]);
        let display_p3 = [31_270, 32_900, 68_000, 32_000, 26_500, 69_000, 15_000, 6_000];
        let found = color(45_455, display_p3);
        assert!(found.iter().zip(wide).all(|(one, other)| one.abs_diff(other) <= 1), "{found:?}");
        assert!(color(100_000, display_p3)[2] > 120, "linear light");
        let srgb = [31_270, 32_900, 64_000, 33_000, 30_000, 60_000, 15_000, 6_000];
        let on_a_line = [31_270, 32_900, 10_000, 10_000, 20_000, 20_000, 30_000, 30_000];
        for points in [srgb, on_a_line, [0; 8], [u32::MAX; 8]] {
            assert_eq!(color(45_455, points), [200, 80, 60], "{points:?}");
        }
    }

    #[test]
    fn the_alpha_of_translucent_pixels_is_kept() {
        let wide = ColorProfile::new_display_p3();
        let mut samples = [200, 80, 60, 7, 200, 80, 60, 255];
        let profile = SourceColors::Profile(wide.encode().unwrap());
        translucent_to_srgb(&mut samples, 1, &profile);
        assert_eq!((samples[3], samples[7]), (7, 255));
        assert_eq!(samples[..3], converted(&wide, [200, 80, 60]));
        assert_eq!(samples[4..7], samples[..3]);
    }

    fn chunk(kind: [u8; 4], body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len()).unwrap().to_be_bytes();
        [&length[..], &kind, body, &[0; 4]].concat()
    }

    #[test]
    fn chunks_of_colors_are_found_before_the_pixels() {
        let header = chunk(*b"IHDR", &[0; 13]);
        let coded = chunk(*b"cICP", &[12, 13, 0, 1]);
        let gamma = chunk(*b"gAMA", &100_000_u32.to_be_bytes());
        let pixels = chunk(*b"IDAT", &[]);
        let colors = |chunks: &[&[u8]], profile: Option<&[u8]>| {
            let file = [&[0; 8][..], &header, &chunks.concat()].concat();
            png_colors(&file, profile.map(<[u8]>::to_vec))
        };
        let display_p3 = SourceColors::Coded(CodedColors { primaries: 12, transfer: 13 });
        let profile = Some(&b"profile"[..]);
        let of_profile = Some(SourceColors::Profile(b"profile".to_vec()));
        assert_eq!(colors(&[&gamma, &coded, &pixels], profile), Some(display_p3));
        assert_eq!(colors(&[&gamma, &pixels, &coded], profile), of_profile);
        for unknown in [[99, 13, 0, 1], [2, 13, 0, 1], [12, 2, 0, 1], [12, 255, 0, 1]] {
            let unknown = chunk(*b"cICP", &unknown);
            assert_eq!(colors(&[&unknown, &pixels], profile), of_profile);
        }
        let calibrated = |points| Some(SourceColors::Calibrated { exponent: 100_000, points });
        let numbers: Vec<u8> = (1..=8_u32).flat_map(u32::to_be_bytes).collect();
        let points = chunk(*b"cHRM", &numbers);
        assert_eq!(colors(&[&gamma, &pixels], None), calibrated(None));
        assert_eq!(
            colors(&[&points, &gamma, &pixels], None),
            calibrated(Some([1, 2, 3, 4, 5, 6, 7, 8]))
        );
        assert_eq!(colors(&[&points, &pixels], None), None);
        assert_eq!(colors(&[&gamma, &chunk(*b"sRGB", &[0]), &pixels], None), None);
        assert_eq!(colors(&[&chunk(*b"cICP", &[12]), &pixels, &gamma], None), None);
        assert_eq!(png_colors(b"a short file", None), None);
    }

    fn converted_light(transfer: u8, pixels: &[[u8; 3]]) -> Vec<[u8; 3]> {
        let width = u32::try_from(pixels.len()).unwrap();
        let mut picture = RgbImage::from_fn(width, 1, |x, _| Rgb(pixels[x as usize]));
        to_srgb(&mut picture, &SourceColors::Coded(CodedColors { primaries: 9, transfer }));
        picture.pixels().map(|pixel| pixel.0).collect()
    }

    fn is_near(found: &[[u8; 3]], expected: &[[u8; 3]]) -> bool {
        let pairs = found.as_flattened().iter().zip(expected.as_flattened());
        pairs.into_iter().all(|(one, other)| one.abs_diff(*other) <= 4)
    }

    #[test]
    fn light_up_to_white_is_only_encoded() {
        // By ITU-R BT.2408, white has the sample 0.58 in PQ and 0.75 in HLG, and a gray card of 26 cd/m² has 0.38 in
        // both.
        let quantized = converted_light(16, &[[147; 3], [96; 3], [0; 3]]);
        assert!(is_near(&quantized, &[[251; 3], [100; 3], [0; 3]]), "{quantized:?}");
        let logarithmic = converted_light(18, &[[190; 3], [97; 3], [0; 3]]);
        assert!(is_near(&logarithmic, &[[252; 3], [100; 3], [0; 3]]), "{logarithmic:?}");
    }

    #[test]
    fn brighter_light_keeps_its_order_and_hue() {
        let found = converted_light(16, &[[100; 3], [150; 3], [200; 3], [200, 160, 120]]);
        assert!(found[..3].is_sorted() && found[2] == [255; 3], "{found:?}");
        assert!(found[3].is_sorted_by(|one, other| one > other), "{found:?}");
    }
}
