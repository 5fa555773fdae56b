//! Converts colors with an ICC profile to sRGB, which terminals and the index expect.

use std::sync::{Arc, Mutex, PoisonError};

use image::RgbImage;
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

/// How to convert the colors of a profile; `None` for those that are sRGB already, or not understood.
type Conversion = Option<Arc<Transform8BitExecutor>>;

/// The profile that was last used and its conversion: the pictures of a folder usually share one.
static LAST: Mutex<Option<(Vec<u8>, Conversion)>> = Mutex::new(None);

/// Converts a picture from the color space of `profile`, an ICC profile. One that is damaged, or not for RGB,
/// changes nothing: the decoder has converted other colors, such as CMYK, already.
pub fn to_srgb(picture: &mut RgbImage, profile: &[u8]) {
    let Some(conversion) = conversion(profile) else { return };
    let source = picture.as_raw().clone();
    // It fails only if the lengths differ.
    if conversion.transform(&source, picture).is_err() {
        picture.copy_from_slice(&source);
    }
}

fn conversion(profile: &[u8]) -> Conversion {
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((known, conversion)) = &*last
        && known == profile
    {
        return conversion.clone();
    }
    let conversion = create(profile);
    *last = Some((profile.to_vec(), conversion.clone()));
    conversion
}

fn create(profile: &[u8]) -> Conversion {
    let profile = ColorProfile::new_from_slice(profile).ok()?;
    if profile.color_space != DataColorSpace::Rgb {
        return None;
    }
    let conversion = profile
        .create_transform_8bit(
            Layout::Rgb,
            &ColorProfile::new_srgb(),
            Layout::Rgb,
            TransformOptions::default(),
        )
        .ok()?;
    let mut converted = [[0; 3]; PROBES.len()];
    conversion.transform(PROBES.as_flattened(), converted.as_flattened_mut()).ok()?;
    let differs = PROBES
        .as_flattened()
        .iter()
        .zip(converted.as_flattened())
        .any(|(before, after)| before.abs_diff(*after) > TOLERANCE);
    differs.then_some(conversion)
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
