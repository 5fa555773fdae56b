//! Every format is recognized by its content and decoded.

use image::{
    DynamicImage, ImageEncoder as _, ImageFormat, Rgb, Rgb32FImage, RgbImage, Rgba, Rgba32FImage,
    codecs::{jpeg::JpegEncoder, png::PngEncoder},
};
use tessera_picture::{PictureFormat, decode::decode, to_common_jpeg};

use crate::decode::encoded;

const COLOR: [u8; 3] = [200, 30, 90];
const SIZE: (u32, u32) = (9, 7);

/// 9x7 pixels of one color, written losslessly by the reference encoder.
const JPEG_XL: [u8; 39] = [
    0xff, 0x0a, 0x30, 0x30, 0x10, 0x50, 0xb9, 0xb7, 0x8a, 0x20, 0x08, 0x02, 0x01, 0x00, 0x5c, 0x00,
    0x4b, 0x18, 0x8b, 0x15, 0xc2, 0x49, 0x41, 0x5e, 0x20, 0x02, 0x80, 0x90, 0xa7, 0x1a, 0, 0, 0, 0,
    0, 0, 0, 0, 0,
];

/// The same in a container.
fn jpeg_xl_in_a_container() -> Vec<u8> {
    let signature = *b"\0\0\0\x0cJXL \r\n\x87\n";
    let kind = *b"\0\0\0\x14ftypjxl \0\0\0\0jxl ";
    [&signature[..], &kind, b"\0\0\0\x2fjxlc", &JPEG_XL].concat()
}

/// The same picture in every format that is decoded.
fn pictures() -> Vec<(PictureFormat, Vec<u8>)> {
    let picture = RgbImage::from_pixel(SIZE.0, SIZE.1, Rgb(COLOR));
    let float = DynamicImage::from(picture.clone()).into_rgb32f();
    let linear = Rgb32FImage::from_fn(SIZE.0, SIZE.1, |x, y| {
        Rgb(float.get_pixel(x, y).0.map(|sample| ((sample + 0.055) / 1.055).powf(2.4)))
    });
    let eight_bits = [
        (PictureFormat::Jpeg, ImageFormat::Jpeg),
        (PictureFormat::Png, ImageFormat::Png),
        (PictureFormat::WebP, ImageFormat::WebP),
        (PictureFormat::Gif, ImageFormat::Gif),
        (PictureFormat::Bmp, ImageFormat::Bmp),
        (PictureFormat::Tiff, ImageFormat::Tiff),
        (PictureFormat::Qoi, ImageFormat::Qoi),
        (PictureFormat::Pnm, ImageFormat::Pnm),
    ];
    let mut pictures: Vec<_> = eight_bits
        .into_iter()
        .map(|(format, encoder)| (format, encoded(picture.clone(), encoder)))
        .collect();
    // The encoder of ICO files only writes colors with alpha.
    let opaque = DynamicImage::from(picture).into_rgba8();
    pictures.push((PictureFormat::Ico, encoded(opaque, ImageFormat::Ico)));
    for (format, encoder) in
        [(PictureFormat::Hdr, ImageFormat::Hdr), (PictureFormat::OpenExr, ImageFormat::OpenExr)]
    {
        pictures.push((format, encoded(linear.clone(), encoder)));
    }
    pictures.push((PictureFormat::JpegXl, JPEG_XL.to_vec()));
    pictures.push((PictureFormat::JpegXl, jpeg_xl_in_a_container()));
    pictures
}

#[test]
fn each_is_recognized_and_decoded() {
    for (format, bytes) in pictures() {
        let head = &bytes[..PictureFormat::SIGNATURE_LENGTH];
        assert_eq!(PictureFormat::detect(head), Some(format));
        assert!(
            format.is_decodable() && PictureFormat::DECODABLE.contains(format.name()),
            "{format:?}"
        );
        let decoded = decode(&bytes, 100).expect("decoded");
        assert_eq!(decoded.original, SIZE, "{format:?}");
        let found = decoded.pixels.get_pixel(4, 3).0;
        let difference = found.iter().zip(COLOR).map(|(found, color)| found.abs_diff(color)).max();
        // JPEG and HDR are lossy.
        assert!(difference <= Some(6), "{format:?}: {found:?}");
    }
}

#[test]
fn others_are_named() {
    let error = |bytes: &[u8]| decode(bytes, 10).expect_err("not decoded").0;
    for other in ["<svg/>", "%PDF-1.7", "<html>", "PS: a letter", "\0\0\0\x1cftypisom"] {
        assert_eq!(error(other.as_bytes()), format!("not a {} file", PictureFormat::DECODABLE));
    }
    for (brand, name) in [("avif", "AVIF"), ("heic", "HEIC")] {
        let expected = format!("damaged {name}: no picture that can be read");
        assert_eq!(error(format!("\0\0\0\x1cftyp{brand}").as_bytes()), expected);
    }
    assert_eq!(error(b""), "an empty file");
}

#[test]
fn a_picture_that_others_may_not_open_becomes_a_jpeg() {
    for (format, bytes) in pictures() {
        let jpeg = to_common_jpeg(&bytes).expect("decoded");
        assert_eq!(jpeg.is_some(), !format.is_common(), "{format:?}");
        if let Some(jpeg) = jpeg {
            assert_eq!(decode(&jpeg, 100).expect("a JPEG").original, SIZE);
        }
    }
}

