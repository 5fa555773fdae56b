//! The name of a folder as the label of the pictures in it, as in sets sorted by class. It counts
//! only where nothing else tells labels, and not if the name tells how files are kept.

use std::{ffi::OsStr, path::Path};

use super::{
    description::{Description, push_name},
    reader::Reader,
};

/// Names of folders that tell nothing of what is in the pictures, in lower case and without
/// digits behind them (`train2017`).
const TECHNICAL: &[&str] = &[
    "all",
    "annotation",
    "annotations",
    "data",
    "dataset",
    "datasets",
    "dcim",
    "default",
    "dev",
    "files",
    "frames",
    "image",
    "images",
    "img",
    "imgs",
    "input",
    "jpeg",
    "jpegimages",
    "jpegs",
    "jpg",
    "label",
    "labels",
    "media",
    "obj_train_data",
    "output",
    "photo",
    "photos",
    "pics",
    "picture",
    "pictures",
    "png",
    "pngs",
    "raw",
    "test",
    "testing",
    "train",
    "training",
    "uploads",
    "val",
    "valid",
    "validation",
    "video",
    "videos",
];

/// Labels every media without labels by its folder.
pub fn read(reader: &mut Reader<'_>) {
    for media in reader.files.media() {
        let labelled = reader.reading.descriptions.get(media).is_some_and(|d| !d.labels.is_empty());
        if let Some(label) = label(media).filter(|_| !labelled) {
            let mut told = Description::default();
            push_name(&mut told.labels, label);
            reader.tell(media, told);
        }
    }
}

/// The name of the folder a media lies in, if it tells something.
fn label(media: &Path) -> Option<&str> {
    let name = media.parent()?.file_name().and_then(OsStr::to_str)?;
    let is_separator = |c: char| matches!(c, '-' | '_' | '.' | ' ');
    let word = name.trim_end_matches(|c: char| c.is_ascii_digit() || is_separator(c));
    let technical =
        word.is_empty() || TECHNICAL.iter().any(|technical| technical.eq_ignore_ascii_case(word));
    (!technical).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::sidecar::lab::{Place, told};

    #[test]
    fn m51_the_nearest_folder_is_the_label_unless_its_name_is_technical() {
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
            assert_eq!(label(Path::new(media)), expected, "{media}");
        }
    }

    #[test]
    fn m51_a_label_told_elsewhere_replaces_the_folder() {
        let place = Place::of(&["cat/1.jpg", "cat/2.jpg", "cat/note.md"]);
        place.put("metadata.csv", "file_name,label,caption\ncat/1.jpg,dog,\ncat/2.jpg,,A cat.\n");
        let expected =
            [told("cat/1.jpg", "", "dog", "", ""), told("cat/2.jpg", "A cat.", "cat", "", "")];
        assert_eq!(place.told(), expected);
    }
}
