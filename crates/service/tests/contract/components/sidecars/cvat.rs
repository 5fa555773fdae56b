//! CVAT sidecars.

use super::{TestFolder, describe, pixels, rounded};

const GOOD: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<annotations><version>1.1</version><meta><task><id>7</id></task></meta>
<image id="0" name="a/1.jpg" width="200" height="100">
  <tag label="street" source="manual"/>
  <box label="car" occluded="0" xtl="10" ytl="20" xbr="40" ybr="60"><attribute name="color">red</attribute></box>
  <polygon label="sign" points="5.0,6.0;9.0,6.5;7.0,16.0"/>
  <ellipse label="wheel" cx="50" cy="50" rx="5" ry="4"/>
  <mask label="roof" rle="31, 28, 541" left="1" top="2" width="30" height="20"/>
  <points label="corner" points="1,2"/>
</image></annotations>"#;

#[test]
fn shapes_become_boxes_and_tags_labels() {
    let folder = TestFolder::with_media(&["images/a/1.jpg"]);
    folder.write("images/annotations.xml", GOOD);
    let expected = [describe("images/a/1.jpg", "", "street", "", "car sign wheel roof")];
    assert_eq!(folder.descriptions(), expected);
    let why = "line 9: a point or line marks no part of the picture, so it is not read";
    assert_eq!(folder.problem_of("images/annotations.xml"), why);
    let expected = [
        pixels(10.0, 20.0, 30.0, 40.0),
        pixels(5.0, 6.0, 4.0, 10.0),
        pixels(45.0, 46.0, 10.0, 8.0),
        pixels(1.0, 2.0, 30.0, 20.0),
    ];
    assert_eq!(folder.boxes("images/a/1.jpg"), expected);
    let sign = vec![vec![5.0, 6.0, 9.0, 6.5, 7.0, 16.0]];
    assert_eq!(folder.polygons("images/a/1.jpg"), [vec![], sign, vec![], vec![]]);
}

#[test]
fn masks_are_kept_as_masks_of_the_picture() {
    let folder = TestFolder::with_media(&["1.jpg"]);
    let mask = |runs: &str| {
        let text = format!(
            r#"<annotations><image name="1.jpg" width="5" height="4">
            <mask label="roof" rle="{runs}" left="1" top="1" width="3" height="2"/></image></annotations>"#
        );
        folder.write("annotations.xml", &text);
        let mask = folder.annotations("1.jpg").pop().unwrap().mask;
        (mask.map(|mask| mask.runs().unwrap()), folder.read_sidecars().problems.len())
    };
    // Pixels 2 and 3 of the upper row and all of the lower row, in columns of 4 pixels.
    assert_eq!(mask("1,5"), (Some(vec![6, 1, 2, 2, 2, 2, 5]), 0));
    for wrong in ["1,4", "1,6", "1,x", "", "1,99999999999999"] {
        assert_eq!(mask(wrong), (None, 1), "{wrong}");
        assert_eq!(folder.boxes("1.jpg"), [pixels(1.0, 1.0, 3.0, 2.0)]);
    }
}

#[test]
fn wrong_images_and_shapes_are_named_and_the_others_count() {
    let folder = TestFolder::with_media(&["1.jpg", "2.jpg"]);
    let text = r#"<annotations><image name="gone.jpg"/><image name="1.jpg"><box label="car" xtl="1"/>
        <box label="car" xtl="1" ytl="1" xbr="2" ybr="2"/></image><image/></annotations>"#;
    folder.write("annotations.xml", text);
    assert_eq!(folder.descriptions(), [describe("1.jpg", "", "", "", "car")]);
    let expected = "line 1: its file_name is not in the folder; \
         line 1: one of its shapes is empty, outside the picture, or without numbers; \
         line 2: it has no name";
    assert_eq!(folder.problem_of("annotations.xml"), expected);
    let wrong = r#"<box label="x" xtl="nan" ytl="2" xbr="11" ybr="10"/>"#.repeat(5);
    let text = format!(
        "<annotations>\n<image name=\"1.jpg\">{wrong}\n<circle label=\"m\" cx=\"5\"/></image></annotations>"
    );
    folder.write("annotations.xml", text);
    let expected = "line 2: one of its shapes is empty, outside the picture, or without numbers; \
         line 3: an element circle is not read; 4 more lines";
    assert_eq!(folder.problem_of("annotations.xml"), expected);
    folder.write("annotations.xml", "<annotations>");
    assert_eq!(folder.problem_of("annotations.xml"), "line 1: invalid XML");
    folder.write("annotations.xml", "<other/>");
    assert!(folder.read_sidecars().sidecars.is_empty());
}

