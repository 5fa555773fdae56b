//! JSON schemas of input that is parsed leniently, so that no type of ours describes it. Each is beside its reader.

use serde_json::{Map, Value};

use tessera_wire::{add_media, explore, preview, selection, vql};

pub fn input_schemas() -> Map<String, Value> {
    let schemas = [
        ("AddMediaForm", add_media::form_schema()),
        ("QueryImageForm", explore::query_image_schema()),
        ("MediaSelection", selection::schema()),
        ("BoundingBox", preview::region_schema()),
        ("Vql", vql::schema()),
    ];
    schemas.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect()
}
