use std::{cmp::Ordering, collections::HashSet};

use proptest::prelude::*;

use tessera_model::region::*;

#[test]
fn only_boxes_inside_the_image_exist() {
    assert!(Region::new(0.1, 0.2, 0.5, 0.6).is_some());
    for (x, y, w, h) in [(0.9, 0.0, 0.2, 0.1), (-0.1, 0.0, 0.1, 0.1), (0.0, 0.0, 0.0, 1.0)] {
        assert_eq!(Region::new(x, y, w, h), None);
    }
    assert_eq!(Region::new(f64::NAN, 0.0, 0.1, 0.1), None);
    assert_eq!(Region::new(0.0, 0.0, f64::INFINITY, 0.1), None);
}

#[test]
fn pixels_of_an_image_are_fractions_of_it() {
    let region = Region::from_pixels([120, 80, 640, 480], (1280, 800)).unwrap();
    assert_eq!(region.pixels((1280, 800)), ((120, 80), (640, 480)));
    assert_eq!(Region::from_pixels([0, 0, 1280, 800], (1280, 800)), Some(Region::WHOLE));
    for bad in [[700, 0, 640, 1], [0, 0, 0, 5]] {
        assert_eq!(Region::from_pixels(bad, (1280, 800)), None);
    }
}

#[test]
fn presets_lie_inside_and_border_on_cells() {
    for (name, Region { x, y, width, height }) in Region::PRESETS {
        assert!(Region::new(x, y, width, height).is_some(), "{name}");
    }
    let thirds = Region::PRESETS.iter().skip(6).map(|(_, third)| third.cells((30, 10)));
    let columns: Vec<_> = thirds.map(|((x, _), (width, _))| (x, width)).collect();
    assert_eq!(columns, [(0, 10), (10, 10), (20, 10)]);
    let line = Region::from_corners((0.5, 0.999), (0.5, 1.0), (0.0, 0.0));
    assert_eq!(line.cells((30, 10)), ((15, 9), (1, 1)));
}

#[test]
fn moving_stops_at_the_border_and_keeps_the_size() {
    let region = Region::from_corners((0.2, 0.2), (0.5, 0.6), (0.01, 0.01));
    assert_eq!(region.translated((0.9, -0.9)), Region::new(0.7, 0.0, 0.3, 0.4).unwrap());
    let moved = region.with_bottom_right_moved((-0.9, 0.1), (0.01, 0.01));
    assert!((moved.width - 0.01).abs() < 1e-9, "{moved:?}");
    let near = region.with_top_left_moved((0.9, 0.1), (0.01, 0.01));
    assert_eq!((near.bottom_right().0, near.width, near.height), (0.5, 0.01, 0.3));
    assert_eq!(Region::WHOLE.pixels((640, 480)), ((0, 0), (640, 480)));
    let corner = Region::from_corners((1.0, 1.0), (1.0, 1.0), (0.0, 0.0));
    assert_eq!(corner.pixels((640, 480)), ((639, 479), (1, 1)));
}

fn decimals(value: f64) -> bool {
    let text = value.to_string();
    text.split_once('.').is_none_or(|(_, decimals)| decimals.len() <= 6)
}

fn place() -> impl Strategy<Value = Vec2> {
    (-2.0..3.0, -2.0..3.0)
}

proptest! {
    #[test]
    fn edited_regions_stay_inside_and_have_an_area(
        one in place(),
        other in place(),
        steps in prop::collection::vec((0..4, place()), 0..20),
        least in (0.0..0.5, 0.0..0.5),
    ) {
        let mut region = Region::from_corners(one, other, least);
        for (step, by) in steps {
            region = match step {
                0 => region.translated(by),
                1 => region.moved_to(by),
                2 => region.with_bottom_right_moved(by, least),
                _ => region.with_top_left_moved(by, least),
            };
            prop_assert_eq!(Some(region), Region::new(region.x, region.y, region.width, region.height));
            prop_assert!(region.bottom_right().0 <= 1.0 && region.bottom_right().1 <= 1.0, "{:?}", region);
            prop_assert!([region.x, region.y, region.width, region.height].into_iter().all(decimals), "{:?}", region);
        }
        let ((x, y), (width, height)) = region.pixels((37, 4000));
        prop_assert!(width > 0 && height > 0 && x + width <= 37 && y + height <= 4000);
    }
}

const NONE: Vec2 = (0.0, 0.0);

