//! Text files of single images: YOLO boxes in a `labels` folder parallel to the images; next to the
//! image, boxes if every line is one, else a caption.

use std::path::Path;

use super::{
    class_names::ClassNames,
    description::{MediaDescription, normalized_caption},
    sidecar_reader::{MAX_PER_IMAGE_SIDECAR_BYTES, SidecarReader},
    yolo,
};

/// The folder of boxes, parallel to the image folder.
const LABELS_FOLDER: &str = "labels";

pub fn read(reader: &mut SidecarReader<'_>) {
    let mut names = ClassNames::default();
    for media in reader.files.media() {
        if let Some(sidecar) = reader.files.sidecar_in_parallel_folder(media, LABELS_FOLDER, "txt")
            && let Some(text) = read_text(reader, sidecar)
        {
            add_boxes(reader, media, sidecar, &text, &mut names);
        }
        let Some(sidecar) = reader.files.sidecar_beside(media, "txt") else { continue };
        match read_text(reader, sidecar) {
            Some(text) if yolo::is_yolo(&text) => {
                add_boxes(reader, media, sidecar, &text, &mut names);
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
    let (description, diagnostics) = yolo::parse(text, &names.for_sidecar(reader, sidecar));
    reader.add_description(media, description);
    reader.report_problems(sidecar, diagnostics);
}
