//! The size that annotations state for a picture, compared with the size of the picture.

use std::{fs, path::Path};

use serde_json::json;
use tessera_media::ingest::{
    SandboxedDir,
    sidecar::{SidecarData, leave_out_boxes_of_videos, place_boxes},
};

use tessera_model::Mask;

use super::TestFolder;

/// The header of a JPEG whose Exif data have an orientation.
fn jpeg(orientation: u8, (width, height): (u16, u16)) -> Vec<u8> {
    let mut exif =
        b"\xFF\xE1\0\x22Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0".to_vec();
    exif.extend([orientation, 0, 0, 0, 0, 0, 0]);
    let picture = image::RgbImage::new(width.into(), height.into());
    let mut bytes = Vec::new();
    image::codecs::jpeg::JpegEncoder::new(&mut bytes).encode_image(&picture).unwrap();
    [&bytes[..2], &exif, &bytes[2..]].concat()
}

/// Reads a folder whose picture `a.jpg` is shown in this size.
fn place(folder: &TestFolder, size: (u32, u32)) -> SidecarData {
    let mut data = folder.read_sidecars();
    let sandbox = SandboxedDir::open(&folder.path("")).unwrap();
    place_boxes(&sandbox, &mut data, [(Path::new("a.jpg"), size)].into_iter());
    data
}

/// The boxes of `a.jpg` in whole pixels.
fn boxes(data: &SidecarData, size: (u32, u32)) -> Vec<[i64; 4]> {
    boxes_of(data, "a.jpg", size)
}

fn boxes_of(data: &SidecarData, path: &str, (width, height): (u32, u32)) -> Vec<[i64; 4]> {
    let objects = data.descriptions[Path::new(path)].objects.iter();
    let objects = objects.map(|object| object.in_picture(width, height).unwrap());
    #[expect(clippy::cast_possible_truncation, reason = "rounded numbers of pixels")]
    let side = |fraction: f64, side: u32| (fraction * f64::from(side)).round() as i64;
    objects
        .map(|it| {
            let region = it.region;
            [
                side(region.x, width),
                side(region.y, height),
                side(region.width, width),
                side(region.height, height),
            ]
        })
        .collect()
}

fn coco((width, height): (u32, u32)) -> String {
    let image = json!({"id": 1, "file_name": "a.jpg", "width": width, "height": height});
    let annotation = json!({"image_id": 1, "category_id": 1, "bbox": [20, 40, 200, 160],
        "keypoints": [20, 40, 2, 0, 0, 0], "segmentation": [[20, 40, 220, 40, 220, 200]]});
    let categories = json!([{"id": 1, "name": "bolt"}]);
    json!({"images": [image], "annotations": [annotation], "categories": categories}).to_string()
}

#[test]
fn boxes_are_scaled_and_turned_like_their_picture() {
    for (orientation, stored, stated, shown, expected) in [
        (1, (320, 240), (320, 240), (320, 240), [20, 40, 200, 160]),
        (1, (320, 240), (640, 480), (320, 240), [10, 20, 100, 80]),
        (1, (333, 250), (4032, 3024), (333, 250), [2, 3, 17, 13]),
        (6, (320, 240), (320, 240), (240, 320), [40, 20, 160, 200]),
        (8, (320, 240), (320, 240), (240, 320), [40, 100, 160, 200]),
        (5, (320, 240), (320, 240), (240, 320), [40, 20, 160, 200]),
        (7, (320, 240), (320, 240), (240, 320), [40, 100, 160, 200]),
        (6, (320, 240), (640, 480), (240, 320), [140, 10, 80, 100]),
        (6, (320, 240), (240, 320), (240, 320), [20, 40, 200, 160]),
        (3, (320, 240), (320, 240), (320, 240), [20, 40, 200, 160]),
    ] {
        let folder = TestFolder::with_media(&[]);
        folder.write("a.jpg", jpeg(orientation, stored));
        folder.write("x.json", coco(stated));
        let data = place(&folder, shown);
        let case = format!("{orientation} {stated:?} {shown:?}");
        assert!(data.problems.is_empty(), "{case}: {:?}", data.problems);
        let expected: Vec<[i64; 4]> = vec![expected];
        assert_eq!(boxes(&data, shown), expected, "{case}");
        let object = &data.descriptions[Path::new("a.jpg")].objects[0];
        let object = object.in_picture(shown.0, shown.1).unwrap();
        assert_eq!(object.annotation.keypoints[3..], [0.0; 3], "{case}");
        let [x, y] = *object.annotation.polygons[0].first_chunk().unwrap();
        let region = object.region;
        let is_corner = |at: f64, start: f64, length: f64, side: u32| {
            [start, start + length].iter().any(|it| (it * f64::from(side) - at).abs() < 0.1)
        };
        assert!(is_corner(x, region.x, region.width, shown.0), "{case}");
        assert!(is_corner(y, region.y, region.height, shown.1), "{case}");
    }
}