fn region(x: f64, y: f64, width: f64, height: f64) -> Region {
    Region::new(x, y, width, height).unwrap()
}

#[test]
fn a_region_moves_by_a_distance_until_it_meets_the_border() {
    let start = region(0.2, 0.3, 0.5, 0.4);
    for (by, moved_to) in [
        ((0.1, 0.2), (0.3, 0.5)),
        ((-0.1, -0.2), (0.1, 0.1)),
        ((0.3, 0.3), (0.5, 0.6)),
        ((0.4, 0.4), (0.5, 0.6)),
        ((-0.2, -0.3), NONE),
        ((-0.9, -0.9), NONE),
    ] {
        let moved = region(moved_to.0, moved_to.1, 0.5, 0.4);
        assert_eq!(start.translated(by), moved, "by {by:?}");
        let to = (start.x + by.0, start.y + by.1);
        assert_eq!(start.moved_to(to), moved, "to {to:?}");
    }
}

#[test]
fn a_corner_moves_alone_and_leaves_a_least_size() {
    let start = region(0.2, 0.3, 0.4, 0.2);
    let least = (0.05, 0.02);
    for (by, resized) in [
        ((0.1, 0.2), region(0.2, 0.3, 0.5, 0.4)),
        ((-0.1, -0.1), region(0.2, 0.3, 0.3, 0.1)),
        ((0.9, 0.9), region(0.2, 0.3, 0.8, 0.7)),
        ((-0.9, -0.9), region(0.2, 0.3, 0.05, 0.02)),
    ] {
        assert_eq!(start.with_bottom_right_moved(by, least), resized, "by {by:?}");
    }
    for (by, resized) in [
        ((0.1, 0.1), region(0.3, 0.4, 0.3, 0.1)),
        ((-0.1, -0.2), region(0.1, 0.1, 0.5, 0.4)),
        ((-0.9, -0.9), region(0.0, 0.0, 0.6, 0.5)),
        ((0.9, 0.9), region(0.55, 0.48, 0.05, 0.02)),
    ] {
        assert_eq!(start.with_top_left_moved(by, least), resized, "by {by:?}");
    }
}

#[test]
fn corners_may_be_given_in_any_order_and_outside_of_the_image() {
    for (one, other, expected) in [
        ((0.1, 0.2), (0.4, 0.6), region(0.1, 0.2, 0.3, 0.4)),
        ((0.4, 0.6), (0.1, 0.2), region(0.1, 0.2, 0.3, 0.4)),
        ((0.4, 0.2), (0.1, 0.6), region(0.1, 0.2, 0.3, 0.4)),
        ((-1.0, -1.0), (2.0, 2.0), Region::WHOLE),
        ((0.5, 0.5), (0.5, 0.5), region(0.5, 0.5, 0.1, 0.2)),
        // At the border, the region grows into the image.
        ((1.0, 1.0), (1.0, 1.0), region(0.9, 0.8, 0.1, 0.2)),
    ] {
        assert_eq!(Region::from_corners(one, other, (0.1, 0.2)), expected, "{one:?} {other:?}");
    }
    let rounded = Region::from_corners((1.0 / 3.0, 0.0), (2.0 / 3.0, 1.0), NONE);
    assert_eq!(rounded, region(0.333_333, 0.0, 0.333_333, 1.0));
    let smallest = Region::from_corners((0.5, 0.5), (0.5, 0.5), NONE);
    assert_eq!((smallest.width, smallest.height), (1e-6, 1e-6));
}

#[test]
fn a_point_on_the_top_or_left_border_is_inside_and_one_on_the_others_outside() {
    let half = Region::INNER_HALF;
    for (point, inside) in [
        ((0.25, 0.25), true),
        ((0.5, 0.5), true),
        ((0.74, 0.74), true),
        ((0.75, 0.5), false),
        ((0.5, 0.75), false),
        ((0.24, 0.5), false),
        ((0.5, 0.24), false),
        ((0.9, 0.9), false),
    ] {
        assert_eq!(half.contains(point), inside, "{point:?}");
    }
    assert_eq!((half.top_left(), half.bottom_right()), ((0.25, 0.25), (0.75, 0.75)));
}

#[test]
fn a_region_is_described_by_its_size_and_position() {
    let part = region(0.1, 0.2, 0.25, 0.5);
    assert_eq!(part.description(), "region 0.25×0.50 at 0.10 0.20");
    assert_eq!((part.area(), Region::WHOLE.area()), (0.125, 1.0));
}

