//! Text files of single images: boxes of YOLO or KITTI in a folder parallel to the images; next to the image, boxes
//! if every line is one, else a caption.

use std::path::Path;

use super::{
    class_names::ClassNames,
    description::{MediaDescription, normalized_caption},
    kitti,
    sidecar_reader::{MAX_PER_IMAGE_SIDECAR_BYTES, SidecarReader},
    yolo,
};

/// Folders of boxes, parallel to the image folder: of YOLO, and of KITTI.
const LABEL_FOLDERS: [&str; 2] = ["labels", "label_2"];

pub fn read(reader: &mut SidecarReader<'_>, names: &mut ClassNames) {
    for media in reader.files.media() {
        let files = &reader.files;
        let in_folder = |folder: &&str| files.sidecar_in_parallel_folder(media, folder, "txt");
        if let Some(sidecar) = LABEL_FOLDERS.iter().find_map(in_folder)
            && let Some(text) = read_text(reader, sidecar)
        {
            add_boxes(reader, media, sidecar, &text, names);
        }
        let Some(sidecar) = reader.files.sidecar_beside(media, "txt") else { continue };
        match read_text(reader, sidecar) {
            Some(text) if yolo::is_yolo(&text) || kitti::is_kitti(&text) => {
                add_boxes(reader, media, sidecar, &text, names);
            }
            Some(text) => {
                let caption = normalized_caption(&text.replace("\r\n", "\n"));
                let description = MediaDescription { caption, ..MediaDescription::default() };
                reader.add_description(media, description);
            }
            None => {}
        }
    }
}

fn read_text(reader: &mut SidecarReader<'_>, sidecar: &Path) -> Option<String> {
    reader.mark_used(sidecar);
    reader.read_text(sidecar, MAX_PER_IMAGE_SIDECAR_BYTES)
}

fn add_boxes(
    reader: &mut SidecarReader<'_>,
    media: &Path,
    sidecar: &Path,
    text: &str,
    names: &mut ClassNames,
) {
    let (description, diagnostics) = if kitti::is_kitti(text) {
        kitti::parse(text)
    } else {
        yolo::parse(text, &names.for_sidecar(reader, sidecar))
    };
    reader.add_description(media, description);
    reader.report_problems(sidecar, diagnostics);
}