#[test]
fn boxes_of_a_folder_are_turned_if_one_shows_that_they_were_drawn_in_stored_pictures() {
    let document = "<annotation><size><width>320</width><height>240</height></size><object>\
        <name>bolt</name><bndbox><xmin>20</xmin><ymin>40</ymin><xmax>220</xmax><ymax>200</ymax>\
        </bndbox></object></annotation>";
    for (turned, expected) in [("x/turned", [100, 40, 200, 160]), ("y/turned", [20, 40, 200, 160])]
    {
        let folder = TestFolder::with_media(&[]);
        for (name, orientation) in [("x/a", 3), (turned, 6)] {
            folder.write(&format!("{name}.jpg"), jpeg(orientation, (320, 240)));
            folder.write(&format!("{name}.xml"), document);
        }
        let mut data = folder.read_sidecars();
        let turned = format!("{turned}.jpg");
        let sizes = [("x/a.jpg", (320, 240)), (turned.as_str(), (240, 320))];
        let sizes = sizes.map(|(path, size)| (Path::new(path), size)).into_iter();
        place_boxes(&SandboxedDir::open(&folder.path("")).unwrap(), &mut data, sizes);
        assert_eq!(boxes_of(&data, "x/a.jpg", (320, 240)), [expected], "{turned}");
        assert_eq!(boxes_of(&data, &turned, (240, 320)), [[40, 20, 160, 200]]);
    }
}

/// A mask, and the pixels of its object.
fn mask(pixels: &image::GrayImage) -> Mask {
    let inside: Vec<bool> = pixels.pixels().map(|pixel| pixel.0[0] > 0).collect();
    let width = usize::try_from(pixels.width()).unwrap();
    Mask::of_part([pixels.height(), pixels.width()], [0, 0], width, &inside)
}

#[test]
fn masks_are_turned_like_their_picture() {
    // The turned picture shows that all annotations are of stored pictures.
    let mut pixels = image::GrayImage::new(40, 30);
    for (x, y) in (2..9).map(|x| (x, 3)).chain((3..20).map(|y| (2, y))) {
        pixels.put_pixel(x, y, image::Luma([255]));
    }
    let images = ["a.jpg", "turned.jpg"]
        .map(|name| json!({"id": name, "file_name": name, "width": 40, "height": 30}));
    let object = |name: &str, mask: &Mask| {
        json!({"image_id": name, "category_id": 1, "bbox": [2, 3, 7, 17], "iscrowd": 1,
               "segmentation": {"size": mask.size, "counts": mask.counts}})
    };
    let categories = json!([{"id": 1, "name": "bolt"}]);
    for orientation in 1..=8 {
        let folder = TestFolder::with_media(&[]);
        folder.write("a.jpg", jpeg(orientation, (40, 30)));
        folder.write("turned.jpg", jpeg(6, (40, 30)));
        let smaller = mask(&image::GrayImage::new(4, 3));
        let annotations = [object("a.jpg", &mask(&pixels)), object("turned.jpg", &smaller)];
        let file = json!({"images": images, "annotations": annotations, "categories": categories});
        folder.write("x.json", file.to_string());
        let mut turned = image::DynamicImage::from(pixels.clone());
        turned.apply_orientation(image::metadata::Orientation::from_exif(orientation).unwrap());
        let mut data = folder.read_sidecars();
        let sandbox = SandboxedDir::open(&folder.path("")).unwrap();
        let sizes = [("a.jpg", (turned.width(), turned.height())), ("turned.jpg", (30, 40))];
        place_boxes(
            &sandbox,
            &mut data,
            sizes.map(|(path, size)| (Path::new(path), size)).into_iter(),
        );
        let found = &data.descriptions[Path::new("a.jpg")].objects[0].annotation.mask;
        assert_eq!(found.as_ref(), Some(&mask(&turned.into_luma8())), "{orientation}");
        let why = "turned.jpg: its masks cannot be turned like the picture, so they are omitted";
        assert_eq!(data.problems[Path::new("x.json")], why, "{orientation}");
    }
}