#[test]
fn images_of_one_name_are_in_the_folders_of_their_subsets() {
    let subset = |subset, label| {
        format!(
            r#"<image name="1" subset="{subset}" width="9" height="9"><tag label="{label}"/></image>"#
        )
    };
    let images = ["Train", "new"].map(|name| subset(name, name)).concat();
    let text = format!("<annotations>{images}</annotations>");
    let folder = TestFolder::with_media(&["images/Train/1.png", "images/new/1.png"]);
    folder.write("annotations.xml", &text);
    let expected = [
        describe("images/Train/1.png", "", "Train", "", ""),
        describe("images/new/1.png", "", "new", "", ""),
    ];
    assert_eq!(folder.descriptions(), expected);
    let folder = TestFolder::with_media(&["images/val/1.png"]);
    folder.write("annotations.xml", text.replace("\"new\"", "\"val\""));
    assert_eq!(folder.descriptions(), [describe("images/val/1.png", "", "val", "", "")]);
    assert_eq!(folder.problem_of("annotations.xml"), "line 1: its file_name is not in the folder");
}

/// An object that is drawn in two frames, interpolated between them, and gone in the last.
const TRACKS: &str = r#"<track id="0" label="car" source="manual">
  <box frame="0" keyframe="1" outside="0" xtl="1" ytl="2" xbr="11" ybr="22"/>
  <box frame="1" keyframe="0" outside="0" xtl="2" ytl="2" xbr="12" ybr="22"/>
  <box frame="2" keyframe="1" outside="0" xtl="3" ytl="2" xbr="13" ybr="22"/>
  <box frame="3" keyframe="1" outside="1" xtl="3" ytl="2" xbr="13" ybr="22"/>
</track>
<track id="1" label="sign"><polygon frame="2" points="5.0,6.0;9.0,6.5;7.0,16.0"/><points frame="1" points="1,2"/></track>"#;

