//! Says what a file is that is neither a picture nor a video, so that the user knows what to do.

use std::{io, path::Path};

use tessera_files::read_at_most;
use tessera_model::{FileKind, ShellCommand, ingest::is_unpacked};
use tessera_picture::audio_format;

use super::{ANNEX_POINTER, OriginalFiles, is_parquet, sidecar};

/// The number of bytes by which a file is recognized.
const HEAD_BYTES: u64 = 512;
/// The reason for skipping a table.
const PARQUET: &str = "not a Parquet file with images";
/// The reason for skipping a list of faces, which no reader uses.
const WIDER_FACE: &str = "annotations of WIDER FACE, which are not read; convert them to COCO";
/// Beginnings of files that stand for a file that is elsewhere.
const POINTERS: [(&str, &str); 4] = [
    ("version https://git-lfs.github.com/spec/", LFS_POINTER),
    // The address before Git LFS had its name.
    ("version https://hawser.github.com/spec/", LFS_POINTER),
    ("/annex/objects/", ANNEX_POINTER),
    // A link that was checked out as a text.
    (".git/annex/objects/", ANNEX_POINTER),
];
const LFS_POINTER: &str = "a Git LFS pointer instead of the file; run: git lfs pull";
/// Beginnings of other files.
const FORMATS: [(&[u8], &str); 9] = [
    (b"%PDF", "a PDF document"),
    (b"%!PS", "a PostScript document"),
    (b"PK\x03\x04", "a ZIP archive or an office document"),
    (b"\x1f\x8b", "compressed with gzip"),
    (b"\x93NUMPY", "an array of NumPy"),
    (b"ARROW1", "an Arrow table; save it as Parquet"),
    (b"\xff\xff\xff\xff", "an Arrow table; save it as Parquet"),
    (b"SQLite format 3", "a database"),
    (b"\x7fELF", "a program"),
];

/// Returns the reason why a file in a folder is not media.
pub fn unrecognized_reason(files: &dyn OriginalFiles, path: &Path) -> io::Result<String> {
    Ok(reason(path, &read_at_most(files.open_file(path)?, HEAD_BYTES)?))
}

/// Returns why a file cannot be read that begins like a pointer to the real file.
pub fn pointer_reason(head: &[u8]) -> Option<&'static str> {
    let text = without_parents(head);
    let pointer = POINTERS.iter().find(|(beginning, _)| text.starts_with(beginning.as_bytes()));
    pointer.map(|(_, reason)| *reason)
}

/// Returns a path after the parts that lead to the folder of the repository.
fn without_parents(mut path: &[u8]) -> &[u8] {
    while let Some(rest) = path.strip_prefix(b"../") {
        path = rest;
    }
    path
}

fn reason(path: &Path, head: &[u8]) -> String {
    if let Some(reason) = pointer_reason(head) {
        return reason.to_owned();
    }
    if FileKind::from_name(&path.to_string_lossy()) == FileKind::Archive {
        if !is_unpacked(path) {
            return "compressed, but not as ZIP or TAR; unpack it in the folder".to_owned();
        }
        // An archive in a folder, such as a shard of `WebDataset`.
        let add = ShellCommand::new("tessera media add").option("--archive", path);
        return format!("an archive; unpack it in the folder, or add it with: {add}");
    }
    if is_parquet(path) {
        return PARQUET.to_owned();
    }
    if is_wider_face(head) {
        return WIDER_FACE.to_owned();
    }
    let unused = sidecar::unused_sidecar_text(path).map(str::to_owned);
    unused.unwrap_or_else(|| format!("not a picture or video: {}", form(head)))
}

/// Whether a file begins like a list of WIDER FACE: the path of a picture, the number of its faces, and the numbers of the
/// first face, of which 10 describe it in the lists for training.
fn is_wider_face(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    let mut lines = text.lines();
    let mut next = || lines.next().unwrap_or_default().trim();
    let (picture, count, face) = (next(), next(), next());
    let mut numbers = face.split_ascii_whitespace();
    FileKind::from_name(picture) == FileKind::Picture
        && count.parse::<u32>().is_ok()
        && numbers.clone().count() >= 4
        && numbers.all(|number| number.parse::<f32>().is_ok())
}

/// Returns what a file is, by its beginning.
fn form(head: &[u8]) -> &'static str {
    let known = FORMATS.iter().find(|(beginning, _)| head.starts_with(beginning));
    let text = String::from_utf8_lossy(head).trim_start().to_lowercase();
    match known {
        _ if head.is_empty() => "empty",
        Some((_, form)) => form,
        None if let Some(sound) = audio_format(head) => sound,
        None if ["<!doctype html", "<html"].iter().any(|tag| text.starts_with(tag)) => "a web page",
        None if text.starts_with("<svg") || text.contains("<svg ") => "a drawing in SVG",
        None if !text.contains(['\0', '\u{fffd}']) => "a text",
        None => "an unknown format",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_as_what_they_are() {
        let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n";
        for (name, head, words) in [
            ("a.jpg", &pointer[..], "run: git lfs pull"),
            ("a.jpg", b"/annex/objects/SHA256E-s1--0.jpg\n", "run: git annex get"),
            ("a.jpg", b"../../.git/annex/objects/G2/S.jpg", "run: git annex get"),
            ("a.tar", b"", "tessera media add --archive a.tar"),
            ("a.7z", b"", "not as ZIP or TAR; unpack it in the folder"),
            ("a b.tar", b"", "tessera media add --archive 'a b.tar'"),
            ("a.parquet", b"PAR1", "not a Parquet file with images"),
            ("a.txt", b"text", "without a picture of its name"),
            ("faces.txt", b"0--Parade/1.jpg\n1\n449 330 122 149 0 0 0 0 0 0 \n", "of WIDER FACE"),
            ("list.txt", b"0--Parade/1.jpg\n1\n", "without a picture of its name"),
            ("docker-compose.yml", b"services:\n", "YAML that names no classes that labels use"),
            ("data.yaml", b"names: [a]\n", "a list of class names that no labels use"),
            ("a.json", b"{}", "JSON without annotations"),
            ("a.jpg", b"<!DOCTYPE html><html>", "not a picture or video: a web page"),
            ("a.jpg", b"", "not a picture or video: empty"),
            ("README", "größe".as_bytes(), "not a picture or video: a text"),
            ("a.bin", b"\0\x01\xff", "not a picture or video: an unknown format"),
            ("a.pdf", b"%PDF-1.7", "not a picture or video: a PDF document"),
            ("a.flac", b"fLaC", "not a picture or video: sound (FLAC)"),
        ] {
            let reason = reason(Path::new(name), head);
            assert!(reason.contains(words), "{name}: {reason}");
        }
    }
}
