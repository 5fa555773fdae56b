//! Converts colors with an ICC profile to sRGB, which terminals and the index expect.

use std::sync::{Arc, Mutex, PoisonError};

use image::{Rgb, RgbImage};
use moxcms::{ColorProfile, DataColorSpace, Layout, Transform8BitExecutor, TransformOptions};

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
/// The largest difference, of 255, that is not worth a conversion.
const TOLERANCE: u8 = 3;

/// How to convert the colors of a profile.
#[derive(Clone)]
struct Conversion {
    from: DataColorSpace,
    transform: Arc<Transform8BitExecutor>,
}

/// Profiles whose conversions are kept: the pictures of a folder share a few.
const MAX_RECENT: usize = 8;
/// Longer profiles are not kept; those of printers have about 2 MB.
const MAX_KEPT_BYTES: usize = 4 << 20;

/// The profiles that were used last, the last one first, with their conversions; `None` for one that is sRGB already,
/// or not understood.
static RECENT: Mutex<Vec<(Vec<u8>, Option<Conversion>)>> = Mutex::new(Vec::new());

/// Converts a picture from the color space of `profile`, an ICC profile for RGB, or for gray if the picture is gray. One
/// that is damaged, or for other colors, changes nothing.
pub fn to_srgb(picture: &mut RgbImage, profile: &[u8]) {
    let Some(Conversion { from, transform }) = conversion(profile) else { return };
    let source = match from {
        DataColorSpace::Rgb => picture.as_raw().clone(),
        DataColorSpace::Gray if picture.pixels().all(|Rgb([r, g, b])| r == g && g == b) => {
            picture.pixels().map(|pixel| pixel.0[0]).collect()
        }
        _ => return,
    };
    // It fails only if the lengths differ, before it writes.
    let _ = transform.transform(&source, picture);
}

/// How to convert pixels of CMYK with a profile for it to pixels of sRGB.
pub fn cmyk_to_srgb(profile: &[u8]) -> Option<Arc<Transform8BitExecutor>> {
    let Conversion { from, transform } = conversion(profile)?;
    (from == DataColorSpace::Cmyk).then_some(transform)
}

fn conversion(profile: &[u8]) -> Option<Conversion> {
    let recent = || RECENT.lock().unwrap_or_else(PoisonError::into_inner);
    let mut known = recent();
    if let Some(position) = known.iter().position(|(bytes, _)| bytes == profile) {
        known[..=position].rotate_right(1);
        return known[0].1.clone();
    }
    drop(known);
    let conversion = create(profile);
    if profile.len() <= MAX_KEPT_BYTES {
        let mut known = recent();
        known.insert(0, (profile.to_vec(), conversion.clone()));
        known.truncate(MAX_RECENT);
    }
    conversion
}

fn create(profile: &[u8]) -> Option<Conversion> {
    let profile = ColorProfile::new_from_slice(profile).ok()?;
    let from = profile.color_space;
    let layout = match from {
        DataColorSpace::Rgb => Layout::Rgb,
        DataColorSpace::Gray => Layout::Gray,
        // Four samples a pixel, as those of CMYK.
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

/// Whether a conversion of RGB changes colors visibly.
fn differs_visibly(transform: &Transform8BitExecutor) -> bool {
    let mut converted = [[0; 3]; PROBES.len()];
    let done = transform.transform(PROBES.as_flattened(), converted.as_flattened_mut());
    let mut samples = PROBES.as_flattened().iter().zip(converted.as_flattened());
    done.is_ok() && samples.any(|(before, after)| before.abs_diff(*after) > TOLERANCE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn converted(profile: &ColorProfile, color: [u8; 3]) -> [u8; 3] {
        let mut picture = RgbImage::from_pixel(2, 2, image::Rgb(color));
        to_srgb(&mut picture, &profile.encode().unwrap());
        picture.get_pixel(1, 1).0
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
        let mut picture = RgbImage::from_pixel(1, 1, image::Rgb([200, 80, 61]));
        to_srgb(&mut picture, b"no profile");
        assert_eq!(picture.get_pixel(0, 0).0, [200, 80, 61]);
    }
}
