//! Copies pictures into an archive unchanged. The hash of what is copied decides whether a file is still the indexed
//! one, so that no other picture gets the caption and labels of the indexed one. Start here to see why a picture in an
//! archive is not named like its original, or why an archive has a dataset card.

use std::{
    collections::HashSet,
    io::{self, Read as _, Write},
};

use super::{IMAGES_PREFIX, MissingPictures, Zip, metadata::ArchiveContent};
use crate::task_error::TaskError;
use tessera_media::ingest::{SourceFile, is_source_failure};
use tessera_model::{
    ExportFormat::{self, Voc, WebDataset, Yolo, YoloPose, YoloSegment},
    archive_paths::{MAX_NAME_BYTES, safe_file_name},
    search_form,
};
use tessera_retrieval::stored_pictures::TASK_LIMIT;
use tessera_store::{
    export,
    media::{MediaRecord, frame_picture},
};
use zip::{
    CompressionMethod,
    write::{ExtendedFileOptions, FileOptions},
};

#[derive(Default)]
pub(super) struct WrittenPictures {
    pub missing: MissingPictures,
    /// Whether the name of a picture looks like the name of a split.
    pub name_a_split: bool,
}

/// Writes all pictures to `images/`.
pub(super) fn write_pictures(
    content: &ArchiveContent,
    zip: &mut Zip,
    mut report: impl FnMut(f64) -> Result<(), TaskError>,
) -> Result<WrittenPictures, TaskError> {
    let mut names = UniqueNames::of(content.export.spec.format);
    let mut written = WrittenPictures::default();
    let mut done = 0;
    export::for_each_entry(content.connection, content.export, content.groups, |entry| {
        let name = names.unique(&entry.media.file_name());
        if let Some(picture) = open_picture(content, &entry.media, &mut written.missing)? {
            write_picture(&entry.media, picture, &name, zip, &mut written.missing)?;
        }
        written.name_a_split |= names_a_split(&name);
        done += 1;
        report(progress(content, done))
    })?;
    Ok(written)
}

/// Returns the progress (0.0-1.0) after a number of pictures.
pub(super) fn progress(content: &ArchiveContent, done: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a progress, not a count")]
    let (done, all) = (done as f64, content.export.media_count.max(1) as f64);
    f64::min(done / all, 1.0)
}

/// The content of a picture.
enum Picture {
    Frame(Vec<u8>),
    File(Box<dyn SourceFile>),
}

/// Opens a picture. A picture that cannot be opened, or whose file has another size than the indexed one, is missing.
fn open_picture(
    content: &ArchiveContent,
    media: &MediaRecord,
    missing: &mut MissingPictures,
) -> Result<Option<Picture>, TaskError> {
    if media.frame.is_some() {
        if let Some(picture) = frame_picture(content.connection, media.row)? {
            match content.pictures.read(picture, TASK_LIMIT) {
                Ok(jpeg) => return Ok(Some(Picture::Frame(jpeg))),
                Err(cause) if is_source_failure(&cause) => return Err(TaskError::storage(&cause)),
                Err(_) => {}
            }
        }
        missing.unreadable.insert(media.row, media.clone());
        return Ok(None);
    }
    match content.folders.file(media) {
        Ok(file) if file.length().is_ok_and(|length| length != media.size) => {
            missing.changed.insert(media.row, media.clone());
            Ok(None)
        }
        Ok(file) => Ok(Some(Picture::File(file))),
        Err(cause) => {
            missing.folders.extend(content.folders.unopened(media));
            missing.add_unreadable(media, &cause)?;
            Ok(None)
        }
    }
}

/// Writes a picture to `images/`. The comment of its entry is the identifier of the media item, by which a program on
/// the same machine finds the original.
fn write_picture(
    media: &MediaRecord,
    picture: Picture,
    name: &str,
    zip: &mut Zip,
    missing: &mut MissingPictures,
) -> Result<(), TaskError> {
    // A picture is already compressed.
    let options = FileOptions::<ExtendedFileOptions>::default()
        .compression_method(CompressionMethod::Stored)
        .with_file_comment(media.id.to_string())
        .large_file(media.size > u64::from(u32::MAX / 2));
    zip.start_file(format!("{IMAGES_PREFIX}{name}"), options)?;
    if !copy_picture(picture, media, zip, missing)? {
        zip.abort_file()?;
    }
    Ok(())
}

/// Returns the bytes of a picture, or `None` if it is missing.
pub(super) fn read_picture(
    content: &ArchiveContent,
    media: &MediaRecord,
    missing: &mut MissingPictures,
) -> Result<Option<Vec<u8>>, TaskError> {
    let Some(picture) = open_picture(content, media, missing)? else { return Ok(None) };
    let mut bytes = Vec::new();
    Ok(copy_picture(picture, media, &mut bytes, missing)?.then_some(bytes))
}

/// Copies a picture. Returns whether it is complete, and otherwise adds it to the missing ones.
fn copy_picture(
    picture: Picture,
    media: &MediaRecord,
    out: &mut impl Write,
    missing: &mut MissingPictures,
) -> Result<bool, TaskError> {
    let copied = match picture {
        Picture::Frame(jpeg) => {
            out.write_all(&jpeg).map_err(TaskError::archive)?;
            Copied::Complete
        }
        // One byte more than the indexed size shows that the file is growing.
        Picture::File(file) => copy_indexed(&mut file.take(media.size + 1), media, out)?,
    };
    let is_complete = matches!(copied, Copied::Complete);
    missing.has_copied |= is_complete;
    match copied {
        Copied::Complete => {}
        Copied::Unreadable(cause) => missing.add_unreadable(media, &cause)?,
        Copied::Changed => drop(missing.changed.insert(media.row, media.clone())),
    }
    Ok(is_complete)
}

