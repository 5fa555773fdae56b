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
    let mut diagnostics = SidecarDiagnostics::new("line", "lines");
    for (number, line) in (1..).zip(bytes.split(|&byte| byte == b'\n')) {
        diagnostics.set_position(number);
        match str::from_utf8(line.trim_ascii()).map(json::parse_object::<SidecarRow<'_>>) {
            Err(_) => diagnostics.report("it is not UTF-8"),
            Ok(Some(row)) => read_row(reader, sidecar, &row, &mut diagnostics),
            Ok(None) if line.trim_ascii().is_empty() => {}
            Ok(None) => diagnostics.report("it is not a JSON object"),
        }
    }
    if let Some(sentence) = diagnostics.summary() {
        reader.report_problem(sidecar, sentence);
    }
}

fn read_row(
    reader: &mut SidecarReader<'_>,
    sidecar: &Path,
    row: &SidecarRow<'_>,
    diagnostics: &mut SidecarDiagnostics,
) {
    let Some(name) = row.file_name else { return diagnostics.report("it has no file_name") };
    let Some(name) = json::parse_string(name) else {
        return diagnostics.report("its file_name is not a string");
    };
    match reader.files.resolve(&name, sidecar) {
        Ok(media) => reader.add_description(media, describe(row, diagnostics)),
        Err(why) => diagnostics.report(why),
    }
}

/// Converts a row. A column of the wrong type does not affect the others.
fn describe(row: &SidecarRow<'_>, diagnostics: &mut SidecarDiagnostics) -> MediaDescription {
    let mut description = MediaDescription::default();
    match row.caption.or(row.text).map(json::parse_string) {
        Some(Some(caption)) => description.push_caption(&caption),
        Some(None) => diagnostics.report("its caption is not a string"),
        None => {}
    }
    match row.label.map(json::parse_string) {
        Some(Some(label)) => push_name(&mut description.labels, &label),
        Some(None) => diagnostics.report("its label is not a string"),
        None => {}
    }
    if row
        .labels
        .is_some_and(|labels| json::collect_names(labels.get(), &mut description.labels).is_none())
    {
        diagnostics.report("its labels are not a list of strings");
    }
    for tags in [row.tags, row.user_tags].into_iter().flatten() {
        if json::collect_names(tags.get(), &mut description.tags).is_none() {
            diagnostics.report("its tags are not a list of strings");
        }
    }
    if let Some(value) = row.objects {
        objects::read_objects(value.get(), &mut description, diagnostics);
    }
    description
}