#[test]
fn a_mask_of_another_size_than_its_picture_is_omitted() {
    for (size, why) in [
        ([240, 320], None),
        (
            [320, 240],
            Some(
                "a.jpg: the picture has 320x240 pixels, but masks are for 240x320, so these masks are omitted",
            ),
        ),
    ] {
        let folder = TestFolder::with_media(&[]);
        folder.write("a.jpg", jpeg(1, (320, 240)));
        let mut file: serde_json::Value = serde_json::from_str(&coco((320, 240))).unwrap();
        file["annotations"][0]["segmentation"] = json!({"size": size, "counts": [610, 40, 76150]});
        folder.write("x.json", file.to_string());
        let data = place(&folder, (320, 240));
        assert_eq!(boxes(&data, (320, 240)), [[20, 40, 200, 160]]);
        let mask = &data.descriptions[Path::new("a.jpg")].objects[0].annotation.mask;
        assert_eq!(mask.is_some(), why.is_none());
        assert_eq!(data.problems.get(Path::new("x.json")).map(String::as_str), why);
    }
}

#[test]
fn one_turned_picture_shows_that_the_boxes_of_its_file_are_of_stored_pictures() {
    for (orientation, expected) in [
        (1, [20, 40, 200, 160]),
        (2, [100, 40, 200, 160]),
        (3, [100, 40, 200, 160]),
        (4, [20, 40, 200, 160]),
    ] {
        let folder = TestFolder::with_media(&[]);
        folder.write("a.jpg", jpeg(orientation, (320, 240)));
        folder.write("turned.jpg", jpeg(6, (320, 240)));
        let turned = json!({"id": 2, "file_name": "turned.jpg", "width": 320, "height": 240});
        let object = json!({"image_id": 2, "category_id": 1, "bbox": [20, 40, 200, 160]});
        let mut file: serde_json::Value = serde_json::from_str(&coco((320, 240))).unwrap();
        file["images"].as_array_mut().unwrap().push(turned);
        file["annotations"].as_array_mut().unwrap().push(object);
        folder.write("x.json", file.to_string());
        let mut data = folder.read_sidecars();
        let sandbox = SandboxedDir::open(&folder.path("")).unwrap();
        let sizes = [("a.jpg", (320, 240)), ("turned.jpg", (240, 320))];
        let sizes = sizes.map(|(path, size)| (Path::new(path), size));
        place_boxes(&sandbox, &mut data, sizes.into_iter());
        assert_eq!(boxes(&data, (320, 240)), [expected], "{orientation}");
    }
}

