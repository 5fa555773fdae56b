//! YOLO boxes in text files, and their class names.

use std::path::Path;

use tessera_media::ingest::sidecar::BoundingBox;
use tessera_model::{Annotation, Region};

use super::TestFolder;

/// The labels of the objects of `images/1.jpg`.
fn labels(folder: &TestFolder) -> Vec<String> {
    let descriptions = folder.read_sidecars().descriptions;
    let objects = &descriptions[Path::new("images/1.jpg")].objects;
    objects.iter().map(|object| object.label.clone()).collect()
}

#[test]
fn rows_are_boxes_or_polygons() {
    let folder = TestFolder::with_media(&["1.jpg"]);
    for (line, expected) in [
        ("3 0.5 0.5 0.25 0.5", Some((3, [0.375, 0.25, 0.25, 0.5]))),
        ("\t3.0  0.5 0.5 0.25 0.5 0.9\r", Some((3, [0.375, 0.25, 0.25, 0.5]))),
        (
            "1.000000000000000000e+00 5.0e-01 5.0e-01 2.5e-01 5.0e-01",
            Some((1, [0.375, 0.25, 0.25, 0.5])),
        ),
        ("0 0.5 0.25 1 0.5 0.75 1", Some((0, [0.5, 0.25, 0.5, 0.75]))),
        ("0 0 0 1 0 1 1 0 1", Some((0, [0.0, 0.0, 1.0, 1.0]))),
        ("0 0.5 0.5 0.25", None),
        ("0 0.5 0.25 1 0.5 0.75 1 0.5", Some((0, [0.5, 0.25, 0.5, 0.75]))),
        ("-1 0.5 0.5 0.25 0.5", None),
        ("1.5 0.5 0.5 0.25 0.5", None),
        ("dog 0.5 0.5 0.25 0.5", None),
        ("0 nan nan 1 1", None),
        ("0 0.5 0.5 1e999 1", None),
        ("0", None),
        ("0 0.5 0.5 0.2 0.2\na boat", None),
    ] {
        folder.write("1.txt", line);
        let description =
            folder.read_sidecars().descriptions.remove(Path::new("1.jpg")).unwrap_or_default();
        let objects: Vec<_> = description
            .objects
            .iter()
            .map(|object| (object.label.clone(), object.bounding_box))
            .collect();
        let expected: Vec<_> = expected
            .iter()
            .map(|(class, sides)| {
                (format!("class {class}"), BoundingBox::normalized(*sides).unwrap())
            })
            .collect();
        assert_eq!(objects, expected, "{line}");
        let is_text = ["0", "0 0.5 0.5 0.2 0.2\na boat"].contains(&line);
        assert_eq!(description.caption.is_some(), is_text, "{line}");
    }
}

/// The annotations of the objects of `images/1.jpg`, which has 100 x 100 pixels.
fn annotations(folder: &TestFolder) -> Vec<(Region, Annotation)> {
    let descriptions = folder.read_sidecars().descriptions;
    let objects = &descriptions[Path::new("images/1.jpg")].objects;
    let objects = objects.iter().map(|object| object.in_picture(100, 100).unwrap());
    objects.map(|object| (object.region, object.annotation)).collect()
}

#[test]
fn polygons_and_scores_are_kept() {
    let folder = TestFolder::with_media(&["images/1.jpg"]);
    folder.write(
        "labels/1.txt",
        "0 0.5 0.5 0.2 0.2 0.75\n0 0.1 0.1 0.3 0.1 0.2 0.3\n0 0.1 0.1 0.3 0.1 0.2 0.3 0.5",
    );
    let found = annotations(&folder);
    assert_eq!(found[0].1, Annotation { score: Some(0.75), ..Annotation::default() });
    let outline = Annotation::outline(vec![[10.0, 10.0], [30.0, 10.0], [20.0, 30.0]]);
    assert_eq!(found[1].1, outline);
    assert_eq!(found[2].1, Annotation { score: Some(0.5), ..outline });
}

