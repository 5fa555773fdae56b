//! The `.txt` of one picture: boxes in `labels` opposite the folder of the pictures; beside the
//! picture boxes if every line is one, and its caption otherwise.

use std::path::Path;

use super::{
    class_names::ClassNames,
    description::{Description, caption},
    reader::{Reader, SMALL},
    yolo,
};

/// The folder of boxes, opposite the folder of the pictures.
const FOLDER: &str = "labels";

/// Reads the text of every media.
pub fn read(reader: &mut Reader<'_>) {
    let mut names = ClassNames::default();
    for media in reader.files.media() {
        if let Some(sidecar) = reader.files.opposite(media, FOLDER, "txt")
            && let Some(text) = open(reader, sidecar)
        {
            tell_boxes(reader, media, sidecar, &text, &mut names);
        }
        let Some(sidecar) = reader.files.beside(media, "txt") else { continue };
        match open(reader, sidecar) {
            Some(text) if yolo::is_yolo(&text) => {
                tell_boxes(reader, media, sidecar, &text, &mut names);
            }
            Some(text) => {
                let caption = caption(&text.replace("\r\n", "\n"));
                reader.tell(media, Description { caption, ..Description::default() });
            }
            None => {}
        }
    }
}

fn open(reader: &mut Reader<'_>, sidecar: &Path) -> Option<String> {
    reader.used(sidecar);
    reader.text(sidecar, SMALL)
}

fn tell_boxes(
    reader: &mut Reader<'_>,
    media: &Path,
    sidecar: &Path,
    text: &str,
    names: &mut ClassNames,
) {
    let (description, faults) = yolo::parse(text, &names.of(reader, sidecar));
    reader.tell(media, description);
    if let Some(sentence) = faults.sentence() {
        reader.problem(sidecar, sentence);
    }
}

#[cfg(test)]
mod tests {
    use crate::ingest::sidecar::lab::{Place, told};

    #[test]
    fn m51_a_text_beside_a_picture_is_its_caption_unless_it_tells_boxes() {
        let place = Place::of(&["1.jpg", "2.JPG", "3.png", "4.jpg", "5.jpg", "6.jpg"]);
        for (path, text) in [
            ("1.txt", "\u{feff}A red boat,\r\nfar away.\r\n"),
            ("2.txt", "\n0 0.5 0.5 0.2 0.2\r\n\r\n1 0.5 0.5 0.2 0.2 0.99\n2 0 0 1 0 1 1\n"),
            ("3.txt", "0 0.5 0.5 0.2 0.2\nand 4 more"),
            ("4.txt", " \n"),
            ("5.txt", "1984"),
            ("readme.txt", "of no picture"),
        ] {
            place.put(path, text);
        }
        place.put("6.txt", b"caf\xe9");
        let expected = [
            told("1.jpg", "A red boat,\nfar away.", "", "", ""),
            told("2.JPG", "", "", "", "class 0 class 1 class 2"),
            told("3.png", "0 0.5 0.5 0.2 0.2\nand 4 more", "", "", ""),
            told("5.jpg", "1984", "", "", ""),
        ];
        assert_eq!(place.told(), expected);
        assert_eq!(place.problem("6.txt"), "it is not UTF-8");
        assert_eq!(place.read().sidecars.len(), 6);
    }

    #[test]
    fn m51_boxes_opposite_the_pictures_have_names_from_the_nearest_list() {
        let place = Place::of(&["images/train/1.jpg", "images/val/2.jpg", "own/images/3.jpg"]);
        let row = "1 0.5 0.5 0.2 0.2\n";
        for (path, text) in [
            ("data.yaml", "names: [person, dog]\n"),
            ("labels/train/1.txt", row),
            ("labels/val/2.txt", "7 0.5 0.5 0.2 0.2\nbroken\n0 5 5 1 1"),
            ("images/val/2.txt", "A caption as well."),
            ("own/labels/3.txt", row),
            ("own/labels/classes.txt", "cat\r\nbird\r\n"),
        ] {
            place.put(path, text);
        }
        let expected = [
            told("images/train/1.jpg", "", "", "", "dog"),
            told("images/val/2.jpg", "A caption as well.", "", "", "class 7"),
            told("own/images/3.jpg", "", "", "", "bird"),
        ];
        assert_eq!(place.told(), expected);
        let why = "line 2: it is no class and box in numbers; 1 more line";
        assert_eq!(place.problem("labels/val/2.txt"), why);
        assert_eq!(place.read().sidecars.len(), 6);
    }
}
