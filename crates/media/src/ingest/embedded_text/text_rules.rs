//! Builds captions, labels and dates from the texts of a metadata block. Omits texts that cameras, phones and
//! programs write into every picture.

use std::fmt::Display;

use time::{OffsetDateTime, format_description::well_known::Rfc2822};

use crate::ingest::sidecar::push_caption;
use tessera_model::FileKind;

/// Texts of devices and programs, in lower case and with spaces for `_` and `-`. An asterisk stands for any end.
const BOILERPLATE_TEXTS: &str = include_str!("boilerplate_texts.txt");
/// Ends of the names that cameras write.
const CAMERA_ENDS: [&str; 3] = ["digital camera", "digital game camera", "still camera"];
/// The number of words in the longest of these names.
const CAMERA_WORDS: usize = 4;
/// Makers of cameras and phones, whose names begin a text such as `OLYMPUS OPTICAL CO.,LTD`, `SONY DSC-P8` or `oppo_0`.
const MAKERS: &str = "browning bushnell canon casio fujifilm gopro hp htc huawei jenoptik kodak konica leica minolta \
    motorola moultrie nikon nokia olympus oppo panasonic pentax polaroid reconyx ricoh samsung skypixel sony spypoint \
    vivo xiaomi yashica zte";
/// The last words of the names of makers.
const MAKER_ENDS: [&str; 7] =
    ["minolta", "dsc", "ericsson", "corporation", "co.,ltd", "co.,ltd.", "ltd."];

/// Whether a text says nothing about what the picture shows.
pub(super) fn is_boilerplate(text: &str) -> bool {
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0' || c == '_');
    let lower = text.to_lowercase().replace(['_', '-'], " ");
    let words = lower.split_whitespace().count();
    let is_camera = words <= CAMERA_WORDS && CAMERA_ENDS.iter().any(|end| lower.ends_with(end));
    let is_known = |known: &str| match known.strip_suffix('*') {
        Some(beginning) => lower.starts_with(beginning),
        None => lower == known,
    };
    BOILERPLATE_TEXTS.lines().any(is_known)
        || is_maker_name(text)
        || is_setting(text)
        || (is_camera && text.starts_with(char::is_uppercase))
        // The name of a device: `<Digimax S500 / Kenox S500>`.
        || (text.starts_with('<') && text.ends_with('>'))
        // Data of a program in JSON or XML.
        || (text.starts_with('{') && text.ends_with('}'))
        || text.starts_with("<?xml")
        // The name of the file: `DSC_0042`, or `DCIM\100MEDIA\DJI_0042.JPG`.
        || (!text.contains(char::is_whitespace)
            && (is_camera_name(&lower) || FileKind::from_name(text).is_media()))
        || lower.strip_prefix("untitled ").is_some_and(|rest| rest.parse::<u32>().is_ok())
        // A number, a time, or nothing. A symbol beyond ASCII is a text, such as an emoji.
        || (text.is_ascii() && !text.contains(char::is_alphabetic))
}

/// Whether a text is the name of a maker, with or without the name of a device. A text with words in lower case is a
/// description, as in `Olympus day 3`.
fn is_maker_name(text: &str) -> bool {
    let text = text.replace(['_', '-'], " ");
    let mut words = text.split_whitespace();
    let is_maker = |word: &str| MAKERS.split(' ').any(|known| word.eq_ignore_ascii_case(known));
    if !words.next().is_some_and(is_maker) {
        return false;
    }
    let words: Vec<&str> = words.collect();
    let has = |word: &str, is: fn(char) -> bool| word.contains(is);
    let is_device = |word: &&str| {
        has(word, |c| c.is_ascii_digit()) && (has(word, char::is_alphabetic) || word.len() <= 2)
    };
    let is_described =
        |word: &&str| has(word, char::is_lowercase) && !has(word, |c| c.is_ascii_digit());
    let last = words.last().map(|word| word.to_lowercase());
    let is_company = last.is_none_or(|word| MAKER_ENDS.contains(&&*word));
    let is_named = || words.iter().any(is_device) && !words.iter().any(is_described);
    words.len() < CAMERA_WORDS && (is_company || is_named())
}

/// Whether a text is a setting of a program: `MTI=0`, `captureOrientation:90` or `touch: (-1.0, -1.0)`.
fn is_setting(text: &str) -> bool {
    let Some((name, value)) = text.split_once(['=', ':']) else { return false };
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let is_of_program = text.contains('=')
        || (name.starts_with(char::is_lowercase) && name.contains(char::is_uppercase))
        || value.trim_start().starts_with('(');
    is_name && is_of_program && !value.contains(char::is_alphabetic)
}