#[test]
fn keypoints_are_told_from_polygons_by_the_dataset() {
    let folder = TestFolder::with_media(&["images/1.jpg", "images/2.jpg"]);
    let region = Region::new(0.4, 0.3, 0.2, 0.4).unwrap();
    let two = "0 0.5 0.5 0.2 0.4 0.4 0.5 0.41 0.51 0.42 0.52 0 0";
    let expect = |expected: &[f64]| {
        let (found, annotation) = annotations(&folder).remove(0);
        let is_near = (found.x - region.x).abs() + (found.height - region.height).abs() < 1e-9;
        assert!(is_near, "{found:?}");
        assert_eq!(annotation.keypoints, expected);
        assert!(annotation.polygons.is_empty());
    };
    folder.write("labels/1.txt", two);
    folder.write("data.yaml", "kpt_shape: [4, 2]\nnames:\n  0: person\n");
    expect(&[40.0, 50.0, 2.0, 41.0, 51.0, 2.0, 42.0, 52.0, 2.0, 0.0, 0.0, 0.0]);
    folder.write("labels/1.txt", format!("{two} 0.9"));
    assert_eq!(annotations(&folder)[0].1.score, Some(0.9));
    folder.write("labels/1.txt", "0 0.5 0.5 0.2 0.4 0.4 0.5 0.41 0.51");
    let problem = "line 1: its columns do not fit the keypoints of the dataset";
    assert_eq!(folder.problem_of("labels/1.txt"), problem);

    // Without the key, the columns of all label files decide.
    folder.write("data.yaml", "names: [person]");
    let three = "0 0.5 0.5 0.2 0.4 0.4 0.5 2 0.41 0.51 1";
    folder.write("labels/1.txt", three);
    folder.write("labels/2.txt", three);
    expect(&[40.0, 50.0, 2.0, 41.0, 51.0, 1.0]);
    folder.write("labels/2.txt", "0 0.1 0.1 0.3 0.1 0.2 0.3 0.2 0.4");
    assert_eq!(annotations(&folder)[0].1.polygons.len(), 1, "another line has other columns");
    // The corners of a rotated box are a polygon.
    folder.write("labels/1.txt", "0 0.5 0.2 0.8 0.5 0.5 0.8 0.2 0.5");
    assert_eq!(annotations(&folder)[0].1.polygons[0].len(), 8);
}

#[test]
fn the_five_forms_are_told_apart_by_all_lines_of_a_dataset() {
    let form = |lines: &[&str], yaml: &str| {
        let folder = TestFolder::with_media(&["images/1.jpg"]);
        folder.write("labels/1.txt", lines.join("\n"));
        folder.write("set.yaml", yaml);
        let found = annotations(&folder);
        assert_eq!(found.len(), lines.len(), "{lines:?}");
        let (_, Annotation { polygons, keypoints, .. }) = &found[0];
        [polygons.iter().map(Vec::len).sum::<usize>(), keypoints.len()]
    };
    let names = "names: [person]";
    let detect = ["0 0.5 0.5 0.2 0.4", "0 0.3 0.3 0.2 0.2 0.9"];
    assert_eq!(form(&detect, names), [0, 0]);
    // Polygons of five points have as many numbers as a box and two keypoints with visibilities.
    let segment = [
        "0 0.5 0.5 0.6 0.5 0.65 0.6 0.55 0.7 0.5 0.65",
        "0 0.1 0.1 0.2 0.1 0.2 0.2 0.15 0.25 0.1 0.2",
    ];
    assert_eq!(form(&segment, names), [10, 0]);
    assert_eq!(form(&segment[..1], names), [10, 0]);
    let other_lengths = ["0 0.5 0.5 0.2 0.4 0.45 0.5 0.55 0.5", "0 0.1 0.1 0.3 0.1 0.2 0.3"];
    assert_eq!(form(&other_lengths, names), [8, 0]);
    let rotated = ["0 0.5 0.4 0.6 0.5 0.5 0.6 0.4 0.5", "0 0.6 0.6 0.7 0.6 0.7 0.7 0.6 0.7"];
    assert_eq!(form(&rotated, names), [8, 0]);
    let pose_of_two = [
        "0 0.5 0.5 0.2 0.4 0.45 0.35 0.55 0.4 0.5 0.65",
        "0 0.3 0.7 0.1 0.3 0.28 0.6 0.33 0.7 0 0",
    ];
    assert_eq!(form(&pose_of_two, names), [0, 9]);
    assert_eq!(form(&pose_of_two[..1], names), [0, 9]);
    let pose_of_three =
        ["0 0.5 0.5 0.2 0.4 0.45 0.35 2 0.55 0.4 1", "0 0.3 0.7 0.1 0.3 0.28 0.6 2 0 0 0"];
    assert_eq!(form(&pose_of_three, names), [0, 6]);
    let scored = ["0 0.5 0.5 0.2 0.4 0.45 0.35 2 0.55 0.4 1 0.9"];
    assert_eq!(form(&scored, names), [0, 6]);
    // The key decides, also where the lines look otherwise.
    assert_eq!(form(&rotated, "kpt_shape: [2, 2]\nnames: [person]"), [0, 6]);
    let with_boxes = ["0 0.5 0.5 0.2 0.4 0.45 0.35 2", "0 0.3 0.7 0.1 0.3"];
    assert_eq!(form(&with_boxes, names), [0, 3]);
}

