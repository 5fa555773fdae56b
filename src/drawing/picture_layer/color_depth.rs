//! The colors of a terminal, and the color that is nearest to a pixel.

use ratatui::style::Color;
use tessera_picture::{nearest_of_256, squared_distance};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColorDepth {
    /// 24-bit colors.
    TrueColor,
    /// 256 colors: a cube and a gray ramp.
    Palette256,
    /// The 16 named colors. Their values depend on the terminal, so xterm's values are assumed.
    Palette16,
}

/// Xterm's values of the named colors.
const XTERM_COLORS: [(Color, [u8; 3]); 16] = [
    (Color::Black, [0, 0, 0]),
    (Color::Red, [205, 0, 0]),
    (Color::Green, [0, 205, 0]),
    (Color::Yellow, [205, 205, 0]),
    (Color::Blue, [0, 0, 238]),
    (Color::Magenta, [205, 0, 205]),
    (Color::Cyan, [0, 205, 205]),
    (Color::Gray, [229, 229, 229]),
    (Color::DarkGray, [127, 127, 127]),
    (Color::LightRed, [255, 0, 0]),
    (Color::LightGreen, [0, 255, 0]),
    (Color::LightYellow, [255, 255, 0]),
    (Color::LightBlue, [92, 92, 255]),
    (Color::LightMagenta, [255, 0, 255]),
    (Color::LightCyan, [0, 255, 255]),
    (Color::White, [255, 255, 255]),
];

impl ColorDepth {
    pub fn nearest(self, pixel: [u8; 3]) -> Color {
        match self {
            Self::TrueColor => Color::Rgb(pixel[0], pixel[1], pixel[2]),
            Self::Palette256 => Color::Indexed(nearest_of_256(pixel)),
            Self::Palette16 => nearest_of_16(pixel),
        }
    }
}

fn nearest_of_16(pixel: [u8; 3]) -> Color {
    let nearest = XTERM_COLORS.iter().min_by_key(|(_, value)| squared_distance(pixel, *value));
    nearest.map_or(Color::Reset, |(color, _)| *color)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pixel_maps_to_the_nearest_color() {
        assert_eq!(ColorDepth::TrueColor.nearest([1, 2, 3]), Color::Rgb(1, 2, 3));
        for (pixel, number) in
            [([255, 0, 0], 196), ([0, 0, 0], 16), ([130, 128, 127], 244), ([255, 255, 255], 231)]
        {
            assert_eq!(ColorDepth::Palette256.nearest(pixel), Color::Indexed(number), "{pixel:?}");
        }
        for (pixel, color) in [
            ([10, 5, 0], Color::Black),
            ([200, 20, 30], Color::Red),
            ([120, 130, 125], Color::DarkGray),
            ([90, 100, 250], Color::LightBlue),
            ([250, 250, 245], Color::White),
        ] {
            assert_eq!(ColorDepth::Palette16.nearest(pixel), color, "{pixel:?}");
        }
    }
}
