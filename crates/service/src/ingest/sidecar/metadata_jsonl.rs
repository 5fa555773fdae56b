//! `metadata.jsonl`, as in image folder datasets: one JSON object per line with `file_name`, and
//! `caption` or `text`, `label` or `labels`, `tags` or `user_tags`, and `objects`.

use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    description::{MediaDescription, push_name},
    diagnostics::SidecarDiagnostics,
    json, objects,
    sidecar_reader::{MAX_SHARED_SIDECAR_BYTES, SidecarReader},
};

pub const FILE_NAME: &str = "metadata.jsonl";

#[derive(Deserialize)]
struct SidecarRow<'a> {
    #[serde(borrow)]
    file_name: Option<&'a RawValue>,
    #[serde(borrow)]
    caption: Option<&'a RawValue>,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    labels: Option<&'a RawValue>,
    #[serde(borrow)]
    label: Option<&'a RawValue>,
    #[serde(borrow)]
    tags: Option<&'a RawValue>,
    #[serde(borrow)]
    user_tags: Option<&'a RawValue>,
    #[serde(borrow)]
    objects: Option<&'a RawValue>,
}

/// Reads every `metadata.jsonl` of the folder.
pub fn read(reader: &mut SidecarReader<'_>) {
    for sidecar in reader.files.with_name(FILE_NAME) {
        reader.mark_used(sidecar);
        if let Some(bytes) = reader.read_bytes(sidecar, MAX_SHARED_SIDECAR_BYTES) {
            read_lines(reader, sidecar, &bytes);
        }
    }
}

fn read_lines(reader: &mut SidecarReader<'_>, sidecar: &Path, bytes: &[u8]) {
    let mut faults = SidecarDiagnostics::new("line", "lines");
    for (number, line) in (1..).zip(bytes.split(|&byte| byte == b'\n')) {
        faults.set_position(number);
        match str::from_utf8(line.trim_ascii()).map(json::parse_object::<SidecarRow<'_>>) {
            Err(_) => faults.report("it is not UTF-8"),
            Ok(Some(row)) => read_row(reader, sidecar, &row, &mut faults),
            Ok(None) if line.trim_ascii().is_empty() => {}
            Ok(None) => faults.report("it is no JSON object"),
        }
    }
    if let Some(sentence) = faults.summary() {
        reader.report_problem(sidecar, sentence);
    }
}

fn read_row(
    reader: &mut SidecarReader<'_>,
    sidecar: &Path,
    row: &SidecarRow<'_>,
    faults: &mut SidecarDiagnostics,
) {
    let Some(name) = row.file_name else { return faults.report("it has no file_name") };
    let Some(name) = json::parse_string(name) else {
        return faults.report("its file_name is no text");
    };
    match reader.files.resolve(&name, sidecar) {
        Ok(media) => reader.add_description(media, describe(row, faults)),
        Err(why) => faults.report(why),
    }
}

/// Converts a row. A column of the wrong type does not affect the others.
fn describe(row: &SidecarRow<'_>, faults: &mut SidecarDiagnostics) -> MediaDescription {
    let mut told = MediaDescription::default();
    match row.caption.or(row.text).map(json::parse_string) {
        Some(Some(caption)) => told.push_caption(&caption),
        Some(None) => faults.report("its caption is no text"),
        None => {}
    }
    match row.label.map(json::parse_string) {
        Some(Some(label)) => push_name(&mut told.labels, &label),
        Some(None) => faults.report("its label is no text"),
        None => {}
    }
    if row
        .labels
        .is_some_and(|labels| json::collect_names(labels.get(), &mut told.labels).is_none())
    {
        faults.report("its labels are no list of texts");
    }
    for tags in [row.tags, row.user_tags].into_iter().flatten() {
        if json::collect_names(tags.get(), &mut told.tags).is_none() {
            faults.report("its tags are no list of texts");
        }
    }
    if let Some(value) = row.objects {
        objects::read_objects(value.get(), &mut told, faults);
    }
    told
}

