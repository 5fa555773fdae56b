//! Reads Exif: a description, and labels for what the camera recorded, such as its model, the exposure and the place.

use tessera_picture::{TiffDirectory, TiffStructure};

use super::text_rules::{BlockText, Dates, first_date, joined_caption, metadata_label};
use crate::ingest::text_encoding::decode_padded_text;

// Tags of Exif 2.32, in IFD0, the Exif IFD and the GPS IFD.
const IMAGE_DESCRIPTION: u16 = 0x010E;
const MAKE: u16 = 0x010F;
const MODEL: u16 = 0x0110;
const SOFTWARE: u16 = 0x0131;
const DATE_TIME: u16 = 0x0132;
const EXIF_DIRECTORY: u16 = 0x8769;
const GPS_DIRECTORY: u16 = 0x8825;
const EXPOSURE_TIME: u16 = 0x829A;
const F_NUMBER: u16 = 0x829D;
const PHOTOGRAPHIC_SENSITIVITY: u16 = 0x8827;
const SENSITIVITY_TYPE: u16 = 0x8830;
// The sensitivities of 32 bits that a sensitivity type can name.
const STANDARD_OUTPUT_SENSITIVITY: u16 = 0x8831;
const RECOMMENDED_EXPOSURE_INDEX: u16 = 0x8832;
const ISO_SPEED: u16 = 0x8833;
const DATE_TIME_ORIGINAL: u16 = 0x9003;
const DATE_TIME_DIGITIZED: u16 = 0x9004;
const FOCAL_LENGTH: u16 = 0x920A;
const LENS_MODEL: u16 = 0xA434;
const GPS_LATITUDE_REF: u16 = 1;
const GPS_LATITUDE: u16 = 2;
const GPS_LONGITUDE_REF: u16 = 3;
const GPS_LONGITUDE: u16 = 4;

pub(crate) fn read_exif(bytes: &[u8]) -> BlockText {
    let Some((structure, first)) = TiffStructure::open(bytes) else { return BlockText::default() };
    let fields = |directories| Fields { structure: &structure, directories };
    let picture = fields(vec![first]);
    let mut labels = Vec::new();
    let mut add = |kind, value: Option<String>| {
        labels.extend(value.map(|value| metadata_label(kind, value)));
    };
    add("camera", camera(&picture));
    // Some programs write fields of the Exif directory into the first one.
    let exif = structure.subdirectory(first, EXIF_DIRECTORY);
    let taken = fields(exif.into_iter().chain([first]).collect());
    add("lens", taken.name(LENS_MODEL).filter(|lens| !has_only_zeros(lens)));
    add("exposure", taken.number(EXPOSURE_TIME).and_then(exposure));
    add("aperture", taken.number(F_NUMBER).and_then(aperture));
    add("iso", iso(&taken));
    let focal_length = taken.number(FOCAL_LENGTH).map(rounded).filter(|it| *it > 0.0);
    add("focal-length", focal_length.map(|length| format!("{length} mm")));
    let gps = structure.subdirectory(first, GPS_DIRECTORY).map(|gps| fields(vec![gps]));
    add("gps", gps.and_then(|gps| position(&gps)));
    let digitized = taken.text(DATE_TIME_DIGITIZED).into_iter().chain(picture.text(DATE_TIME));
    let dates = Dates {
        original: first_date(taken.text(DATE_TIME_ORIGINAL)),
        digitized: first_date(digitized),
    };
    // Some cameras and programs write their name.
    let [make, model, software] = [MAKE, MODEL, SOFTWARE].map(|tag| picture.text(tag));
    let whole = make.as_ref().zip(model.as_ref()).map(|(make, model)| format!("{make} {model}"));
    let names = [make, model, software, whole];
    let is_written =
        |text: &String| !names.iter().flatten().any(|name| name.eq_ignore_ascii_case(text));
    BlockText {
        caption: joined_caption(None, picture.text(IMAGE_DESCRIPTION).filter(is_written)),
        keywords: Vec::new(),
        labels,
        dates,
        ..BlockText::default()
    }
}

/// Reads the position in a GPS directory that is a structure of its own.
pub(crate) fn read_gps(bytes: &[u8]) -> BlockText {
    let gps = TiffStructure::open(bytes);
    let label = gps.and_then(|(structure, directory)| {
        position(&Fields { structure: &structure, directories: vec![directory] })
    });
    let labels = label.map(|position| metadata_label("gps", position)).into_iter().collect();
    BlockText { labels, ..BlockText::default() }
}

/// The fields of the first of these directories that has them.
struct Fields<'a> {
    structure: &'a TiffStructure<'a>,
    directories: Vec<TiffDirectory<'a>>,
}