/// The words with which cameras and phones begin the names of files.
const NAME_STARTS: [&str; 18] = [
    "burst", "cimg", "dcim", "dji", "dsc", "dscf", "dscn", "gopr", "img", "imgp", "mmexport",
    "mvi", "p", "photo", "pict", "pxl", "sam", "vid",
];

/// Whether a text is the name of a file without its extension, such as `img 20200101 120000` or `dsc01234`.
fn is_camera_name(lower: &str) -> bool {
    // The name of a folder: `DCIM100GOPRO` or `DCIM/100GOPRO`.
    let folder = lower.strip_prefix("dcim").map(|rest| rest.trim_start_matches(['/', '\\']));
    if folder.is_some_and(|folder| folder.starts_with(|c: char| c.is_ascii_digit())) {
        return true;
    }
    let digits = lower.trim_start_matches(|c: char| c.is_ascii_lowercase());
    let start = &lower[..lower.len() - digits.len()];
    let number = digits.chars().filter(char::is_ascii_digit).count();
    NAME_STARTS.contains(&start)
        && number >= 4
        && digits.chars().all(|c| c.is_ascii_digit() || c == ' ')
}

/// The texts of one block of metadata.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct BlockText {
    pub caption: Option<String>,
    pub keywords: Vec<String>,
    /// The labels of persons, and all metadata labels but those of a date.
    pub labels: Vec<String>,
    pub dates: Dates,
    /// The extension of the file that the block describes, if the block says so. Only XMP beside a picture does.
    pub described_extension: Option<String>,
}

/// The labels of the dates in a block, each of which is empty if it is unknown.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Dates {
    /// When the scene was photographed, or the drawing made.
    pub original: Vec<String>,
    /// When the file was made. A scan is made much later than its photograph.
    pub digitized: Vec<String>,
}

/// Returns the labels of the first text that contains a date.
pub(super) fn first_date(texts: impl IntoIterator<Item = String>) -> Vec<String> {
    let dates = texts.into_iter().map(|text| date_labels_of_text(&text));
    dates.into_iter().find(|labels| !labels.is_empty()).unwrap_or_default()
}

/// Joins a title and a description into one caption. Texts of cameras are omitted, and a title that the description
/// repeats.
pub(super) fn joined_caption(title: Option<String>, description: Option<String>) -> Option<String> {
    let mut caption = None;
    let says_something = |text: &String| !is_boilerplate(text);
    let description = description.filter(says_something).unwrap_or_default();
    let title = title.filter(says_something).filter(|title| !description.contains(title.trim()));
    let texts = [title.as_deref(), Some(&*description)];
    texts.into_iter().flatten().for_each(|text| push_caption(&mut caption, text));
    caption
}

/// The only kind of metadata label that may occur several times.
pub(super) const PERSON: &str = "person";

/// Returns a label such as `camera:NIKON D90`.
pub(super) fn metadata_label(kind: &str, value: impl Display) -> String {
    format!("{kind}:{value}")
}

/// Returns a label such as `rating:4`. A rating of 0 means no rating, and -1 means rejected.
pub(crate) fn rating_label(stars: f64) -> Option<String> {
    (1.0..=5.0).contains(&stars).then(|| metadata_label("rating", stars.round()))
}

/// Returns `year:2024` and `date:2024-05-17`, or nothing for a day that does not exist. Only the year is known if the
/// day is 0, as IPTC prescribes.
fn date_labels(year: u16, month: u8, day: u8) -> Vec<String> {
    // Cameras without a clock write zeros, and programs write the first day that they can represent.
    if year <= 1 {
        return Vec::new();
    }
    let year_label = || metadata_label("year", format_args!("{year:04}"));
    if month <= 12 && day == 0 {
        return vec![year_label()];
    }
    let month_name = time::Month::try_from(month).ok();
    let date =
        month_name.and_then(|month| time::Date::from_calendar_date(year.into(), month, day).ok());
    date.map_or_else(Vec::new, |date| vec![year_label(), metadata_label("date", date)])
}

