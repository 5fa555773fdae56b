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

const NO_OBJECTS: &str = "its objects are neither a list nor lists of boxes and names";

/// Adds the objects of a row to its description, and problems to `diagnostics`.
pub fn read_objects(
    value: &str,
    description: &mut MediaDescription,
    diagnostics: &mut SidecarDiagnostics,
) {
    let parsed = if let Some(columns) = json::parse_object::<ObjectColumns<'_>>(value) {
        read_columns(&columns, description, diagnostics)
    } else {
        json::for_each_element(value, |value| {
            match json::parse_object::<ObjectRow<'_>>(value.get()) {
                Some(ObjectRow { label, bbox: Some(bbox) }) => {
                    let label = label.and_then(parse_label);
                    add_object(
                        label,
                        json::parse_box(bbox),
                        BoundingBox::normalized,
                        description,
                        diagnostics,
                    );
                }
                Some(ObjectRow { bbox: None, .. }) => {
                    diagnostics.report("one of its objects has no bbox");
                }
                None => diagnostics.report("one of its objects is not a JSON object"),
            }
        })
    };
    if parsed.is_none() {
        diagnostics.report(NO_OBJECTS);
    }
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
        add_object(label, sides, BoundingBox::pixels, description, diagnostics);
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
    diagnostics: &mut SidecarDiagnostics,
) {
    match (label, sides, sides.and_then(unit)) {
        (Some(label), _, Some(extent)) => description.push_object(label, extent),
        (None, ..) => diagnostics.report("one of its objects has no name"),
        (_, None, _) => diagnostics.report("the bbox of an object is not a list of four numbers"),
        (_, _, None) => diagnostics.report("the bbox of an object is empty or outside the picture"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tessera_model::Region;

    fn objects(value: &str) -> (Vec<String>, Option<String>) {
        let (mut description, mut diagnostics) =
            (MediaDescription::default(), SidecarDiagnostics::new("line", "lines"));
        diagnostics.set_position(1);
        read_objects(value, &mut description, &mut diagnostics);
        let expected = description.objects.iter().map(|object| {
            let region = object.bounding_box.to_region(100, 200).unwrap();
            let Region { x, y, width, height } = region;
            format!("{} {x:.2} {y:.2} {width:.2} {height:.2}", object.label)
        });
        (expected.collect(), diagnostics.summary())
    }

    #[test]
    fn both_forms_are_parsed_and_invalid_objects_reported() {
        for (value, expected, fault) in [
            (
                r#"[{"label": "boat", "bbox": [0.1, 0.2, 0.3, 2]}]"#,
                &["boat 0.10 0.20 0.30 0.80"][..],
                "",
            ),
            (
                r#"{"bbox": [[10, 20, 30, 40]], "categories": [" boat "], "area": [7]}"#,
                &["boat 0.10 0.10 0.30 0.20"],
                "",
            ),
            (
                r#"{"category": [3], "bbox": [[10, 20, 30, 40]]}"#,
                &["class 3 0.10 0.10 0.30 0.20"],
                "",
            ),
            (r#"{"bbox": [], "labels": []}"#, &[], ""),
            ("[]", &[], ""),
            (
                r#"[{"label": "a", "bbox": [0.5, 0.5, 0.1, 0.1]}, {"bbox": [0, 0, 1, 1]}]"#,
                &["a 0.50 0.50 0.10 0.10"],
                "one of its objects has no name",
            ),
            (r#"[{"label": "", "bbox": [0, 0, 1, 1]}]"#, &[], "one of its objects has no name"),
            (r#"[{"label": "a"}, 7]"#, &[], "one of its objects has no bbox"),
            ("[7]", &[], "one of its objects is not a JSON object"),
            (
                r#"[{"label": "a", "bbox": [0, 0, 1]}]"#,
                &[],
                "the bbox of an object is not a list of four numbers",
            ),
            (
                r#"[{"label": "a", "bbox": [40, 40, 9, 9]}]"#,
                &[],
                "the bbox of an object is empty or outside the picture",
            ),
            (
                r#"{"bbox": [[1, 1, 2, 2], [1, 1, 0, 2]], "labels": ["a", "b", "c"]}"#,
                &["a 0.01 0.01 0.02 0.01"],
                "its objects have different numbers of boxes and names",
            ),
            (r#"{"bbox": [[1, 1, 2, 2]]}"#, &[], NO_OBJECTS),
            (r#""boat""#, &[], NO_OBJECTS),
            (r#"[{"label": "a""#, &[], NO_OBJECTS),
        ] {
            let fault = (!fault.is_empty()).then(|| format!("line 1: {fault}"));
            let expected = expected.iter().map(|&text| text.to_owned()).collect();
            assert_eq!(objects(value), (expected, fault), "{value}");
        }
    }
}