impl<'a> Fields<'a> {
    fn find<T>(&self, read: impl FnMut(TiffDirectory<'a>) -> Option<T>) -> Option<T> {
        self.directories.iter().copied().find_map(read)
    }

    /// Returns a trimmed text, or `None` if it is blank.
    fn text(&self, tag: u16) -> Option<String> {
        let text = self.find(|directory| self.structure.text(directory, tag))?;
        let text = decode_padded_text(text);
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// Returns the name of a device, or `None` if the text says that it is unknown.
    fn name(&self, tag: u16) -> Option<String> {
        self.text(tag).filter(|text| {
            let word = text.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
            !UNKNOWN_NAMES.contains(&&*word)
        })
    }

    /// Returns a whole number, or `None` if it is not positive or unknown.
    fn integer(&self, tag: u16) -> Option<String> {
        let number = self.find(|directory| self.structure.integer(directory, tag))?;
        (1..u32::MAX).contains(&number).then(|| number.to_string())
    }

    /// Returns a number, or `None` if it is not positive or unknown.
    fn number(&self, tag: u16) -> Option<f64> {
        let number = self.numbers(tag, 1)?[0];
        (number > 0.0 && number < UNKNOWN_NUMBER).then_some(number)
    }

    /// Returns at least one and at most `limit` numbers.
    fn numbers(&self, tag: u16, limit: usize) -> Option<Vec<f64>> {
        let read = |directory| self.structure.numbers(directory, tag, limit);
        self.find(|directory| Some(read(directory)).filter(|numbers| !numbers.is_empty()))
    }
}

/// What cameras and lenses without contacts write for a name, in lower case and without signs around it.
const UNKNOWN_NAMES: [&str; 8] =
    ["", "65535", "4294967295", "n/a", "none", "null", "undefined", "unknown"];
/// The largest number of 16 bits, which stands for an unknown exposure, aperture or focal length.
const UNKNOWN_NUMBER: f64 = 65_535.0;

/// Whether a text contains numbers, all of which are zero, as in the name `0.0 mm f/0.0` of an unknown lens.
fn has_only_zeros(text: &str) -> bool {
    let mut digits = text.chars().filter(char::is_ascii_digit).peekable();
    digits.peek().is_some() && digits.all(|digit| digit == '0')
}

/// Returns the sensitivity. The usual field has 16 bits, and its highest value means that another field has the number.
fn iso(fields: &Fields) -> Option<String> {
    let usual = fields.integer(PHOTOGRAPHIC_SENSITIVITY)?;
    match fields.integer(SENSITIVITY_TYPE).as_deref() {
        _ if usual != u16::MAX.to_string() => Some(usual),
        Some("1") => fields.integer(STANDARD_OUTPUT_SENSITIVITY),
        Some("2" | "4") => fields.integer(RECOMMENDED_EXPOSURE_INDEX),
        _ => fields.integer(ISO_SPEED),
    }
}

/// Rounds a number to one decimal.
fn rounded(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

/// Returns the model of the camera. The maker precedes it, unless both begin with the same word.
fn camera(fields: &Fields) -> Option<String> {
    let model = fields.name(MODEL)?;
    let first_word = |text: &str| text.split_whitespace().next().map(str::to_lowercase);
    match fields.name(MAKE) {
        Some(make) if first_word(&make) != first_word(&model) => Some(format!("{make} {model}")),
        _ => Some(model),
    }
}

/// Formats an aperture as `f/2.8`, or as `f/0.95` with the second decimal that only the fastest lenses need.
fn aperture(number: f64) -> Option<String> {
    let number = if number < 1.0 { (number * 100.0).round() / 100.0 } else { rounded(number) };
    (number > 0.0).then(|| format!("f/{number}"))
}

/// Formats a time as `1/250 s`, or as `2.5 s` from 0.3 seconds on.
fn exposure(seconds: f64) -> Option<String> {
    if seconds >= 0.3 {
        return Some(format!("{} s", rounded(seconds)));
    }
    let fraction = (1.0 / seconds).round();
    (fraction < 1e6).then(|| format!("1/{fraction} s"))
}

/// Formats latitude and longitude in tenths of a degree (about 11 km), so that pictures of one place have the same
/// label.
fn position(fields: &Fields) -> Option<String> {
    let latitude = degrees(fields, GPS_LATITUDE, &SOUTH, 90.0)?;
    let longitude = degrees(fields, GPS_LONGITUDE, &WEST, 180.0)?;
    // Programs write zeros for a position that they do not know.
    let is_known = (latitude, longitude) != (0.0, 0.0);
    // Adding zero turns -0.0 into 0.0.
    let [latitude, longitude] = [latitude, longitude].map(|degrees| rounded(degrees) + 0.0);
    is_known.then(|| format!("{latitude:.1},{longitude:.1}"))
}

/// A direction whose degrees are negative, and the field that contains the direction.
struct NegativeDirection {
    field: u16,
    /// The letter in both cases. Some programs write a word, which begins with the letter.
    letter: [char; 2],
}

const SOUTH: NegativeDirection = NegativeDirection { field: GPS_LATITUDE_REF, letter: ['S', 's'] };
const WEST: NegativeDirection = NegativeDirection { field: GPS_LONGITUDE_REF, letter: ['W', 'w'] };

/// Reads degrees from up to three numbers. Returns `None` if the degrees exceed the limit. Cameras that write minutes
/// with decimals write no seconds, or zero divided by zero.
fn degrees(fields: &Fields, tag: u16, negative: &NegativeDirection, limit: f64) -> Option<f64> {
    let numbers = fields.numbers(tag, 3)?;
    let part = |index| numbers.get(index).copied().filter(|part: &f64| !part.is_nan());
    let degrees = numbers[0] + part(1).unwrap_or(0.0) / 60.0 + part(2).unwrap_or(0.0) / 3600.0;
    let is_negative = fields.text(negative.field)?.starts_with(negative.letter);
    (0.0..=limit).contains(&degrees).then_some(if is_negative { -degrees } else { degrees })
}
