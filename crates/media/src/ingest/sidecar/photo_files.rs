//! Reads the files that photo programs keep beside a picture: XMP of editors, and JSON of Google Takeout.

use std::{
    collections::{HashMap, HashSet},
    path::PathBuf,
};

use serde::Deserialize;

use super::prelude::*;
use super::{
    annotation_files::unread, file_index::FileIndex, sidecar_reader::MAX_PER_IMAGE_SIDECAR_BYTES,
};
use crate::ingest::embedded_text::{
    self, EmbeddedText, XmpFile, caption_of_photo, labels_of_photo,
};

pub(crate) fn read_xmp(reader: &mut SidecarReader<'_>) {
    let mut sidecars = unread(reader, "xmp");
    // With `a.jpg.xmp`, `a.xmp` belongs to another picture, such as the raw file beside it.
    sidecars.sort_by_key(|sidecar| !reader.files.is_media(&sidecar.with_extension("")));
    let mut described = HashSet::new();
    for sidecar in sidecars {
        let mut pictures = reader.files.pictures_beside(sidecar);
        if pictures.is_empty() {
            continue;
        }
        reader.mark_used(sidecar);
        let text = reader.read_text(sidecar, MAX_PER_IMAGE_SIDECAR_BYTES);
        match text.map(|text| embedded_text::read_xmp_file(&text)) {
            Some(Ok(XmpFile { text: EmbeddedText { caption, labels }, described_extension })) => {
                if let Some(extension) = described_extension {
                    pictures.retain(|picture| is_described(picture, sidecar, &extension));
                    if pictures.is_empty() {
                        reader.report_problem(sidecar, other_file(&extension));
                    }
                }
                pictures.retain(|picture| described.insert(*picture));
                let description = MediaDescription { caption, labels, ..Default::default() };
                for media in pictures {
                    reader.add_description(media, sidecar, description.clone());
                }
            }
            Some(Err(why)) => reader.report_problem(sidecar, why),
            None => {}
        }
    }
}

/// Whether an XMP file that states an extension describes a picture beside it. If the XMP file has the whole name of the
/// picture, the extension may be that of the original from which the picture was made.
fn is_described(picture: &Path, sidecar: &Path, extension: &str) -> bool {
    picture == sidecar.with_extension("")
        || picture.extension().is_some_and(|own| own.eq_ignore_ascii_case(extension))
}

fn other_file(extension: &str) -> String {
    format!(
        "it describes a {extension} file, which is not beside it; to use it for another file, name it like `a.jpg.xmp`"
    )
}

/// What Google Photos knows about a picture.
#[derive(Deserialize)]
struct TakeoutDocument {
    description: Option<String>,
    #[serde(rename = "photoTakenTime")]
    taken: TakeoutTime,
    people: Option<Vec<TakeoutPerson>>,
}

#[derive(Deserialize)]
struct TakeoutTime {
    /// Seconds since 1970.
    timestamp: String,
}

#[derive(Deserialize)]
struct TakeoutPerson {
    name: Option<String>,
}

pub(crate) fn read_takeout(reader: &mut SidecarReader<'_>) {
    let names = TakeoutNames::new(&reader.files);
    for sidecar in reader.files.all() {
        let pictures = names.pictures_of(&reader.files, sidecar);
        if pictures.is_empty() {
            continue;
        }
        let Some(text) = reader.read_text(sidecar, MAX_PER_IMAGE_SIDECAR_BYTES) else { continue };
        let Some(document) = documents::parse_object::<TakeoutDocument>(&text) else { continue };
        reader.mark_used(sidecar);
        let description = describe(document);
        for media in pictures {
            reader.add_description(media, sidecar, description.clone());
        }
    }
}

fn describe(document: TakeoutDocument) -> MediaDescription {
    let caption = caption_of_photo(document.description);
    let mut description = MediaDescription { caption, ..MediaDescription::default() };
    let persons = document.people.iter().flatten();
    let persons: Vec<&str> = persons.filter_map(|person| person.name.as_deref()).collect();
    for label in labels_of_photo(&persons, document.taken.timestamp.parse().ok()) {
        push_name(&mut description.labels, &label);
    }
    description
}

