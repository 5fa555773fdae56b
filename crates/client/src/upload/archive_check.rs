//! Checks an archive before it is sent: its format and how many media items it contains. Only names
//! are read, and the unpacked size is bounded.

use std::{
    fs::{self, File},
    io::{self, BufReader, Read},
    path::Path,
};

use flate2::bufread::MultiGzDecoder;
use zip::ZipArchive;

use super::local_files::{FileFingerprint, UploadFile};
use tessera_model::{SafeText, ingest::TGZ_SUFFIX};

/// Unpacked bytes of a tar archive that are searched for names.
const MAX_TAR_BYTES: u64 = 2 << 30;
const MEDIA_EXTENSIONS: [&str; 14] = [
    "jpg", "jpeg", "png", "webp", "gif", "bmp", "tif", "tiff", "mp4", "mov", "mkv", "webm", "avi",
    "m4v",
];
const IMAGE_EXTENSIONS: usize = 8;

pub(super) struct ArchiveCheck {
    pub file: UploadFile,
    pub images: u64,
    pub videos: u64,
    pub others: u64,
    pub warnings: Vec<SafeText>,
}

#[derive(Default)]
struct EntryCounts {
    images: u64,
    videos: u64,
    others: u64,
    /// Whether the archive contains nothing, not even a folder.
    is_empty: bool,
    encrypted: bool,
    /// Whether the end was not reached.
    is_truncated: bool,
}

/// Checks an archive.
///
/// # Errors Why a service could not open it.
pub(super) fn check_archive(path: &Path) -> Result<ArchiveCheck, String> {
    let metadata = fs::metadata(path).map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("not a regular file".to_owned());
    }
    if metadata.len() == 0 {
        return Err("an empty file".to_owned());
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let file = File::open(path).map_err(|error| error.to_string())?;
    let (_, end) = name.rsplit_once('.').unwrap_or_default();
    let (kind, count) = match end {
        "zip" => (".zip", count_zip_entries(file)?),
        "tar" => (".tar", count_tar_entries(BufReader::new(file))?),
        "tgz" => (TGZ_SUFFIX, count_tar_entries(MultiGzDecoder::new(BufReader::new(file)))?),
        _ => (".tar.gz", count_tar_entries(MultiGzDecoder::new(BufReader::new(file)))?),
    };
    if count.encrypted {
        return Err("it is encrypted; the service could not open it".to_owned());
    }
    if count.is_empty {
        return Err("there is nothing inside".to_owned());
    }
    let mut warnings = Vec::new();
    if kind == TGZ_SUFFIX {
        warnings.push(".tgz is not among the archives of the interface: .tar.gz is safer");
    }
    if count.images + count.videos == 0 {
        warnings.push("no image or video was found inside");
    }
    if count.is_truncated {
        warnings.push("too large to be counted whole: there is more inside");
    }
    Ok(ArchiveCheck {
        file: UploadFile {
            path: path.to_owned(),
            name: format!("media{kind}"),
            fingerprint: FileFingerprint::of(&metadata),
        },
        images: count.images,
        videos: count.videos,
        others: count.others,
        warnings: warnings.into_iter().map(SafeText::detail).collect(),
    })
}

impl EntryCounts {
    fn add(&mut self, name: &str) {
        let extension = name.rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase());
        let place = MEDIA_EXTENSIONS.iter().position(|known| extension.as_deref() == Some(*known));
        match place {
            Some(place) if place < IMAGE_EXTENSIONS => self.images += 1,
            Some(_) => self.videos += 1,
            None => self.others += 1,
        }
    }
}

fn count_zip_entries(file: File) -> Result<EntryCounts, String> {
    let mut archive = ZipArchive::new(BufReader::new(file))
        .map_err(|error| format!("no ZIP archive: {error}"))?;
    let mut count = EntryCounts { is_empty: archive.is_empty(), ..EntryCounts::default() };
    for index in 0..archive.len() {
        let entry = archive.by_index_raw(index).map_err(|error| format!("damaged: {error}"))?;
        count.encrypted |= entry.encrypted();
        if entry.is_file() {
            count.add(&String::from_utf8_lossy(entry.name_raw()));
        }
    }
    Ok(count)
}

