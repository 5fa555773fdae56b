//! The thumbnail of a folder or profile that was opened before, which the start screen shows beside its name. It is
//! kept as text, because the list of recent folders and profiles is a JSON file that users can read.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

/// Rows of pixels from the top, each pixel as `rrggbb`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cover(Vec<String>);

/// The digits of a pixel.
const DIGITS: usize = 6;

impl Cover {
    /// The largest side in pixels.
    pub const MAX_SIDE: u16 = 32;

    /// Creates a cover of rows of `width` pixels.
    pub fn new(pixels: &[[u8; 3]], width: u16) -> Self {
        let row = |row: &[[u8; 3]]| {
            row.iter().fold(String::new(), |mut text, [red, green, blue]| {
                // Writing into a string cannot fail.
                let _ = write!(text, "{red:02x}{green:02x}{blue:02x}");
                text
            })
        };
        Self(pixels.chunks(usize::from(width.max(1))).map(row).collect())
    }

    /// Returns the pixels and the width, or `None` if there are none. A file with anything else has no cover.
    pub fn pixels(&self) -> Option<(Vec<[u8; 3]>, u16)> {
        let max = usize::from(Self::MAX_SIDE);
        let length = self.0.first()?.len();
        let width = u16::try_from(length / DIGITS).ok().filter(|width| *width > 0)?;
        let is_regular = self.0.iter().all(|row| row.len() == length && row.is_ascii());
        if !is_regular || self.0.len() > max || length > max * DIGITS {
            return None;
        }
        let pixel = |digits: &[u8]| {
            let number = u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
            let [_, pixel @ ..] = number.to_be_bytes();
            Some(pixel)
        };
        let rows = self.0.iter().flat_map(|row| row.as_bytes().as_chunks::<DIGITS>().0);
        Some((rows.map(|digits| pixel(digits)).collect::<Option<_>>()?, width))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cover_survives_as_text_and_anything_else_is_none() {
        let pixels = [[0, 1, 255], [16, 32, 64], [9, 9, 9], [1, 2, 3]];
        let cover = Cover::new(&pixels, 2);
        assert_eq!(cover.0, ["0001ff102040", "090909010203"]);
        assert_eq!(cover.pixels(), Some((pixels.into(), 2)));
        let wide = "0".repeat(6 * 33);
        for rows in [&[][..], &[""], &["0001f"], &["0001ff", "00"], &["00g1ff"], &["€€"], &[&wide]]
        {
            let cover = Cover(rows.iter().map(|row| (*row).to_owned()).collect());
            assert_eq!(cover.pixels(), None, "{rows:?}");
        }
        assert_eq!(Cover(vec!["0001ff".to_owned(); 33]).pixels(), None);
    }
}
