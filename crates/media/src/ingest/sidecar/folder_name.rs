//! Takes the name of a folder as the label of its media, if no sidecar has labels and the name is not a generic one.

use std::{ffi::OsStr, path::Path};

use super::{
    description::{MediaDescription, push_name},
    sidecar_reader::SidecarReader,
};
use crate::ingest::parquet_images::is_parquet;

/// In lower case and without trailing digits (`train2017`).
const GENERIC_NAMES: &str = "all annotation annotations data dataset datasets dcim default dev \
    files frames image images img imgs input jpeg jpegimages jpegs jpg label labels media \
    obj_train_data output photo photos pics picture pictures png pngs raw test testing train \
    training uploads val valid validation video videos";

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

fn label_from_folder(media: &Path) -> Option<&str> {
    let folder = media.parent()?;
    // The images in a Parquet file are in its folder.
    let folder = if is_parquet(folder) { folder.parent()? } else { folder };
    let name = folder.file_name().and_then(OsStr::to_str)?;
    let is_separator = |c: char| matches!(c, '-' | '_' | '.' | ' ');
    let word = name.trim_end_matches(|c: char| c.is_ascii_digit() || is_separator(c));
    let generic = word.is_empty()
        || GENERIC_NAMES.split(' ').any(|generic| generic.eq_ignore_ascii_case(word));
    (!generic).then_some(name)
}
