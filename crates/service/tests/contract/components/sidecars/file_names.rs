//! How sidecars refer to media files: by path, by name, or by their location.

use std::path::Path;

use super::{TestFolder, describe};

/// Writes a sidecar that gives a media file of this name a caption.
fn write_row(folder: &TestFolder, sidecar: &str, name: &str) {
    let is_table = Path::new(sidecar).extension().is_some_and(|extension| extension == "csv");
    let text = if is_table {
        format!("file_name,caption\n{name},found\n")
    } else {
        format!(
            r#"{{"images": [{{"id": 1, "file_name": "{name}"}}],
                "annotations": [{{"image_id": 1, "caption": "found"}}]}}"#
        )
    };
    folder.write(sidecar, text);
}

#[test]
fn file_names_are_resolved_by_folder_root_namesake_or_uniqueness() {
    let none = Err("its file_name is not in the folder");
    let several = "its file_name matches several files in the folder, such as images/train/3.jpg and images/val/3.jpg";
    for (name, sidecar, expected) in [
        ("1.jpg", "metadata.csv", Ok("1.jpg")),
        (" ./1.jpg ", "a/metadata.csv", Ok("a/1.jpg")),
        ("a\\b\\2.jpg", "metadata.csv", Ok("a/b/2.jpg")),
        ("a/b/2.jpg", "annotations/all.json", Ok("a/b/2.jpg")),
        ("2.jpg", "annotations/all.json", Ok("a/b/2.jpg")),
        ("elsewhere/2.jpg", "metadata.csv", Ok("a/b/2.jpg")),
        ("3.jpg", "annotations/instances_train.json", Ok("images/train/3.jpg")),
        ("3.jpg", "annotations/val.json", Ok("images/val/3.jpg")),
        ("3.jpg", "all.json", Err(several)),
        ("4", "metadata.csv", Ok("x/4")),
        ("caf%E9.jpg", "metadata.csv", Ok("x/caf\u{e9}.jpg")),
        ("a&amp;b.jpg", "metadata.csv", Ok("x/a&b.jpg")),
        ("3.00 PM.jpg", "metadata.csv", Ok("x/3.00\u{202f}PM.jpg")),
        ("3.00\u{a0}pm.jpg", "metadata.csv", Ok("x/3.00\u{202f}PM.jpg")),
        ("y.jpg", "metadata.csv", none),
        ("9.jpg", "metadata.csv", none),
        ("", "all.json", none),
        ("notes.txt", "metadata.csv", Err("its file_name is not a media file")),
        ("../1.jpg", "a/metadata.csv", Ok("1.jpg")),
        ("a/../1.jpg", "metadata.csv", Ok("1.jpg")),
        ("../../etc/1.jpg", "a/b/metadata.csv", Ok("a/1.jpg")),
        ("/1.jpg", "a/metadata.csv", Ok("1.jpg")),
        ("../../../etc/passwd", "metadata.csv", none),
    ] {
        let folder = TestFolder::with_media(&[
            "1.jpg",
            "a/1.jpg",
            "a/b/2.jpg",
            "images/train/3.jpg",
            "images/val/3.jpg",
            "notes.txt",
            "x/4",
            "x/y.jpg/5.jpg",
            "x/caf\u{e9}.jpg",
            "x/a&b.jpg",
            "x/3.00\u{202f}PM.jpg",
        ]);
        write_row(&folder, sidecar, name);
        let sidecars = folder.read_sidecars();
        let problem = sidecars.problems.get(Path::new(sidecar));
        let media = sidecars.descriptions.iter().find(|(_, d)| d.caption.is_some());
        let resolved = media.map(|(path, _)| path.to_str().unwrap());
        assert_eq!(resolved, expected.ok(), "{name} in {sidecar}: {problem:?}");
        if let Err(why) = expected {
            assert!(problem.unwrap().ends_with(why), "{name} in {sidecar}: {problem:?}");
        }
    }
}

/// Returns the media file to which a sidecar gives a caption, or the problem of the sidecar.
fn resolved(media: &[&str], sidecar: &str, name: &str) -> Result<String, String> {
    let folder = TestFolder::with_media(media);
    write_row(&folder, sidecar, name);
    let sidecars = folder.read_sidecars();
    let media = sidecars.descriptions.iter().find(|(_, d)| d.caption.is_some());
    let found = media.map(|(path, _)| path.to_str().unwrap().to_owned());
    found.ok_or_else(|| sidecars.problems[Path::new(sidecar)].clone())
}

