//! The `objects` column of metadata rows, in two forms: a list of objects with `label` and `bbox`
//! in fractions, or (Hugging Face image folders) one object with lists `bbox` in pixels and
//! `categories`.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    description::{BoundingBox, MAX_OBJECTS, MediaDescription, normalized_name},
    diagnostics::SidecarDiagnostics,
    json,
};

#[derive(Deserialize)]
struct ObjectRow<'a> {
    #[serde(borrow)]
    label: Option<&'a RawValue>,
    #[serde(borrow)]
    bbox: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ObjectColumns<'a> {
    #[serde(borrow)]
    bbox: Option<&'a RawValue>,
    #[serde(borrow)]
    categories: Option<&'a RawValue>,
    #[serde(borrow)]
    category: Option<&'a RawValue>,
    #[serde(borrow)]
    labels: Option<&'a RawValue>,
}

pub fn read_objects(
    value: &str,
    description: &mut MediaDescription,
    diagnostics: &mut SidecarDiagnostics,
) {
    let parsed = match json::parse_object::<ObjectColumns<'_>>(value) {
        Some(columns) => read_columns(&columns, description, diagnostics),
        None => json::for_each_element(value, |value| {
            diagnostics.check(read_object(value, description));
        }),
    };
    if parsed.is_none() {
        diagnostics.report("its objects are neither a list nor lists of boxes and names");
    }
}

fn read_object(value: &RawValue, description: &mut MediaDescription) -> Result<(), &'static str> {
    let object = json::parse_object::<ObjectRow<'_>>(value.get())
        .ok_or("one of its objects is not a JSON object")?;
    let bbox = object.bbox.ok_or("one of its objects has no bbox")?;
    let label = object.label.and_then(parse_label);
    add_object(label, json::parse_box(bbox), BoundingBox::normalized, description)
}

fn read_columns(
    columns: &ObjectColumns<'_>,
    description: &mut MediaDescription,
    diagnostics: &mut SidecarDiagnostics,
) -> Option<()> {
    let names = columns.categories.or(columns.category).or(columns.labels);
    let (mut boxes, mut labels) = (Vec::new(), Vec::new());
    let (mut box_count, mut name_count) = (0_usize, 0_usize);
    json::for_each_element(columns.bbox?.get(), |value| {
        box_count += 1;
        if boxes.len() < MAX_OBJECTS {
            boxes.push(json::parse_box(value));
        }
    })?;
    json::for_each_element(names?.get(), |value| {
        name_count += 1;
        if labels.len() < MAX_OBJECTS {
            labels.push(parse_label(value));
        }
    })?;
    if box_count != name_count {
        diagnostics.report("its objects have different numbers of boxes and names");
    }
    for (label, sides) in labels.into_iter().zip(boxes) {
        diagnostics.check(add_object(label, sides, BoundingBox::pixels, description));
    }
    Some(())
}

/// Parses a label; numbers become `class <n>`.
fn parse_label(value: &RawValue) -> Option<String> {
    match serde_json::from_str::<u64>(value.get()) {
        Ok(class) => Some(format!("class {class}")),
        Err(_) => json::parse_string(value).and_then(|text| normalized_name(&text)),
    }
}

fn add_object(
    label: Option<String>,
    sides: Option<[f64; 4]>,
    unit: fn([f64; 4]) -> Option<BoundingBox>,
    description: &mut MediaDescription,
) -> Result<(), &'static str> {
    let label = label.ok_or("one of its objects has no name")?;
    let sides = sides.ok_or("the bbox of an object is not a list of four numbers")?;
    let extent = unit(sides).ok_or("the bbox of an object is empty or outside the picture")?;
    description.push_object(label, extent);
    Ok(())
}
