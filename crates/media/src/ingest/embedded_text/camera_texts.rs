//! Recognizes the texts that cameras, phones and programs write into every picture in place of a description.

use tessera_model::FileKind;

/// Texts of devices and programs, in lower case and with spaces for `_` and `-`.
const TEXTS: [&str; 52] = [
    "applemark",
    "btf",
    "bty",
    "casio computer co.,ltd.",
    "cof",
    "cuva",
    "dav",
    "default",
    "digital camera",
    "digital image",
    "digital still camera",
    "edf",
    "exif jpeg picture",
    "fbt",
    "fptscl",
    "hdr",
    "hdrpl",
    "hellomoto",
    "image",
    "image description",
    "imagedescription",
    "jpeg",
    "konica minolta",
    "maps",
    "mde",
    "minolta co., ltd.",
    "minoltadsc",
    "mrh",
    "no description",
    "none",
    "nor",
    "null",
    "oznor",
    "oznorco",
    "photo",
    "picture",
    "ptr",
    "rbt",
    "rhdr",
    "samsung",
    "samsung camera pictures",
    "sdr",
    "sony dsc",
    "sss",
    "tof",
    "trim",
    "unknown",
    "untitled",
    "user comments",
    "vivo",
    "xiaomi",
    "yyg",
];
/// Beginnings of the texts of programs, in the same form.
const BEGINNINGS: [&str; 14] = [
    "ascii ",
    "creator: gd jpeg",
    "created with gimp",
    "created with the gimp",
    "exif jpeg",
    "file source: ",
    "file written by adobe photoshop",
    "handmade software",
    "intel(r) jpeg library",
    "lead technologies",
    "optimized by jpegmini",
    "processed by ebay",
    "processed with ",
    "xv version",
];
/// Ends of the names that cameras write.
const CAMERA_ENDS: [&str; 2] = ["digital camera", "still camera"];
/// The number of words in the longest of these names.
const CAMERA_WORDS: usize = 4;

/// Whether a text says nothing about what the picture shows.
pub(super) fn is_boilerplate(text: &str) -> bool {
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0' || c == '_');
    let lower = text.to_lowercase().replace(['_', '-'], " ");
    let words = lower.split_whitespace().count();
    let is_camera = words <= CAMERA_WORDS && CAMERA_ENDS.iter().any(|end| lower.ends_with(end));
    TEXTS.contains(&lower.as_str())
        || BEGINNINGS.iter().any(|beginning| lower.starts_with(beginning))
        || (is_camera && text.starts_with(char::is_uppercase))
        // The name of a device: `<Digimax S500 / Kenox S500>`.
        || (text.starts_with('<') && text.ends_with('>'))
        // The name of the file: `DCIM\100MEDIA\DJI_0042.JPG`.
        || (!text.contains(char::is_whitespace) && FileKind::from_name(text).is_media())
        // A number, a time, or nothing.
        || !text.contains(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_devices_and_programs_are_recognized() {
        for text in [
            "OLYMPUS DIGITAL CAMERA         ",
            "KONICA MINOLTA DIGITAL CAMERA",
            "KODAK Digital Still Camera",
            "SONY DSC",
            "SAMSUNG",
            "MinoltaDSC",
            "Exif_JPEG_PICTURE",
            "DCIM\\100MEDIA\\DJI_0042.JPG",
            "IMG_2024.jpg",
            "<KENOX S630  / Samsung S630>",
            "_cuva",
            "default",
            "Untitled",
            "AppleMark\n",
            "File written by Adobe Photoshop\u{a8} 4.0",
            "CREATOR: gd-jpeg v1.0 (using IJG JPEG v80), quality = 90",
            "2024:05:17 10:11:12",
            "\0\0",
            "",
        ] {
            assert!(is_boilerplate(text), "{text}");
        }
    }

    #[test]
    fn descriptions_are_kept() {
        for text in [
            "a blue truck",
            "Digital cameras in a shop window",
            "my digital camera",
            "A table with an old digital camera",
            "Photo of a boat",
            "Samsung building",
            "x < y and y > x",
            "猫",
        ] {
            assert!(!is_boilerplate(text), "{text}");
        }
    }
}
