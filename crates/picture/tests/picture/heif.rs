//! AVIF and HEIC, decoded by the `ffmpeg` of this machine if there is one.

use image::{Rgb, RgbImage, metadata::Orientation};
use tessera_picture::{
    ImageSequence, PictureFormat, VisiblePart,
    decode::{DecodeError, decode, is_rotated, size},
};

/// 12 x 8 patches of 8 x 8 pixels, whose colors are the pixels of `patches.png`.
const AVIF: &[u8] = include_bytes!("heif/chart.avif");
const HEIC: &[u8] = include_bytes!("heif/chart.heic");
const PATCHES: &[u8] = include_bytes!("heif/patches.png");

/// The decoded picture; `None` without the program, of which the error then says the name.
fn decoded(file: &[u8], format: PictureFormat) -> Option<RgbImage> {
    match decode(file, u32::MAX) {
        Ok(decoded) => Some(decoded.pixels),
        Err(DecodeError(reason)) => {
            assert_eq!(Some(reason), format.undecodable_reason());
            None
        }
    }
}

fn assert_similar(found: &RgbImage, expected: impl Fn(u32, u32) -> Rgb<u8>, name: &str) {
    let mut sum = 0;
    for (x, y, pixel) in found.enumerate_pixels().filter(|(x, y, _)| x % 8 == 4 && y % 8 == 4) {
        let differences = pixel.0.iter().zip(expected(x, y).0).map(|(a, b)| a.abs_diff(b));
        sum += differences.map(u32::from).sum::<u32>();
    }
    let samples = found.width() / 8 * (found.height() / 8) * 3;
    assert!(sum / samples < 12, "{name}: {}", sum / samples);
}

#[test]
fn the_size_is_known_without_the_program() {
    for file in [AVIF, HEIC] {
        assert_eq!(size(file).expect("a container"), (96, 64));
        assert!(!is_rotated(file).expect("a container"));
    }
}

#[test]
fn pictures_have_the_colors_that_were_encoded() {
    let patches = decode(PATCHES, u32::MAX).expect("decoded").pixels;
    for (file, format) in [(AVIF, PictureFormat::Avif), (HEIC, PictureFormat::Heif)] {
        assert_eq!(PictureFormat::detect(file), Some(format));
        if let Some(pixels) = decoded(file, format) {
            assert_eq!(pixels.dimensions(), (96, 64));
            assert_similar(&pixels, |x, y| *patches.get_pixel(x / 8, y / 8), format.name());
        }
    }
}

#[test]
fn a_short_header_is_named() {
    for (codec, name) in [(b"avif", "AVIF"), (b"heic", "HEIC")] {
        let file = [&b"\0\0\0\x10ftypmif3"[..], codec, b"\0\0\0\x0Cmini\0\0\0\0"].concat();
        let reason = "cannot be opened: a short header (mini); convert it to JPEG";
        let expected = DecodeError(format!("a kind of {name} that {reason}"));
        assert_eq!(size(&file), Err(expected));
    }
}

/// As phones store photographs: in tiles, and turned by the container.
#[test]
fn tiles_are_put_together_and_turned() {
    let patches = decode(PATCHES, u32::MAX).expect("decoded").pixels;
    let file = tiled(HEIC);
    assert_eq!(size(&file).expect("a container"), (64, 184), "turned");
    assert!(is_rotated(&file).expect("a container"));
    if let Some(pixels) = decoded(&file, PictureFormat::Heif) {
        assert_eq!(pixels.dimensions(), (64, 184));
        // By a quarter to the left: what was at the right is above.
        let expected = |x: u32, y: u32| *patches.get_pixel((183 - y) % 96 / 8, x / 8);
        assert_similar(&pixels, expected, "tiles");
    }
}

#[test]
fn only_the_clean_aperture_is_shown() {
    let patches = decode(PATCHES, u32::MAX).expect("decoded").pixels;
    // The second of two tiles, from its second row of patches on.
    let part = [88, 1, 56, 1, 48, 1, 4, 1];
    let file = tiles_with(HEIC, &part);
    assert_eq!(size(&file).expect("a container"), (56, 88), "turned");
    if let Some(pixels) = decoded(&file, PictureFormat::Heif) {
        assert_eq!(pixels.dimensions(), (56, 88));
        let expected = |x: u32, y: u32| *patches.get_pixel((87 - y) / 8, x / 8 + 1);
        assert_similar(&pixels, expected, "a part");
    }
    let outside = tiles_with(HEIC, &[88, 1, 56, 1, 49, 1, 4, 1]);
    assert_eq!(size(&outside).expect("a container"), (64, 184), "outside");
}

#[test]
fn the_format_is_in_any_of_the_brands() {
    let file = |brands: &str| [part(b"ftyp", brands.as_bytes()), vec![0; 16]].concat();
    let formats = [
        ("avif\0\0\0\0mif1", Some(PictureFormat::Avif)),
        ("avis\0\0\0\0msf1", Some(PictureFormat::Avif)),
        ("mif1\0\0\0\0mif1avifmiaf", Some(PictureFormat::Avif)),
        ("miaf\0\0\0\0", Some(PictureFormat::Heif)),
        ("mif1\0\0\0\0heic", Some(PictureFormat::Heif)),
        ("iso8\0\0\0\0mif1heic", Some(PictureFormat::Heif)),
        ("isom\0\0\0\0iso2avc1mp41", None),
        // The number after the main brand is a version.
        ("isomavifmp41", None),
    ];
    for (brands, format) in formats {
        assert_eq!(PictureFormat::detect(&file(brands)), format, "{brands:?}");
    }
}