#[test]
fn the_forms_of_datasets_without_names_do_not_mix() {
    let folder = TestFolder::with_media(&["pose/images/1.jpg", "shapes/images/2.jpg"]);
    folder.write("pose/labels/1.txt", "0 0.5 0.5 0.2 0.4 0.45 0.35 2 0.55 0.4 1");
    folder.write("shapes/labels/2.txt", "0 0.1 0.1 0.3 0.1 0.2 0.3");
    let descriptions = folder.read_sidecars().descriptions;
    let object = |path: &str| descriptions[Path::new(path)].objects[0].annotation.clone();
    assert_eq!(object("pose/images/1.jpg").keypoints.len(), 6);
    assert_eq!(object("shapes/images/2.jpg").polygons.len(), 1);
}

#[test]
fn class_names_are_found_in_files_of_other_names() {
    for (file, text) in [
        ("coco128.yaml", "names: [person]"),
        ("anything.yml", "path: x\nnames:\n  0: person\n"),
        ("labels.txt", "person\n"),
        ("obj.names", "person"),
        ("custom.names", "person"),
        ("notes.json", r#"{"categories": [{"id": 0, "name": "person"}], "info": {"year": 2024}}"#),
        ("labels/classes.txt", "person"),
    ] {
        let folder = TestFolder::with_media(&["images/1.jpg"]);
        folder.write("labels/1.txt", "0 0.5 0.5 0.2 0.2");
        folder.write("hyp.yaml", "lr0: 0.01");
        folder.write(file, text);
        assert_eq!(labels(&folder), ["person"], "{file}");
        let reading = folder.read_sidecars();
        assert!(reading.sidecars.contains(Path::new(file)) && reading.problems.is_empty());
    }
    let folder = TestFolder::with_media(&["images/1.jpg"]);
    folder.write("labels/1.txt", "0 0.5 0.5 0.2 0.2");
    folder.write("a.yaml", "names: [person]");
    folder.write("b.yaml", "names: [car]");
    assert_eq!(labels(&folder), ["class 0"]);
    let why = "its class names differ from those in b.yaml, so neither are used";
    assert_eq!(folder.problem_of("a.yaml"), why);
    folder.write("a.yaml", "names: [person]\npath: [");
    let both = folder.problem_of("a.yaml");
    assert!(both.ends_with(&format!(": invalid YAML; {why}")), "{both}");
    folder.write("a.yaml", "names: [person]");
    for names in ["car", "person"] {
        folder.write("b.yaml", format!("names: [{names}]"));
        let used = folder.read_sidecars().sidecars;
        assert!(["a.yaml", "b.yaml"].iter().all(|file| used.contains(Path::new(file))), "{names}");
    }
}

#[test]
fn a_mask_beside_the_labels_gets_no_boxes() {
    let folder = TestFolder::with_media(&["images/1.jpg", "labels/1.png"]);
    folder.write("labels/1.txt", "0 0.5 0.5 0.2 0.2");
    assert_eq!(folder.boxes("images/1.jpg").len(), 1);
    let described = folder.read_sidecars().descriptions;
    assert!(described.get(Path::new("labels/1.png")).is_none_or(|it| it.objects.is_empty()));
}

#[test]
fn the_numbers_of_label_studio_are_those_in_its_notes() {
    let folder = TestFolder::with_media(&["images/1.jpg"]);
    folder.write("labels/1.txt", "1 0.5 0.5 0.2 0.2");
    let category = |id, name| format!(r#"{{"id": {id}, "name": "{name}"}}"#);
    let notes = [category(0, "helmet"), category(1, "vest")].join(", ");
    folder.write("notes.json", format!(r#"{{"categories": [{notes}]}}"#));
    folder.write("classes.txt", "helmet\nvest\n");
    assert_eq!(labels(&folder), ["vest"]);
    assert!(folder.read_sidecars().problems.is_empty());
    folder.write("classes.txt", "vest\nhelmet\n");
    assert_eq!(labels(&folder), ["vest"]);
    let why = "its class names differ from those in notes.json, which are used; remove the file that is wrong";
    assert_eq!(folder.problem_of("classes.txt"), why);
}

#[test]
fn labels_are_found_beside_other_folders_of_pictures() {
    for (media, labels) in [
        ("JPEGImages/1.jpg", "labels/1.txt"),
        ("set/imgs/1.png", "set/labels/1.txt"),
        ("train/1.jpg", "labels/train/1.txt"),
        ("train/1.jpg", "YOLO_darknet/1.txt"),
        ("IMG_1.JPG", "img_1.txt"),
        ("images/cafe\u{301}.jpg", "labels/caf\u{e9}.TXT"),
    ] {
        let folder = TestFolder::with_media(&[media]);
        folder.write(labels, "0 0.5 0.5 0.2 0.2");
        assert_eq!(folder.boxes(media).len(), 1, "{labels}");
    }
}

#[test]
fn labels_of_another_picture_of_the_same_name_are_reported() {
    const BOX: &str = "0 0.5 0.5 0.2 0.2";
    for (media, own, other) in [
        ("images/val/1.jpg", "labels/val/1.txt", "labels/train/1.txt"),
        ("test/images/1.jpg", "test/labels/1.txt", "train/labels/1.txt"),
        ("dog/images/1.jpg", "dog/labels/1.txt", "cat/labels/1.txt"),
        ("dog/imgs/1.jpg", "dog/labels/1.txt", "cat/labels/1.txt"),
        ("dog/1.jpg", "dog/1.txt", "labels/1.txt"),
    ] {
        let folder = TestFolder::with_media(&[media]);
        folder.write(own, BOX);
        folder.write(other, BOX);
        assert_eq!(folder.boxes(media).len(), 1, "{other}");
        assert_eq!(folder.problem_of(other), "its picture is not in the folder");
    }
    let folder = TestFolder::with_media(&["testing/image_2/1.png"]);
    let car = "Car 0.00 0 1.85 10.5 20 40 60 1.67 1.87 3.69 -16.53 2.39 58.49 1.57";
    folder.write("training/label_2/1.txt", car);
    assert_eq!(folder.problem_of("training/label_2/1.txt"), "its picture is not in the folder");
    assert_eq!(folder.descriptions(), [""; 0]);
}

#[test]
fn files_in_label_folders_without_boxes_or_pictures_are_named() {
    let folder = TestFolder::with_media(&["x/1.jpg", "y/1.jpg", "imgs/2.jpg"]);
    folder.write("labels/1.txt", "0 0.5 0.5 0.2 0.2");
    folder.write("labels/2.txt", "a text");
    folder.write("labels/3.txt", "0 0.5 0.5 0.2 0.2");
    let problem = |path: &str| folder.problem_of(path);
    let why = "its file_name matches several files in the folder, such as x/1.jpg and y/1.jpg";
    assert_eq!(problem("labels/1.txt"), why);
    assert_eq!(problem("labels/2.txt"), "its lines are not boxes of YOLO or KITTI");
    assert_eq!(problem("labels/3.txt"), "its picture is not in the folder");
    // A wrong line among boxes beside a picture loses only itself.
    folder.write("imgs/2.txt", "0 0.5 0.5 0.2 0.2\n1 nan 0.5 0.2 0.2\n0 0.5 0.5 0.3 0.3");
    assert_eq!(folder.boxes("imgs/2.jpg").len(), 2);
    assert_eq!(problem("imgs/2.txt"), "line 2: it is not a class and a box in numbers");
}

#[test]
fn keypoints_are_found_above_a_list_of_names() {
    let folder = TestFolder::with_media(&["images/1.jpg"]);
    folder.write("labels/1.txt", "0 0.5 0.5 0.2 0.4 0.9 0.9 0.1 0.1");
    folder.write("labels/classes.txt", "person");
    folder.write("pose.yaml", "kpt_shape: [2, 2]\nnames: [human]");
    assert_eq!(labels(&folder), ["person"]);
    assert_eq!(annotations(&folder)[0].1.keypoints.len(), 6);
}

#[test]
fn invalid_lines_are_reported_and_the_others_used() {
    let folder = TestFolder::with_media(&["images/1.jpg"]);
    let text = "0 0.5 0.5 0.2 0.2\n\n1 0.5 0.5 0 0.2\r\n0 320 240 64 48\nx\n9 1 1 1 1";
    folder.write("labels/1.txt", text);
    folder.write("classes.txt", "dog");
    assert_eq!(labels(&folder), ["dog", "class 9"]);
    let why = "line 3: its box is empty or outside the picture; \
         line 4: its numbers are not fractions of the picture; divide pixels by its width and height; \
         line 5: it is not a class and a box in numbers";
    assert_eq!(folder.problem_of("labels/1.txt"), why);
}

#[test]
fn class_names_are_parsed_in_all_common_styles() {
    let folder = TestFolder::with_media(&["images/1.jpg"]);
    let rows = [0, 1, 2, 7, 80].map(|class| format!("{class} 0.5 0.5 0.2 0.2"));
    folder.write("labels/1.txt", rows.join("\n"));
    let check = |file, text: &str, expected: [&str; 5]| {
        folder.write("data.yaml", "");
        folder.write(file, text);
        assert_eq!(labels(&folder), expected, "{text}");
        let used = folder.read_sidecars().sidecars.contains(Path::new(file));
        assert_eq!(used, expected != NO_NAMES, "{text}");
    };
    for text in [
        "train: ../train\nnc: 3\nnames: ['traffic light', \"it's\", dog]\n",
        "names: [ traffic light,  # the first\n  it's , 'dog'\n]\nroboflow:\n  a: [b]",
        "names:\n  0: traffic light # comment\n  1: \"it's\"\n\n  # two\n  2: dog\nnc: 3\n",
        "names:\r\n- traffic light\r\n- 'it''s'\r\n- dog\r\nval: x\r\n",
        "names:\n    - traffic light\n    - it's\n    - dog",
        "names: {0: traffic light, '1': \"it's\", 2: dog}",
        "# a comment\n---\n\"names\": # three\n  - traffic light\n  - it's\n  - 'dog'\n",
        " names: ['traffic light', it's, dog]",
        "{train: a, names: ['traffic light', \"it's\", dog]}",
        "text: |\n  names: [x]\nnested: {names: [y]}\nnames: &all [traffic light, it's, dog]",
        "names:\n  - {id: 0, name: traffic light}\n  - {name: it's, points: [1, 2], id: 1}\n  - id: 2\n    name: dog",
        "names:\n  - 0: traffic light\n  - name: it's\n  - 2: dog",
        "classes: &all\n  0: traffic light\n  1: it's\n  2: dog\nnames: *all\n",
        "x: &first traffic light\nnames: [*first, it's, dog]",
        "names: [a, b]\nnc: 3\nnames: [traffic light, it's, dog]\nval: x",
        "names:\n  0: a\nnames:\n  - {id: 7, id: 0, name: traffic light}\n  - it's\n  - dog",
        "x: &first traffic light\nnames: {0: *first, 1: it's, 2: dog}",
        "x: &first {name: traffic light}\nnames: [{name: traffic light}, it's, dog, *first]",
    ] {
        check("data.yaml", text, ["traffic light", "it's", "dog", "class 7", "class 80"]);
    }
    let sparse = "names: {80: 'a:', 7: 'b, c'}";
    check("data.yaml", sparse, ["class 0", "class 1", "class 2", "b, c", "a:"]);
    for none in ["", "nc: 3", "names:", "names: 3", "names: []", "names: {}", "a: {names: [b]}"] {
        check("data.yaml", none, NO_NAMES);
    }
    check("classes.txt", "a\r\n\r\n b\n\n", ["a", "class 1", "b", "class 7", "class 80"]);
}

#[test]
fn class_names_before_an_error_in_yaml_are_used() {
    let folder = TestFolder::with_media(&["images/1.jpg"]);
    folder.write("labels/1.txt", "0 0.5 0.5 0.2 0.2");
    folder.write("data.yml", "names: [dog, cat]\npath: 'open\n");
    assert_eq!(labels(&folder), ["dog"]);
    let problem = folder.problem_of("data.yml");
    assert!(problem.starts_with("line ") && problem.ends_with(": invalid YAML"), "{problem}");
}

/// The labels of boxes without class names.
const NO_NAMES: [&str; 5] = ["class 0", "class 1", "class 2", "class 7", "class 80"];

#[test]
fn pixels_never_become_a_box_over_the_whole_picture() {
    let folder = TestFolder::with_media(&["images/1.jpg"]);
    for line in ["0 100 100 300 300", "0 10 20 110 100", "0 0 0 200 0 200 200 0 200"] {
        folder.write("labels/1.txt", format!("{line}\n0 0.9 0.5 0.3 0.2"));
        assert_eq!(folder.boxes("images/1.jpg").len(), 1, "{line}");
        let why = "line 1: its numbers are not fractions of the picture; divide pixels by its width and height";
        assert_eq!(folder.problem_of("labels/1.txt"), why, "{line}");
    }
}

#[test]
fn a_rotated_box_may_have_a_score() {
    let folder = TestFolder::with_media(&["images/1.jpg"]);
    let corners = "0.645 0.675 0.709 0.613 0.630 0.532 0.566 0.594";
    for (score, expected) in [("", None), (" 0.583", Some(0.583))] {
        folder.write("labels/1.txt", format!("0 {corners}{score}"));
        let (_, annotation) = &annotations(&folder)[0];
        assert_eq!((annotation.polygons[0].len(), annotation.score), (8, expected));
        assert!(annotation.keypoints.is_empty());
    }
}

#[test]
fn a_tracker_adds_a_score_and_the_number_of_a_track() {
    let folder = TestFolder::with_media(&["images/1.jpg"]);
    for (line, score) in [
        ("0 0.5 0.5 0.2 0.2 0.9 1", Some(0.9)),
        ("0 0.5 0.5 0.2 0.2 0.9 2", Some(0.9)),
        ("0 0.5 0.5 0.2 0.2 0.9 12", Some(0.9)),
        ("0 0.5 0.5 0.2 0.2 12", None),
    ] {
        folder.write("labels/1.txt", line);
        let (_, annotation) = &annotations(&folder)[0];
        assert_eq!((annotation.polygons.len(), annotation.score), (0, score), "{line}");
        assert_eq!(folder.boxes("images/1.jpg").len(), 1, "{line}");
        assert!(folder.read_sidecars().problems.is_empty(), "{line}");
    }
}

#[test]
fn probabilities_of_keypoints_become_visibilities() {
    let folder = TestFolder::with_media(&["images/1.jpg"]);
    folder.write("data.yaml", "kpt_shape: [2, 3]\nnames: [person]");
    folder.write("labels/1.txt", "0 0.5 0.5 0.2 0.4 0.4 0.5 0.93 0.41 0.51 0.2");
    assert_eq!(annotations(&folder)[0].1.keypoints, [40.0, 50.0, 2.0, 41.0, 51.0, 1.0]);
    folder.write("labels/1.txt", "0 0.5 0.5 0.2 0.4 0.4 0.5 1.0 0.41 0.51 0.2");
    assert_eq!(annotations(&folder)[0].1.keypoints, [40.0, 50.0, 2.0, 41.0, 51.0, 1.0]);
    assert!(folder.read_sidecars().problems.is_empty());
}

#[test]
fn class_names_are_found_beside_the_labels_of_their_dataset() {
    for (file, text) in [
        ("config/set.yaml", "names: [person]"),
        ("data/obj.names", "person"),
        ("meta/Classes.txt", "person"),
        ("predefined_classes.txt", "person"),
        ("DATA.YAML", "names: [person]"),
    ] {
        let folder = TestFolder::with_media(&["images/1.jpg"]);
        folder.write("labels/1.txt", "0 0.5 0.5 0.2 0.2");
        folder.write(file, text);
        assert_eq!(labels(&folder), ["person"], "{file}");
        let reading = folder.read_sidecars();
        assert!(reading.sidecars.contains(Path::new(file)) && reading.problems.is_empty());
    }
    // The names of another dataset are not used, nor those that contradict each other.
    let folder = TestFolder::with_media(&["images/1.jpg", "other/images/2.jpg"]);
    folder.write("labels/1.txt", "0 0.5 0.5 0.2 0.2");
    folder.write("other/labels/2.txt", "0 0.5 0.5 0.2 0.2");
    folder.write("other/classes.txt", "car");
    assert_eq!(labels(&folder), ["class 0"]);
    folder.write("a/x.yaml", "names: [person]");
    folder.write("b/x.yaml", "names: [car]");
    assert_eq!(labels(&folder), ["class 0"]);
}