#[test]
fn boxes_of_another_picture_are_reported_with_both_sizes() {
    let folder = TestFolder::with_media(&[]);
    folder.write("a.jpg", jpeg(1, (320, 240)));
    for (stated, name, text) in [
        ("640x640", "x.json", coco((640, 640))),
        ("240x320", "x.json", coco((240, 320))),
        (
            "640x640",
            "a.xml",
            "<annotation><size><width>640</width><height>640</height></size><object><name>a</name><bndbox>\
             <xmin>1</xmin><ymin>1</ymin><xmax>9</xmax><ymax>9</ymax></bndbox></object></annotation>"
                .to_owned(),
        ),
        (
            "100x9",
            "a.json",
            r#"{"imageWidth": 100, "imageHeight": 9, "shapes": [{"label": "a", "points": [[1, 1], [5, 5]]}]}"#
                .to_owned(),
        ),
        (
            "100x9",
            "cvat.xml",
            r#"<annotations><image name="a.jpg" width="100" height="9"><box label="a" xtl="1" ytl="1"
                xbr="5" ybr="5"/></image></annotations>"#
                .to_owned(),
        ),
    ] {
        folder.write(name, text);
        let data = place(&folder, (320, 240));
        let prefix = if name.starts_with("a.") { "" } else { "a.jpg: " };
        let why = format!(
            "{prefix}the picture has 320x240 pixels, but its annotations are for {stated}, so its boxes are omitted"
        );
        assert_eq!(data.problems[Path::new(name)], why);
        assert_eq!(boxes(&data, (320, 240)), [[0; 4]; 0]);
        fs::remove_file(folder.path(name)).unwrap();
    }
}

