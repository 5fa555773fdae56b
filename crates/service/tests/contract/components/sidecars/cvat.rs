//! CVAT sidecars.

use super::{TestFolder, describe, pixels};

const GOOD: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<annotations><version>1.1</version><meta><task><id>7</id></task></meta>
<image id="0" name="a/1.jpg" width="200" height="100">
  <tag label="street" source="manual"/>
  <box label="car" occluded="0" xtl="10" ytl="20" xbr="40" ybr="60"><attribute name="color">red</attribute></box>
  <polygon label="sign" points="5.0,6.0;9.0,6.5;7.0,16.0"/>
  <ellipse label="wheel" cx="50" cy="50" rx="5" ry="4"/>
  <mask label="roof" rle="3, 4" left="1" top="2" width="30" height="20"/>
  <points label="corner" points="1,2"/>
</image></annotations>"#;

#[test]
fn shapes_become_boxes_and_tags_labels() {
    let folder = TestFolder::with_media(&["images/a/1.jpg"]);
    folder.write("images/annotations.xml", GOOD);
    let expected = [describe("images/a/1.jpg", "", "street", "", "car sign wheel roof")];
    assert_eq!(folder.descriptions(), expected);
    assert!(folder.read_sidecars().problems.is_empty());
    let expected = [
        pixels(10.0, 20.0, 30.0, 40.0),
        pixels(5.0, 6.0, 4.0, 10.0),
        pixels(45.0, 46.0, 10.0, 8.0),
        pixels(1.0, 2.0, 30.0, 20.0),
    ];
    assert_eq!(folder.boxes("images/a/1.jpg"), expected);
}

#[test]
fn wrong_images_and_shapes_are_named_and_the_others_count() {
    let folder = TestFolder::with_media(&["1.jpg", "2.jpg"]);
    let text = r#"<annotations><image name="gone.jpg"/><image name="1.jpg"><box label="car" xtl="1"/>
        <box label="car" xtl="1" ytl="1" xbr="2" ybr="2"/></image><image/></annotations>"#;
    folder.write("annotations.xml", text);
    assert_eq!(folder.descriptions(), [describe("1.jpg", "", "", "", "car")]);
    let expected = "image 1: its file_name is not in the folder; 2 more images";
    assert_eq!(folder.problem_of("annotations.xml"), expected);
    folder.write("annotations.xml", "<annotations>");
    assert_eq!(folder.problem_of("annotations.xml"), "line 1: invalid XML");
    folder.write("annotations.xml", "<other/>");
    assert!(folder.read_sidecars().sidecars.is_empty());
}