/// What follows the name of the picture in the name of a document, possibly cut off.
const SUPPLEMENT: &str = "supplemental-metadata";
/// Ends of the names of pictures that were edited, in several languages. Their document is the one of the original.
const EDITED: [&str; 8] = [
    "-edited",
    "-bearbeitet",
    "-bewerkt",
    "-editado",
    "-edytowane",
    "-modifié",
    "-modificato",
    "-編集済み",
];
/// The length at which Google cuts off the name of a document, without its extension.
const MAX_CHARS: usize = 46;

/// The media files whose documents have a name that was cut off, by the beginning of their path.
pub(crate) struct TakeoutNames<'a>(HashMap<PathBuf, Vec<&'a Path>>);

impl<'a> TakeoutNames<'a> {
    pub(crate) fn new(files: &FileIndex<'a>) -> Self {
        let mut by_start = HashMap::<_, Vec<_>>::new();
        for media in files.media() {
            let name = media.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if let Some((end, _)) = name.char_indices().nth(MAX_CHARS) {
                by_start.entry(media.with_file_name(&name[..end])).or_default().push(media);
            }
        }
        Self(by_start)
    }

    /// Returns the media file of a document and the edited copies of this file.
    pub(crate) fn pictures_of(&self, files: &FileIndex<'a>, sidecar: &Path) -> Vec<&'a Path> {
        let Some(media) = self.media_of(files, sidecar) else { return Vec::new() };
        let edited = EDITED.map(|end| files.get(&with_suffix(media, end)));
        edited.into_iter().flatten().chain([media]).collect()
    }

    /// Returns the media file of a document: `a.jpg` for `a.jpg.json` and `a.jpg.supplemental-metadata.json`, and
    /// `a(1).jpg` for `a.jpg(1).json`.
    fn media_of(&self, files: &FileIndex<'a>, sidecar: &Path) -> Option<&'a Path> {
        let name = sidecar.file_name()?.to_str()?.strip_suffix(".json")?;
        let (name, number) = split_number(name);
        let shorter = name.rsplit_once('.').filter(|(_, end)| SUPPLEMENT.starts_with(end));
        let names = [Some(name), shorter.map(|(name, _)| name)];
        let media = names.into_iter().flatten().find_map(|name| {
            let media = with_suffix(&sidecar.with_file_name(name), number);
            // The original of an edited picture may be elsewhere.
            let edited = EDITED.iter().map(|end| with_suffix(&media, end));
            let mut names = [media.clone()].into_iter().chain(edited);
            names.find_map(|name| files.get(&name)).filter(|it| files.is_media(it))
        });
        media.or_else(|| self.only_media(&sidecar.with_file_name(name), number))
    }

    /// Returns the media file whose path begins with `start` and that has a number. Returns `None` if there are
    /// several, because the document could be the one of another picture.
    fn only_media(&self, start: &Path, number: &str) -> Option<&'a Path> {
        let number_of = |media: &Path| {
            let stem = media.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            split_number(stem).1 == number
        };
        let mut media = self.0.get(start)?.iter().filter(|media| number_of(media));
        media.next().filter(|_| media.next().is_none()).copied()
    }
}

/// Splits a name into the name of the original and the number of a copy: `a` and `(1)` for `a(1)`.
fn split_number(name: &str) -> (&str, &str) {
    match name.rfind('(').filter(|_| name.ends_with(')')) {
        Some(at) if name[at + 1..name.len() - 1].parse::<u32>().is_ok() => name.split_at(at),
        _ => (name, ""),
    }
}

/// Returns a path with a suffix before its extension.
fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().map(|end| format!(".{}", end.to_string_lossy()));
    path.with_file_name(format!("{stem}{suffix}{}", extension.unwrap_or_default()))
}