#[test]
fn a_picture_may_lack_the_extension_in_its_name() {
    let folder = TestFolder::with_media(&["val/b.png"]);
    for path in ["images/a", "images/b", "train/c", "val/c"] {
        folder.write(path, b"\xff\xd8\xff\xe0\0\x10JFIF\0");
    }
    folder.write("notes", "no picture");
    let rows = "a.jpg,x\nb.png,y\nc.jpg,z\nnotes.jpg,n\n";
    folder.write("metadata.csv", format!("file_name,caption\n{rows}"));
    let expected = [("images/a", "x"), ("val/b.png", "y")]
        .map(|(path, text)| describe(path, text, "", "", ""));
    let described: Vec<_> =
        folder.descriptions().into_iter().filter(|it| !it.contains("caption ()")).collect();
    assert_eq!(described, expected);
    let why = "line 4: its file_name matches several files in the folder, such as train/c and val/c; \
         line 5: its file_name is not in the folder";
    assert_eq!(folder.problem_of("metadata.csv"), why);
}

#[test]
fn names_from_other_machines_are_the_one_file_that_fits() {
    let media = [
        "images/train/a.jpg",
        "images/val/a.jpg",
        "images/train/My photo (1).JPG",
        "images/train/cafe\u{301}.png",
        "images/train/50%25.jpg",
    ];
    for (name, expected) in [
        ("/home/someone/set/images/val/a.jpg", "images/val/a.jpg"),
        ("C:\\\\data\\\\images\\\\val\\\\a.jpg", "images/val/a.jpg"),
        ("../images/train/a.jpg", "images/train/a.jpg"),
        ("..\\\\images\\\\train\\\\a.jpg", "images/train/a.jpg"),
        ("file:///data/images/val/a.jpg", "images/val/a.jpg"),
        ("https://example.com/images/val/a.jpg?width=640", "images/val/a.jpg"),
        ("s3://bucket/set/images/val/a.jpg", "images/val/a.jpg"),
        ("/data/local-files/?d=set/images/val/a.jpg", "images/val/a.jpg"),
        ("/data/local-files/?d=images%2Fval%2Fa.jpg", "images/val/a.jpg"),
        ("my%20photo%20(1).jpg", "images/train/My photo (1).JPG"),
        ("MY PHOTO (1).jpg", "images/train/My photo (1).JPG"),
        ("my photo (1)", "images/train/My photo (1).JPG"),
        ("caf\u{e9}.png", "images/train/cafe\u{301}.png"),
        ("caf%C3%A9.png", "images/train/cafe\u{301}.png"),
        ("50%25.jpg", "images/train/50%25.jpg"),
        ("my%2520photo%2520(1).jpg", "images/train/My photo (1).JPG"),
        ("My+photo+(1).jpg", "images/train/My photo (1).JPG"),
        ("My photo (1).jpeg", "images/train/My photo (1).JPG"),
        ("/data/upload/3/1f3a5c7e-caf\u{e9}.png", "images/train/cafe\u{301}.png"),
    ] {
        let found = resolved(&media, "annotations/all.json", name);
        assert_eq!(found.as_deref(), Ok(expected), "{name}");
    }
    // Eight digits that begin like a year are a date, and not the number of an upload.
    resolved(&media, "annotations/all.json", "20240517-caf\u{e9}.png").unwrap_err();
}

#[test]
fn a_name_that_fits_several_files_is_told_apart_by_the_place_of_the_sidecar() {
    let several = |one: &str, other: &str| {
        Err(format!(
            "image 1: its file_name matches several files in the folder, such as {one} and {other}"
        ))
    };
    for (media, sidecar, name, expected) in [
        (["train/images/a.jpg", "val/images/a.jpg"], "val/annotations/x.json", "a.jpg", Ok(1)),
        (["train2017/a.jpg", "val2017/a.jpg"], "annotations/instances_val.json", "a.jpg", Ok(1)),
        (["train/a.jpg", "valid/a.jpg"], "annotations/val_boxes.json", "a.jpg", Ok(1)),
        (["a.jpg", "train/images/a.jpg"], "train/annotations/x.json", "a.jpg", Ok(1)),
        (["a.jpg", "x/a.jpg"], "annotations/x_y.json", "/data/a.jpg", Ok(1)),
        (["A.jpg", "a.jpg"], "annotations/all.json", "a.jpg", Ok(1)),
        (["a.JPG", "a.jpg"], "annotations/all.json", "A.jpg", several("a.JPG", "a.jpg")),
        (["x/a.jpg", "y/a.jpg"], "annotations/all.json", "a.jpg", several("x/a.jpg", "y/a.jpg")),
        (["x/a.jpg", "y/a.png"], "annotations/all.json", "a", several("x/a.jpg", "y/a.png")),
    ] {
        let expected = expected.map(|number: usize| media[number].to_owned());
        assert_eq!(resolved(&media, sidecar, name), expected, "{name} in {sidecar}");
    }
}

