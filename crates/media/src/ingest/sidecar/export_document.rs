//! Reads the `metadata.json` of an export: an object with a list `media_items`, as this program and hosted services
//! write it. Each item has a list of typed `metadata_items`, and its boxes are in pixels. The file is read item by item,
//! because it has a line for each media item of a dataset.

use std::{
    cell::Cell,
    collections::BTreeMap,
    fmt,
    io::{self, Read},
    path::Path,
};

use serde::{
    Deserialize,
    de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use super::{
    description::{MediaDescription, push_name},
    diagnostics::{Reason, SidecarDiagnostics},
    metadata_row::{BoxUnit, read_object},
    own_columns::push_json,
    sidecar_names::METADATA_JSON,
    sidecar_reader::SidecarReader,
};
use crate::ingest::documents;

/// Maximum size of a document, which is read in parts.
const MAX_BYTES: u64 = 2 << 30;
/// Maximum size of an item, and of a value outside the items.
const MAX_ITEM_BYTES: usize = 8 << 20;
const TOO_LARGE: &str = "an item is larger than 8 MiB";

/// Reads every export of the folder. Other JSON is ignored.
pub(crate) fn read(reader: &mut SidecarReader<'_>) {
    for sidecar in reader.files.with_name(METADATA_JSON) {
        let Some(file) = reader.open(sidecar, MAX_BYTES) else { continue };
        let allowance = &Cell::new(MAX_ITEM_BYTES);
        let mut diagnostics = SidecarDiagnostics::new("item", "items");
        let mut is_export = false;
        let take = &mut |item: &RawValue| {
            diagnostics.next_position();
            let end = read_item(reader, sidecar, item, &mut diagnostics);
            diagnostics.check(end);
        };
        let items = ItemList { allowance, take };
        let document = Document { items, is_export: &mut is_export };
        let file = BoundedReader { file, allowance };
        let end = serde_json::Deserializer::from_reader(file).deserialize_map(document);
        if is_export {
            reader.mark_used(sidecar);
            let end = end.map_err(|cause| {
                let (line, is_io) = (cause.line(), cause.is_io());
                let reason = is_io.then(|| io::Error::from(cause).to_string());
                format!("line {line}: {}", reason.as_deref().unwrap_or("invalid JSON"))
            });
            reader.report_rows(sidecar, diagnostics, end);
        }
    }
}

/// Reads as many bytes as are allowed until the next item, because the parser keeps whole values.
struct BoundedReader<'a, R> {
    file: R,
    allowance: &'a Cell<usize>,
}

impl<R: Read> Read for BoundedReader<'_, R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let length = self.file.read(out)?;
        let left = self.allowance.get().checked_sub(length);
        self.allowance.set(left.ok_or_else(|| io::Error::other(TOO_LARGE))?);
        Ok(length)
    }
}

struct Document<'a> {
    items: ItemList<'a>,
    /// Set once the document turns out to be an export.
    is_export: &'a mut bool,
}

struct ItemList<'a> {
    allowance: &'a Cell<usize>,
    take: &'a mut dyn FnMut(&RawValue),
}

impl<'de> Visitor<'de> for Document<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an export")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if key == "media_items" {
                *self.is_export = true;
                map.next_value_seed(&mut self.items)?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
            self.items.allowance.set(MAX_ITEM_BYTES);
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for &mut ItemList<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, items: D) -> Result<(), D::Error> {
        items.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for &mut ItemList<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of media items")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while let Some(item) = items.next_element::<Box<RawValue>>()? {
            (self.take)(&item);
            self.allowance.set(MAX_ITEM_BYTES);
        }
        Ok(())
    }
}

#[derive(Deserialize)]
struct MediaItem<'a> {
    image_filename: Option<String>,
    file_path: Option<String>,
    file_name: Option<String>,
    width: Option<f64>,
    height: Option<f64>,
    #[serde(borrow)]
    metadata_items: Option<&'a RawValue>,
    /// The columns of the user's own.
    #[serde(borrow, default)]
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
    for (name, value) in &item.columns {
        push_json(&mut description.own, name, value, false, &mut diagnostics.refused);
    }
    reader.add_description(media, description);
    Ok(())
}

/// Finds the picture of an item in `images/`, or by its path in the dataset.
fn find_media<'a>(
    reader: &SidecarReader<'a>,
    sidecar: &Path,
    item: &MediaItem<'_>,
) -> Result<&'a Path, Reason> {
    let names = [&item.image_filename, &item.file_path, &item.file_name].into_iter().flatten();
    let names = names.flat_map(|name| [format!("images/{name}"), name.clone()]);
    let mut found = Err("it has neither image_filename nor file_path".into());
    for name in names {
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