#[test]
fn an_animation_has_a_track_of_several_pictures() {
    let file = |handler: &[u8], count: u8| {
        let sizes = part(b"stsz", &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, count]);
        let handler = part(b"hdlr", &[&[0; 8], handler, &[0; 13]].concat());
        let media = [handler, part(b"minf", &part(b"stbl", &sizes))].concat();
        let track = part(b"trak", &part(b"mdia", &media));
        [AVIF.to_vec(), part(b"moov", &track)].concat()
    };
    assert!(ImageSequence::read(&file(b"pict", 8)).is_some());
    for single in [&file(b"pict", 1), &file(b"soun", 8), AVIF, b""] {
        assert_eq!(ImageSequence::read(single), None);
    }
}

#[test]
fn the_pictures_of_an_animation_are_cut_and_turned_and_have_an_alpha_track() {
    let track = |handler: &[u8], boxes: &[u8]| {
        let mut header = vec![0; 78];
        header[24..28].copy_from_slice(&[1, 64, 0, 240]); // 320x240
        let entry = part(b"av01", &[&header, boxes].concat());
        let tables = [
            part(b"stsz", &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8]),
            part(b"stsd", &[&[0, 0, 0, 0, 0, 0, 0, 1], &entry[..]].concat()),
        ];
        let handler = part(b"hdlr", &[&[0; 8], handler, &[0; 13]].concat());
        let media = [handler, part(b"minf", &part(b"stbl", &tables.concat()))].concat();
        part(b"trak", &part(b"mdia", &media))
    };
    let aperture = [160_u32, 1, 120, 1, 0, 1, 0, 1].map(u32::to_be_bytes);
    let shown = [part(b"clap", aperture.as_flattened()), part(b"irot", &[3])].concat();
    let kind = |name: &str| part(b"auxi", &[&[0; 4], name.as_bytes(), &[0]].concat());
    let depth = kind("urn:mpeg:mpegB:cicp:systems:auxiliary:depth");
    let alpha = kind("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha");
    let tracks = [track(b"pict", &shown), track(b"auxv", &depth), track(b"auxv", &alpha)];
    let sequence = ImageSequence::read(&part(b"moov", &tracks.concat())).expect("a sequence");
    assert_eq!(sequence.part, Some(VisiblePart { left: 80, top: 60, size: (160, 120) }));
    assert_eq!(sequence.orientation, Orientation::Rotate90);
    assert_eq!(sequence.alpha_track, Some(2));
}

fn part(kind: &[u8], body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 8).expect("short").to_be_bytes();
    [&length, kind, body].concat()
}

/// A box of the file, with its header.
fn found<'a>(file: &'a [u8], kind: &[u8]) -> &'a [u8] {
    let at = file.windows(4).position(|name| name == kind).expect("a box") - 4;
    let length = u32::from_be_bytes(*file[at..].first_chunk().expect("a length"));
    &file[at..][..usize::try_from(length).expect("short")]
}

/// A grid of the coded picture of a file, twice side by side, without the last column of patches, turned to the left.
fn tiled(file: &[u8]) -> Vec<u8> {
    tiles_with(file, &[])
}

/// The same with the numbers of a clean aperture.
fn tiles_with(file: &[u8], aperture: &[i32]) -> Vec<u8> {
    let aperture: Vec<u8> = aperture.iter().flat_map(|number| number.to_be_bytes()).collect();
    let coded = &found(file, b"mdat")[8..];
    let full = |kind: &[u8; 4], body: &[u8]| part(kind, &[&[0; 4], body].concat());
    let item = |id: u8, kind: &[u8; 4]| {
        part(b"infe", &[&[2, 0, 0, 0, 0, id, 0, 0], &kind[..], &[0]].concat())
    };
    let items = [&[0, 3][..], &item(1, b"grid"), &item(2, b"hvc1"), &item(3, b"hvc1")].concat();
    let whole = full(b"ispe", &[0, 0, 0, 184, 0, 0, 0, 64]);
    let properties = [
        found(file, b"hvcC"),
        found(file, b"ispe"),
        &whole,
        &part(b"irot", &[1]),
        &part(b"clap", &aperture),
    ]
    .concat();
    let associations = [&[0, 0, 0, 3][..], &[0, 1, 3, 3, 5, 4], &[0, 2, 2, 1, 2], &[0, 3, 2, 1, 2]];
    let properties = [part(b"ipco", &properties), full(b"ipma", &associations.concat())].concat();
    let meta = |offset: usize| {
        let numbers = |offset: usize, length: usize| {
            [offset, length].map(|number| u32::try_from(number).expect("short").to_be_bytes())
        };
        let location = |id: u8, method: u8, [offset, length]: [[u8; 4]; 2]| {
            [&[0, id, 0, method, 0, 0, 0, 1][..], &offset, &length].concat()
        };
        let of_tile = numbers(offset, coded.len());
        let locations = [
            &[1, 0, 0, 0, 0x44, 0, 0, 3][..],
            &location(1, 1, numbers(0, 8)),
            &location(2, 0, of_tile),
            &location(3, 0, of_tile),
        ];
        let boxes = [
            full(b"pitm", &[0, 1]),
            part(b"iloc", &locations.concat()),
            full(b"iinf", &items),
            full(b"iref", &part(b"dimg", &[0, 1, 0, 2, 0, 2, 0, 3])),
            part(b"iprp", &properties),
            part(b"idat", &[0, 0, 0, 1, 0, 184, 0, 64]),
        ];
        full(b"meta", &boxes.concat())
    };
    let start = part(b"ftyp", b"heic\0\0\0\0mif1heic");
    let offset = start.len() + meta(0).len() + 8;
    [start, meta(offset), part(b"mdat", coded)].concat()
}
