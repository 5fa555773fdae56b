//! Inspects the archive of an export: rows, columns, scores, and whether rows and pictures match.
//! Nothing is written to paths from the archive.

mod joined_rows;
mod metadata_json;
mod metadata_parquet;

use std::{
    collections::HashSet,
    fs::File,
    io::{BufReader, Read as _, Seek as _},
    path::Path,
};

use bytes::Bytes;
use zip::ZipArchive;

pub(crate) use joined_rows::write_joined_rows;

use crate::archive::{self, ArchiveEntry, IMAGES_PREFIX};
use tessera_model::{
    Failure, FailureKind, Inspection, PictureSource, SafeText, archive_path::safe_relative_path,
    inspection::NameSample,
};

const MAX_METADATA_BYTES: u64 = 2 << 30;
const MAX_PICTURE_BYTES: u64 = 64 << 20;
/// The two columns that the interface guarantees.
const SCORE_COLUMN: &str = "uniqueness_score";
const FILE_COLUMN: &str = "image_filename";

/// Receives the metadata row by row.
trait RowVisitor {
    fn visit_columns(&mut self, names: Vec<String>);
    /// Receives a row: its score and the name of its picture, if present.
    fn visit_row(&mut self, score: Option<f64>, file: Option<&str>);
}

/// Inspects an archive. Blocks on the disk.
///
/// # Errors The archive cannot be read, or does not contain exactly one metadata file.
pub fn inspect_archive(path: &Path) -> Result<Inspection, Failure> {
    let refuse = |reason: String| {
        Failure::new(FailureKind::Local, format!("{}: {reason}", path.display()))
            .with_remedy("Is it the archive of an export?")
    };
    let archive = File::open(path).map_err(|error| refuse(error.to_string()))?;
    let entries = ArchiveListing::read(archive).map_err(refuse)?;
    let mut count = InspectionBuilder::new(path, &entries);
    entries.metadata.visit_rows(&mut count).map_err(refuse)?;
    Ok(count.finish())
}

/// Returns the bytes of a picture in an archive. Blocks on the disk.
///
/// # Errors The entry does not exist or cannot be read.
pub fn read_entry(path: &Path, name: &str) -> Result<Bytes, Failure> {
    let refuse = |reason: String| {
        let place = format!("{} in {}", SafeText::file_name(name), path.display());
        Failure::new(FailureKind::Local, format!("{place}: {reason}"))
    };
    let file = File::open(path).map_err(|error| refuse(error.to_string()))?;
    let mut archive =
        ZipArchive::new(BufReader::new(file)).map_err(|error| refuse(error.to_string()))?;
    let entry = archive.by_name(name).map_err(|error| refuse(error.to_string()))?;
    let mut bytes = Vec::new();
    let read = entry.take(MAX_PICTURE_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| refuse(error.to_string()))?;
    if bytes.len() as u64 > MAX_PICTURE_BYTES {
        return Err(refuse(format!("larger than {} MiB", MAX_PICTURE_BYTES >> 20)));
    }
    Ok(bytes.into())
}

/// The entries of an archive.
struct ArchiveListing {
    metadata: MetadataFile,
    images: Vec<String>,
    refused: NameSample,
}

/// The only metadata file of an archive, copied to a temporary file because Parquet needs to seek.
struct MetadataFile {
    name: String,
    file: File,
}

impl ArchiveListing {
    fn read(archive: File) -> Result<Self, String> {
        let (mut found, mut images, mut refused) = (None, Vec::new(), NameSample::default());
        archive::for_each_entry(archive, |member| {
            if member.is_dir() {
                return Ok(());
            }
            let name = member.name.clone();
            if !member.is_plain() || safe_relative_path(&name).is_err() {
                refused.add(&name);
            } else if let Some(image) = name.strip_prefix(IMAGES_PREFIX) {
                images.push(image.to_owned());
            } else if has_extension(&name, ".parquet") || has_extension(&name, ".json") {
                if let Some(MetadataFile { name: other, .. }) = &found {
                    let (one, two) = (SafeText::file_name(other), SafeText::file_name(&name));
                    return Err(format!("more than one metadata file inside: {one}, {two}"));
                }
                found =
                    Some(MetadataFile::read(member).map_err(|why| prefix_file_name(&name, &why))?);
            }
            Ok(())
        })?;
        let metadata = found.ok_or("no metadata file (.parquet or .json) inside")?;
        Ok(Self { metadata, images, refused })
    }
}

