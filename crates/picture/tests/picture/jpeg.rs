//! Damaged, endless and rotated JPEG files.

#![expect(clippy::cast_possible_truncation, reason = "samples and sides are small")]

use image::RgbImage;
use jpeg_encoder::{ColorType, Encoder};
use proptest::prelude::*;
use tessera_picture::decode::{decode, size};

use crate::jpeg_writer::{Jpeg, Layout};

fn test_picture(width: u32, height: u32) -> RgbImage {
    RgbImage::from_fn(width, height, |x, y| {
        image::Rgb([(x * 2) as u8, (x + y) as u8, (y * 2) as u8])
    })
}

fn encode(picture: &RgbImage, adjust: impl FnOnce(&mut Encoder<&mut Vec<u8>>)) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, 92);
    adjust(&mut encoder);
    let (width, height) = picture.dimensions();
    encoder.encode(picture.as_raw(), width as u16, height as u16, ColorType::Rgb).expect("encoded");
    bytes
}

#[test]
fn a_file_cut_anywhere_is_truncated() {
    let bytes = encode(&test_picture(64, 48), |_| {});
    let progressive = encode(&test_picture(64, 48), |encoder| encoder.set_progressive(true));
    for (bytes, enough) in [(&bytes, 6), (&bytes, 24), (&bytes, 48), (&progressive, 6)] {
        for end in (3..bytes.len() - 8).step_by(5) {
            let error = decode(&bytes[..end], enough).expect_err("cut");
            assert_eq!(error.0, "truncated JPEG", "{end} of {}", bytes.len());
        }
    }
}

#[test]
fn damaged_pixels_are_shown_at_every_size() {
    let bytes = encode(&test_picture(64, 48), |_| {});
    let start = bytes.windows(2).position(|pair| pair == [0xFF, 0xDA]).expect("a scan") + 14;
    let mut differing = 0;
    for at in (start..bytes.len() - 2).step_by(3) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x15;
        // A marker would end the pixels, and a file without all pixels is truncated.
        if bytes[at - 1..=at].contains(&0xFF) || damaged[at] == 0xFF {
            continue;
        }
        let full = decode(&damaged, 48).expect("shown in full").pixels;
        differing += usize::from(full != decode(&bytes, 48).expect("complete").pixels);
        for enough in [6, 12, 18, 24, 30, 36] {
            let height = decode(&damaged, enough).map(|decoded| decoded.pixels.height());
            assert!(height.as_ref().is_ok_and(|height| *height >= enough), "byte {at}: {height:?}");
        }
    }
    assert!(differing > 50, "{differing}");
}

#[test]
fn only_the_end_marker_missing_is_no_damage() {
    for is_progressive in [false, true] {
        let bytes = encode(&test_picture(64, 48), |it| it.set_progressive(is_progressive));
        let complete = decode(&bytes, 48).expect("complete").pixels;
        for end in [bytes.len() - 1, bytes.len() - 2] {
            assert!(decode(&bytes[..end], 6).is_ok());
            assert_eq!(decode(&bytes[..end], 48).expect("all pixels").pixels, complete);
        }
    }
}

#[test]
fn a_few_bytes_between_segments_are_passed_over() {
    let bytes = encode(&test_picture(64, 48), |_| {});
    let at = bytes.windows(2).position(|pair| pair == [0xFF, 0xDB]).expect("a table");
    let with = |stray: usize| [&bytes[..at], &vec![0; stray], &bytes[at..]].concat();
    for enough in [6, 48] {
        let expected = decode(&bytes, enough).expect("complete");
        assert_eq!(decode(&with(3), enough).expect("passed over").pixels, expected.pixels);
    }
    assert_eq!(decode(&with(100), 6).expect_err("damaged").0, "damaged JPEG: a marker is missing");
}

#[test]
fn phones_make_larger_pictures_than_other_formats_may_have() {
    let of_size = |width: u16, height: u16, is_progressive| {
        let mut bytes = encode(&test_picture(64, 48), |it| it.set_progressive(is_progressive));
        let frame = if is_progressive { [0xFF, 0xC2] } else { [0xFF, 0xC0] };
        let at = bytes.windows(2).position(|pair| pair == frame).expect("a frame");
        bytes[at + 5..at + 7].copy_from_slice(&height.to_be_bytes());
        bytes[at + 7..at + 9].copy_from_slice(&width.to_be_bytes());
        size(&bytes)
    };
    assert_eq!(of_size(16_320, 12_240, false), Ok((16_320, 12_240)));
    let error = of_size(20_000, 20_000, false).expect_err("a bomb");
    assert_eq!(error.0, "20000x20000 pixels is over the limit of 256 million");
    let error = of_size(12_000, 9_000, true).expect_err("not at a reduced size");
    assert_eq!(error.0, "12000x9000 pixels is over the limit of 100 million");
}

