//! Folder names as labels, as in datasets sorted by class. Used only if no sidecar has labels, and
//! only if the name is not a generic one.

use std::{ffi::OsStr, path::Path};

use super::{
    description::{MediaDescription, push_name},
    sidecar_reader::SidecarReader,
};

/// Folder names that do not describe their content, in lower case and without trailing digits
/// (`train2017`).
const GENERIC_NAMES: &[&str] = &[
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

/// Labels every unlabeled media file by its folder.
pub fn read(reader: &mut SidecarReader<'_>) {
    for media in reader.files.media() {
        let labeled = reader.data.descriptions.get(media).is_some_and(|d| !d.labels.is_empty());
        if let Some(label) = label_from_folder(media).filter(|_| !labeled) {
            let mut description = MediaDescription::default();
            push_name(&mut description.labels, label);
            reader.add_description(media, description);
        }
    }
}

/// The folder name of a media file, unless it is generic.
fn label_from_folder(media: &Path) -> Option<&str> {
    let name = media.parent()?.file_name().and_then(OsStr::to_str)?;
    let is_separator = |c: char| matches!(c, '-' | '_' | '.' | ' ');
    let word = name.trim_end_matches(|c: char| c.is_ascii_digit() || is_separator(c));
    let technical = word.is_empty()
        || GENERIC_NAMES.iter().any(|technical| technical.eq_ignore_ascii_case(word));
    (!technical).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!(label_from_folder(Path::new(media)), expected, "{media}");
        }
    }
}
