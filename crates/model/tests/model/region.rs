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
