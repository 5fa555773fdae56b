//! `metadata.jsonl`, as image folders have it: one JSON object a line with a `file_name`, and a
//! `caption` or `text`, a `label` or `labels`, `tags` or `user_tags`, and `objects`.

use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    description::{Description, push_name},
    faults::Faults,
    json, objects,
    reader::{LARGE, Reader},
};

/// The name of the sidecar.
pub const NAME: &str = "metadata.jsonl";

#[derive(Deserialize)]
struct Row<'a> {
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
pub fn read(reader: &mut Reader<'_>) {
    for sidecar in reader.files.called(NAME) {
        reader.used(sidecar);
        if let Some(bytes) = reader.bytes(sidecar, LARGE) {
            read_lines(reader, sidecar, &bytes);
        }
    }
}

fn read_lines(reader: &mut Reader<'_>, sidecar: &Path, bytes: &[u8]) {
    let mut faults = Faults::new("line", "lines");
    for (number, line) in (1..).zip(bytes.split(|&byte| byte == b'\n')) {
        faults.at(number);
        match str::from_utf8(line.trim_ascii()).map(json::object::<Row<'_>>) {
            Err(_) => faults.add("it is not UTF-8"),
            Ok(Some(row)) => read_row(reader, sidecar, &row, &mut faults),
            Ok(None) if line.trim_ascii().is_empty() => {}
            Ok(None) => faults.add("it is no JSON object"),
        }
    }
    if let Some(sentence) = faults.sentence() {
        reader.problem(sidecar, sentence);
    }
}

fn read_row(reader: &mut Reader<'_>, sidecar: &Path, row: &Row<'_>, faults: &mut Faults) {
    let Some(name) = row.file_name else { return faults.add("it has no file_name") };
    let Some(name) = json::text(name) else { return faults.add("its file_name is no text") };
    match reader.files.named(&name, sidecar) {
        Ok(media) => reader.tell(media, describe(row, faults)),
        Err(why) => faults.add(why),
    }
}

/// What a row tells. A column of a wrong type spoils itself alone.
fn describe(row: &Row<'_>, faults: &mut Faults) -> Description {
    let mut told = Description::default();
    match row.caption.or(row.text).map(json::text) {
        Some(Some(caption)) => told.push_caption(&caption),
        Some(None) => faults.add("its caption is no text"),
        None => {}
    }
    match row.label.map(json::text) {
        Some(Some(label)) => push_name(&mut told.labels, &label),
        Some(None) => faults.add("its label is no text"),
        None => {}
    }
    if row.labels.is_some_and(|labels| json::names(labels.get(), &mut told.labels).is_none()) {
        faults.add("its labels are no list of texts");
    }
    for tags in [row.tags, row.user_tags].into_iter().flatten() {
        if json::names(tags.get(), &mut told.tags).is_none() {
            faults.add("its tags are no list of texts");
        }
    }
    if let Some(value) = row.objects {
        objects::read(value.get(), &mut told, faults);
    }
    told
}

#[cfg(test)]
mod tests {
    use crate::ingest::sidecar::lab::{Place, told};

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
    fn m51_b02_rows_are_judged_alone_and_what_is_wrong_is_named() {
        let place = Place::of(&["a/1.jpg", "2.jpg", "3.jpg", "4.jpg", "5.jpg"]);
        place.put("metadata.jsonl", ROWS);
        let reading = place.read();
        let expected = [
            told("2.jpg", "A car.", "car", "y x", ""),
            told("3.jpg", "", "", "", "b"),
            told("4.jpg", "", "kept", "", ""),
            told("a/1.jpg", "A red boat.", "boat sea", "", ""),
        ];
        assert_eq!(place.told(), expected);
        let why = "line 4: an object of it has no name; 6 more lines";
        assert_eq!(reading.problems["metadata.jsonl".as_ref() as &std::path::Path], why);
    }

    #[test]
    fn m51_a_sidecar_in_a_folder_tells_of_that_folder_and_the_upper_one_wins() {
        let place = Place::of(&["1.jpg", "train/1.jpg", "train/2.jpg"]);
        place.put(
            "train/metadata.jsonl",
            concat!(
                r#"{"file_name": "1.jpg", "text": "lower"}"#,
                "\n",
                r#"{"file_name": "2.jpg", "text": "lower"}"#,
            ),
        );
        place.put("metadata.jsonl", r#"{"file_name": "train/1.jpg", "text": "upper"}"#);
        let expected =
            [told("train/1.jpg", "upper", "", "", ""), told("train/2.jpg", "lower", "", "", "")];
        assert_eq!(place.told(), expected);
    }

    #[test]
    fn e12_a_sidecar_that_is_too_large_or_not_utf_8_is_named() {
        let place = Place::of(&["1.jpg"]);
        let row = r#"{"file_name": "1.jpg", "text": "good"}"#;
        place.put("metadata.jsonl", [b"\xff\n", row.as_bytes()].concat());
        assert_eq!(place.told(), [told("1.jpg", "good", "", "", "")]);
        assert_eq!(place.problem("metadata.jsonl"), "line 1: it is not UTF-8");
        let file = std::fs::File::create(place.path("metadata.jsonl")).unwrap();
        file.set_len((64 << 20) + 1).unwrap();
        assert_eq!(place.problem("metadata.jsonl"), "it is larger than 64 MiB");
    }
}
