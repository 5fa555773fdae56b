//! Decoding within limits, and rotated pictures.

use std::io::Cursor;

use image::{
    DynamicImage, Frame, ImageEncoder as _, ImageFormat, RgbImage, Rgba, RgbaImage,
    codecs::{gif::GifEncoder, png::PngEncoder},
};

use tessera_picture::{decode::decode, to_common_jpeg, visit_frames};

pub fn encoded(picture: impl Into<DynamicImage>, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    picture.into().write_to(&mut bytes, format).expect("encoded");
    bytes.into_inner()
}

fn chunk(name: [u8; 4], body: &[u8]) -> Vec<u8> {
    let mut chunk = u32::try_from(body.len()).expect("short").to_be_bytes().to_vec();
    chunk.extend(name);
    chunk.extend(body);
    let sum = crc32fast::hash(&chunk[4..]);
    chunk.extend(sum.to_be_bytes());
    chunk
}

fn low(number: u32) -> u8 {
    number.to_le_bytes()[0]
}

/// A gray PNG with only a header.
fn png_header(width: u32, height: u32) -> Vec<u8> {
    let mut header = [width.to_be_bytes(), height.to_be_bytes()].concat();
    header.extend([8, 0, 0, 0, 0]);
    let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
    bytes.extend(chunk(*b"IHDR", &header));
    bytes.extend(chunk(*b"IDAT", b"\x78\x9c"));
    bytes
}

#[test]
fn sizes_over_the_limits_are_named() {
    let error = decode(&png_header(20_000, 20_000), 10).expect_err("a bomb");
    assert_eq!(error.0, "20000x20000 pixels is over the limit of 100 million");
    let error = decode(&png_header(40_000, 2), 10).expect_err("too wide");
    assert_eq!(error.0, "40000x2 pixels is over the limit of 32768 a side");
    assert!(decode(&png_header(0, 5), 10).is_err());
}

#[test]
fn a_cut_file_is_truncated() {
    let picture = RgbImage::from_fn(60, 50, |x, y| image::Rgb([low(x * y), low(x), 7]));
    for (format, name) in [(ImageFormat::Png, "PNG"), (ImageFormat::WebP, "WebP")] {
        let bytes = encoded(picture.clone(), format);
        let error = decode(&bytes[..bytes.len() / 2], 10).expect_err("cut");
        assert!(error.0.contains(name), "{error}");
    }
}

#[test]
fn a_png_without_its_end_is_shown_if_all_pixels_are_there() {
    let picture = RgbImage::from_fn(60, 50, |x, y| image::Rgb([low(x * y), low(x), 7]));
    let complete = encoded(picture.clone(), ImageFormat::Png);
    let pixels = &complete[..complete.len() - 12];
    let text = chunk(*b"tEXt", b"Comment\0behind the pixels");
    let cases = [
        pixels.to_vec(),
        complete[..complete.len() - 3].to_vec(),
        pixels[..pixels.len() - 3].to_vec(),
        [pixels, &text].concat(),
        [pixels, &text[..text.len() / 2]].concat(),
        [pixels, &[0; 30]].concat(),
    ];
    for bytes in cases {
        assert_eq!(decode(&bytes, 100).expect("all pixels").pixels, picture);
        let in_ico = ico(&[(60, 24, bytes)]);
        assert_eq!(decode(&in_ico, 100).expect("all pixels").pixels, picture);
    }
    for end in (60..pixels.len()).step_by(50) {
        let error = decode(&complete[..end], 100).expect_err("pixels are missing");
        assert_eq!(error.0, "truncated PNG", "{end}");
    }
}

#[test]
fn a_qoi_or_bmp_without_its_last_bytes_is_shown_if_all_pixels_are_there() {
    let picture = RgbImage::from_fn(61, 50, |x, y| image::Rgb([low(x * y), low(x), 7]));
    // A QOI ends with 8 bytes without pixels. A row of the BMP has 183 bytes and a padding of one byte.
    for (format, end) in [(ImageFormat::Qoi, 8), (ImageFormat::Bmp, 1)] {
        let complete = encoded(picture.clone(), format);
        let pixels = &complete[..complete.len() - end];
        assert_eq!(decode(pixels, 100).expect("all pixels").pixels, picture);
        for missing in [1, 2, 9, 500] {
            let error = decode(&pixels[..pixels.len() - missing], 100).expect_err("cut");
            assert!(error.0.starts_with("truncated"), "{error}");
        }
    }
}

