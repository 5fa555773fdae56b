//! A look inside the archive of an export: rows, columns, scores, and whether rows and pictures
//! belong together. Nothing is unpacked to where a name in the archive says.

mod join;
mod json;
mod table;

use std::{
    collections::HashSet,
    fs::File,
    io::{BufReader, Read as _, Seek as _},
    path::Path,
};

use bytes::Bytes;
use zip::ZipArchive;

pub(crate) use join::joined;

use crate::archive::{self, IMAGES, Member};
use tessera_model::{
    Failure, FailureKind, Inspection, PictureSource, SafeText, inspection::Named, member::checked,
};

/// Most bytes of metadata that are read.
const MOST_METADATA: u64 = 2 << 30;
/// Most bytes of a picture.
const MOST_PICTURE: u64 = 64 << 20;
/// The two columns that the interface promises.
const SCORE: &str = "uniqueness_score";
const FILE: &str = "image_filename";

/// Takes in the metadata row by row.
trait Rows {
    /// The names of the columns, in their order.
    fn columns(&mut self, names: Vec<String>);
    /// One row: its score and the name of its picture, where it has them.
    fn row(&mut self, score: Option<f64>, file: Option<&str>);
}

/// Reads what an archive contains; waits for the disk.
///
/// # Errors
/// [`FailureKind::Local`]: it cannot be read, or contains no metadata, or more than one.
pub fn inspect_archive(path: &Path) -> Result<Inspection, Failure> {
    let refuse = |reason: String| {
        Failure::new(FailureKind::Local, format!("{}: {reason}", path.display()))
            .remedy("Is it the archive of an export?")
    };
    let archive = File::open(path).map_err(|error| refuse(error.to_string()))?;
    let entries = Entries::of(archive).map_err(refuse)?;
    let mut count = Count::new(path, &entries);
    entries.metadata.rows(&mut count).map_err(refuse)?;
    Ok(count.finish())
}

/// The bytes of a picture in an archive; waits for the disk.
///
/// # Errors
/// [`FailureKind::Local`]: there is no such entry, or it cannot be read.
pub fn entry_of(path: &Path, name: &str) -> Result<Bytes, Failure> {
    let refuse = |reason: String| {
        let place = format!("{} in {}", SafeText::file(name), path.display());
        Failure::new(FailureKind::Local, format!("{place}: {reason}"))
    };
    let file = File::open(path).map_err(|error| refuse(error.to_string()))?;
    let mut archive =
        ZipArchive::new(BufReader::new(file)).map_err(|error| refuse(error.to_string()))?;
    let entry = archive.by_name(name).map_err(|error| refuse(error.to_string()))?;
    let mut bytes = Vec::new();
    let read = entry.take(MOST_PICTURE + 1).read_to_end(&mut bytes);
    read.map_err(|error| refuse(error.to_string()))?;
    if bytes.len() as u64 > MOST_PICTURE {
        return Err(refuse(format!("larger than {} MiB", MOST_PICTURE >> 20)));
    }
    Ok(bytes.into())
}

/// What an archive holds.
struct Entries {
    metadata: Metadata,
    /// The pictures, by their names below `images/`.
    images: Vec<String>,
    refused: Named,
}

/// The one metadata file of an archive. Parquet has its directory at the end, so the file lies where
/// it can be searched.
struct Metadata {
    name: String,
    file: File,
}

impl Entries {
    fn of(archive: File) -> Result<Self, String> {
        let (mut found, mut images, mut refused) = (None, Vec::new(), Named::default());
        archive::walk(archive, |member| {
            if member.is_dir() {
                return Ok(());
            }
            let name = member.name.clone();
            if !member.is_plain() || checked(&name).is_err() {
                refused.add(&name);
            } else if let Some(image) = name.strip_prefix(IMAGES) {
                images.push(image.to_owned());
            } else if is(&name, ".parquet") || is(&name, ".json") {
                if let Some(Metadata { name: other, .. }) = &found {
                    let (one, two) = (SafeText::file(other), SafeText::file(&name));
                    return Err(format!("more than one metadata file inside: {one}, {two}"));
                }
                found = Some(Metadata::read(member).map_err(|why| in_file(&name, &why))?);
            }
            Ok(())
        })?;
        let metadata = found.ok_or("no metadata file (.parquet or .json) inside")?;
        Ok(Self { metadata, images, refused })
    }
}

impl Metadata {
    fn read(member: Member<'_>) -> Result<Self, String> {
        let name = member.name.clone();
        let mut file = tempfile::tempfile().map_err(|error| error.to_string())?;
        member.copy(&mut file, MOST_METADATA).map_err(|trouble| trouble.to_string())?;
        file.rewind().map_err(|error| error.to_string())?;
        Ok(Self { name, file })
    }

    fn text(&mut self) -> Result<String, String> {
        let mut text = String::new();
        let read = self.file.read_to_string(&mut text);
        read.map(|_| text).map_err(|error| error.to_string())
    }

    /// Gives its rows, one after the other.
    fn rows(mut self, out: &mut impl Rows) -> Result<(), String> {
        let read = if is(&self.name, ".json") {
            self.text().and_then(|text| json::read(&text, out))
        } else {
            table::read(self.file, out)
        };
        read.map_err(|why| in_file(&self.name, &why))
    }
}