impl MetadataFile {
    fn read(member: ArchiveEntry<'_>) -> Result<Self, String> {
        let name = member.name.clone();
        let mut file = tempfile::tempfile().map_err(|error| error.to_string())?;
        member.copy_to(&mut file, MAX_METADATA_BYTES).map_err(|trouble| trouble.to_string())?;
        file.rewind().map_err(|error| error.to_string())?;
        Ok(Self { name, file })
    }

    fn text(&mut self) -> Result<String, String> {
        let mut text = String::new();
        let read = self.file.read_to_string(&mut text);
        read.map(|_| text).map_err(|error| error.to_string())
    }

    /// Passes its rows to `out`, in order.
    fn visit_rows(mut self, out: &mut impl RowVisitor) -> Result<(), String> {
        let read = if has_extension(&self.name, ".json") {
            self.text().and_then(|text| metadata_json::read_rows(&text, out))
        } else {
            metadata_parquet::read_rows(self.file, out)
        };
        read.map_err(|why| prefix_file_name(&self.name, &why))
    }
}

fn prefix_file_name(name: &str, why: &str) -> String {
    format!("{}: {why}", SafeText::file_name(name))
}

/// Compares the extension, ignoring case. The interface document does not name the JSON file.
fn has_extension(name: &str, end: &str) -> bool {
    name.to_ascii_lowercase().ends_with(end)
}

/// Collects the result while rows are read.
struct InspectionBuilder {
    inspection: Inspection,
    images: HashSet<String>,
    referenced_images: HashSet<String>,
}

impl InspectionBuilder {
    fn new(path: &Path, entries: &ArchiveListing) -> Self {
        let source =
            |name: &String| PictureSource::Entry(path.into(), format!("{IMAGES_PREFIX}{name}"));
        Self {
            inspection: Inspection {
                path: path.to_owned(),
                bytes: path.metadata().map_or(0, |metadata| metadata.len()),
                metadata_file: SafeText::file_name(&entries.metadata.name),
                rows: 0,
                columns: Vec::new(),
                uniqueness: [0; Inspection::BINS],
                unscored: 0,
                images: entries.images.len() as u64,
                first_images: entries
                    .images
                    .iter()
                    .take(Inspection::MAX_NAMED)
                    .map(source)
                    .collect(),
                rows_without_file: NameSample::default(),
                files_without_row: NameSample::default(),
                unsafe_entries: entries.refused.clone(),
            },
            images: entries.images.iter().cloned().collect(),
            referenced_images: HashSet::new(),
        }
    }

    fn finish(mut self) -> Inspection {
        let mut unclaimed: Vec<&String> = self.images.difference(&self.referenced_images).collect();
        unclaimed.sort();
        for name in unclaimed {
            self.inspection.files_without_row.add(name);
        }
        self.inspection
    }
}

impl RowVisitor for InspectionBuilder {
    fn visit_columns(&mut self, names: Vec<String>) {
        self.inspection.columns = names.iter().map(|name| SafeText::name(name)).collect();
    }

    fn visit_row(&mut self, score: Option<f64>, file: Option<&str>) {
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
            self.referenced_images.insert(file.to_owned());
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
    fn rows_scores_and_pictures_are_counted() {
        let file = archive(&[
            ("Rows.JSON", ROWS),
            ("images/a.jpg", b"a"),
            ("images/b.jpg", b"b"),
            ("../evil.json", b"x"),
        ]);
        let found = inspect_archive(file.path()).unwrap();
        assert_eq!((found.metadata_file.as_str(), found.rows, found.images), ("Rows.JSON", 4, 2));
        let columns: Vec<_> = found.columns.iter().map(SafeText::as_str).collect();
        assert_eq!(columns, ["image_filename", "uniqueness_score", "extra"]);
        assert_eq!(found.uniqueness, [1, 0, 0, 0, 0, 1, 0, 0, 0, 1]);
        assert_eq!(found.unscored, 1);
        for (named, name) in [
            (&found.rows_without_file, "gone.jpg"),
            (&found.files_without_row, "b.jpg"),
            (&found.unsafe_entries, "../evil.json"),
        ] {
            assert_eq!((named.count, named.first[0].as_str()), (1, name));
        }
        let PictureSource::Entry(path, name) = &found.first_images[1] else { panic!() };
        assert_eq!(read_entry(path, name).unwrap(), "b");
        assert!(read_entry(path, "images/none").is_err());
    }

    #[test]
    fn what_is_missing_or_too_much_is_named() {
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
