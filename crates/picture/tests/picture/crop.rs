//! Cropped and highlighted pictures, and the difference of two pictures.

use image::{Rgb, RgbImage};

use crate::{CANVAS, png};
use tessera_model::Region;
use tessera_picture::{Canvas, Crop, Encoded, Protocol, difference, fit_picture, thumbnail};

/// The pixels and cells of a picture with a red left and a blue right half.
fn pixels(crop: &Crop) -> (Vec<[u8; 3]>, (u16, u16)) {
    let halves = RgbImage::from_fn(400, 200, |x, _| {
        image::Rgb(if x < 200 { [200, 0, 0] } else { [0, 0, 200] })
    });
    let thumbnail = thumbnail(&png(&halves), crop, CANVAS).expect("a thumbnail");
    assert_eq!(thumbnail.original, (400, 200));
    let Encoded::Pixels(pixels) = thumbnail.encoded else { unreachable!("not half-blocks") };
    (pixels.to_vec(), thumbnail.cells)
}

#[test]
fn a_crop_fills_the_canvas_with_the_region() {
    let region = Region::new(0.5, 0.0, 0.5, 1.0).expect("inside");
    let (pixels, cells) = pixels(&Crop::Region(region));
    assert_eq!(cells, (20, 10));
    assert!(pixels.iter().all(|pixel| *pixel == [0, 0, 200]));
}

#[test]
fn a_highlight_dims_what_lies_around_it() {
    let region = Region::new(0.0, 0.0, 0.5, 1.0).expect("inside");
    let (pixels, (columns, rows)) = pixels(&Crop::Highlighted(region));
    let at = |x: u16, y: u16| pixels[usize::from(y * columns + x)];
    assert_eq!(at(columns - 2, rows), [0, 0, 100]);
    assert_eq!((at(0, 0), at(5, rows)), ([200, 0, 0], [200, 0, 0]));
}

#[test]
fn the_lines_of_a_highlight_are_visible_on_any_background() {
    let canvas = Canvas { columns: 1, rows: 1, cell: (12, 12), protocol: Protocol::Kitty };
    for background in [0, 255] {
        let bytes = png(&RgbImage::from_pixel(12, 12, image::Rgb([background; 3])));
        let picture = fit_picture(&bytes, &Crop::Highlighted(Region::WHOLE), canvas);
        let picture = picture.expect("fitted").picture;
        let row: Vec<u8> = (0..12).map(|x| picture.get_pixel(x, 6).0[0]).collect();
        assert_eq!(row[..4], [0, 255, 255, background]);
        assert_eq!(row[8..], [background, 255, 255, 0]);
    }
}

#[test]
fn a_zoomed_region_fills_the_canvas_however_small_it_is() {
    let region = Region::new(0.5, 0.0, 0.01, 0.02).expect("inside");
    let (pixels, cells) = pixels(&Crop::Zoomed(region, [].into()));
    assert_eq!(cells, (20, 10), "4x4 pixels of the original");
    assert!(pixels.iter().all(|pixel| *pixel == [0, 0, 200]));
}

#[test]
fn boxes_are_outlined_where_they_are_visible() {
    let right_half = Region::new(0.5, 0.0, 0.5, 1.0).expect("inside");
    let inner = Region::new(0.6, 0.2, 0.2, 0.4).expect("inside");
    let crossing = Region::new(0.1, 0.4, 0.5, 0.2).expect("inside");
    let (pixels, (columns, _)) = pixels(&Crop::Zoomed(right_half, [inner, crossing].into()));
    let at = |x: u16, y: u16| pixels[usize::from(y * columns + x)];
    // The inner box has its corners at (4, 4) and (11, 11) of 20x20 pixels.
    let white = [255, 255, 255];
    assert_eq!([at(4, 4), at(11, 4), at(4, 11), at(11, 11)], [white; 4]);
    assert_eq!([at(3, 4), at(5, 5), at(12, 11)], [[0, 0, 200]; 3]);
    // The other box ends in the visible half, its left side is outside.
    assert_eq!([at(0, 8), at(3, 8)], [white; 2]);
    assert_eq!([at(0, 9), at(0, 12)], [[0, 0, 200]; 2]);
}

/// A gray picture of this side, whose right half is brighter by `step`.
fn halves(side: u32, step: u8) -> Vec<u8> {
    png(&RgbImage::from_fn(side, side, |x, _| Rgb([90 + if x < side / 2 { 0 } else { step }; 3])))
}

fn difference_pixels(one: &[u8], other: &[u8]) -> Vec<[u8; 3]> {
    let crop = Crop::Zoomed(Region::WHOLE, [].into());
    let drawn = difference([one, other], &crop, CANVAS).expect("a picture");
    assert_eq!(drawn.cells, (20, 10));
    let Encoded::Pixels(pixels) = drawn.encoded else { unreachable!("not half-blocks") };
    pixels.to_vec()
}

#[test]
fn only_what_differs_is_red() {
    let drawn = difference_pixels(&halves(200, 0), &halves(200, 80));
    let (same, differs) = (drawn[2], drawn[17]);
    assert_eq!(same, [30; 3], "dimmed and gray");
    assert!(differs[0] > 100 && differs[1] < 30 && differs[2] < 30, "{differs:?}");
}

#[test]
fn copies_of_another_size_and_traces_of_compression_do_not_differ() {
    let drawn = difference_pixels(&halves(200, 0), &halves(400, 10));
    assert!(drawn.iter().all(|pixel| pixel[0] == pixel[1]), "nothing is red");
}

#[test]
fn a_damaged_picture_is_an_error() {
    let crop = Crop::Zoomed(Region::WHOLE, [].into());
    assert!(difference([&halves(20, 0), b"damaged"], &crop, CANVAS).is_err());
}