#[test]
fn a_region_covers_the_pixels_and_cells_that_it_touches() {
    for (part, pixels) in [
        (region(0.25, 0.5, 0.5, 0.25), ((25, 100), (50, 50))),
        (region(0.104, 0.106, 0.2, 0.2), ((10, 21), (20, 40))),
        (region(0.999, 0.999, 0.001, 0.001), ((99, 199), (1, 1))),
        (Region::WHOLE, ((0, 0), (100, 200))),
    ] {
        assert_eq!(part.pixels((100, 200)), pixels, "{part:?}");
    }
    for (part, cells) in [
        (region(0.25, 0.5, 0.5, 0.25), ((2, 10), (6, 5))),
        (region(0.2, 0.4, 0.2, 0.2), ((2, 8), (2, 4))),
        (region(0.21, 0.41, 0.2, 0.2), ((2, 8), (3, 5))),
        (region(0.999, 0.999, 0.001, 0.001), ((9, 19), (1, 1))),
        (region(0.999_999, 0.999_999, 1e-6, 1e-6), ((9, 19), (1, 1))),
        (Region::WHOLE, ((0, 0), (10, 20))),
    ] {
        assert_eq!(part.cells((10, 20)), cells, "{part:?}");
    }
    // An image that is drawn with nothing has one pixel and one cell.
    assert_eq!(region(0.5, 0.5, 0.5, 0.5).pixels((0, 0)), ((0, 0), (1, 1)));
    assert_eq!(region(0.5, 0.5, 0.5, 0.5).cells((0, 0)), ((0, 0), (1, 1)));
}

#[test]
fn pixels_outside_of_an_image_are_not_a_region() {
    for (rectangle, expected) in [
        ([0, 0, 100, 200], Some(Region::WHOLE)),
        ([50, 50, 50, 150], Some(region(0.5, 0.25, 0.5, 0.75))),
        ([51, 50, 50, 150], None),
        ([50, 51, 50, 150], None),
        ([0, 0, 1, 0], None),
    ] {
        assert_eq!(Region::from_pixels(rectangle, (100, 200)), expected, "{rectangle:?}");
    }
    assert_eq!(Region::from_pixels([0, 0, 1, 1], (0, 0)), None);
}

#[test]
fn a_region_may_end_on_the_border_but_not_beyond_it() {
    for (x, y, width, height, valid) in [
        (0.0, 0.0, 1.0, 1.0, true),
        (0.1, 0.2, 0.9, 0.8, true),
        // Within the rounding of a sum.
        (0.1, 0.2, 0.9 + 5e-10, 0.8, true),
        (0.1, 0.2, 0.901, 0.8, false),
        (0.1, 0.2, 0.9, 0.801, false),
        (0.1, 0.2, 0.9, 0.0, false),
        (0.1, 0.2, 0.9, -0.1, false),
        (0.1, -0.001, 0.9, 0.5, false),
        (1.0, 0.0, 0.1, 0.1, false),
        (0.0, 1.001, 0.1, 0.1, false),
    ] {
        assert_eq!(Region::new(x, y, width, height).is_some(), valid, "{x} {y} {width} {height}");
    }
    let rounded = region(0.0, 0.0, 1.0 + 5e-10, 1.0 + 5e-10);
    assert_eq!(rounded.translated((0.1, -0.1)), Region::WHOLE);
}

#[test]
fn equal_regions_are_one_in_a_set_and_others_are_in_order() {
    let positive = region(0.0, 0.0, 0.5, 0.5);
    let negative = region(-0.0, 0.0, 0.5, 0.5);
    assert_eq!(positive.cmp(&negative), Ordering::Equal);
    let ordered = [
        positive,
        region(0.0, 0.0, 0.5, 0.6),
        region(0.0, 0.0, 0.6, 0.5),
        region(0.0, 0.1, 0.5, 0.5),
        region(0.1, 0.0, 0.5, 0.5),
    ];
    for (one, other) in ordered.iter().zip(&ordered[1..]) {
        assert_eq!(one.partial_cmp(other), Some(Ordering::Less), "{one:?} {other:?}");
        assert_eq!(other.cmp(one), Ordering::Greater);
    }
    let set: HashSet<Region> = ordered.into_iter().chain([negative]).collect();
    assert_eq!(set.len(), ordered.len());
}
