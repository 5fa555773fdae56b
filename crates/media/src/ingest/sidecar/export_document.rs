//! Reads the `metadata.json` of an export: an object with a list `media_items`, as this program and hosted services
//! write it. Each item has a list of typed `metadata_items`, and its boxes are in pixels. The file is read item by
//! item, because it has a line for each media item of a dataset.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::prelude::*;
use super::{
    extra_columns::push_json,
    metadata_row::{BoxUnit, read_object},
    sidecar_names::METADATA_JSON,
    streamed_json::{ListEnd, MAX_STREAMED_BYTES, earlier_lists, read_list},
};

const ITEMS: &str = "media_items";

/// Reads every export of the folder. Other JSON is ignored.
pub(crate) fn read(reader: &mut SidecarReader<'_>) {
    for sidecar in reader.files.with_name(METADATA_JSON) {
        let Some(file) = reader.open(sidecar, MAX_STREAMED_BYTES) else { continue };
        let ListEnd { found, .. } = read_list(file, &[ITEMS], ITEMS, 0, true, &mut |item| {
            let item: Option<MediaItem<'_>> = documents::parse_object(item.get());
            if let Some(item) = item {
                item.names().any(|name| reader.files.note_name(&name, None, sidecar));
            }
        });
        let Some(file) = reader.open(sidecar, MAX_STREAMED_BYTES) else { continue };
        let mut diagnostics = SidecarDiagnostics::new("item", "items");
        let take = &mut |item: &RawValue| {
            diagnostics.next_position();
            let end = read_item(reader, sidecar, item, &mut diagnostics);
            diagnostics.check(end);
        };
        let earlier = earlier_lists(&found, ITEMS);
        let ListEnd { found, end } = read_list(file, &[ITEMS], ITEMS, earlier, true, take);
        if !found.is_empty() {
            reader.mark_used(sidecar);
            reader.report_rows(sidecar, diagnostics, end);
        }
    }
}

#[derive(Deserialize)]
struct MediaItem<'a> {
    image_filename: Option<String>,
    file_path: Option<String>,
    file_name: Option<String>,
    width: Option<f64>,
    height: Option<f64>,
    user_rating: Option<f64>,
    #[serde(borrow)]
    metadata_items: Option<&'a RawValue>,
    /// The columns of the user's own.
    #[serde(default)]
    columns: BTreeMap<String, &'a RawValue>,
}

#[derive(Deserialize)]
struct TypedItem<'a> {
    #[serde(rename = "type")]
    kind: String,
    #[serde(borrow)]
    properties: Option<&'a RawValue>,
}

/// The properties of the typed items that describe a picture.
#[derive(Deserialize)]
struct Properties {
    #[serde(alias = "text")]
    caption: Option<String>,
    category_name: Option<String>,
    tag_name: Option<String>,
}

fn read_item(
    reader: &mut SidecarReader<'_>,
    sidecar: &Path,
    item: &RawValue,
    diagnostics: &mut SidecarDiagnostics,
) -> Result<(), Reason> {
    let item: MediaItem<'_> =
        documents::parse_object(item.get()).ok_or("it is not a JSON object of an export")?;
    let media = find_media(reader, sidecar, &item)?;
    let unit = match (item.width, item.height) {
        (Some(width), Some(height)) => BoxUnit::PixelsOf { width, height },
        _ => BoxUnit::Pixels,
    };
    let mut description = MediaDescription::default();
    if let Some(items) = item.metadata_items {
        let read = documents::for_each_element(items.get(), |typed| {
            diagnostics.check(read_typed_item(typed, unit, &mut description));
        });
        diagnostics.check(read.ok_or("its metadata_items are not a list"));
    }
    description.push_rating(item.user_rating);
    for (name, value) in &item.columns {
        push_json(&mut description.extra_columns, name, value, false, &mut diagnostics.refused);
    }
    reader.add_row(media, sidecar, description, true);
    Ok(())
}

impl MediaItem<'_> {
    /// Returns the names of the picture in `images/`, and those of its path in the dataset.
    fn names(&self) -> impl Iterator<Item = String> {
        let names = [&self.image_filename, &self.file_path, &self.file_name].into_iter().flatten();
        names.flat_map(|name| [format!("images/{name}"), name.clone()])
    }
}

fn find_media<'a>(
    reader: &SidecarReader<'a>,
    sidecar: &Path,
    item: &MediaItem<'_>,
) -> Result<&'a Path, Reason> {
    let mut found = Err("it has neither image_filename nor file_path".into());
    for name in item.names() {
        found = reader.files.resolve(&name, sidecar);
        if found.is_ok() {
            break;
        }
    }
    found
}

fn read_typed_item(
    item: &RawValue,
    unit: BoxUnit,
    description: &mut MediaDescription,
) -> Result<(), &'static str> {
    const MALFORMED: &str = "one of its metadata_items is malformed";
    let item: TypedItem<'_> = documents::parse_object(item.get()).ok_or(MALFORMED)?;
    let Some(value) = item.properties else { return Ok(()) };
    if item.kind == "object_label" {
        return read_object(value, unit, description);
    }
    if !["caption", "image_label", "user_tag"].contains(&item.kind.as_str()) {
        return Ok(());
    }
    let properties: Properties = documents::parse_object(value.get()).ok_or(MALFORMED)?;
    match item.kind.as_str() {
        "caption" => {
            description.push_caption(properties.caption.as_deref().unwrap_or_default());
        }
        "image_label" => {
            push_name(&mut description.labels, &properties.category_name.unwrap_or_default());
        }
        _ => push_name(&mut description.tags, &properties.tag_name.unwrap_or_default()),
    }
    Ok(())
}
