//! Image regions in whole pixels.

use tessera_model::Region;

pub fn region_in_pixels(region: Region, size: (u32, u32)) -> (u32, u32, u32, u32) {
    let (width, height) = (f64::from(size.0), f64::from(size.1));
    let Region { x, y, .. } = region;
    whole_pixels([x * width, y * height, region.width * width, region.height * height], size)
}

/// Rounds a rectangle (left, top, width, height): at least one pixel, never outside.
pub fn whole_pixels(
    [x, y, wide, high]: [f64; 4],
    (width, height): (u32, u32),
) -> (u32, u32, u32, u32) {
    let span = |from: f64, length: f64, side: u32| {
        let first = (from as u32).min(side - 1);
        (first, (length.round() as u32).clamp(1, side - first))
    };
    let ((x, wide), (y, high)) = (span(x, wide, width), span(y, high, height));
    (x, y, wide, high)
}

/// The minimum shorter side of a scaled decode, such that the shorter side of every region has at
/// least `min_side` pixels, if the image does.
pub fn min_decode_side(regions: &[Region], size: (u32, u32), min_side: u32) -> u32 {
    let shortest = |region: &Region| {
        let (.., width, height) = region_in_pixels(*region, size);
        width.min(height)
    };
    let shortest = regions.iter().map(shortest).min().unwrap_or(1);
    let scale = f64::from(min_side) / f64::from(shortest);
    (f64::from(size.0.min(size.1)) * scale).ceil() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_is_at_least_a_pixel_and_inside() {
        let of = |x, y, w, h| region_in_pixels(Region::new(x, y, w, h).unwrap(), (100, 50));
        assert_eq!(of(0.0, 0.0, 1.0, 1.0), (0, 0, 100, 50));
        assert_eq!(of(0.25, 0.5, 0.5, 0.5), (25, 25, 50, 25));
        assert_eq!(of(0.999, 0.0, 0.001, 0.0001), (99, 0, 1, 1));
        assert_eq!(of(1.0, 1.0, 1e-12, 1e-12), (99, 49, 1, 1));
        assert_eq!(whole_pixels([90.0, 0.0, 2048.0, 1536.0], (100, 50)), (90, 0, 10, 50));
    }

    #[test]
    fn large_regions_of_large_pictures_need_few_pixels() {
        let half = Region::new(0.0, 0.0, 0.5, 0.5).unwrap();
        let tiny = Region::new(0.0, 0.0, 0.01, 0.01).unwrap();
        assert_eq!(min_decode_side(&[half], (4000, 3000), 256), 512);
        assert!(min_decode_side(&[half, tiny], (4000, 3000), 256) > 3000);
        assert!(min_decode_side(&[half], (300, 200), 256) > 200);
    }
}