#[test]
fn boxes_beyond_any_side_of_the_picture_are_reported() {
    const SHAPE: &str = r#"{"label": "a", "points": [[400, 300], [600, 460]]}"#;
    let row = |cells: &str| format!("file_name,label,xmin,ymin,xmax,ymax\n{cells}");
    let columns =
        r#"{"objects": {"bbox": [[0, 240, 9, 9]], "category": ["a"]}, "width": 320, "height": 240"#;
    for (name, text, boxes_left, why) in [
        ("x.csv", row("a.jpg,a,1,1,9,9\na.jpg,a,320,1,330,9\n"), 1, "1 box is"),
        ("x.csv", row("a.jpg,a,1,240,9,250\na.jpg,a,320,1,330,9\n"), 0, "2 boxes are"),
        ("a.json", format!(r#"{{"shapes": [{SHAPE}]}}"#), 0, "1 box is"),
        ("a.json", format!("{columns}}}"), 0, "1 box is"),
        ("metadata.jsonl", format!(r#"{columns}, "file_name": "a.jpg"}}"#), 0, "1 box is"),
        ("x.json", coco((0, 0)).replace("[20,40,200", "[320,40,200"), 0, "1 box is"),
    ] {
        let folder = TestFolder::with_media(&["a.jpg"]);
        folder.write(name, text);
        let data = place(&folder, (320, 240));
        let prefix = if name == "a.json" { "" } else { "a.jpg: " };
        let why = format!("{prefix}{why} outside the picture of 320x240 pixels");
        assert_eq!(data.problems[Path::new(name)], why);
        assert_eq!(boxes(&data, (320, 240)).len(), boxes_left, "{name}");
    }
}

#[test]
fn boxes_in_fractions_instead_of_pixels_are_reported() {
    let row = |cells: &str| format!("file_name,label,xmin,ymin,xmax,ymax\n{cells}");
    for (text, boxes_left) in [
        (row("a.jpg,a,0.1,0.1,0.4,0.5\n"), 0),
        (row("a.jpg,a,0.1,0.1,0.4,0.5\na.jpg,b,10,10,20,20\n"), 2),
        (row("a.jpg,a,0,0,1,1\n"), 1),
        (row("a.jpg,a,-0.001,0.2,0.5,1.002\n"), 0),
    ] {
        let folder = TestFolder::with_media(&["a.jpg"]);
        folder.write("x.csv", &text);
        let data = place(&folder, (320, 240));
        let why = "a.jpg: its boxes are in fractions of the picture, and not in pixels";
        let reported = data.problems.get(Path::new("x.csv")).map(String::as_str);
        assert_eq!(reported, (boxes_left == 0).then_some(why), "{text}");
        assert_eq!(boxes(&data, (320, 240)).len(), boxes_left, "{text}");
    }
}

#[test]
fn the_size_of_a_picture_may_be_in_one_of_its_rows() {
    let header = "file_name,width,height,label,xmin,ymin,xmax,ymax";
    let rows = |sizes: [&str; 2]| {
        format!("{header}\na.jpg,{},a,20,40,220,200\na.jpg,{},b,2,4,22,20\n", sizes[0], sizes[1])
    };
    for (sizes, boxes_left, is_reported) in [
        (["640,480", ","], 2, false),
        ([",", "640,480"], 2, false),
        (["640,480", "640,480"], 2, false),
        (["640,480", "1280,960"], 1, true),
    ] {
        let folder = TestFolder::with_media(&["a.jpg"]);
        folder.write("x.csv", rows(sizes));
        let data = place(&folder, (320, 240));
        assert_eq!(boxes(&data, (320, 240)).len(), boxes_left, "{sizes:?}");
        assert_eq!(boxes(&data, (320, 240))[0], [10, 20, 100, 80], "{sizes:?}");
        let why = "1 row states another size or unit than an earlier row of the picture, so the boxes are not used; \
                   state the same in all rows of a picture";
        let problem = data.problems.get(Path::new("x.csv")).map(String::as_str);
        assert_eq!(problem, is_reported.then_some(why), "{sizes:?}");
    }
}

#[test]
fn the_size_of_a_picture_has_several_names_in_tables() {
    for names in
        ["image_width,image_height", "img_width,img_height", "original_width,original_height"]
    {
        let folder = TestFolder::with_media(&["a.jpg"]);
        let header = format!("label_name,bbox_x,bbox_y,bbox_width,bbox_height,image_name,{names}");
        folder.write("x.csv", format!("{header}\na,20,40,200,160,a.jpg,640,480\n"));
        let data = place(&folder, (320, 240));
        assert_eq!(boxes(&data, (320, 240)), [[10, 20, 100, 80]], "{names}");
    }
}

#[test]
fn boxes_of_videos_are_reported() {
    let folder = TestFolder::with_media(&["a.mp4", "b.mp4", "c.jpg"]);
    let rows = "a.mp4,a,1,1,9,9\nb.mp4,b,1,1,9,9\nc.jpg,c,10,20,30,40\n";
    folder.write("x.csv", format!("file_name,label,xmin,ymin,xmax,ymax\n{rows}"));
    let mut data = folder.read_sidecars();
    // Each video has several frames.
    let videos = ["a.mp4", "a.mp4", "b.mp4", "b.mp4"].map(Path::new);
    leave_out_boxes_of_videos(&mut data, videos.into_iter());
    let left = |name| data.descriptions[Path::new(name)].objects.len();
    assert_eq!(["a.mp4", "b.mp4", "c.jpg"].map(left), [0, 0, 1]);
    let why = "a.mp4: boxes of a video are not read; add its frames as pictures to annotate them; 1 more video";
    assert_eq!(data.problems[Path::new("x.csv")], why);
}

#[test]
fn a_box_of_the_whole_picture_is_in_fractions_like_the_others_of_its_table() {
    let folder = TestFolder::with_media(&["a.jpg", "b.jpg", "c.jpg"]);
    let header = "file_name,label,xmin,ymin,xmax,ymax";
    let rows = "a.jpg,a,0.1,0.1,0.4,0.5\nb.jpg,b,0,0,1,1\nc.jpg,c,10,20,30,40\n";
    folder.write("x.csv", format!("{header}\n{rows}"));
    let mut data = folder.read_sidecars();
    let sandbox = SandboxedDir::open(&folder.path("")).unwrap();
    let sizes = ["a.jpg", "b.jpg", "c.jpg"].map(|path| (Path::new(path), (320, 240)));
    place_boxes(&sandbox, &mut data, sizes.into_iter());
    let left = |name| data.descriptions[Path::new(name)].objects.len();
    assert_eq!(["a.jpg", "b.jpg", "c.jpg"].map(left), [0, 0, 1]);
    let why = "a.jpg: its boxes are in fractions of the picture, and not in pixels; 1 more picture";
    assert_eq!(data.problems[Path::new("x.csv")], why);
}

#[test]
fn boxes_outside_a_picture_of_another_size_are_counted_per_sidecar() {
    let folder = TestFolder::with_media(&["a.jpg", "b.jpg"]);
    let header = "file_name,width,height,label,xmin,ymin,xmax,ymax";
    let rows = ["a.jpg", "b.jpg"].map(|name| format!("{name},640,480,a,700,1,800,9\n")).concat();
    folder.write("x.csv", format!("{header}\n{rows}a.jpg,640,480,b,600,1,700,9\n"));
    let mut data = folder.read_sidecars();
    let sandbox = SandboxedDir::open(&folder.path("")).unwrap();
    let sizes = ["a.jpg", "b.jpg"].map(|path| (Path::new(path), (320, 240)));
    place_boxes(&sandbox, &mut data, sizes.into_iter());
    assert_eq!(boxes(&data, (320, 240)), [[300, 1, 20, 4]]);
    let why = "a.jpg: 1 box is outside the picture of 640x480 pixels; 1 more picture";
    assert_eq!(data.problems[Path::new("x.csv")], why);

    // Nothing is left to place, so that the other shape of the picture is not reported.
    folder.write("x.csv", format!("{header}\na.jpg,640,480,a,700,1,800,9\n"));
    let data = place(&folder, (320, 320));
    let why = "a.jpg: 1 box is outside the picture of 640x480 pixels";
    assert_eq!(data.problems[Path::new("x.csv")], why);
}

#[test]
fn unknown_sizes_are_ignored_and_masks_of_other_sizes_left_out() {
    let folder = TestFolder::with_media(&["a.jpg"]);
    folder.write("x.json", coco((0, 0)));
    let data = place(&folder, (320, 240));
    assert!(data.problems.is_empty());
    assert_eq!(boxes(&data, (320, 240)), [[20, 40, 200, 160]]);
    let mask = r#""segmentation":{"size":[480,640],"counts":[5,2,307193]}"#;
    folder.write(
        "x.json",
        coco((640, 480)).replace(r#""segmentation":[[20,40,220,40,220,200]]"#, mask),
    );
    let data = place(&folder, (320, 240));
    assert_eq!(boxes(&data, (320, 240)), [[10, 20, 100, 80]]);
    let why = "a.jpg: the picture has 320x240 pixels, but its annotations are for 640x480, so its masks are omitted";
    assert_eq!(data.problems[Path::new("x.json")], why);
}

#[test]
fn a_mask_or_a_row_can_state_the_size() {
    let folder = TestFolder::with_media(&[]);
    folder.write("a.jpg", jpeg(1, (40, 20)));
    let annotation = json!({"image_id": 1, "category_id": 1, "bbox": [2, 4, 10, 2],
        "segmentation": {"size": [10, 20], "counts": [200]}});
    let document = json!({"images": [{"id": 1, "file_name": "a.jpg"}], "annotations": [annotation],
        "categories": [{"id": 1, "name": "bolt"}]});
    folder.write("x.json", document.to_string());
    assert_eq!(boxes(&place(&folder, (40, 20)), (40, 20)), [[4, 8, 20, 4]]);
    fs::remove_file(folder.path("x.json")).unwrap();
    let row = json!({"file_name": "a.jpg", "width": 20, "height": 10,
        "objects": {"bbox": [[2, 4, 10, 2]], "category": ["bolt"]}});
    folder.write("metadata.jsonl", row.to_string());
    assert_eq!(boxes(&place(&folder, (40, 20)), (40, 20)), [[4, 8, 20, 4]]);
}