#[test]
fn a_file_gets_no_record_whose_name_another_name_of_the_sidecar_fits_better() {
    let image =
        |name: &str, label| format!("<image name=\"{name}\"><tag label=\"{label}\"/></image>");
    let xml = |names: [&str; 2]| {
        let images = image(names[0], "one") + "\n" + &image(names[1], "other");
        format!("<annotations>{images}</annotations>")
    };
    let jsonl = |[one, other]: [&str; 2]| {
        format!(
            "{{\"file_name\": \"{one}\", \"label\": \"one\"}}\n\
             {{\"file_name\": \"{other}\", \"label\": \"other\"}}"
        )
    };
    let csv = |[one, other]: [&str; 2]| format!("file,label\n{one},one\n{other},other\n");
    let json = |[one, other]: [&str; 2]| {
        format!(
            r#"{{"images": [{{"id": 1, "file_name": "{one}"}}, {{"id": 2, "file_name": "{other}"}}],
            "categories": [{{"id": 1, "name": "one"}}, {{"id": 2, "name": "other"}}],
            "annotations": [{{"image_id": 1, "category_id": 1}}, {{"image_id": 2, "category_id": 2}}]}}"#
        )
    };
    for names in [
        ["cat/1.jpg", "dog/1.jpg"],
        ["/set/cat/1.jpg", "/set/dog/1.jpg"],
        ["x/DOG/1.jpg", "x/dog/1.jpg"],
        ["12345678-1.jpg", "1.jpg"],
    ] {
        for (sidecar, text) in [
            ("annotations.xml", xml(names)),
            ("metadata.jsonl", jsonl(names)),
            ("metadata.csv", csv(names)),
            ("labels.csv", csv(names)),
            ("all.json", json(names)),
        ] {
            let folder = TestFolder::with_media(&["dog/1.jpg"]);
            folder.write(sidecar, &text);
            let labels = &folder.read_sidecars().descriptions[Path::new("dog/1.jpg")].labels;
            assert_eq!(*labels, ["other"], "{names:?} in {sidecar}");
            let problem = folder.problem_of(sidecar);
            assert!(problem.contains("1: its file_name is not in") || sidecar.ends_with("csv"));
            assert!(problem.ends_with("its file_name is not in the folder"), "{problem}");
        }
    }
}

#[test]
fn a_name_or_sidecar_of_another_split_fits_no_file() {
    let media = ["train2017/1.jpg", "images/val/2.jpg"];
    for (sidecar, name) in [
        ("annotations/instances_val2017.json", "1.jpg"),
        ("val/metadata.csv", "1.jpg"),
        ("all.json", "test/1.jpg"),
        ("all.json", "/set/training/2.jpg"),
    ] {
        let why = resolved(&media, sidecar, name).unwrap_err();
        assert!(why.ends_with("its file_name is not in the folder"), "{why}");
    }
}

#[test]
fn text_files_are_next_to_the_image_or_in_a_parallel_folder() {
    let media = [
        "images/train/a.jpg",
        "images/train/b.jpg",
        "train/a.jpg",
        "v/JPEGImages/b.jpg",
        "images/c.PNG",
    ];
    let folder = TestFolder::with_media(&media);
    folder.write("labels/train/a.txt", "0 0.5 0.5 0.2 0.2");
    folder.write(
        "v/Annotations/b.xml",
        "<annotation><object><name>d</name><bndbox><xmin>1</xmin><ymin>1</ymin>\
         <xmax>2</xmax><ymax>2</ymax></bndbox></object></annotation>",
    );
    folder.write("images/c.txt", "A caption.");
    let descriptions = folder.read_sidecars().descriptions;
    let described: Vec<_> = descriptions.keys().map(|path| path.to_str().unwrap()).collect();
    assert_eq!(described, ["images/c.PNG", "images/train/a.jpg", "v/JPEGImages/b.jpg"]);
}

