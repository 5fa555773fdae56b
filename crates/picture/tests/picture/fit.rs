//! The size of pictures on a canvas.

use image::RgbImage;
use proptest::prelude::*;
use tessera_picture::{
    Canvas, Protocol,
    fit::{DEFAULT_SIXEL_SIDE, Fit, max_sixel_cells},
    resize,
};

fn canvas(columns: u16, rows: u16, cell: (u16, u16), protocol: Protocol) -> Canvas {
    Canvas { columns, rows, cell, protocol }
}

#[test]
fn a_sixel_picture_is_not_larger_than_the_terminal_shows() {
    for (side, cell, most) in [(DEFAULT_SIXEL_SIDE, 10, 100), (4096, 20, 204), (1000, 0, 1000)] {
        assert_eq!(max_sixel_cells(side, cell), most);
    }
}

#[test]
fn shape_follows_the_cells() {
    let square = canvas(20, 10, (10, 20), Protocol::HalfBlock);
    assert_eq!(Fit::new((500, 375), square).cells, (20, 8));
    assert_eq!(Fit::new((375, 500), square).cells, (15, 10));
    let narrow = canvas(20, 10, (8, 20), Protocol::Kitty);
    let fit = Fit::new((400, 400), narrow);
    assert_eq!((fit.cells, fit.pixels), ((20, 8), (160, 160)));
}

#[test]
fn small_pictures_stay_small() {
    let room = canvas(100, 50, (10, 20), Protocol::Kitty);
    assert_eq!(Fit::new((20, 20), room).cells, (8, 4));
    let blocks = canvas(100, 50, (10, 20), Protocol::HalfBlock);
    assert_eq!(Fit::new((20, 20), blocks).cells, (80, 40));
}

#[test]
fn a_scaled_decode_leaves_enough() {
    let tile = canvas(20, 5, (10, 20), Protocol::HalfBlock);
    let fit = Fit::new((4000, 3000), tile);
    assert_eq!((fit.pixels, fit.min_decoded_side((4000, 3000), (4000, 3000))), ((13, 10), 10));
}

#[test]
fn resizing_keeps_the_mean() {
    let gray = RgbImage::from_pixel(37, 23, image::Rgb([10, 120, 250]));
    for size in [(1, 1), (5, 40), (80, 2), (37, 23)] {
        let resized = resize(&gray, size).expect("resized");
        assert_eq!(resized.dimensions(), size);
        assert!(resized.pixels().all(|pixel| pixel.0 == [10, 120, 250]));
    }
}

proptest! {
    #[test]
    fn any_picture_fits_any_canvas(
        original in (1_u32..100_000, 1_u32..100_000),
        columns in 1_u16..400,
        rows in 1_u16..200,
        cell in (0_u16..60, 0_u16..60),
        kitty: bool,
    ) {
        let protocol = if kitty { Protocol::Kitty } else { Protocol::HalfBlock };
        let canvas = canvas(columns, rows, cell, protocol);
        let fit = Fit::new(original, canvas);
        prop_assert!((1..=columns).contains(&fit.cells.0));
        prop_assert!((1..=rows).contains(&fit.cells.1));
        prop_assert!(fit.pixels.0 > 0 && fit.pixels.1 > 0);
        prop_assert!(fit.min_decoded_side(original, original) >= 1);
    }
}
