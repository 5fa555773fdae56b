//! The columns of metadata tables, as in image folder datasets: `file_name`, and `caption` or `text`,
//! `label` or `labels`, `tags` or `user_tags`, and `objects`.

use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    description::{MediaDescription, push_name},
    diagnostics::SidecarDiagnostics,
    json, objects,
    sidecar_reader::SidecarReader,
};

/// The columns that are read.
pub const COLUMNS: [&str; 8] =
    ["file_name", "caption", "text", "label", "labels", "tags", "user_tags", "objects"];

#[derive(Deserialize)]
pub struct SidecarRow<'a> {
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

impl SidecarRow<'_> {
    /// Whether it has a column other than `file_name`.
    pub fn describes(&self) -> bool {
        let texts = [self.caption, self.text, self.label, self.labels];
        texts.iter().chain(&[self.tags, self.user_tags, self.objects]).any(Option::is_some)
    }
}

/// Adds what a row says about its file. The error says why it cannot.
pub fn read_row(
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
pub fn describe(row: &SidecarRow<'_>, diagnostics: &mut SidecarDiagnostics) -> MediaDescription {
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
