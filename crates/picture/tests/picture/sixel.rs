//! The sixel encoding.

use image::RgbImage;
use tessera_model::Region;
use tessera_picture::{Canvas, Crop, Encoded, Protocol, thumbnail};

/// The sequence of packed RGB rows in a single cell of their size.
fn sequence(rgb: &[u8], size: (u16, u16)) -> String {
    sequence_of(rgb, size, &Crop::Full)
}

fn sequence_of(rgb: &[u8], (width, height): (u16, u16), crop: &Crop) -> String {
    let picture = RgbImage::from_raw(width.into(), height.into(), rgb.to_vec()).expect("pixels");
    let mut bytes = std::io::Cursor::new(Vec::new());
    picture.write_to(&mut bytes, image::ImageFormat::Png).expect("encoded");
    let canvas = Canvas { columns: 1, rows: 1, cell: (width, height), protocol: Protocol::Sixel };
    let thumbnail = thumbnail(bytes.get_ref(), crop, canvas).expect("a thumbnail");
    match thumbnail.encoded {
        Encoded::Sequence(sequence) => sequence.to_string(),
        other => unreachable!("not a sequence: {other:?}"),
    }
}

/// Paints a sequence like a terminal: colors in percent, by pixel.
fn paint(sequence: &str, width: usize, height: usize) -> Vec<Option<[u8; 3]>> {
    let mut pixels = vec![None; width * height];
    let mut palette = vec![[0; 3]; 256];
    let body = sequence.strip_prefix("\x1bP0;1;0q").and_then(|s| s.strip_suffix("\x1b\\"));
    let body = body.expect("one device control string");
    let (mut x, mut band, mut color) = (0, 0, 0);
    let mut bytes = body.bytes().peekable();
    let numbers = |bytes: &mut std::iter::Peekable<std::str::Bytes>| {
        let mut text = String::new();
        while let Some(&next) = bytes.peek().filter(|b| b.is_ascii_digit() || **b == b';') {
            text.push(char::from(next));
            bytes.next();
        }
        text.split(';').map(|n| n.parse::<usize>().expect("a number")).collect::<Vec<_>>()
    };
    while let Some(byte) = bytes.next() {
        let mut count = 1;
        let mut six = byte;
        match byte {
            b'"' => assert_eq!(numbers(&mut bytes), [1, 1, width, height]),
            b'#' => {
                let given = numbers(&mut bytes);
                if let [register, 2, r, g, b] = given[..] {
                    palette[register] = [r, g, b].map(|p| u8::try_from(p).expect("percent"));
                } else {
                    color = given[0];
                }
            }
            b'$' => x = 0,
            b'-' => (x, band) = (0, band + 1),
            b'!' => {
                count = numbers(&mut bytes)[0];
                six = bytes.next().expect("a sixel");
            }
            b'?'..=b'~' => {}
            other => unreachable!("stray byte {other}"),
        }
        if (b'?'..=b'~').contains(&six) {
            for _ in 0..count {
                for bit in (0..6).filter(|bit| (six - b'?') >> bit & 1 == 1) {
                    pixels[(band * 6 + bit) * width + x] = Some(palette[color]);
                }
                x += 1;
            }
        }
    }
    pixels
}

#[test]
fn every_pixel_is_painted_in_nearly_its_color() {
    let (width, height) = (37_usize, 20_usize);
    let rgb: Vec<u8> = (0..width * height)
        .flat_map(|i| [(i % width * 6).to_le_bytes()[0], (i / width * 12).to_le_bytes()[0], 128])
        .collect();
    let painted = paint(&sequence(&rgb, (37, 20)), width, height);
    let mut error = [0_i32; 3];
    for (pixel, given) in painted.iter().zip(rgb.as_chunks::<3>().0) {
        let percent = pixel.expect("painted");
        for (channel, error) in error.iter_mut().enumerate() {
            let level = i32::from(percent[channel]) * 255 / 100;
            assert!((level - i32::from(given[channel])).abs() <= 52);
            *error += level - i32::from(given[channel]);
        }
    }
    // Dithering preserves the average color.
    assert!(error.iter().all(|sum| sum.abs() / 740 <= 2), "{error:?}");
}