#[test]
fn a_bmp_with_the_header_of_os2_is_shown() {
    let picture = RgbImage::from_fn(7, 5, |x, y| image::Rgb([low(x * 30), low(y * 50), 7]));
    let gray = DynamicImage::from(picture.clone()).into_luma8();
    for picture in [DynamicImage::from(picture), gray.into()] {
        let usual = encoded(picture.clone(), ImageFormat::Bmp);
        // The header of OS/2 has 24 bytes more, between the usual fields and the palette.
        let mut file = [&usual[..54], &[1; 24], &usual[54..]].concat();
        (file[10], file[14]) = (file[10] + 24, 64);
        assert_eq!(decode(&file, 100).expect("decoded").pixels, picture.to_rgb8());
        let error = decode(&file[..file.len() - 9], 100).expect_err("cut");
        assert_eq!(error.0, "truncated BMP");
        file[30] = 3;
        assert!(decode(&file, 100).is_err(), "a compression of OS/2 alone");
    }
}

/// An ICO with these pictures. The entries state a side and a number of bits per pixel.
fn ico(pictures: &[(u8, u8, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = vec![0, 0, 1, 0, low(u32::try_from(pictures.len()).expect("few")), 0];
    let mut offset = bytes.len() + 16 * pictures.len();
    for (side, bits, picture) in pictures {
        bytes.extend([*side, *side, 0, 0, 1, 0, *bits, 0]);
        for number in [picture.len(), offset] {
            bytes.extend(u32::try_from(number).expect("short").to_le_bytes());
        }
        offset += picture.len();
    }
    bytes.extend(pictures.iter().flat_map(|(_, _, picture)| picture));
    bytes
}

#[test]
fn the_largest_picture_of_an_ico_is_shown_in_any_colors() {
    let square = |side, color| RgbImage::from_pixel(side, side, image::Rgb(color));
    let png = |picture: DynamicImage| encoded(picture, ImageFormat::Png);
    let large: DynamicImage = square(48, [200, 30, 90]).into();
    let small = || png(DynamicImage::from(square(16, [9; 3])).to_rgba8().into());
    for colors in
        [large.clone(), large.to_rgba8().into(), large.to_luma8().into(), large.to_rgb16().into()]
    {
        let expected = colors.to_rgb8();
        let equal = (48, 24, png(square(48, [7; 3]).into()));
        let bytes = ico(&[(16, 32, small()), (48, 24, png(colors)), equal, (16, 32, small())]);
        assert_eq!(decode(&bytes, 100).expect("decoded").pixels, expected);
    }
    // A bitmap in an ICO has no file header, twice its height, and a mask behind the pixels.
    let bitmap = encoded(square(8, [200, 30, 90]), ImageFormat::Bmp);
    let mut stored = bitmap[14..].to_vec();
    stored[8] = 16;
    stored.extend([0; 8 * 4]);
    let bytes = ico(&[(8, 24, stored), (4, 32, png(square(4, [9; 3]).into()))]);
    assert_eq!(decode(&bytes, 100).expect("decoded").pixels, square(8, [200, 30, 90]));
}

#[test]
fn an_alpha_that_is_0_everywhere_is_unused_in_a_bmp_or_ico() {
    let shown = |file: &[u8]| decode(file, 100).expect("decoded").pixels;
    let mut picture = RgbaImage::from_pixel(4, 4, Rgba([200, 30, 90, 0]));
    let opaque = DynamicImage::from(picture.clone()).to_rgb8();
    assert_eq!(shown(&encoded(picture.clone(), ImageFormat::Bmp)), opaque);
    let mut bitmap = vec![40, 0, 0, 0, 4, 0, 0, 0, 8, 0, 0, 0, 1, 0, 32];
    bitmap.resize(40, 0);
    bitmap.extend([[90, 30, 200, 0]; 16].concat());
    bitmap.extend([0; 16]);
    assert_eq!(shown(&ico(&[(4, 32, bitmap)])), opaque);
    picture.put_pixel(0, 0, Rgba([200, 30, 90, 255]));
    let shown = shown(&encoded(picture, ImageFormat::Bmp));
    assert_eq!([0, 1].map(|x| shown.get_pixel(x, 0).0), [[200, 30, 90], [128; 3]]);
}

#[test]
fn the_mask_of_an_ico_hides_no_pixels_with_alpha_and_may_be_cut_off() {
    let bitmap = |alpha: u8, mask: &[u8]| {
        let mut bitmap = vec![40, 0, 0, 0, 4, 0, 0, 0, 8, 0, 0, 0, 1, 0, 32];
        bitmap.resize(40, 0);
        bitmap.extend([[90, 30, 200, alpha]; 16].concat());
        ico(&[(4, 32, [&bitmap, mask].concat())])
    };
    let shown = |file: &[u8]| decode(file, 100).expect("decoded").pixels.get_pixel(1, 1).0;
    for mask in [&[0xFF; 16][..], &[0; 16], &[0xFF; 5], &[]] {
        assert_eq!(shown(&bitmap(255, mask)), [200, 30, 90], "{mask:?}");
        assert_eq!(shown(&bitmap(51, mask)), [142, 108, 120], "{mask:?}");
    }
}

#[test]
fn a_frame_may_be_larger_than_the_screen_of_its_gif() {
    for frames in [1, 2] {
        let mut bytes = Vec::new();
        let frame = || Frame::new(RgbaImage::from_pixel(8, 6, Rgba([250, 0, 0, 255])));
        GifEncoder::new(&mut bytes).encode_frames((0..frames).map(|_| frame())).expect("encoded");
        for screen in [[8, 6], [3, 9], [0, 0]] {
            (bytes[6], bytes[8]) = (screen[0], screen[1]);
            let size = (8, u32::from(screen[1].max(6)));
            assert_eq!(decode(&bytes, 10).expect("decoded").original, size, "{screen:?}");
            let mut shown = 0;
            visit_frames(&bytes, &mut |frame| {
                shown += 1;
                frame.into_picture(10).expect("a frame").dimensions() == size
            })
            .expect("an animation");
            assert_eq!(shown, if frames == 1 { 0 } else { frames }, "{screen:?}");
        }
    }
}

#[test]
fn of_an_animation_the_first_frame() {
    let mut bytes = Vec::new();
    let frames = [[250, 0, 0, 255], [0, 0, 250, 255]]
        .map(|color| Frame::new(RgbaImage::from_pixel(8, 8, Rgba(color))));
    GifEncoder::new(&mut bytes).encode_frames(frames).expect("encoded");
    let decoded = decode(&bytes, 10).expect("decoded");
    assert_eq!(decoded.pixels.get_pixel(3, 3).0, [250, 0, 0]);
}

#[test]
fn transparent_parts_are_blended_with_gray() {
    let clear = RgbaImage::from_pixel(40, 40, Rgba([255, 255, 255, 0]));
    let half = RgbaImage::from_pixel(40, 40, Rgba([255, 0, 128, 128]));
    for enough in [5, 40] {
        let decoded = decode(&encoded(clear.clone(), ImageFormat::Png), enough);
        assert_eq!(decoded.expect("decoded").pixels.get_pixel(1, 1).0, [128; 3]);
        let decoded = decode(&encoded(half.clone(), ImageFormat::Png), enough);
        assert_eq!(decoded.expect("decoded").pixels.get_pixel(1, 1).0, [192, 64, 128]);
    }
}

#[test]
fn sixteen_bits_and_far_fewer_pixels() {
    let wide = image::ImageBuffer::from_fn(300, 100, |x, _| {
        image::Rgb([0x8000_u16, if x < 150 { 0 } else { 0xFFFF }, 0x40FF])
    });
    let decoded = decode(&encoded(wide, ImageFormat::Png), 10).expect("decoded");
    assert_eq!(decoded.original, (300, 100));
    assert_eq!(decoded.pixels.dimensions(), (30, 10));
    assert_eq!(decoded.pixels.get_pixel(2, 2).0, [0x80, 0, 0x40]);
    assert_eq!(decoded.pixels.get_pixel(27, 9).0, [0x80, 0xFF, 0x40]);
}

/// 8x4 pixels, red on the left, with an EXIF orientation.
fn lying(orientation: u8) -> Vec<u8> {
    let picture =
        RgbImage::from_fn(8, 4, |x, _| image::Rgb(if x < 4 { [250, 0, 0] } else { [0, 0, 250] }));
    let mut exif = b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0".to_vec();
    exif.extend([orientation, 0, 0, 0, 0, 0, 0, 0]);
    let mut bytes = Vec::new();
    let mut encoder = PngEncoder::new(&mut bytes);
    encoder.set_exif_metadata(exif).expect("exif");
    let (width, height) = picture.dimensions();
    let picture = DynamicImage::from(picture);
    encoder
        .write_image(picture.as_bytes(), width, height, image::ExtendedColorType::Rgb8)
        .expect("encoded");
    bytes
}

#[test]
fn a_rotated_picture_is_turned_upright() {
    assert_eq!(to_common_jpeg(&lying(1)), Ok(None));
    let jpeg = to_common_jpeg(&lying(6)).expect("opened").expect("turned");
    let turned = decode(&jpeg, 100).expect("a JPEG");
    assert_eq!(turned.original, (4, 8));
    let [top, bottom] = [1, 6].map(|y| turned.pixels.get_pixel(2, y).0);
    assert!(top[0] > 200 && bottom[2] > 200, "{top:?} {bottom:?}");
    assert!(to_common_jpeg(b"II*\0 a kind that is not opened").is_err());
}

/// Puts chunks before or after the pixels of a PNG.
fn with_chunks(png: &[u8], before: &[u8], after: &[u8]) -> Vec<u8> {
    let (start, rest) = png.split_at(33);
    let (middle, end) = rest.split_at(rest.len() - 12);
    [start, before, middle, after, end].concat()
}

#[test]
fn the_orientation_of_a_png_is_found_in_all_places_and_types() {
    let plain = encoded(RgbImage::new(8, 4), ImageFormat::Png);
    let digits = "49492a00080000000100120103000100000006000000";
    let exif = |name: &[u8], kind: u8| {
        let mut exif = b"II*\0\x08\0\0\0\x01\0\x12\x01".to_vec();
        exif.extend([kind, 0, 1, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0]);
        chunk(*b"eXIf", &[name, &exif].concat())
    };
    let raw = format!("Raw profile type exif\0\nexif\n 22\n{digits}\n");
    let raw = chunk(*b"tEXt", raw.as_bytes());
    let [byte, short, long] = [1, 3, 4].map(|kind| exif(b"", kind));
    let named = exif(b"Exif\0\0", 3);
    for (name, file) in [
        ("before the pixels", with_chunks(&plain, &short, &[])),
        ("after the pixels", with_chunks(&plain, &[], &short)),
        ("a long number", with_chunks(&plain, &[], &long)),
        ("a byte", with_chunks(&plain, &byte, &[])),
        ("with the name of a JPEG", with_chunks(&plain, &named, &[])),
        ("a raw profile", with_chunks(&plain, &[], &raw)),
    ] {
        let decoded = decode(&file, u32::MAX).expect("decoded");
        assert_eq!((decoded.original, decoded.pixels.dimensions()), ((4, 8), (4, 8)), "{name}");
    }
    assert_eq!(decode(&plain, u32::MAX).expect("decoded").original, (8, 4));
}

#[test]
fn a_png_is_shown_although_chunks_beside_its_pixels_are_damaged_or_huge() {
    let picture = RgbImage::from_fn(8, 4, |x, y| image::Rgb([low(x * 30), low(y * 60), 7]));
    let plain = encoded(picture.clone(), ImageFormat::Png);
    let turned =
        chunk(*b"eXIf", b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0");
    let animated = chunk(*b"acTL", &[0, 0, 0, 2, 0, 0, 0, 0]);
    for (name, damaged) in [
        ("colors of a video", chunk(*b"cICP", &[1, 13, 5, 1])),
        ("an unknown range", chunk(*b"cICP", &[1, 13, 0, 7])),
        ("a short frame", [animated.clone(), chunk(*b"fcTL", &[0; 10])].concat()),
        ("a frame without an animation", chunk(*b"fcTL", &[9; 26])),
        ("a huge text", chunk(*b"tEXt", &[b"Comment\0", &vec![b'x'; 80 << 20][..]].concat())),
        ("huge fields", chunk(*b"eXIf", &[b"II*\0", &vec![b'x'; 80 << 20][..]].concat())),
    ] {
        let shown = decode(&with_chunks(&plain, &damaged, &[]), u32::MAX).expect(name);
        assert_eq!(shown.pixels, picture, "{name}");
        let oriented = with_chunks(&plain, &[&turned[..], &damaged].concat(), &[]);
        assert_eq!(decode(&oriented, u32::MAX).expect(name).original, (4, 8), "{name}");
    }
    let unknown = with_chunks(&plain, &chunk(*b"ABCd", b"needed"), &[]);
    assert!(decode(&unknown, u32::MAX).is_err(), "a chunk that a decoder must know");
}

#[test]
fn the_colors_of_a_png_and_of_a_bmp_are_those_that_the_file_describes() {
    let picture = RgbImage::from_pixel(4, 4, image::Rgb([200, 80, 60]));
    // Reference: Display P3 (200, 80, 60) is (216, 69, 50) in sRGB, by the matrices of CSS Color 4.
    let is_wide = |file: &[u8]| {
        let found = decode(file, u32::MAX).expect("decoded").pixels.get_pixel(1, 1).0;
        found.iter().zip([216, 69, 50]).all(|(one, other)| one.abs_diff(other) <= 1)
    };
    let png = encoded(picture.clone(), ImageFormat::Png);
    let points: [u32; 8] = [31_270, 32_900, 68_000, 32_000, 26_500, 69_000, 15_000, 6_000];
    let points = chunk(*b"cHRM", points.map(u32::to_be_bytes).as_flattened());
    let gamma = chunk(*b"gAMA", &45_455_u32.to_be_bytes());
    assert!(is_wide(&with_chunks(&png, &[gamma, points.clone()].concat(), &[])));
    assert!(!is_wide(&with_chunks(&png, &points, &[])) && !is_wide(&png));
    let profile = moxcms::ColorProfile::new_display_p3().encode().expect("encoded");
    let bmp = bmp_with_profile(&picture, &profile);
    assert!(is_wide(&bmp));
    assert!(!is_wide(&bmp[..bmp.len() - 1]), "a profile that is cut off has no effect");
}

/// A BMP of version 5 with 24 bits per pixel, whose width is a multiple of four.
fn bmp_with_profile(picture: &RgbImage, profile: &[u8]) -> Vec<u8> {
    const HEADERS: u32 = 14 + 124;
    let long = |length: usize| u32::try_from(length).expect("short").to_le_bytes();
    let (width, height) = picture.dimensions();
    let rows = picture.as_raw().chunks(3 * width as usize).rev();
    let pixels: Vec<u8> = rows
        .flat_map(|row| row.chunks(3).flat_map(|pixel| [pixel[2], pixel[1], pixel[0]]))
        .collect();
    let mut file = vec![0; HEADERS as usize];
    let mut put = |at: usize, bytes: &[u8]| file[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, b"BM");
    put(10, &HEADERS.to_le_bytes());
    put(14, &124_u32.to_le_bytes());
    put(18, &width.to_le_bytes());
    put(22, &height.to_le_bytes());
    put(26, &[1, 0, 24, 0]);
    put(70, b"DEBM");
    put(126, &long(124 + pixels.len()));
    put(130, &long(profile.len()));
    [&file[..], &pixels, profile].concat()
}
