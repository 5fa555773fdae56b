//! Captions and boxes in text files, and labels from folder names.

use super::{TestFolder, describe};

#[test]
fn a_text_file_is_a_caption_unless_it_contains_boxes() {
    let media = ["1.jpg", "2.JPG", "3.png", "4.jpg", "5.jpg", "6.jpg", "7.jpg", "8.jpg", "9.jpg"];
    let folder = TestFolder::with_media(&media);
    folder.write("10.jpg", "");
    folder.write("train.jpg", "");
    for (path, text) in [
        ("1.txt", "\u{feff}A red boat,\r\nfar away.\r\n"),
        ("2.txt", "\n0 0.5 0.5 0.2 0.2\r\n\r\n1 0.5 0.5 0.2 0.2 0.99\n2 0 0 1 0 1 1\n"),
        ("3.txt", "0 0.5 0.5 0.2 0.2\nand 4 more"),
        ("7.txt", "10 20 110 20 110 100 10 100 plane 0\n"),
        ("8.txt", "bolt 0.5 0.5 0.2 0.2"),
        ("9.txt", "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"),
        ("10.caption", "a hill"),
        ("train.txt", "./1.jpg\n5.jpg\nimages/elsewhere.jpg\n"),
        ("4.txt", " \n"),
        ("5.txt", "1984"),
        ("readme.txt", "of no picture"),
    ] {
        folder.write(path, text);
    }
    folder.write("6.txt", b"caf\xc3\xa9 \xe9");
    let expected = [
        describe("1.jpg", "A red boat,\nfar away.", "", "", ""),
        describe("10.jpg", "a hill", "", "", ""),
        describe("2.JPG", "", "", "", "class 0 class 1 class 2"),
        describe("3.png", "0 0.5 0.5 0.2 0.2\nand 4 more", "", "", ""),
        describe("5.jpg", "1984", "", "", ""),
    ];
    assert_eq!(folder.descriptions(), expected);
    assert_eq!(folder.problem_of("6.txt"), "it is not UTF-8; save it as UTF-8");
    for path in ["7.txt", "8.txt"] {
        assert_eq!(folder.problem_of(path), "its lines are not boxes of YOLO or KITTI");
    }
    let pointer = "a Git LFS pointer instead of the file; run: git lfs pull";
    assert_eq!(folder.problem_of("9.txt"), pointer);
    assert_eq!(folder.problem_of("train.txt"), "a list of pictures, which is not read");
    assert_eq!(folder.read_sidecars().sidecars.len(), 11);
}

#[test]
fn boxes_in_parallel_folders_use_the_nearest_class_names() {
    let folder =
        TestFolder::with_media(&["images/train/1.jpg", "images/val/2.jpg", "own/images/3.jpg"]);
    let row = "1 0.5 0.5 0.2 0.2\n";
    for (path, text) in [
        ("data.yaml", "names: [person, dog]\n"),
        ("labels/train/1.txt", row),
        ("labels/val/2.txt", "7 0.5 0.5 0.2 0.2\nbroken\n0 5 5 1 1"),
        ("images/val/2.txt", "A caption as well."),
        ("own/labels/3.txt", row),
        ("own/labels/classes.txt", "cat\r\nbird\r\n"),
    ] {
        folder.write(path, text);
    }
    let expected = [
        describe("images/train/1.jpg", "", "", "", "dog"),
        describe("images/val/2.jpg", "A caption as well.", "", "", "class 7"),
        describe("own/images/3.jpg", "", "", "", "bird"),
    ];
    assert_eq!(folder.descriptions(), expected);
    let why = "line 2: it is not a class and a box in numbers; \
         line 3: its numbers are not fractions of the picture; divide pixels by its width and height";
    assert_eq!(folder.problem_of("labels/val/2.txt"), why);
    assert_eq!(folder.read_sidecars().sidecars.len(), 6);
}

#[test]
fn labels_of_sidecars_replace_folder_names() {
    let folder = TestFolder::with_media(&["cat/1.jpg", "cat/2.jpg", "cat/note.md"]);
    folder.write("metadata.csv", "file_name,label,caption\ncat/1.jpg,dog,\ncat/2.jpg,,A cat.\n");
    let expected =
        [describe("cat/1.jpg", "", "dog", "", ""), describe("cat/2.jpg", "A cat.", "cat", "", "")];
    assert_eq!(folder.descriptions(), expected);
}

#[test]
fn the_folders_of_cameras_are_no_labels() {
    let folder = TestFolder::with_media(&[
        "DCIM/100CANON/1.jpg",
        "dcim/Camera/1.jpg",
        "DCIM/Paris/1.jpg",
        "sea/2.jpg",
    ]);
    let expected = [
        describe("DCIM/Paris/1.jpg", "", "Paris", "", ""),
        describe("sea/2.jpg", "", "sea", "", ""),
    ];
    assert_eq!(folder.descriptions(), expected);
}