#[test]
fn light_above_that_of_a_screen_is_tone_mapped() {
    let picture = Rgb32FImage::from_fn(64, 8, |x, _| {
        Rgb([1.2_f32.powi(i32::try_from(x).expect("small") - 20); 3])
    });
    let decoded = decode(&encoded(picture, ImageFormat::OpenExr), 100).expect("decoded");
    let row: Vec<u8> = (0..64).map(|x| decoded.pixels.get_pixel(x, 3).0[0]).collect();
    assert!(row.is_sorted(), "{row:?}");
    assert!(row[63] > 250 && row[40] < 250 && row[5] > 0, "{row:?}");
}

#[test]
fn a_radiance_file_may_have_its_other_name() {
    let picture = Rgb32FImage::from_pixel(9, 7, Rgb([0.5, 0.1, 0.2]));
    let file = encoded(picture, ImageFormat::Hdr);
    let renamed = [b"#?RGBE", file.strip_prefix(b"#?RADIANCE").expect("a name")].concat();
    let pixels = |file: &[u8]| decode(file, 100).expect("decoded").pixels;
    assert_eq!(pixels(&renamed), pixels(&file));
}

#[test]
fn an_openexr_without_colors_is_not_called_damaged() {
    let mut file = encoded(Rgb32FImage::new(9, 7), ImageFormat::OpenExr);
    let at = file.windows(6).position(|bytes| bytes == b"R\0\x02\0\0\0").expect("a channel");
    file[at] = b'Z';
    let error = decode(&file, 100).expect_err("refused").0;
    assert_eq!(error, "a kind of OpenEXR that cannot be opened: no channels R, G and B");
}

/// 9x7 pixels of [`COLOR`], multiplied with an alpha of 128. The reference encoder wrote the samples, and the header says
/// that they are multiplied.
const PREMULTIPLIED_JPEG_XL: [u8; 38] = [
    0xff, 0x0a, 0x30, 0x30, 0x30, 0x00, 0x82, 0xe2, 0x42, 0x08, 0x08, 0x10, 0x00, 0x5c, 0x00, 0x4b,
    0x18, 0x8b, 0x15, 0xc2, 0x41, 0x01, 0x5e, 0x40, 0x02, 0x80, 0xc8, 0xa9, 0x84, 0x26, 0, 0, 0, 0,
    0, 0, 0, 0,
];

#[test]
fn colors_that_are_multiplied_with_their_alpha_are_multiplied_only_once() {
    let light = |sample: u8| ((f32::from(sample) / 255.0 + 0.055) / 1.055).powf(2.4);
    let [red, green, blue] = COLOR.map(|sample| light(sample) / 2.0);
    let exr = Rgba32FImage::from_pixel(SIZE.0, SIZE.1, Rgba([red, green, blue, 0.5]));
    let exr = encoded(exr, ImageFormat::OpenExr);
    let blended = COLOR.map(|sample| u8::midpoint(sample, 0x80));
    for (bytes, name) in [(&PREMULTIPLIED_JPEG_XL[..], "JPEG XL"), (&exr, "OpenEXR")] {
        let found = decode(bytes, 100).expect(name).pixels.get_pixel(4, 3).0;
        let difference = found.iter().zip(blended).map(|(found, color)| found.abs_diff(color));
        assert!(difference.max() <= Some(2), "{name}: {found:?}");
    }
}

/// An ICC profile of Display P3, whose red is redder than that of sRGB.
fn wide_profile() -> Vec<u8> {
    moxcms::ColorProfile::new_display_p3().encode().expect("encoded")
}

#[test]
fn colors_with_a_profile_become_srgb() {
    let stored = RgbImage::from_pixel(64, 48, Rgb([200, 80, 60]));
    let (mut png, mut jpeg) = (Vec::new(), Vec::new());
    let mut encoder = PngEncoder::new(&mut png);
    encoder.set_icc_profile(wide_profile()).expect("a profile");
    encoder.write_image(&stored, 64, 48, image::ExtendedColorType::Rgb8).expect("encoded");
    let mut encoder = JpegEncoder::new_with_quality(&mut jpeg, 100);
    encoder.set_icc_profile(wide_profile()).expect("a profile");
    encoder.write_image(&stored, 64, 48, image::ExtendedColorType::Rgb8).expect("encoded");
    // The whole picture, and one that is decoded at a reduced size.
    for (bytes, side) in [(&png, 48), (&png, 6), (&jpeg, 48), (&jpeg, 6)] {
        let decoded = decode(bytes, side).expect("decoded");
        let found = decoded.pixels.get_pixel(2, 2).0;
        let expected = [216, 69, 50];
        let difference =
            found.iter().zip(expected).map(|(found, color)| found.abs_diff(color)).max();
        assert!(difference <= Some(3), "{side}: {found:?}");
    }
}

/// The decoder would expand it without a limit, and refuses one that is damaged, as here.
#[test]
fn compressed_metadata_of_jpeg_xl_does_not_reach_its_decoder() {
    let mut file = jpeg_xl_in_a_container();
    let expected = decode(&file, u32::MAX).unwrap().pixels;
    file.extend_from_slice(b"\0\0\0\x10brobxml \xff\xff\xff\xff");
    assert_eq!(decode(&file, u32::MAX).unwrap().pixels, expected);
}