fn count_tar_entries(content: impl Read) -> Result<EntryCounts, String> {
    let damaged = |error: io::Error| format!("no tar archive, or a damaged one: {error}");
    let mut archive = tar::Archive::new(content.take(MAX_TAR_BYTES));
    let mut count = EntryCounts { is_empty: true, ..EntryCounts::default() };
    let mut broken = None;
    for entry in archive.entries().map_err(damaged)? {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                broken = Some(error);
                break;
            }
        };
        count.is_empty = false;
        if entry.header().entry_type().is_file() {
            count.add(&String::from_utf8_lossy(&entry.path_bytes()));
        }
    }
    // At the limit, an intact archive looks truncated.
    count.is_truncated = archive.into_inner().limit() == 0;
    match broken {
        Some(error) if !count.is_truncated => Err(damaged(error)),
        _ => Ok(count),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use zip::{ZipWriter, write::SimpleFileOptions};

    use super::*;

    fn tarball() -> Vec<u8> {
        let mut tar = tar::Builder::new(Vec::new());
        for name in ["a.JPG", "b/c.mp4", "readme"] {
            let mut header = tar::Header::new_gnu();
            header.set_size(3);
            header.set_cksum();
            tar.append_data(&mut header, name, &b"abc"[..]).unwrap();
        }
        tar.into_inner().unwrap()
    }

    fn gz(bytes: &[u8]) -> Vec<u8> {
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(bytes).unwrap();
        gz.finish().unwrap()
    }

    fn zipped_with(name: &str) -> Vec<u8> {
        let mut zip = ZipWriter::new(io::Cursor::new(Vec::new()));
        zip.start_file(name, SimpleFileOptions::default()).unwrap();
        zip.write_all(b"abc").unwrap();
        zip.finish().unwrap().into_inner()
    }

    #[test]
    fn archives_are_opened_before_a_byte_is_sent() {
        let folder = tempfile::tempdir().unwrap();
        let look_at = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            fs::write(&path, bytes).unwrap();
            check_archive(&path)
        };
        for (name, bytes) in [("x.tar", tarball()), ("x.tar.gz", gz(&tarball()))] {
            let packed = look_at(name, &bytes).unwrap_or_else(|reason| panic!("{name}: {reason}"));
            assert_eq!((packed.images, packed.videos, packed.others), (1, 1, 1), "{name}");
            assert!(packed.warnings.is_empty());
        }
        let short = look_at("x.TGZ", &gz(&tarball())).ok().unwrap();
        assert!(short.warnings[0].as_str().contains(".tgz") && short.file.name == "media.tgz");
        let none = look_at("x.zip", &zipped_with("a.txt")).ok().unwrap();
        assert!(none.warnings[0].as_str().contains("no image"));
        assert_eq!(look_at("y.zip", &zipped_with("a.png")).ok().unwrap().images, 1);
    }

    /// Sets the encryption bit in both headers of a ZIP archive with one entry.
    fn locked(mut zip: Vec<u8>) -> Vec<u8> {
        zip[6] |= 1;
        let central = zip.windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap();
        zip[central + 8] |= 1;
        zip
    }

    #[test]
    fn archives_that_lie_are_refused_at_once() {
        let (zip, tar, text) = (zipped_with("a.png"), tarball(), b"<html> plain text ".repeat(99));
        let mut wrong_sum = tar.clone();
        wrong_sum[150] ^= 1;
        let nothing = ZipWriter::new(io::Cursor::new(Vec::new())).finish().unwrap().into_inner();
        let corpus = [
            ("html.zip", text.clone()),
            ("tar.zip", tar.clone()),
            ("gz.zip", gz(&tar)),
            ("empty.zip", Vec::new()),
            ("cut.zip", zip[..zip.len() / 2].to_vec()),
            ("locked.zip", locked(zip.clone())),
            ("rar.zip", b"Rar!\x1a\x07\x01\x00 and more".to_vec()),
            ("seven.zip", b"7z\xbc\xaf\x27\x1c and more".to_vec()),
            ("nothing.zip", nothing),
            ("html.tar", text.clone()),
            ("zip.tar", zip),
            ("gz.tar", gz(&tar)),
            ("empty.tar", Vec::new()),
            ("cut.tar", tar[..700].to_vec()),
            ("sum.tar", wrong_sum),
            ("zeros.tar", vec![0; 1_024]),
            ("html.tar.gz", text.clone()),
            ("text.tar.gz", gz(&text)),
            ("tar.tar.gz", tar.clone()),
            ("cut.tar.gz", gz(&tar)[..20].to_vec()),
            ("empty.tgz", gz(b"")),
        ];
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in corpus {
            let (path, begun) = (folder.path().join(name), std::time::Instant::now());
            fs::write(&path, bytes).unwrap();
            assert!(check_archive(&path).is_err(), "{name}");
            assert!(begun.elapsed().as_millis() < 1_000, "{name}");
        }
        fs::create_dir(folder.path().join("folder.zip")).unwrap();
        assert_eq!(
            check_archive(&folder.path().join("folder.zip")).err().unwrap(),
            "not a regular file"
        );
    }
}
