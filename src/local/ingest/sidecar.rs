//! The sidecar of a folder: `metadata.jsonl` at its root, as image-folder datasets have it, with
//! one JSON object a line that tells the caption and the labels of one picture.
//!
//! It comes from anywhere, so its size and its texts are bounded and every row is judged alone.

use std::{
    io::Read as _,
    path::{Path, PathBuf},
};

use serde_json::{Map, Value};

use super::Folder;

/// Where the sidecar lies, relative to the folder.
pub const SIDECAR: &str = "metadata.jsonl";

/// Largest sidecar read, in bytes.
const LARGEST: u64 = 64 << 20;
/// Longest caption kept, in characters.
const CAPTION: usize = 2_048;
/// Longest label kept, in characters.
const LABEL: usize = 128;
/// Most labels kept of a picture.
const LABELS: usize = 32;

/// What a sidecar tells of one picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// The picture, relative to the folder.
    pub file: PathBuf,
    /// What it shows, in words; not empty.
    pub caption: Option<String>,
    /// What it shows, by name; none is empty.
    pub labels: Vec<String>,
}

/// The bytes of the sidecar.
///
/// # Errors
/// It cannot be read or is too large; the sentence says which.
pub fn read(folder: &Folder) -> Result<Vec<u8>, String> {
    let unreadable = |cause: std::io::Error| format!("cannot be read ({})", cause.kind());
    let mut bytes = Vec::new();
    let file = folder.file(Path::new(SIDECAR)).map_err(unreadable)?;
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > LARGEST {
        return Err(format!("larger than {} MiB", LARGEST >> 20));
    }
    Ok(bytes)
}

/// The rows of a sidecar one by one: the number of the line from 1, and what it tells, or what
/// is wrong with it. Blank lines are none.
pub fn rows(bytes: &[u8]) -> impl Iterator<Item = (usize, Result<Description, &'static str>)> {
    (1..)
        .zip(bytes.split(|&byte| byte == b'\n'))
        .filter(|(_, line)| !line.trim_ascii().is_empty())
        .map(|(number, line)| (number, row(line)))
}

fn row(line: &[u8]) -> Result<Description, &'static str> {
    let mut row: Map<String, Value> =
        serde_json::from_slice(line).map_err(|_| "it is no JSON object")?;
    let file = match row.remove("file_name") {
        Some(Value::String(name)) => name.into(),
        Some(_) => return Err("its file_name is no text"),
        None => return Err("it has no file_name"),
    };
    let caption = match row.remove("caption") {
        None | Some(Value::Null) => None,
        Some(caption) => text(&caption, CAPTION).ok_or("its caption is no text")?,
    };
    let labels = match row.remove("labels") {
        None | Some(Value::Null) => Vec::new(),
        Some(labels) => names(&labels).ok_or("its labels are no list of texts")?,
    };
    Ok(Description { file, caption, labels })
}

/// A trimmed text of at most `limit` characters, `None` inside if nothing is left of it.
#[expect(clippy::option_option, reason = "no text and an empty text differ")]
fn text(value: &Value, limit: usize) -> Option<Option<String>> {
    let text = value.as_str()?.trim();
    Some((!text.is_empty()).then(|| text.chars().take(limit).collect()))
}

fn names(value: &Value) -> Option<Vec<String>> {
    let texts = value.as_array()?.iter().map(|value| text(value, LABEL));
    let names: Vec<_> = texts.collect::<Option<_>>()?;
    Some(names.into_iter().flatten().take(LABELS).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_judged_alone_and_what_is_wrong_is_named() {
        let lines =
            br#"{"file_name": "a/1.jpg", "caption": " A red boat. ", "labels": ["boat", "", "sea"]}

{"file_name": "2.jpg", "caption": null, "objects": [{"label": "x"}]}
{"caption": "nobody's"}
{"file_name": 7}
{"file_name": "3.jpg", "caption": ["x"]}
{"file_name": "3.jpg", "labels": ["x", 1]}
["3.jpg"]
{"file_name": "3.jp"#;
        let found: Vec<_> = rows(lines).collect();
        let told = |file: &str, caption: Option<&str>, labels: &[&str]| {
            Ok(Description {
                file: file.into(),
                caption: caption.map(str::to_owned),
                labels: labels.iter().copied().map(str::to_owned).collect(),
            })
        };
        let expected = [
            (1, told("a/1.jpg", Some("A red boat."), &["boat", "sea"])),
            (3, told("2.jpg", None, &[])),
            (4, Err("it has no file_name")),
            (5, Err("its file_name is no text")),
            (6, Err("its caption is no text")),
            (7, Err("its labels are no list of texts")),
            (8, Err("it is no JSON object")),
            (9, Err("it is no JSON object")),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn texts_are_bounded() {
        let (long, many) = ("ä".repeat(9_999), vec!["l".repeat(999); 99]);
        let line = serde_json::json!({"file_name": "a", "caption": long, "labels": many});
        let (_, row) = rows(line.to_string().as_bytes()).next().unwrap();
        let row = row.unwrap();
        assert_eq!(row.caption.unwrap().chars().count(), CAPTION);
        assert_eq!(row.labels.len(), LABELS);
        assert_eq!(row.labels[0].len(), LABEL);
    }

    #[test]
    fn a_sidecar_that_is_too_large_is_not_read() {
        let place = tempfile::tempdir().unwrap();
        let file = std::fs::File::create(place.path().join(SIDECAR)).unwrap();
        file.set_len(LARGEST + 1).unwrap();
        let folder = Folder::open(place.path()).unwrap();
        assert_eq!(read(&folder).unwrap_err(), "larger than 64 MiB");
    }
}
