//! Tables of Open Images.

use tessera_media::ingest::sidecar::BoundingBox;

use super::{TestFolder, describe};

const BOXES: &str = "\u{FEFF}ImageID,Source,LabelName,Confidence,XMin,XMax,YMin,YMax,IsOccluded,IsGroupOf\r\n\
    00a,xclick,/m/0k4j,1,0.25,0.75,0.5,1,0,1\r\n\
    other,xclick,/m/0k4j,1,0,1,0,1,0,0\r\n\
    00b,xclick,/m/083wq,1,0,0.5,0,0.25,0,0\r\n\
    00a,xclick,/m/083wq,1,0.75,0.5,0.75,0.5,1,0\r\n";
const CLASSES: &str = "/m/0k4j,Car\n/m/083wq,\"Wheel, of a car\"\n";

fn folder() -> TestFolder {
    let folder = TestFolder::with_media(&["train/00a.jpg", "train/00b.png", "train/00c.jpg"]);
    folder.write("oidv6-class-descriptions-boxable.csv", CLASSES);
    folder
}

#[test]
fn rows_are_boxes_of_images_that_are_in_the_folder() {
    let folder = folder();
    folder.write("oidv6-train-annotations-bbox.csv", BOXES);
    let expected = [
        describe("train/00a.jpg", "", "", "", "Car Wheel, of a car"),
        describe("train/00b.png", "", "", "", "Wheel, of a car"),
    ];
    assert_eq!(folder.descriptions(), expected);
    let expected = [[0.25, 0.5, 0.5, 0.5], [0.5, 0.5, 0.25, 0.25]];
    let expected = expected.map(|sides| BoundingBox::normalized(sides).unwrap());
    assert_eq!(folder.boxes("train/00a.jpg"), expected);
    let groups = folder.annotations("train/00a.jpg").into_iter().map(|it| it.is_crowd);
    assert_eq!(groups.collect::<Vec<_>>(), [true, false]);
    assert!(folder.read_sidecars().problems.is_empty());
    assert_eq!(folder.read_sidecars().sidecars.len(), 2);
}

#[test]
fn labels_are_those_that_people_found() {
    let folder = folder();
    folder.write(
        "annotations/validation-annotations-human-imagelabels-boxable.csv",
        "ImageID,Source,LabelName,Confidence\n00a,verification,/m/0k4j,1\n\
         00a,verification,/m/083wq,0\n00b,verification,/m/083wq,1\n",
    );
    let expected = [
        describe("train/00a.jpg", "", "Car", "", ""),
        describe("train/00b.png", "", "Wheel, of a car", "", ""),
    ];
    assert_eq!(folder.descriptions(), expected);
    assert!(folder.read_sidecars().problems.is_empty());
}

#[test]
fn wrong_rows_are_named_and_the_others_count() {
    let folder = TestFolder::with_media(&["00a.jpg", "00b.jpg", "x/00b.jpg"]);
    let name = "train-annotations-bbox.csv";
    let rows = |rows: &str| format!("ImageID,LabelName,XMin,XMax,YMin,YMax\n{rows}");
    folder.write("class-descriptions.csv", CLASSES);
    for (text, why) in [
        ("00a,/m/0k4j,0,1,0,x", "line 2: one of its numbers is missing or not a number"),
        ("\n00a,/m/0k4j,0,1,0", "line 3: one of its numbers is missing or not a number"),
        ("00a,/m/0k4j,0.5,0.5,0,1", "line 2: its box is empty or outside the picture"),
        (
            "00a,/m/1,0,1,0,1",
            "line 2: its LabelName is not in a class-descriptions CSV of the folder",
        ),
        ("00b,/m/0k4j,0,1,0,1", "line 2: its ImageID matches several files in the folder"),
        (
            ",/m/0k4j,0,1,0,1\n00a,,0,1,0,1\n",
            "line 2: it has no ImageID; line 3: it has no LabelName",
        ),
    ] {
        folder.write(name, rows(&format!("{text}\n00a,/m/0k4j,0,1,0,1")));
        assert_eq!(folder.problem_of(name), why, "{text}");
        assert_eq!(folder.boxes("00a.jpg").len(), 1, "{text}");
    }
    folder.write(name, rows("other,/m/0k4j,0,1,0,1"));
    assert_eq!(folder.problem_of(name), "no row describes an image of the folder");
    folder.write(name, "a,b\n00a,1\n");
    assert_eq!(folder.problem_of(name), "line 2: it has no ImageID");
    folder.write(name, b"ImageID,LabelName,XMin,XMax,YMin,YMax\n00a,\xFF\n");
    assert_eq!(folder.problem_of(name), "line 2: it is not UTF-8; save it as UTF-8");
}
