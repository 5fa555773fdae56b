//! KITTI sidecars.

use std::path::Path;

use super::{TestFolder, describe};

const CAR: &str =
    "Car 0.00 0 -1.58 587.01 173.33 614.12 200.12 1.65 1.67 3.64 -0.65 1.71 46.70 -1.59";
const UNLABELED: &str =
    "DontCare -1 -1 -10 503.89 169.71 590.61 190.13 -1 -1 -1 -1000 -1000 -1000 -10";

#[test]
fn boxes_are_read_beside_the_picture_and_in_both_parallel_folders() {
    let folder = TestFolder::with_media(&["1.png", "images/2.png", "training/image_2/3.png"]);
    for path in ["1.txt", "labels/2.txt", "training/label_2/3.txt"] {
        folder.write(path, format!("{CAR}\n{UNLABELED}\n{CAR} 0.9\n"));
    }
    let expected = ["1.png", "images/2.png", "training/image_2/3.png"]
        .map(|media| describe(media, "", "", "", "Car Car"));
    assert_eq!(folder.descriptions(), expected);
    let reading = folder.read_sidecars();
    let extent = reading.descriptions[Path::new("1.png")].objects[0].bounding_box;
    let region = extent.to_region(1242, 375).unwrap();
    let ends = [region.x, region.y, region.x + region.width, region.y + region.height];
    let expected = [587.01 / 1242.0, 173.33 / 375.0, 614.12 / 1242.0, 200.12 / 375.0];
    assert!(ends.iter().zip(expected).all(|(end, expected)| (end - expected).abs() < 1e-9));
}

#[test]
fn wrong_lines_are_named_and_other_texts_stay_captions() {
    let folder = TestFolder::with_media(&["1.png", "2.png"]);
    let empty = CAR.replace("614.12", "587.01");
    folder.write("1.txt", format!("{CAR}\n\n{empty}\nCar 0 0 0 1 1 9 9\nbroken\n"));
    folder.write("2.txt", "Car 7 of a red train");
    let expected = [
        describe("1.png", "", "", "", "Car"),
        describe("2.png", "Car 7 of a red train", "", "", ""),
    ];
    assert_eq!(folder.descriptions(), expected);
    let why = "line 3: its box is empty or outside the picture; \
        line 4: it is not a type and 14 or 15 numbers; 1 more line";
    assert_eq!(folder.problem_of("1.txt"), why);
}
