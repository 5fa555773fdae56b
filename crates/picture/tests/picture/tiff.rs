//! TIFF files whose fields say what the samples are: extra bands, the range of the samples, and pages that are smaller
//! copies of the picture.

#![expect(clippy::cast_possible_truncation, reason = "samples and sides are small")]

use std::slice;

use image::RgbImage;
use tessera_picture::{EmbeddedMetadata, decode::decode};

const SIDE: usize = 8;

/// The values of a field.
#[derive(Clone)]
enum Field {
    Short(Vec<u16>),
    Long(Vec<u32>),
    Float(Vec<f32>),
    Double(Vec<f64>),
    Text(&'static str),
    Bytes(Vec<u8>),
    /// The samples, whose position and length become fields.
    Samples(Vec<u8>),
    /// Several tiles.
    Tiles(Vec<Vec<u8>>),
}

impl Field {
    /// Returns the type of the values, the size of a value, and the bytes of all values.
    fn encoded(&self) -> (u16, usize, Vec<u8>) {
        match self {
            Self::Short(values) => (3, 2, values.iter().flat_map(|it| it.to_le_bytes()).collect()),
            Self::Long(values) => (4, 4, values.iter().flat_map(|it| it.to_le_bytes()).collect()),
            Self::Float(values) => (11, 4, values.iter().flat_map(|it| it.to_le_bytes()).collect()),
            Self::Double(values) => {
                (12, 8, values.iter().flat_map(|it| it.to_le_bytes()).collect())
            }
            Self::Text(text) => (2, 1, [text.as_bytes(), b"\0"].concat()),
            Self::Bytes(bytes) => (1, 1, bytes.clone()),
            Self::Samples(samples) => (7, 1, samples.clone()),
            Self::Tiles(tiles) => (7, 1, tiles.concat()),
        }
    }
}

const NEW_SUBFILE_TYPE: u16 = 254;
const OLD_SUBFILE_TYPE: u16 = 255;
const WIDTH: u16 = 256;
const HEIGHT: u16 = 257;
const BITS: u16 = 258;
const COMPRESSION: u16 = 259;
const PHOTOMETRIC: u16 = 262;
const FILL_ORDER: u16 = 266;
const DESCRIPTION: u16 = 270;
const STRIP: u16 = 273;
const BANDS: u16 = 277;
const STRIP_LENGTH: u16 = 279;
const SMALLEST: u16 = 280;
const LARGEST: u16 = 281;
const ROWS: u16 = 278;
const PLANAR: u16 = 284;
const PREDICTOR: u16 = 317;
const PALETTE: u16 = 320;
const IPTC: u16 = 33723;
const TILE_WIDTH: u16 = 322;
const TILE_HEIGHT: u16 = 323;
const TILES: u16 = 324;
const TILE_LENGTH_IN_BYTES: u16 = 325;
const EXTRA_SAMPLES: u16 = 338;
const SAMPLE_FORMAT: u16 = 339;
const PROFILE: u16 = 34675;
const SMALLEST_OF_ANY_TYPE: u16 = 340;
const LARGEST_OF_ANY_TYPE: u16 = 341;
const IMAGEJ_LENGTHS: u16 = 50838;
const IMAGEJ_METADATA: u16 = 50839;

/// Returns the fields of a page.
fn page(side: usize, bits: u16, bands: u16, samples: Vec<u8>) -> Vec<(u16, Field)> {
    let short = |value| Field::Short(vec![value]);
    vec![
        (WIDTH, short(side as u16)),
        (HEIGHT, short(side as u16)),
        (BITS, Field::Short(vec![bits; bands.into()])),
        (COMPRESSION, short(1)),
        (PHOTOMETRIC, short(if bands < 3 { 1 } else { 2 })),
        (BANDS, short(bands)),
        (STRIP, Field::Samples(samples)),
    ]
}

/// Writes a file in little-endian order. A field replaces an earlier one with the same tag.
fn tiff(pages: &[Vec<(u16, Field)>]) -> Vec<u8> {
    let mut file = b"II*\0".to_vec();
    let mut link = file.len();
    file.extend([0; 4]);
    for page in pages {
        let mut entries = std::collections::BTreeMap::new();
        for (tag, field) in page {
            let (parts, length_tag) = match field {
                Field::Samples(samples) => (slice::from_ref(samples), STRIP_LENGTH),
                Field::Tiles(tiles) => (tiles.as_slice(), TILE_LENGTH_IN_BYTES),
                _ => {
                    entries.insert(*tag, field.encoded());
                    continue;
                }
            };
            let lengths = parts.iter().map(|part| part.len() as u32).collect();
            let append = |part: &Vec<u8>| {
                let at = file.len() as u32;
                file.extend(part);
                at
            };
            let starts = parts.iter().map(append).collect();
            entries.insert(*tag, Field::Long(starts).encoded());
            entries.insert(length_tag, Field::Long(lengths).encoded());
        }
        let positions: Vec<usize> = entries
            .values()
            .map(|(_, _, values)| {
                let at = file.len();
                file.extend(values);
                at
            })
            .collect();
        let directory = (file.len() as u32).to_le_bytes();
        file[link..link + 4].copy_from_slice(&directory);
        file.extend((entries.len() as u16).to_le_bytes());
        for ((tag, (kind, size, values)), at) in entries.iter().zip(positions) {
            file.extend(tag.to_le_bytes());
            file.extend(kind.to_le_bytes());
            file.extend(((values.len() / size) as u32).to_le_bytes());
            let mut value = values.clone();
            value.resize(4, 0);
            file.extend(if values.len() > 4 { (at as u32).to_le_bytes().to_vec() } else { value });
        }
        link = file.len();
        file.extend([0; 4]);
    }
    file
}

/// A ramp from black to white, by rows.
fn levels() -> impl Iterator<Item = u8> {
    (0..SIDE * SIDE).map(|index| (index * 4) as u8)
}

fn bytes16(samples: impl Iterator<Item = u16>) -> Vec<u8> {
    samples.flat_map(u16::to_le_bytes).collect()
}

/// Asserts that a file shows the ramp.
fn assert_ramp(file: &[u8], color: impl Fn(u8) -> [u8; 3], context: &str) {
    let pixels = decode(file, u32::MAX).expect(context).pixels;
    let expected: Vec<[u8; 3]> = levels().map(color).collect();
    let expected = RgbImage::from_raw(SIDE as u32, SIDE as u32, expected.concat()).expect("a ramp");
    let differs = |(one, other): (&u8, &u8)| one.abs_diff(*other) > 1;
    let is_equal = !pixels.as_raw().iter().zip(expected.as_raw()).any(differs);
    assert!(pixels.dimensions() == expected.dimensions() && is_equal, "{context}: {pixels:?}");
}

fn gray(level: u8) -> [u8; 3] {
    [level; 3]
}

fn with(mut page: Vec<(u16, Field)>, fields: &[(u16, Field)]) -> Vec<u8> {
    page.extend_from_slice(fields);
    tiff(&[page])
}

#[test]
fn a_second_band_is_alpha_only_if_the_file_says_so() {
    let two: Vec<u8> = levels().flat_map(|level| [level, 30]).collect();
    let extra = |kinds: &[u16]| (EXTRA_SAMPLES, Field::Short(kinds.to_vec()));
    let wide = bytes16(levels().flat_map(|level| [u16::from(level) * 257, 3000]));
    for fields in [vec![], vec![extra(&[0])]] {
        assert_ramp(&with(page(SIDE, 8, 2, two.clone()), &fields), gray, "8 bits");
        assert_ramp(&with(page(SIDE, 16, 2, wide.clone()), &fields), gray, "16 bits");
    }
    let blended = |level: u8| {
        let color = (u32::from(level) * 30 + 128 * (255 - 30)) / 255;
        [color as u8; 3]
    };
    assert_ramp(&with(page(SIDE, 8, 2, two), &[extra(&[2])]), blended, "alpha");
}

#[test]
fn a_page_that_links_to_itself_is_shown() {
    let mut file = tiff(&[page(SIDE, 8, 1, levels().collect())]);
    let (directory, link) = (file[4..8].to_vec(), file.len() - 4);
    file[link..].copy_from_slice(&directory);
    assert_ramp(&file, gray, "a loop");
    // The end of a chain at 0 is no link to the page at 0, as in a file whose writer was interrupted.
    assert!(decode(&[&b"II*\0"[..], &[0; 14]].concat(), u32::MAX).is_err());
}

#[test]
fn bytes_may_have_their_lowest_bit_first() {
    let reversed: Vec<u8> = levels().map(u8::reverse_bits).collect();
    let order = (FILL_ORDER, Field::Short(vec![2]));
    assert_ramp(
        &with(page(SIDE, 8, 1, reversed.clone()), slice::from_ref(&order)),
        gray,
        "black is 0",
    );
    let negative = reversed.iter().map(|byte| !byte).collect();
    let white_is_zero = (PHOTOMETRIC, Field::Short(vec![0]));
    assert_ramp(&with(page(SIDE, 8, 1, negative), &[order, white_is_zero]), gray, "white is 0");
}

#[test]
fn a_smaller_copy_of_an_old_program_is_not_the_picture() {
    let mut copy = page(2, 8, 1, vec![9; 4]);
    copy.push((OLD_SUBFILE_TYPE, Field::Short(vec![2])));
    assert_ramp(&tiff(&[copy, page(SIDE, 8, 1, levels().collect())]), gray, "two pages");
}

#[test]
fn further_bands_do_not_change_the_first_three() {
    let four: Vec<u8> = levels().flat_map(|level| [level, 255 - level, 9, 30]).collect();
    let color = |level: u8| [level, 255 - level, 9];
    let extra = |kinds: &[u16]| (EXTRA_SAMPLES, Field::Short(kinds.to_vec()));
    assert_ramp(&with(page(SIDE, 8, 4, four.clone()), &[extra(&[0])]), color, "RGB with a band");
    assert_ramp(&with(page(SIDE, 8, 4, four.clone()), &[]), color, "RGB with an unknown band");
    let gray_bands = [(PHOTOMETRIC, Field::Short(vec![1])), extra(&[0, 0, 0])];
    assert_ramp(&with(page(SIDE, 8, 4, four), &gray_bands), color, "four bands");
    let six = bytes16(
        levels()
            .flat_map(|level| [level, 255 - level, 9, 1, 2, 3].map(|band| u16::from(band) * 257)),
    );
    let gray_bands = [(PHOTOMETRIC, Field::Short(vec![1])), extra(&[0; 5])];
    assert_ramp(&with(page(SIDE, 16, 6, six), &gray_bands), color, "six bands of 16 bits");
}

#[test]
fn the_stated_largest_sample_is_white() {
    let narrow = |factor: u16| bytes16(levels().map(move |level| u16::from(level) * factor));
    let short = |tag, value| (tag, Field::Short(vec![value]));
    let cases = [
        (narrow(16), vec![short(SMALLEST, 0), short(LARGEST, 4080)], "12 bits"),
        (narrow(4), vec![short(LARGEST, 1020)], "10 bits, without a smallest sample"),
        (narrow(16), vec![short(LARGEST_OF_ANY_TYPE, 4080)], "any type"),
        (
            narrow(8),
            vec![(DESCRIPTION, Field::Text("ImageJ=1.54f\nmin=0.0\nmax=2040.0\n"))],
            "ImageJ",
        ),
        (narrow(257), vec![short(LARGEST, 255)], "a largest sample that is wrong"),
        (narrow(257), vec![short(SMALLEST, 9), short(LARGEST, 9)], "an empty range"),
    ];
    for (samples, fields, context) in cases {
        assert_ramp(&with(page(SIDE, 16, 1, samples), &fields), gray, context);
    }
    let eight = levels().collect();
    let file = with(page(SIDE, 8, 1, eight), &[short(SMALLEST, 40), short(LARGEST, 252)]);
    assert_ramp(&file, gray, "statistics of 8 bits");
    let colors =
        bytes16(levels().flat_map(|level| [level, 9, 255 - level].map(|c| u16::from(c) * 16)));
    let range = [(LARGEST, Field::Short(vec![4080; 3]))];
    let file = with(page(SIDE, 16, 3, colors), &range);
    assert_ramp(&file, |level| [level, 9, 255 - level], "colors");
}

#[test]
fn the_range_of_the_first_channel_in_imagej_is_shown() {
    let samples = bytes16(levels().map(|level| 1000 + u16::from(level) * 8));
    // A composite has the range of each channel, and its pages are the channels.
    let parts = [&b"JIJIofni\x01\0\0\0gnar\x01\0\0\0"[..], b"a\0b\0"].concat();
    let limits = [1000.0_f64, 3040.0, 0.0, 65535.0];
    let limits: Vec<u8> = limits.iter().flat_map(|limit| limit.to_le_bytes()).collect();
    let show = |lengths: &[u32]| {
        let fields = [
            (DESCRIPTION, Field::Text("ImageJ=1.54f\nimages=2\nchannels=2\nmode=composite\n")),
            (IMAGEJ_LENGTHS, Field::Long(lengths.to_vec())),
            (IMAGEJ_METADATA, Field::Bytes([&parts[..], &limits].concat())),
        ];
        with(page(SIDE, 16, 1, samples.clone()), &fields)
    };
    assert_ramp(&show(&[20, 4, 32]), gray, "two parts");
    let dark = |level: u8| gray(((1000 + u32::from(level) * 8) >> 8) as u8);
    for lengths in [&[20, 4][..], &[20, 4, 33], &[20, u32::MAX, 32], &[u32::MAX, 4, 32]] {
        assert_ramp(&show(lengths), dark, "damaged lengths");
    }
}

#[test]
fn a_stated_range_applies_to_numbers_of_any_type() {
    let heights = |level: u8| f32::from(level) / 255.0 * 500.0 - 100.0;
    let floats: Vec<u8> = levels().flat_map(|level| heights(level).to_le_bytes()).collect();
    let ranges = [
        [Field::Float(vec![-100.0]), Field::Float(vec![400.0])],
        [Field::Double(vec![-100.0]), Field::Double(vec![400.0])],
    ];
    for [smallest, largest] in ranges {
        let fields = [
            (SAMPLE_FORMAT, Field::Short(vec![3])),
            (SMALLEST_OF_ANY_TYPE, smallest),
            (LARGEST_OF_ANY_TYPE, largest),
        ];
        assert_ramp(&with(page(SIDE, 32, 1, floats.clone()), &fields), gray, "floats");
    }
    let long: Vec<u8> = levels().flat_map(|level| (u32::from(level) * 100).to_le_bytes()).collect();
    let fields = [(LARGEST_OF_ANY_TYPE, Field::Long(vec![25500]))];
    assert_ramp(&with(page(SIDE, 32, 1, long), &fields), gray, "32 bits");
}

#[test]
fn floating_point_samples_are_light_only_in_colors_without_a_profile() {
    let float = |bands: u16| {
        let bands = usize::from(bands);
        let numbers = levels().flat_map(|level| vec![f32::from(level) / 255.0; bands]);
        numbers.flat_map(f32::to_le_bytes).collect::<Vec<u8>>()
    };
    let stated = [
        (SMALLEST_OF_ANY_TYPE, Field::Float(vec![0.0])),
        (LARGEST_OF_ANY_TYPE, Field::Float(vec![1.0])),
    ];
    let format = (SAMPLE_FORMAT, Field::Short(vec![3]));
    let profile = |curve: f32| {
        let mut profile = moxcms::ColorProfile::new_srgb();
        if curve > 0.0 {
            profile.cicp = None;
            let curve = Some(moxcms::curve_from_gamma(curve));
            (profile.red_trc, profile.green_trc, profile.blue_trc) =
                (curve.clone(), curve.clone(), curve);
        }
        (PROFILE, Field::Bytes(profile.encode().expect("encoded")))
    };
    let light = |level: u8| {
        let linear = f32::from(level) / 255.0;
        let encoded = if linear <= 0.003_130_8 {
            12.92 * linear
        } else {
            1.055 * linear.powf(1.0 / 2.4) - 0.055
        };
        let nearest = (0..=255).find(|level| f32::from(*level) + 0.5 > encoded * 255.0);
        [nearest.unwrap(); 3]
    };
    for range in [&stated[..], &[]] {
        let show = |bands: u16, fields: &[(u16, Field)]| {
            let fields = [slice::from_ref(&format), range, fields].concat();
            with(page(SIDE, 32, bands, float(bands)), &fields)
        };
        assert_ramp(&show(1, &[]), gray, "gray");
        assert_ramp(&show(3, &[]), light, "colors");
        assert_ramp(&show(3, &[profile(0.0)]), gray, "sRGB");
        assert_ramp(&show(3, &[profile(1.0)]), light, "a linear profile");
    }
}

#[test]
fn low_samples_are_bright_if_white_is_zero() {
    let white_is_zero = (PHOTOMETRIC, Field::Short(vec![0]));
    let inverted = |level: u8| [255 - level; 3];
    let file = with(page(SIDE, 8, 1, levels().collect()), std::slice::from_ref(&white_is_zero));
    assert_ramp(&file, inverted, "8 bits");
    let narrow = bytes16(levels().map(|level| u16::from(level) * 16));
    let fields = [white_is_zero.clone(), (LARGEST, Field::Short(vec![4080]))];
    assert_ramp(&with(page(SIDE, 16, 1, narrow), &fields), inverted, "a stated range");
    let two: Vec<u8> = levels().flat_map(|level| [level, 255]).collect();
    let file = with(page(SIDE, 8, 2, two.clone()), slice::from_ref(&white_is_zero));
    assert_ramp(&file, inverted, "two bands");
    let alpha = (EXTRA_SAMPLES, Field::Short(vec![2]));
    assert_ramp(&with(page(SIDE, 8, 2, two), &[white_is_zero, alpha]), inverted, "alpha");
}

#[test]
fn a_palette_may_have_further_bands() {
    let two: Vec<u8> = levels().flat_map(|level| [255 - level, 30]).collect();
    let colors = [|index: u16| 255 - index, |index| index, |_| 9];
    let colors = colors.iter().flat_map(|color| (0..256).map(|index| color(index) << 8)).collect();
    let fields = [(PHOTOMETRIC, Field::Short(vec![3])), (PALETTE, Field::Short(colors))];
    let color = |level: u8| [level, 255 - level, 9];
    assert_ramp(&with(page(SIDE, 8, 2, two.clone()), &fields), color, "a band");
    let blended = |level: u8| {
        color(level).map(|sample| ((u32::from(sample) * 30 + 128 * (255 - 30)) / 255) as u8)
    };
    let fields = [&fields[..], &[(EXTRA_SAMPLES, Field::Short(vec![2]))]].concat();
    assert_ramp(&with(page(SIDE, 8, 2, two), &fields), blended, "alpha");
}

#[test]
fn a_palette_may_have_more_than_256_colors() {
    let indices = bytes16(levels().map(|level| u16::from(level) * 200 + 3));
    let color = |level: u8| [level, 255 - level, 9];
    let of_index = |index: u32| color((index / 200) as u8).map(|sample| u16::from(sample) << 8);
    let band = |band: usize| (0..1 << 16).map(move |index| of_index(index)[band]);
    let colors = (0..3).flat_map(band).collect();
    let fields = [(PHOTOMETRIC, Field::Short(vec![3])), (PALETTE, Field::Short(colors))];
    assert_ramp(&with(page(SIDE, 16, 1, indices), &fields), color, "16 bits");
}

#[test]
fn signed_integers_fill_the_range_of_their_type() {
    let signed = (SAMPLE_FORMAT, Field::Short(vec![2]));
    let show = |bits: u16, bands: u16, samples: Vec<u8>| {
        with(page(SIDE, bits, bands, samples), slice::from_ref(&signed))
    };
    assert_ramp(&show(8, 1, levels().collect()), gray, "8 bits");
    let sixteen = levels().map(|level| (u16::from(level) << 8) ^ 0x8000);
    assert_ramp(&show(16, 1, bytes16(sixteen)), gray, "16 bits");
    let color = |level: u8| [level, 255 - level, 9];
    let wide = levels().flat_map(color).map(|sample| (u32::from(sample) << 24) ^ 0x8000_0000);
    let wide = wide.flat_map(u32::to_le_bytes).collect();
    assert_ramp(&show(32, 3, wide), color, "colors of 32 bits");
}

#[test]
fn iptc_may_be_stored_as_long_numbers() {
    let longs = (IPTC, Field::Long(vec![u32::from_le_bytes(*b"\x1C\x02\x19\0"), 7]));
    let file = with(page(SIDE, 8, 1, levels().collect()), &[longs]);
    let read = EmbeddedMetadata::read(&file).iptc;
    assert_eq!(read.as_deref(), Some(&b"\x1C\x02\x19\0\x07\0\0\0"[..]));
}

#[test]
fn a_strip_of_unknown_length_extends_to_the_end_of_the_file() {
    let mut file = with(page(SIDE, 8, 1, levels().collect()), &[]);
    let entry = [&STRIP_LENGTH.to_le_bytes()[..], &[4, 0, 1, 0, 0, 0, 64]].concat();
    let at = file.windows(entry.len()).position(|bytes| bytes == entry).expect("the length");
    file[at + 8] = 0;
    assert_ramp(&file, gray, "length 0");
    // A tag of no program replaces that of the length.
    file[at..at + 2].fill(0xFF);
    assert_ramp(&file, gray, "no length");
}

#[test]
fn a_picture_of_a_camera_with_16_bits_fits_into_the_memory() {
    let strips = || Field::Long(vec![0; 313]);
    let fields = [(ROWS, Field::Short(vec![16])), (STRIP, strips()), (STRIP_LENGTH, strips())];
    // Strips without a place in the file are black.
    let file = with(page(5000, 16, 3, Vec::new()), &fields);
    let decoded = decode(&file, 16).expect("read strip by strip");
    assert_eq!(decoded.original, (5000, 5000));
    assert!(decoded.pixels.pixels().all(|pixel| pixel.0 == [0; 3]));
}

#[test]
fn a_thumbnail_before_the_picture_is_passed_over() {
    let kind = |bits| (NEW_SUBFILE_TYPE, Field::Long(vec![bits]));
    let small = |bits| [page(2, 8, 1, vec![77; 4]), vec![kind(bits)]].concat();
    let full = page(SIDE, 8, 1, levels().collect());
    assert_ramp(&tiff(&[small(1), full.clone()]), gray, "a thumbnail");
    assert_ramp(&tiff(&[small(1), small(5), full.clone()]), gray, "a thumbnail and its mask");
    assert_ramp(&tiff(&[full.clone(), small(1)]), gray, "a thumbnail behind");
    // The full page is the second page, and its samples are inverted.
    let inverted = [full, vec![(PHOTOMETRIC, Field::Short(vec![0]))]].concat();
    assert_ramp(&tiff(&[small(1), inverted]), |level| [255 - level; 3], "inverted");
    let only = decode(&tiff(&[small(1)]), 2).expect("decoded");
    assert_eq!(only.original, (2, 2));
}

/// The side of a tile that is larger than the page.
const TILE: usize = 16;

/// Returns a page that is the upper left corner of a tile.
fn tiled(bands: u16, tiles: Vec<Vec<u8>>, fields: &[(u16, Field)]) -> Vec<u8> {
    let side = || Field::Short(vec![TILE as u16]);
    let mut page = page(SIDE, 8, bands, Vec::new());
    page.retain(|(tag, _)| *tag != STRIP);
    page.extend([(TILE_WIDTH, side()), (TILE_HEIGHT, side()), (TILES, Field::Tiles(tiles))]);
    with(page, fields)
}

/// Pads the rows of the ramp to a tile, with bands that are made from its levels.
fn padded<const N: usize>(bands: impl Fn(u8) -> [u8; N]) -> Vec<u8> {
    let samples: Vec<[u8; N]> = levels().map(bands).collect();
    let mut tile = [[200; N]; TILE * TILE];
    for (padded, row) in tile.chunks_mut(TILE).zip(samples.chunks(SIDE)) {
        padded[..SIDE].copy_from_slice(row);
    }
    tile.concat()
}

/// Replaces each sample but the first of a row by its difference from the sample before it.
fn differences(tile: &[u8], bands: usize) -> Vec<u8> {
    let of_row = |row: &[u8]| -> Vec<u8> {
        let before = |index: usize| index.checked_sub(bands).map_or(0, |index| row[index]);
        (0..row.len()).map(|index| row[index].wrapping_sub(before(index))).collect()
    };
    tile.chunks(TILE * bands).flat_map(of_row).collect()
}

/// Compresses bytes with codes of nine bits only, and without an end code.
fn lzw(bytes: &[u8]) -> Vec<u8> {
    let codes = bytes
        .chunks(200)
        .flat_map(|part| [256].into_iter().chain(part.iter().map(|byte| u16::from(*byte))));
    packed(codes, 9)
}

fn packed(numbers: impl Iterator<Item = u16>, bits: usize) -> Vec<u8> {
    let bits: Vec<u8> = numbers
        .flat_map(|number| (0..bits).rev().map(move |bit| (number >> bit & 1) as u8))
        .collect();
    let byte = |bits: &[u8]| (0..8).fold(0, |byte, at| byte << 1 | bits.get(at).unwrap_or(&0));
    bits.chunks(8).map(byte).collect()
}

#[test]
fn tiles_at_the_edge_are_read_in_every_layout() {
    let color = |level: u8| [level, 255 - level, 9];
    let short = |tag, value| (tag, Field::Short(vec![value]));
    let compressed = short(COMPRESSION, 5);
    let gray_tile = padded(|level| [level]);
    assert_ramp(&tiled(1, vec![lzw(&gray_tile)], slice::from_ref(&compressed)), gray, "LZW");
    let needed = lzw(&gray_tile[..TILE * SIDE]);
    assert_ramp(&tiled(1, vec![needed], slice::from_ref(&compressed)), gray, "no padding rows");
    let cut = tiled(1, vec![lzw(&gray_tile[..TILE * (SIDE - 1)])], slice::from_ref(&compressed));
    assert!(decode(&cut, u32::MAX).is_err(), "a tile without its last row");
    let four = padded(|level| [level, 255 - level, 9, 30]);
    let extra = short(EXTRA_SAMPLES, 0);
    assert_ramp(&tiled(4, vec![four.clone()], slice::from_ref(&extra)), color, "a further band");
    let fields = [extra, compressed, short(PREDICTOR, 2)];
    let predicted = lzw(&differences(&four, 4));
    assert_ramp(&tiled(4, vec![predicted], &fields), color, "a further band with differences");
    let planes = (0..3).map(|band| padded(|level| [color(level)[band]])).collect();
    assert_ramp(&tiled(3, planes, &[short(PLANAR, 2)]), color, "planes");
}

#[test]
fn the_tiles_and_the_codes_of_old_programs_are_read() {
    let short = |tag, value| (tag, Field::Short(vec![value]));
    let named_as_strip = page(SIDE, 8, 1, padded(|level| [level]));
    let sides = [TILE_WIDTH, TILE_HEIGHT].map(|tag| short(tag, TILE as u16));
    assert_ramp(&with(named_as_strip, &sides), gray, "tiles that are called strips");
    let noise: Vec<u8> = (0..200_u32).map(|index| ((index * index) >> 3) as u8).collect();
    let codes = |bytes: &[u8]| {
        let order = weezl::BitOrder::Lsb;
        weezl::encode::Encoder::new(order, 8).encode(bytes).expect("encoded")
    };
    let rows = [levels().collect(), noise.repeat(20)].concat();
    let file = with(page(SIDE, 8, 1, codes(&rows)), &[short(COMPRESSION, 5)]);
    assert_ramp(&file, gray, "codes with the lowest bit first");
}

#[test]
fn a_tile_may_be_far_wider_than_the_page() {
    const WIDTH_OF_TILE: u32 = 1 << 22;
    let row = |level: u8| [&[level][..], &vec![0; WIDTH_OF_TILE as usize / 8 - 1]].concat();
    let rows = levels().map(|level| if level < 128 { 0x0F } else { 0xF0 }).step_by(SIDE);
    let fields = [
        (BITS, Field::Short(vec![1])),
        (TILE_WIDTH, Field::Long(vec![WIDTH_OF_TILE])),
        (TILE_HEIGHT, Field::Long(vec![SIDE as u32])),
    ];
    let file = tiled(1, vec![rows.flat_map(row).collect()], &fields);
    let shown = decode(&file, u32::MAX).expect("decoded").pixels;
    assert_eq!([(0, 0), (7, 0), (0, 7)].map(|(x, y)| shown.get_pixel(x, y).0[0]), [0, 255, 255]);
}

#[test]
fn a_jpeg_of_thousands_of_segments_is_refused() {
    let frame = [0xFF, 0xC0, 0, 11, 8, 0, 16, 0, 16, 1, 1, 0x11, 0];
    // What follows the header of the scan looks like another segment.
    let scan = [0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 63, 0, 0xFF, 0, 1, 2];
    let jpeg = |comments| {
        let comments = [0xFF, 0xFE, 0, 2].repeat(comments);
        [&[0xFF, 0xD8][..], &frame, &comments, &scan].concat()
    };
    let error = |jpeg: Vec<u8>| {
        let strips = || Field::Long(vec![8; 500]);
        let mut page = page(8000, 8, 1, jpeg);
        page.extend([
            (COMPRESSION, Field::Short(vec![7])),
            (ROWS, Field::Short(vec![16])),
            (STRIP, strips()),
            (STRIP_LENGTH, strips()),
        ]);
        decode(&tiff(&[page]), 16).expect_err("no pixels").0
    };
    let refused = "damaged TIFF: a JPEG that its part does not fit";
    assert_eq!(error(jpeg(100_000)), refused);
    assert_ne!(error(jpeg(900)), refused);
}

#[test]
fn samples_may_have_any_number_of_bits() {
    for bits in [1, 2, 4, 10, 12, 14] {
        let white = (1_u32 << bits) - 1;
        let sample = |level: u8| (u32::from(level) * white + 127) / 255;
        let samples = packed(levels().map(|level| sample(level) as u16), bits as usize);
        let expected = |level: u8| [((sample(level) * 255 + white / 2) / white) as u8; 3];
        assert_ramp(&with(page(SIDE, bits, 1, samples), &[]), expected, &format!("{bits} bits"));
    }
}