#[test]
fn media_are_recognized_by_extension() {
    let folder = TestFolder::with_media(&[
        "cat/a.JPG",
        "cat/b.txt",
        "cat/c",
        "cat/d.webm",
        "cat/e.jpg.txt",
        "cat/f.JFIF",
        "cat/g.jpe",
    ]);
    let descriptions = folder.read_sidecars().descriptions;
    let labeled: Vec<_> = descriptions.keys().map(|path| path.to_str().unwrap()).collect();
    assert_eq!(labeled, ["cat/a.JPG", "cat/d.webm", "cat/f.JFIF", "cat/g.jpe"]);
}

#[test]
fn labels_of_a_sidecar_replace_the_folder_as_label() {
    let folder = TestFolder::with_media(&["cat/1.jpg", "cat/2.jpg"]);
    folder.write("metadata.jsonl", r#"{"file_name": "cat/1.jpg", "labels": ["tabby", "kitten"]}"#);
    let descriptions = folder.read_sidecars().descriptions;
    assert_eq!(descriptions[Path::new("cat/1.jpg")].labels, ["tabby", "kitten"]);
    assert_eq!(descriptions[Path::new("cat/2.jpg")].labels, ["cat"]);
}

#[test]
fn the_folder_is_the_label_unless_its_name_is_generic() {
    for (media, expected) in [
        ("golden_retriever/1.jpg", Some("golden_retriever")),
        ("train/cat/1.jpg", Some("cat")),
        ("cat/images/1.jpg", None),
        ("JPEGImages/1.jpg", None),
        ("Train/1.jpg", None),
        ("train2017/1.jpg", None),
        ("train_images/1.jpg", None),
        ("images_train/1.jpg", None),
        ("train set/1.jpg", None),
        ("trainset/1.jpg", None),
        ("coco_train/1.jpg", None),
        ("raw images/1.jpg", None),
        ("obj_train_data/1.jpg", None),
        ("2021-07-03/1.jpg", None),
        ("0042/1.jpg", None),
        ("boeing 747/1.jpg", Some("boeing 747")),
        ("+/1.jpg", Some("+")),
        ("1.jpg", None),
    ] {
        let descriptions = TestFolder::with_media(&[media]).read_sidecars().descriptions;
        let labels = descriptions.get(Path::new(media)).map(|description| &description.labels[..]);
        assert_eq!(labels, expected.map(|label| vec![label.to_owned()]).as_deref(), "{media}");
    }
}

#[test]
fn a_class_may_have_a_generic_name_among_other_classes() {
    for (folders, expected) in [
        (&["bus", "car", "train"][..], "bus car train"),
        (&["set/train/bus", "set/train/car", "set/train/train"], "bus car train"),
        (&["val/bus", "val/train"], "bus train"),
        (&["bus/images", "car/images", "train/images"], "bus car train"),
        (&["bus", "car", "test"], "bus car test"),
        (&["train", "val", "test"], ""),
        (&["coco_train", "coco_val"], ""),
        (&["train_images", "train_masks"], ""),
        (&["bar", "cafe", "train_hall", "train_station"], "bar cafe train_hall train_station"),
        (&["train", "val", "unlabeled"], "unlabeled"),
        (&["train", "extra"], "extra"),
        (&["train/train", "test/test"], ""),
        (&["images/train", "images/val"], ""),
        (&["train/images", "train/masks", "train/depth"], "masks depth"),
        (&["JPEGImages", "SegmentationClass", "SegmentationObject"], ""),
        (&["bus", "car", "2024-05-01"], "bus car"),
    ] {
        let media: Vec<_> = folders.iter().map(|folder| format!("{folder}/1.jpg")).collect();
        let folder = TestFolder::with_media(&media.iter().map(String::as_str).collect::<Vec<_>>());
        let descriptions = folder.read_sidecars().descriptions;
        let labeled = media.iter().filter_map(|path| descriptions.get(Path::new(path)));
        let labels: Vec<_> = labeled.map(|it| it.labels.join(" ")).collect();
        assert_eq!(labels.join(" "), expected, "{folders:?}");
    }
    let folder = TestFolder::with_media(&["data/1.jpg"]);
    for path in ["src/main.rs", "models/net.py"] {
        folder.write(path, "");
    }
    assert!(folder.descriptions().is_empty(), "only folders of media are classes");
}

#[test]
fn a_sidecar_may_have_the_percent_encoded_name_of_its_picture() {
    let folder =
        TestFolder::with_media(&["f/my photo.jpg", "f/100%.jpg", "f/a%20b.jpg", "f/a b.jpg"]);
    folder.write("f/my%20photo.txt", "a dune");
    folder.write("f/100%.txt", "all");
    folder.write("f/a%20b.txt", "its own");
    folder.write("f/my%20photo.json", r#"{"label": "sand"}"#);
    let expected = [
        describe("f/100%.jpg", "all", "f", "", ""),
        describe("f/a b.jpg", "", "f", "", ""),
        describe("f/a%20b.jpg", "its own", "f", "", ""),
        describe("f/my photo.jpg", "a dune", "sand", "", ""),
    ];
    assert_eq!(folder.descriptions(), expected);
}

#[test]
fn folders_of_classes_are_numbers_or_contain_a_folder_of_pictures() {
    for (media, expected) in [
        (["train/0/1.jpg", "test/17/2.png"], ["0", "17"]),
        (
            ["Final_Training/Images/00000/1.ppm", "Final_Training/Images/00014/2.ppm"],
            ["00000", "00014"],
        ),
        (["0/1.jpg", "1/2.jpg"], ["0", "1"]),
        (["digits/0/1.jpg", "digits/1/2.jpg"], ["0", "1"]),
        (["cat/images/1.jpg", "dog/images/2.jpg"], ["cat", "dog"]),
        (["train/n01443537/images/1.jpg", "val/images/2.jpg"], ["n01443537", ""]),
        (["train/3/images/1.jpg", "train/4/images/2.jpg"], ["3", "4"]),
        (["2023/1.jpg", "2024/2.jpg"], ["", ""]),
        (
            [
                "snapshots/9f3c0de19f3c0de19f3c0de19f3c0de19f3c0de1/1.jpg",
                "snapshots/9f3c0de19f3c0de19f3c0de19f3c0de19f3c0de1/cat/2.jpg",
            ],
            ["", "cat"],
        ),
        (["trip/2024/05/1.jpg", "trip/2024/06/2.jpg"], ["", ""]),
        (["00000/1.jpg", "00001/2.jpg"], ["", ""]),
        (["cars/images/1.jpg", "cars/labels/2.jpg"], ["", ""]),
    ] {
        let descriptions = TestFolder::with_media(&media).read_sidecars().descriptions;
        let label = |path: &str| {
            let description = descriptions.get(Path::new(path));
            description.map(|found| found.labels.join(" ")).unwrap_or_default()
        };
        assert_eq!(media.map(label), expected, "{media:?}");
    }
}

#[test]
fn a_percent_encoded_file_is_found_by_its_plain_name() {
    let media = ["set%201/my%20photo.jpg", "x/caf%C3%A9.jpg", "y/a b.jpg", "y/a%20b.jpg"];
    for (name, expected) in [
        ("my photo.jpg", "set%201/my%20photo.jpg"),
        ("my%20photo.jpg", "set%201/my%20photo.jpg"),
        ("data/set 1/MY photo.jpg", "set%201/my%20photo.jpg"),
        ("my photo", "set%201/my%20photo.jpg"),
        ("caf\u{e9}.jpg", "x/caf%C3%A9.jpg"),
        ("a b.jpg", "y/a b.jpg"),
        ("y/a b.jpg", "y/a b.jpg"),
        ("a%20b.jpg", "y/a%20b.jpg"),
    ] {
        assert_eq!(resolved(&media, "all.json", name).as_deref(), Ok(expected), "{name}");
    }
    let both = ["caf%C3%A9.jpg", "caf%c3%a9.jpg"];
    let why = resolved(&both, "all.json", "caf\u{e9}.jpg").unwrap_err();
    assert!(why.contains("matches several files"), "{why}");
    assert_eq!(resolved(&both, "all.json", "caf%c3%a9.jpg").as_deref(), Ok("caf%c3%a9.jpg"));
    // The better name of a file counts.
    let folder = TestFolder::with_media(&["a/my%20photo.jpg"]);
    folder.write("all.csv", "file_name,caption\nb/my photo.jpg,wrong\na/my photo.jpg,right\n");
    assert_eq!(folder.descriptions(), [describe("a/my%20photo.jpg", "right", "a", "", "")]);
}