fn in_file(name: &str, why: &str) -> String {
    format!("{}: {why}", SafeText::file(name))
}

/// Whether a name ends so, in any case. The JSON file has no name of its own in the document.
fn is(name: &str, end: &str) -> bool {
    name.to_ascii_lowercase().ends_with(end)
}

/// What is counted while the rows come.
struct Count {
    inspection: Inspection,
    images: HashSet<String>,
    seen: HashSet<String>,
}

impl Count {
    fn new(path: &Path, entries: &Entries) -> Self {
        let source = |name: &String| PictureSource::Entry(path.into(), format!("{IMAGES}{name}"));
        Self {
            inspection: Inspection {
                path: path.to_owned(),
                bytes: path.metadata().map_or(0, |metadata| metadata.len()),
                metadata: SafeText::file(&entries.metadata.name),
                rows: 0,
                columns: Vec::new(),
                uniqueness: [0; Inspection::BINS],
                unscored: 0,
                images: entries.images.len() as u64,
                first_images: entries.images.iter().take(Inspection::NAMED).map(source).collect(),
                rows_without_file: Named::default(),
                files_without_row: Named::default(),
                refused: entries.refused.clone(),
            },
            images: entries.images.iter().cloned().collect(),
            seen: HashSet::new(),
        }
    }

    fn finish(mut self) -> Inspection {
        let mut unclaimed: Vec<&String> = self.images.difference(&self.seen).collect();
        unclaimed.sort();
        for name in unclaimed {
            self.inspection.files_without_row.add(name);
        }
        self.inspection
    }
}

impl Rows for Count {
    fn columns(&mut self, names: Vec<String>) {
        self.inspection.columns = names.iter().map(|name| SafeText::name(name)).collect();
    }

    fn row(&mut self, score: Option<f64>, file: Option<&str>) {
        self.inspection.rows += 1;
        match score.filter(|score| (0.0..=1.0).contains(score)) {
            Some(score) => {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "from 0.0 to 10.0"
                )]
                let bin = (score * 10.0) as usize;
                self.inspection.uniqueness[bin.min(Inspection::BINS - 1)] += 1;
            }
            None => self.inspection.unscored += 1,
        }
        let Some(file) = file else { return };
        if self.images.contains(file) {
            self.seen.insert(file.to_owned());
        } else {
            self.inspection.rows_without_file.add(file);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use zip::{ZipWriter, write::SimpleFileOptions};

    use super::*;

    fn archive(entries: &[(&str, &[u8])]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut zip = ZipWriter::new(file.reopen().unwrap());
        for (name, bytes) in entries {
            zip.start_file(*name, SimpleFileOptions::default()).unwrap();
            zip.write_all(bytes).unwrap();
        }
        zip.finish().unwrap();
        file
    }

    const ROWS: &[u8] = br#"{"info": {"tags": ["x"]}, "media_items": [
        {"image_filename": "a.jpg", "uniqueness_score": 0.05, "extra": {"deep": [1]}},
        {"image_filename": "gone.jpg", "uniqueness_score": 1.0},
        {"image_filename": null, "uniqueness_score": "0.55"},
        {"uniqueness_score": null}]}"#;

    #[test]
    fn m25_rows_scores_and_pictures_are_counted() {
        let file = archive(&[
            ("Rows.JSON", ROWS),
            ("images/a.jpg", b"a"),
            ("images/b.jpg", b"b"),
            ("../evil.json", b"x"),
        ]);
        let found = inspect_archive(file.path()).unwrap();
        assert_eq!((found.metadata.as_str(), found.rows, found.images), ("Rows.JSON", 4, 2));
        let columns: Vec<_> = found.columns.iter().map(SafeText::as_str).collect();
        assert_eq!(columns, ["image_filename", "uniqueness_score", "extra"]);
        assert_eq!(found.uniqueness, [1, 0, 0, 0, 0, 1, 0, 0, 0, 1]);
        assert_eq!(found.unscored, 1);
        for (named, name) in [
            (&found.rows_without_file, "gone.jpg"),
            (&found.files_without_row, "b.jpg"),
            (&found.refused, "../evil.json"),
        ] {
            assert_eq!((named.count, named.first[0].as_str()), (1, name));
        }
        let PictureSource::Entry(path, name) = &found.first_images[1] else { panic!() };
        assert_eq!(entry_of(path, name).unwrap(), "b");
        assert!(entry_of(path, "images/none").is_err());
    }

    #[test]
    fn d14_what_is_missing_or_too_much_is_named() {
        for (entries, words) in [
            (vec![("images/a.jpg", &b"a"[..])], "no metadata"),
            (vec![("a.json", b"[]"), ("b.parquet", b"")], "more than one"),
            (vec![("a.json", b"{")], "a.json"),
            (vec![("a.json", b"{\"a\": 1}")], "no rows"),
            (vec![("metadata.parquet", b"PAR1")], "metadata.parquet"),
        ] {
            let failure = inspect_archive(archive(&entries).path()).unwrap_err();
            assert!(failure.to_string().contains(words), "{failure}");
        }
        assert!(inspect_archive(Path::new("/dev/null")).is_err());
    }
}