#[test]
fn tracks_become_boxes_of_the_frames_in_which_they_were_drawn() {
    let names: Vec<String> = (0..4).map(|number| format!("images/frame_{number:06}.PNG")).collect();
    let folder = TestFolder::with_media(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let meta = "<meta><task><size>4</size><source>street.mp4</source></task></meta>";
    folder.write("annotations.xml", format!("<annotations>{meta}{TRACKS}</annotations>"));
    let expected =
        [describe(&names[0], "", "", "", "car"), describe(&names[2], "", "", "", "car sign")];
    assert_eq!(folder.descriptions(), expected);
    let why = "line 7: a point or line marks no part of the picture, so it is not read";
    assert_eq!(folder.problem_of("annotations.xml"), why);
    assert_eq!(folder.boxes(&names[0]), [pixels(1.0, 2.0, 10.0, 20.0)]);
    let expected = [pixels(3.0, 2.0, 10.0, 20.0), pixels(5.0, 6.0, 4.0, 10.0)];
    assert_eq!(folder.boxes(&names[2]), expected);
}

#[test]
fn frames_can_be_listed_with_their_files() {
    let folder = TestFolder::with_media(&["a.jpg", "b.jpg", "frame_000000.jpg"]);
    let image = r#"<image id="0" name="a.jpg"><tag label="street"/><box label="door" xtl="1" ytl="1"
        xbr="2" ybr="2"/></image>"#;
    let listed = r#"<meta><images><image id="2" name="b.jpg"/></images></meta>"#;
    folder.write("annotations.xml", format!("<annotations>{listed}{image}{TRACKS}</annotations>"));
    let expected = [
        describe("a.jpg", "", "street", "", "door car"),
        describe("b.jpg", "", "", "", "car sign"),
    ];
    assert_eq!(folder.descriptions(), expected);
}

#[test]
fn wrong_tracks_are_named_and_the_others_count() {
    let folder = TestFolder::with_media(&["frame_0.jpg", "frame_000001.jpg", "frame_1.jpg"]);
    let with = |tracks: &str| {
        folder.write("annotations.xml", format!("<annotations>{tracks}</annotations>"));
        (folder.problem_of("annotations.xml"), folder.descriptions())
    };
    let (problem, found) = with(TRACKS);
    assert_eq!(
        problem,
        "line 4: no file is frame 2; name it frame_000002.jpg, or list it as an image with its id and name; \
         line 7: a point or line marks no part of the picture, so it is not read; 1 more line"
    );
    assert_eq!(found, [describe("frame_0.jpg", "", "", "", "car")]);
    let shape = |of: &str| {
        format!(r#"<track label="a"><box {of} xtl="1" ytl="1" xbr="2" ybr="2"/></track>"#)
    };
    assert_eq!(with(&shape(r#"frame="1""#)).0, "line 1: several files are frame 1");
    assert_eq!(with(&shape("")).0, "line 1: one of its shapes has no frame");
    assert_eq!(with("<track/>").0, "line 1: it has no label");
    let empty = r#"<track label="a"><box frame="0" xtl="1"/></track>"#;
    let expected = "line 1: one of its shapes is empty, outside the picture, or without numbers";
    assert_eq!(with(empty).0, expected);
}

#[test]
fn turned_shapes_become_the_box_around_them() {
    let folder = TestFolder::with_media(&["1.jpg"]);
    let text = r#"<annotations><image name="1.jpg">
        <box label="a" xtl="60" ytl="100" xbr="260" ybr="140" rotation="90.0"/>
        <box label="b" xtl="0" ytl="0" xbr="100" ybr="100" rotation="45"/>
        <ellipse label="c" cx="160" cy="120" rx="100" ry="20" rotation="90"/>
        </image></annotations>"#;
    folder.write("task/cvat.xml", text);
    let boxes: Vec<_> = folder.boxes("1.jpg").iter().map(rounded).collect();
    let expected =
        [[140.0, 20.0, 40.0, 200.0], [-20.71, -20.71, 141.42, 141.42], [140.0, 20.0, 40.0, 200.0]];
    assert_eq!(boxes, expected);
    assert_eq!(folder.polygons("1.jpg")[0][0].len(), 8, "the corners are kept");
}

#[test]
fn cuboids_and_skeletons_are_objects_and_lines_are_named() {
    let folder = TestFolder::with_media(&["1.jpg"]);
    let text = r#"<annotations><image name="1.jpg">
        <cuboid label="van" xtl1="10" ytl1="12" xbl1="10" ybl1="60" xtr1="50" ytr1="12" xbr1="50" ybr1="60"
            xtl2="20" ytl2="5" xbl2="20" ybl2="55" xtr2="70" ytr2="5" xbr2="70" ybr2="55"/>
        <skeleton label="person"><points label="1" points="10,20" outside="0" occluded="0"/>
            <points label="2" points="30,60" outside="0" occluded="1"/>
            <points label="3" points="500,500" outside="1" occluded="0"/></skeleton>
        <polyline label="lane" points="1,1;9,9"/></image></annotations>"#;
    folder.write("annotations.xml", text);
    assert_eq!(folder.descriptions(), [describe("1.jpg", "", "", "", "van person")]);
    let expected = [pixels(10.0, 5.0, 60.0, 55.0), pixels(10.0, 20.0, 20.0, 40.0)];
    assert_eq!(folder.boxes("1.jpg"), expected);
    let keypoints = [10.0, 20.0, 2.0, 30.0, 60.0, 1.0, 0.0, 0.0, 0.0];
    assert_eq!(folder.annotations("1.jpg")[1].keypoints, keypoints);
    let why = "line 7: a point or line marks no part of the picture, so it is not read";
    assert_eq!(folder.problem_of("annotations.xml"), why);
}