#[cfg(test)]
mod tests {
    use crate::ingest::sidecar::test_support::{TestFolder, describe};

    const ROWS: &str = concat!(
        "\u{feff}{\"file_name\": \"a/1.jpg\", \"caption\": \" A red boat. \", \"labels\": [\"boat\", \"\", \"sea\"]}\r\n",
        "\r\n",
        r#"{"file_name": "2.jpg", "text": "A car.", "label": "car", "user_tags": ["x"], "tags": ["y"]}"#,
        "\n",
        r#"{"file_name": "3.jpg", "objects": [{"label": "b", "bbox": [0, 0, 0.5, 0.5]}, {"bbox": 1}], "extra": [1]}"#,
        "\n",
        r#"{"caption": "nobody's"}"#,
        "\n",
        r#"{"file_name": 7}"#,
        "\n",
        r#"{"file_name": "4.jpg", "caption": ["x"], "labels": ["kept", 1], "tags": "z", "label": 4}"#,
        "\n",
        r#"["3.jpg"]"#,
        "\n",
        r#"{"file_name": "../2.jpg", "caption": "outside"}"#,
        "\n",
        r#"{"file_name": "5.jpg", "caption": null, "labels": null}"#,
        "\n",
        r#"{"file_name": "2.jpg", "caption": "Later."}"#,
        "\n",
        r#"{"file_name": "3.jp"#,
    );

    #[test]
    fn rows_are_judged_alone_and_what_is_wrong_is_named() {
        let place = TestFolder::with_media(&["a/1.jpg", "2.jpg", "3.jpg", "4.jpg", "5.jpg"]);
        place.write("metadata.jsonl", ROWS);
        let reading = place.read_sidecars();
        let expected = [
            describe("2.jpg", "A car.", "car", "y x", ""),
            describe("3.jpg", "", "", "", "b"),
            describe("4.jpg", "", "kept", "", ""),
            describe("a/1.jpg", "A red boat.", "boat sea", "", ""),
        ];
        assert_eq!(place.descriptions(), expected);
        let why = "line 4: an object of it has no name; 6 more lines";
        assert_eq!(reading.problems["metadata.jsonl".as_ref() as &std::path::Path], why);
    }

    #[test]
    fn a_sidecar_in_a_folder_tells_of_that_folder_and_the_upper_one_wins() {
        let place = TestFolder::with_media(&["1.jpg", "train/1.jpg", "train/2.jpg"]);
        place.write(
            "train/metadata.jsonl",
            concat!(
                r#"{"file_name": "1.jpg", "text": "lower"}"#,
                "\n",
                r#"{"file_name": "2.jpg", "text": "lower"}"#,
            ),
        );
        place.write("metadata.jsonl", r#"{"file_name": "train/1.jpg", "text": "upper"}"#);
        let expected = [
            describe("train/1.jpg", "upper", "", "", ""),
            describe("train/2.jpg", "lower", "", "", ""),
        ];
        assert_eq!(place.descriptions(), expected);
    }

    #[test]
    fn a_sidecar_that_is_too_large_or_not_utf_8_is_named() {
        let place = TestFolder::with_media(&["1.jpg"]);
        let row = r#"{"file_name": "1.jpg", "text": "good"}"#;
        place.write("metadata.jsonl", [b"\xff\n", row.as_bytes()].concat());
        assert_eq!(place.descriptions(), [describe("1.jpg", "good", "", "", "")]);
        assert_eq!(place.problem_of("metadata.jsonl"), "line 1: it is not UTF-8");
        let file = std::fs::File::create(place.path("metadata.jsonl")).unwrap();
        file.set_len((64 << 20) + 1).unwrap();
        assert_eq!(place.problem_of("metadata.jsonl"), "it is larger than 64 MiB");
    }
}
