//! Converts a media item of `metadata.json` to a row of `metadata.jsonl`, the table from which an extracted archive is
//! loaded as an image folder: by the library `datasets` of Hugging Face, and by `tessera open`. The columns are those
//! of `metadata.parquet`.

use serde_json::{Map, Value, json};

use tessera_wire::{
    export::column,
    fields::{first_text, number},
};

/// Returns the row of a media item, whose picture has this path in the archive. Numbers and texts stay, and the typed
/// items become columns.
pub(super) fn image_folder_row(item: Value, picture: Option<String>) -> Value {
    let Value::Object(mut row) = item else { return item };
    let items = row.remove(column::METADATA_ITEMS).unwrap_or_default();
    row.insert(column::FILE_NAME.to_owned(), picture.into());
    let columns = row.remove("columns").unwrap_or_default();
    row.extend(described(&items));
    // A column of the user's own never replaces a column of exports.
    for (name, value) in columns.as_object().into_iter().flatten() {
        row.entry(name).or_insert_with(|| value.clone());
    }
    row.into()
}

fn described(items: &Value) -> Map<String, Value> {
    let (mut caption, mut video, mut seconds) = (None, None, None);
    let (mut labels, mut tags, mut objects) = (Vec::new(), Vec::new(), Vec::new());
    for (kind, properties) in typed_items(items) {
        match kind {
            "caption" => caption = first_text(properties, &["caption", "text"]),
            "image_label" => labels.extend(first_text(properties, &["category_name"])),
            "user_tag" => tags.extend(first_text(properties, &["tag_name"])),
            "object_label" => objects.push(object(properties)),
            "video_info" => {
                video = first_text(properties, &[column::VIDEO_NAME]);
                seconds = number(properties, column::FRAME_TIMESTAMP);
            }
            _ => {}
        }
    }
    let columns = [
        (column::CAPTION, json!(caption)),
        (column::LABELS, labels.into()),
        (column::USER_TAGS, tags.into()),
        (column::OBJECTS, objects.into()),
        (column::ISSUES, issues(items)),
        (column::VIDEO_NAME, json!(video)),
        (column::FRAME_TIMESTAMP, json!(seconds)),
    ];
    columns.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Returns the types and properties of a list of typed items.
fn typed_items(items: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let items = items.as_array().into_iter().flatten();
    items.filter_map(|item| Some((item.get("type")?.as_str()?, item.get("properties")?)))
}

fn object(properties: &Value) -> Value {
    let sides = properties.get("bbox").and_then(Value::as_array);
    // Whole numbers are written with a decimal point, because readers take the type of a column from its first rows.
    let sides: Vec<f64> = sides.into_iter().flatten().filter_map(Value::as_f64).collect();
    let or_empty = |name: &str| properties.get(name).cloned().unwrap_or_else(|| json!([]));
    let items = &properties[column::METADATA_ITEMS];
    let tags = typed_items(items).filter(|(kind, _)| *kind == "user_tag");
    let tags: Value = tags.filter_map(|(_, tag)| first_text(tag, &["tag_name"])).collect();
    json!({
        "label": first_text(properties, &["category_name"]),
        "bbox": sides,
        "score": number(properties, "score"),
        "polygons": or_empty("polygons"),
        "mask": properties.get("mask"),
        "keypoints": or_empty("keypoints"),
        "is_crowd": properties.get("is_crowd").and_then(Value::as_bool).unwrap_or_default(),
        column::UNIQUENESS_SCORE: number(properties, column::UNIQUENESS_SCORE),
        column::ISSUES: issues(items),
        column::USER_TAGS: tags,
        column::USER_RATING: properties.get(column::USER_RATING),
    })
}

fn issues(items: &Value) -> Value {
    let issues = typed_items(items).filter(|(kind, _)| *kind == "issue").map(|(_, properties)| {
        json!({
            "type": first_text(properties, &["issue_type"]),
            "confidence": number(properties, "confidence"),
            "group": first_text(properties, &["duplicate_group_id"]),
        })
    });
    issues.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_items_become_columns() {
        let typed = |kind: &str, properties: Value| json!({"type": kind, "properties": properties});
        let dark = typed("issue", json!({"issue_type": "dark", "confidence": 1}));
        let ear = json!({"category_name": "ear", "bbox": [1, 2, 3.5, 4], "score": 0.5,
                         "keypoints": [1.0, 2.0, 2.0], "user_rating": 4,
                         "metadata_items": [dark, typed("user_tag", json!({"tag_name": "left"}))]});
        let items = [
            typed("caption", json!({"text": "A cat."})),
            typed("image_label", json!({"category_name": "cat"})),
            typed("object_label", ear),
            typed("unknown", json!(null)),
        ];
        let item = json!({"media_id": "m", "file_name": "a.jpg", "metadata_items": items,
                          "columns": {"weather": "fog", "caption": "not this one"}});
        let row = image_folder_row(item, Some("images/a.jpg".to_owned()));
        let dark = json!([{"type": "dark", "confidence": 1.0, "group": null}]);
        let expected = json!({
            "media_id": "m", "file_name": "images/a.jpg", "caption": "A cat.", "labels": ["cat"],
            "user_tags": [], "issues": [], "video_name": null, "frame_timestamp": null,
            "weather": "fog",
            "objects": [{"label": "ear", "bbox": [1.0, 2.0, 3.5, 4.0], "score": 0.5,
                         "polygons": [], "mask": null, "keypoints": [1.0, 2.0, 2.0],
                         "is_crowd": false, "uniqueness_score": null, "issues": dark,
                         "user_tags": ["left"], "user_rating": 4}],
        });
        assert_eq!(row, expected);
    }
}