#[test]
fn thousands_of_scans_are_refused_at_once() {
    let bytes = encode(&test_picture(64, 48), |encoder| encoder.set_progressive(true));
    let scan = [0xFF, 0xDA, 0, 8, 1, 1, 0, 1, 5, 0, 0];
    let mut bomb = bytes[..bytes.len() - 2].to_vec();
    bomb.extend(scan.repeat(3000));
    bomb.extend([0xFF, 0xD9]);
    let error = decode(&bomb, 10).expect_err("a bomb");
    assert!(error.0.contains("scans; the limit is 64"), "{error}");
}

#[test]
fn the_orientation_is_applied() {
    let mut exif = b"MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0".to_vec();
    exif.extend([0; 4]);
    let bytes = encode(&test_picture(80, 40), |encoder| {
        encoder.add_exif_metadata(&exif).expect("room for it");
    });
    let upright = decode(&bytes, 5).expect("decoded");
    assert_eq!(upright.original, (40, 80));
    assert_eq!(upright.pixels.dimensions(), (5, 10));
    // A quarter turn clockwise brings the lower left corner to the upper left.
    let full = decode(&bytes, u32::MAX).expect("decoded").pixels;
    let corner = test_picture(80, 40).get_pixel(1, 38).0;
    let turned = full.get_pixel(1, 1).0;
    assert!(corner.iter().zip(turned).all(|(a, b)| a.abs_diff(b) < 16), "{corner:?} {turned:?}");
}

/// Returns the positions of the restart markers.
fn restarts(bytes: &[u8]) -> Vec<usize> {
    let is_restart = |at: &usize| bytes[*at] == 0xFF && matches!(bytes[at + 1], 0xD0..=0xD7);
    (0..bytes.len() - 1).filter(is_restart).collect()
}

/// A change of a file with restart markers, and the number of strips of which it damages the data.
type Damage = (fn(&mut Vec<u8>), usize);

const DAMAGES: [Damage; 5] = [
    // Ones are no code.
    (
        |file| {
            let at = restarts(file)[2] + 2;
            file[at..at + 3].copy_from_slice(&[0xFE; 3]);
        },
        1,
    ),
    (
        |file| {
            let at = restarts(file)[2];
            drop(file.drain(at + 3..at + 5));
        },
        1,
    ),
    (
        |file| {
            let (from, to) = (restarts(file)[2], restarts(file)[3]);
            drop(file.drain(from + 5..to + 5));
        },
        2,
    ),
    (
        |file| {
            let (from, to) = (restarts(file)[2], restarts(file)[4]);
            drop(file.drain(from..to));
        },
        2,
    ),
    (
        |file| {
            let (from, to) = (restarts(file)[2], restarts(file)[3]);
            file[from + 5..to + 5].fill(0);
        },
        2,
    ),
];

#[test]
fn damage_between_restart_markers_does_not_spread() {
    for (components, is_progressive) in [(3, false), (1, false), (3, true), (1, true), (4, false)] {
        let mut layout = Layout::new((64, 96), vec![(1, 1); components]);
        (layout.progressive, layout.restart_interval) = (is_progressive, 8);
        let wave = |_, x: f64, y: f64| 128.0 + 90.0 * (x * 0.3).sin() * (y * 0.23).cos();
        let intact = Jpeg::new(layout, wave).bytes();
        for (index, (damage, strips)) in DAMAGES.iter().enumerate() {
            let mut damaged = intact.clone();
            damage(&mut damaged);
            for side in [64, 24] {
                let context = format!("{components} {is_progressive} {index} {side}");
                let [intact, damaged] =
                    [&intact, &damaged].map(|bytes| decode(bytes, side).expect(&context).pixels);
                let rows = intact.height() as usize / 12;
                let strip = 3 * intact.width() as usize * rows;
                let pairs = intact.as_raw().chunks(strip).zip(damaged.as_raw().chunks(strip));
                let differing: Vec<usize> = pairs
                    .enumerate()
                    .filter(|(_, (a, b))| a != b)
                    .map(|(strip, _)| strip)
                    .collect();
                let expected: Vec<usize> = (3..3 + strips).collect();
                assert!(
                    differing.iter().all(|it| expected.contains(it)),
                    "{context}: {differing:?}"
                );
                assert!(!differing.is_empty(), "{context}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn damage_gives_a_picture_or_a_sentence(
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
        progressive: bool,
        restarts in 0_u16..3,
        enough in 1_u32..60,
    ) {
        let mut bytes = encode(&test_picture(61, 47), |encoder| {
            encoder.set_progressive(progressive);
            encoder.set_restart_interval(restarts);
        });
        for (place, byte) in damage {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        if let Err(error) = decode(&bytes, enough) {
            prop_assert!(!error.0.contains("the decoder failed"), "{}", error.0);
        }
    }
}
