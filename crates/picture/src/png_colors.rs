//! What the chunks of a PNG say of its colors.

use crate::{coded_colors::CodedColors, color_profile::SourceColors, iso_boxes::number};

/// A PNG has few chunks before its pixels.
const MAX_CHUNKS: usize = 1000;
const PNG_SIGNATURE_BYTES: usize = 8;
/// The length, the kind and the checksum of a chunk.
const CHUNK_FRAME_BYTES: usize = 12;

/// In their order of precedence: `cICP`, the ICC profile that was read, `sRGB`, and `gAMA`.
pub fn png_colors(bytes: &[u8], profile: Option<Vec<u8>>) -> Option<SourceColors> {
    // Samples of RGB have no matrix.
    if let Some(&[primaries, transfer, 0, _full_range]) = png_chunk(bytes, *b"cICP") {
        return Some(SourceColors::Coded(CodedColors { primaries, transfer }));
    }
    if profile.is_some() || png_chunk(bytes, *b"sRGB").is_some() {
        return profile.map(SourceColors::Profile);
    }
    let exponent = number::<4>(png_chunk(bytes, *b"gAMA")?, 0)?;
    u32::try_from(exponent).ok().map(SourceColors::Gamma)
}

/// The body of the first chunk of a kind before the pixels.
fn png_chunk(bytes: &[u8], kind: [u8; 4]) -> Option<&[u8]> {
    let mut rest = bytes.get(PNG_SIGNATURE_BYTES..)?;
    for _ in 0..MAX_CHUNKS {
        let length = usize::try_from(number::<4>(rest, 0)?).ok()?;
        match *rest.get(4..)?.first_chunk()? {
            found if found == kind => return rest.get(8..)?.get(..length),
            [b'I', b'D', b'A', b'T'] => return None,
            _ => rest = rest.get(length.checked_add(CHUNK_FRAME_BYTES)?..)?,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(colors(&[&gamma, &pixels], None), Some(SourceColors::Gamma(100_000)));
        assert_eq!(colors(&[&gamma, &chunk(*b"sRGB", &[0]), &pixels], None), None);
        assert_eq!(colors(&[&chunk(*b"cICP", &[12]), &pixels, &gamma], None), None);
        assert_eq!(png_colors(b"a short file", None), None);
    }
}