enum Copied {
    Complete,
    Unreadable(io::Error),
    /// The file is not the indexed one any more.
    Changed,
}

fn copy_indexed(
    file: &mut impl io::Read,
    media: &MediaRecord,
    out: &mut impl Write,
) -> Result<Copied, TaskError> {
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer) {
            Ok(0) if hasher.finalize() == media.content_hash => return Ok(Copied::Complete),
            Ok(0) => return Ok(Copied::Changed),
            Ok(length) => {
                hasher.update(&buffer[..length]);
                out.write_all(&buffer[..length]).map_err(TaskError::archive)?;
            }
            Err(cause) => return Ok(Copied::Unreadable(cause)),
        }
    }
}

/// Names inside `images/` that are safe to unpack anywhere, and that are unique even if case and Unicode normalization
/// are ignored. If each picture has a file of its own in the format, names are unique even without their extensions.
#[derive(Debug)]
pub(super) struct UniqueNames {
    used: HashSet<String>,
    format: ExportFormat,
}

impl UniqueNames {
    pub(super) fn of(format: ExportFormat) -> Self {
        Self { used: HashSet::new(), format }
    }

    /// Returns a unique name. The same calls in the same order return the same names.
    pub(super) fn unique(&mut self, file_name: &str) -> String {
        let safe = safe_file_name(file_name);
        let (stem, extension) = match safe.rsplit_once('.') {
            Some((stem, extension)) if !stem.is_empty() => (stem, format!(".{extension}")),
            _ => (safe.as_str(), String::new()),
        };
        // The members of a shard of WebDataset belong together up to their first dot.
        let in_shard = self.format == WebDataset;
        let stem = if in_shard { stem.replace('.', "_") } else { stem.to_owned() };
        let with_files = [Voc, WebDataset, Yolo, YoloPose, YoloSegment].contains(&self.format);
        let compared = |stem: &str| {
            let extension = if with_files { "" } else { &extension };
            search_form(&format!("{stem}{extension}"))
        };
        // The files beside a picture have its stem.
        let room = MAX_NAME_BYTES.saturating_sub(extension.len().max(".json".len()));
        let with_end = |end: &str| {
            let length = room.saturating_sub(end.len());
            let start = &stem[..stem.floor_char_boundary(length)];
            // Without an extension, a name that is cut off could end in a space.
            let start =
                if extension.is_empty() { start.trim_end_matches(['.', ' ']) } else { start };
            start.to_owned() + end
        };
        let mut unique = with_end("");
        let mut number = 2;
        while self.used.contains(&compared(&unique)) {
            unique = with_end(&format!("_{number}"));
            number += 1;
        }
        self.used.insert(compared(&unique));
        format!("{unique}{extension}")
    }
}

/// The words in file names by which the library `datasets` of Hugging Face divides a folder into splits.
const SPLIT_WORDS: [&str; 10] = [
    "train",
    "training",
    "validation",
    "valid",
    "dev",
    "val",
    "test",
    "testing",
    "eval",
    "evaluation",
];

/// Whether the library `datasets` of Hugging Face takes the name for the name of a split, as in `test_01.jpg`. From a
/// folder with such a name, the library loads only the files whose names contain a split, unless a dataset card says
/// otherwise.
pub(super) fn names_a_split(file_name: &str) -> bool {
    let is_separator = |c: char| c.is_ascii_digit() || "-._ ".contains(c);
    let words: Vec<&str> = file_name.split(is_separator).collect();
    // The last word has no separator behind it.
    words.split_last().is_some_and(|(_, words)| words.iter().any(|word| SPLIT_WORDS.contains(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_numbered_name_is_no_longer_than_file_systems_allow() {
        let mut names = UniqueNames::of(Yolo);
        let long = "ü".repeat(125) + ".jpg";
        let unique: Vec<String> = (0..12).map(|_| names.unique(&long)).collect();
        assert_eq!((&unique[0], unique[1].len()), (&long, 254));
        assert_eq!(unique[11], "ü".repeat(123) + "_12.jpg");
        assert_eq!(names.unique(&("n".repeat(251) + ".jpg")), "n".repeat(250) + ".jpg");
    }

    #[test]
    fn names_that_cannot_be_extracted_everywhere_are_changed() {
        let mut names = UniqueNames::of(ExportFormat::Csv);
        for (name, expected) in [
            ("aux.jpg", "_aux.jpg"),
            ("AUX.jpg", "_AUX_2.jpg"),
            ("pic.jpg ", "pic.jpg"),
            ("photo.", "photo"),
            ("caf\u{e9}.jpg", "caf\u{e9}.jpg"),
            ("cafe\u{301}.jpg", "cafe\u{301}_2.jpg"),
        ] {
            assert_eq!(names.unique(name), expected);
        }
        assert_eq!(names.unique(&("n".repeat(249) + " nnn")), "n".repeat(249));
    }

    #[test]
    fn names_with_the_word_of_a_split_are_recognized() {
        let splitting = ["test_01.jpg", "train.png", "my dev.jpg", "a-val-2.jpg", "x7eval8.png"];
        assert!(splitting.iter().all(|name| names_a_split(name)));
        let plain = ["Test_01.jpg", "latest.jpg", "trains.png", "a.train", "devil_1.jpg", ""];
        assert!(!plain.iter().any(|name| names_a_split(name)));
    }
}
