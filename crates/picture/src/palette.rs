//! Finds the nearest color in the palette of terminals that cannot show exact colors.

/// Returns the number of the nearest color in the 6x6x6 cube or the gray ramp of the 256-color palette.
pub fn nearest_of_256(pixel: [u8; 3]) -> u8 {
    const CUBE: [u8; 6] = [0, 95, 135, 175, 215, 255];
    let level = |sample: u8| match sample {
        0..48 => 0,
        48..115 => 1,
        _ => (sample - 35) / 40,
    };
    let levels = pixel.map(level);
    let cube = levels.map(|level| CUBE[usize::from(level)]);
    let mean = pixel.map(u16::from).iter().sum::<u16>() / 3;
    let step = (mean.saturating_sub(3) / 10).min(23) as u8;
    let gray = [8 + 10 * step; 3];
    if squared_distance(pixel, gray) < squared_distance(pixel, cube) {
        232 + step
    } else {
        16 + 36 * levels[0] + 6 * levels[1] + levels[2]
    }
}

/// Returns the squared distance between two colors.
pub fn squared_distance(a: [u8; 3], b: [u8; 3]) -> u32 {
    a.into_iter().zip(b).map(|(a, b)| u32::from(a.abs_diff(b)).pow(2)).sum()
}
