//! How sidecars refer to media files: by path, by name, or by their location.

use std::path::Path;

use super::TestFolder;

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
    let outside = Err("its file_name points outside the folder");
    for (name, sidecar, expected) in [
        ("1.jpg", "metadata.csv", Ok("1.jpg")),
        (" ./1.jpg ", "a/metadata.csv", Ok("a/1.jpg")),
        ("a\\b\\2.jpg", "metadata.csv", Ok("a/b/2.jpg")),
        ("a/b/2.jpg", "annotations/all.json", Ok("a/b/2.jpg")),
        ("2.jpg", "annotations/all.json", Ok("a/b/2.jpg")),
        ("elsewhere/2.jpg", "metadata.csv", Ok("a/b/2.jpg")),
        ("3.jpg", "annotations/instances_train.json", Ok("images/train/3.jpg")),
        ("3.jpg", "annotations/val.json", Ok("images/val/3.jpg")),
        ("3.jpg", "all.json", Err("its file_name matches several files in the folder")),
        ("4", "metadata.csv", Ok("x/4")),
        ("y.jpg", "metadata.csv", none),
        ("9.jpg", "metadata.csv", none),
        ("", "all.json", none),
        ("notes.txt", "metadata.csv", Err("its file_name is not a media file")),
        ("../1.jpg", "a/metadata.csv", outside),
        ("a/../1.jpg", "metadata.csv", outside),
        ("/1.jpg", "metadata.csv", outside),
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
        ("2021-07-03/1.jpg", None),
        ("0042/1.jpg", None),
        ("boeing 747/1.jpg", Some("boeing 747")),
        ("1.jpg", None),
    ] {
        let descriptions = TestFolder::with_media(&[media]).read_sidecars().descriptions;
        let labels = descriptions.get(Path::new(media)).map(|description| &description.labels[..]);
        assert_eq!(labels, expected.map(|label| vec![label.to_owned()]).as_deref(), "{media}");
    }
}