#[test]
fn pure_colors_stay_pure() {
    for (pixel, percent) in [([0, 0, 0], [0, 0, 0]), ([255, 255, 255], [100, 100, 100])] {
        let rgb: Vec<u8> = pixel.repeat(64);
        let painted = paint(&sequence(&rgb, (8, 8)), 8, 8);
        assert!(painted.iter().all(|pixel| *pixel == Some(percent)));
    }
}

#[test]
fn colors_share_runs_and_passes() {
    let [red, green] = [[255, 0, 0], [0, 255, 0]];
    // Beside each other: no return to the first column.
    let halves = [[red; 6], [green; 6]].concat().concat().repeat(6);
    let sequence = sequence(&halves, (12, 6));
    assert!(sequence.contains("!6~#") && sequence.ends_with("!6~\x1b\\"), "{sequence}");
    assert!(!sequence.contains('$'), "{sequence}");
}

#[test]
fn a_color_is_painted_over_by_those_after_it() {
    let [red, green] = [[255, 0, 0], [0, 255, 0]];
    // Every second column green: red is painted as one run.
    let stripes = [red, green].concat().repeat(6 * 6);
    let sequence = sequence(&stripes, (12, 6));
    assert!(sequence.contains("!11~$"), "{sequence}");
    let painted = paint(&sequence, 12, 6);
    let percent = [[100, 0, 0], [0, 100, 0]];
    assert!(painted.iter().enumerate().all(|(at, pixel)| *pixel == Some(percent[at % 2])));
}

/// The crop of the full-size view, which has an adaptive palette.
fn full_size() -> Crop {
    Crop::Zoomed(Region::WHOLE, [].into())
}

/// The peak signal-to-noise ratio of a painted sequence in decibels.
fn decibels(sequence: &str, rgb: &[u8], (width, height): (u16, u16)) -> f64 {
    let painted = paint(sequence, width.into(), height.into());
    let samples = painted.iter().flat_map(|pixel| pixel.expect("painted"));
    let squares = samples
        .zip(rgb)
        .map(|(percent, given)| (f64::from(percent) * 2.55 - f64::from(*given)).powi(2));
    let samples = f64::from(u32::from(width) * u32::from(height) * 3);
    let mean = squares.sum::<f64>() / samples;
    10.0 * (255.0 * 255.0 / mean).log10()
}

#[test]
fn the_full_size_view_is_much_closer_to_the_picture_than_a_tile() {
    let size = (120, 90);
    // A dark sky above a meadow with blades of grass.
    let pixel = |at: u32| {
        let (x, y) = (at % 120, at / 120);
        let blade = (x * 7 + y * 13) % 31;
        let [red, green, blue] = if y < 45 {
            [20 + y / 4, 30 + y / 2 + x / 32, 90 + y]
        } else {
            [60 + blade, 90 + y / 2 + blade, 40 + x / 16]
        };
        [red, green, blue].map(|sample| u8::try_from(sample).expect("a sample"))
    };
    let rgb: Vec<u8> = (0..120 * 90).flat_map(pixel).collect();
    let tile = decibels(&sequence(&rgb, size), &rgb, size);
    let full = decibels(&sequence_of(&rgb, size, &full_size()), &rgb, size);
    assert!(tile < 26.0 && full > tile + 10.0, "{tile:.1} dB, {full:.1} dB");
}

#[test]
fn few_colors_are_exact_in_the_full_size_view() {
    // 40 %, 80 % and 20 % are whole numbers of samples.
    let flag: Vec<u8> = [[102, 204, 51], [255, 255, 255], [0, 0, 0]].concat().repeat(2 * 6);
    let sequence = sequence_of(&flag, (6, 6), &full_size());
    let painted = paint(&sequence, 6, 6);
    let percent = [[40, 80, 20], [100, 100, 100], [0, 0, 0]];
    assert!(painted.iter().enumerate().all(|(at, pixel)| *pixel == Some(percent[at % 3])));
    assert_eq!(sequence.matches(";2;").count(), 3, "{sequence}");
}
