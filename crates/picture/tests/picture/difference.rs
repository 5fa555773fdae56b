//! The difference of two pictures.

use crate::{CANVAS, png};
use image::{Rgb, RgbImage};
use tessera_model::Region;
use tessera_picture::{Crop, Encoded, difference};

/// A gray picture of this side, whose right half is brighter by `step`.
fn halves(side: u32, step: u8) -> Vec<u8> {
    png(&RgbImage::from_fn(side, side, |x, _| Rgb([90 + if x < side / 2 { 0 } else { step }; 3])))
}

fn pixels(one: &[u8], other: &[u8]) -> Vec<[u8; 3]> {
    let crop = Crop::Zoomed(Region::WHOLE, [].into());
    let drawn = difference([one, other], &crop, CANVAS).expect("a picture");
    assert_eq!(drawn.cells, (20, 10));
    let Encoded::Pixels(pixels) = drawn.encoded else { unreachable!("not half-blocks") };
    pixels.to_vec()
}

#[test]
fn only_what_differs_is_red() {
    let drawn = pixels(&halves(200, 0), &halves(200, 80));
    let (same, differs) = (drawn[2], drawn[17]);
    assert_eq!(same, [30; 3], "dimmed and gray");
    assert!(differs[0] > 100 && differs[1] < 30 && differs[2] < 30, "{differs:?}");
}

#[test]
fn copies_of_another_size_and_traces_of_compression_do_not_differ() {
    let drawn = pixels(&halves(200, 0), &halves(400, 10));
    assert!(drawn.iter().all(|pixel| pixel[0] == pixel[1]), "nothing is red");
}

#[test]
fn a_damaged_picture_is_an_error() {
    let crop = Crop::Zoomed(Region::WHOLE, [].into());
    assert!(difference([&halves(20, 0), b"damaged"], &crop, CANVAS).is_err());
}
