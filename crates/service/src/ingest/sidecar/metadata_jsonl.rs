//! `metadata.jsonl`, as in image folder datasets: one JSON object per line with `file_name`, and
//! `caption` or `text`, `label` or `labels`, `tags` or `user_tags`, and `objects`.

use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    candidates::METADATA_JSONL,
    description::{MediaDescription, push_name},
    diagnostics::SidecarDiagnostics,
    json, objects,
    sidecar_reader::{MAX_SHARED_SIDECAR_BYTES, SidecarReader},
};

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

pub fn read(reader: &mut SidecarReader<'_>) {
    for sidecar in reader.files.with_name(METADATA_JSONL) {
        reader.mark_used(sidecar);
        if let Some(bytes) = reader.read_bytes(sidecar, MAX_SHARED_SIDECAR_BYTES) {
            read_lines(reader, sidecar, &bytes);
        }
    }
}

fn read_lines(reader: &mut SidecarReader<'_>, sidecar: &Path, bytes: &[u8]) {
    let mut diagnostics = SidecarDiagnostics::new("line", "lines");
    for line in bytes.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii) {
        diagnostics.next_position();
        match str::from_utf8(line).map(json::parse_object::<SidecarRow<'_>>) {
            Err(_) => diagnostics.report("it is not UTF-8"),
            Ok(Some(row)) => {
                let end = read_row(reader, sidecar, &row, &mut diagnostics);
                diagnostics.check(end);
            }
            Ok(None) if line.is_empty() => {}
            Ok(None) => diagnostics.report("it is not a JSON object"),
        }
    }
    reader.report_problems(sidecar, diagnostics);
}

fn read_row(
    reader: &mut SidecarReader<'_>,
    sidecar: &Path,
    row: &SidecarRow<'_>,
    diagnostics: &mut SidecarDiagnostics,
) -> Result<(), &'static str> {
    let name = row.file_name.ok_or("it has no file_name")?;
    let name = json::parse_string(name).ok_or("its file_name is not a string")?;
    let media = reader.files.resolve(&name, sidecar)?;
    reader.add_description(media, describe(row, diagnostics));
    Ok(())
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
    let mut add_names = |names: &mut Vec<String>, list: Option<&RawValue>, why| {
        if list.is_some_and(|list| json::collect_names(list.get(), names).is_none()) {
            diagnostics.report(why);
        }
    };
    add_names(&mut description.labels, row.labels, "its labels are not a list of strings");
    add_names(&mut description.tags, row.tags, "its tags are not a list of strings");
    add_names(&mut description.tags, row.user_tags, "its tags are not a list of strings");
    if let Some(value) = row.objects {
        objects::read_objects(value.get(), &mut description, diagnostics);
    }
    description
}
