//! Rotated pictures.

use image::{DynamicImage, ImageEncoder as _, RgbImage, codecs::png::PngEncoder};
use tessera_picture::{decode::decode, to_common_jpeg};

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