/// Returns the labels of a date at the start of a text: `2024-05-17`, `2024:05:17` or `20240517`, of a date as in mails,
/// such as `Fri, 17 May 2024 10:11:12 +0000`, or the label of the year for the text `2024` or `2024-05`.
pub(super) fn date_labels_of_text(text: &str) -> Vec<String> {
    let text = text.trim();
    let digits: String = (text.chars().filter(|character| !matches!(character, '-' | ':')))
        .take_while(char::is_ascii_digit)
        .take(8)
        .collect();
    let digits = if matches!((digits.len(), text.len()), (4, 4) | (6, 7)) {
        // The month may be any number, because only the year is used.
        format!("{}0000", &digits[..4])
    } else {
        digits
    };
    let parts = (digits.get(..4), digits.get(4..6), digits.get(6..8));
    let (Some(year), Some(month), Some(day)) = parts else {
        let date = OffsetDateTime::parse(text, &Rfc2822).ok();
        let date = date.and_then(|it| Some((it.year().try_into().ok()?, it.month(), it.day())));
        return date
            .map_or_else(Vec::new, |(year, month, day)| date_labels(year, month.into(), day));
    };
    match (year.parse(), month.parse(), day.parse()) {
        (Ok(year), Ok(month), Ok(day)) => date_labels(year, month, day),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts of devices, programs, scanners, phones and trail cameras.
    const BOILERPLATE: &[&str] = &[
        "OLYMPUS DIGITAL CAMERA         ",
        "KODAK Digital Still Camera",
        "SONY DSC",
        "module: photo; hw-remosaic: false;",
        "Exported from Pixelmator",
        "rptnb",
        "MinoltaDSC",
        "Exif_JPEG_PICTURE",
        "DCIM\\100MEDIA\\DJI_0042.JPG",
        "IMG_2024.jpg",
        "<KENOX S630  / Samsung S630>",
        "IMG_20200101_120000",
        "{\"shape\": [120, 160]}",
        "ImageJ=1.11a\nimages=3",
        "<?xml version=\"1.0\"?><OME/>",
        "LEICA CAMERA AG",
        "_cuva",
        "sdr_HDRB",
        "charset=Ascii",
        "Jenoptik",
        "default",
        "Untitled",
        "AppleMark\n",
        "File written by Adobe Photoshop\u{a8} 4.0",
        "CREATOR: gd-jpeg v1.0 (using IJG JPEG v80), quality = 90",
        "2024:05:17 10:11:12",
        "\0\0",
        "",
        "DCIM100GOPRO",
        "OLYMPUS OPTICAL CO.,LTD",
        "OLYMPUS CORPORATION",
        "CASIO COMPUTER CO.,LTD",
        "Minolta Co., Ltd.",
        "SONY DSC-P8",
        "HP pstc4380",
        "Polaroid",
        "LEADTOOLS v20.0",
        "ACD Systems Digital Imaging",
        "Adobe Photoshop",
        "Kodak CLAS Digital Film Scanner / HR200",
        "oppo_0",
        "Untitled-1",
        "x-default",
        "MTI=0",
        "captureOrientation:90",
        "touch: (-1.0, -1.0)",
        "QuickTime 7.6",
        "Processed by ON1",
        "Lavc58.91.100",
        "Aperio Image Library v11.2.1 \r\n46000x32914 [0,100 46000x32814] |AppMag = 20",
        "IMAGINE TIFF Support\nCopyright 1991 - 1999 by ERDAS, Inc. All Rights Reserved",
        "Created with darktable 4.6.1",
        "Exported by Picasa",
        "EPSON DSC picture",
        "CASIO COMPUTER",
        "DCIM/100GOPRO",
        "PENTAX Image",
        "mmexport1234567890",
        "BURST20200101",
        "Lavf58.29.100",
        "Created by Imlib",
        "iClarified",
        "Scanner",
        "oznorWO",
        "frontbhdp",
        "btr",
        "mon",
        "mde_soft",
        "btfmdn",
        "btfhdr",
        "frem",
        "rpt",
        "fshbty",
        "DVC 10.1 HDMI",
        "Acer_DSC",
        "Digital StillCamera",
        "hdr_auto",
        "charset=Unicode",
        "MOULTRIE DIGITAL GAME CAMERA",
        "RECONYX",
        "BUSHNELL",
        "STEALTH CAM",
        "BROWNING CAMERA",
        "SPYPOINT",
        "RECONYX HYPERFIRE 2",
    ];

    #[test]
    fn texts_of_devices_and_programs_are_recognized() {
        for text in BOILERPLATE {
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
            "Photo 12",
            "Photo 2019",
            "Sam 2019",
            "p 1",
            "My Nokia on a desk",
            "Samsung building",
            "Nokia 3310",
            "Olympus day 3",
            "Samsung store 12",
            "Polaroid of Anna 2",
            "Sony Walkman WM-2",
            "\u{1f600}",
            "A Kodak in a drawer",
            "Sony booth at a fair in 2019",
            "Moultrie, Georgia",
            "Monday",
            "A scanner",
            "Room 12: (left)",
            "Chapter: 5",
            "E = mc2",
            "Untitled film still",
            "x < y and y > x",
            "猫",
        ] {
            assert!(!is_boilerplate(text), "{text}");
        }
    }
}
