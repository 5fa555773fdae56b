//! Reads the types of columns that the library `datasets` of Hugging Face stores in the metadata of a Parquet file.
//! They say which columns are images, and name the classes whose numbers are in the rows.

use serde_json::{Map, Value};
use tessera_parquet::{FileColumn, ParquetFile};
use tessera_picture::PictureFormat;

/// The key of the metadata.
const KEY: &str = "huggingface";
/// Maximum nesting of types.
const MAX_DEPTH: usize = 8;
/// Names of columns that contain images, if the types are unknown.
const IMAGE_COLUMNS: [&str; 9] =
    ["image", "img", "picture", "photo", "jpg", "jpeg", "png", "webp", "image_bytes"];

/// The types of columns by name. A file from another program has none.
pub(crate) struct Features(Map<String, Value>);

impl Features {
    pub fn of(file: &ParquetFile) -> Self {
        let text = file.key_value(KEY).unwrap_or_default();
        let mut metadata: Value = serde_json::from_str(text).unwrap_or_default();
        match metadata["info"]["features"].take() {
            Value::Object(features) => Self(features),
            _ => Self(Map::new()),
        }
    }

    /// Returns the column of images with its name: the first column that is declared as images or has a usual name. If
    /// the file has no types, this is any column of files with paths, or else the first column that contains a picture.
    pub fn image_column(&self, file: &ParquetFile) -> Option<(String, FileColumn)> {
        let columns = file.file_columns();
        let find = |is_wanted: &dyn Fn(&str, &FileColumn) -> bool| {
            columns.iter().find(|(name, column)| is_wanted(name, column)).cloned()
        };
        let begins_with_picture = |column: &FileColumn| {
            let rows = file.files(*column, 0, 1).unwrap_or_default();
            rows.iter().flatten().flatten().any(|bytes| PictureFormat::detect(bytes).is_some())
        };
        let is_image = |name: &str| self.0.get(name).is_some_and(is_image);
        find(&|name, column| is_image(name) && !column.is_list())
            .or_else(|| find(&|name, _| is_image(name)))
            .or_else(|| find(&|name, _| is_usual(name)))
            .or_else(|| find(&|_, column| self.0.is_empty() && column.has_path()))
            .or_else(|| find(&|_, column| self.0.is_empty() && begins_with_picture(column)))
    }

    /// Replaces the numbers of classes by their names. The error is a number that has no name.
    pub fn name_classes(&self, row: &mut Value) -> Result<(), i64> {
        let mut result = Ok(());
        for (name, feature) in &self.0 {
            if let Some(value) = row.get_mut(name) {
                result = result.and(name_classes(feature, value, MAX_DEPTH));
            }
        }
        result
    }

    /// Returns the columns with the numbers of classes, or with lists of them.
    pub fn classes(&self) -> impl Iterator<Item = &str> {
        let is_class =
            |feature: &Value| item_of(feature).unwrap_or(feature)["_type"] == "ClassLabel";
        self.0.iter().filter(move |(_, feature)| is_class(feature)).map(|(name, _)| name.as_str())
    }

    /// Returns the column of objects with boxes.
    pub fn objects(&self) -> Option<&str> {
        let has_boxes = |(_, feature): &(&String, &Value)| {
            let item = item_of(feature).unwrap_or(feature);
            item["_type"].is_null() && item.get("bbox").is_some()
        };
        self.0.iter().find(has_boxes).map(|(name, _)| name.as_str())
    }
}

fn is_usual(name: &str) -> bool {
    IMAGE_COLUMNS.iter().any(|known| name.eq_ignore_ascii_case(known))
}

fn is_image(feature: &Value) -> bool {
    item_of(feature).unwrap_or(feature)["_type"] == "Image"
}

/// Returns the type of the items of a list. Earlier versions of the library wrote a list as a JSON list.
fn item_of(feature: &Value) -> Option<&Value> {
    match (feature, feature["_type"].as_str()) {
        (Value::Array(items), _) => items.first(),
        (_, Some("Sequence" | "List" | "LargeList")) => feature.get("feature"),
        _ => None,
    }
}

fn name_classes(feature: &Value, value: &mut Value, depth: usize) -> Result<(), i64> {
    let Some(depth) = depth.checked_sub(1) else { return Ok(()) };
    let mut result = Ok(());
    match (item_of(feature), value) {
        (Some(item), Value::Array(values)) => {
            for value in values {
                result = result.and(name_classes(item, value, depth));
            }
        }
        // A sequence of structs is stored as a struct of lists.
        (Some(Value::Object(fields)), Value::Object(columns)) => {
            for (name, field) in fields {
                if let Some(Value::Array(values)) = columns.get_mut(name) {
                    for value in values {
                        result = result.and(name_classes(field, value, depth));
                    }
                }
            }
        }
        (None, value) if feature["_type"] == "ClassLabel" => {
            if let Some(number) = value.as_i64() {
                *value = class_name(feature, number);
                // In a test set without labels, a negative number refers to no class.
                result = if number >= 0 && value.is_null() { Err(number) } else { Ok(()) };
            }
        }
        (None, Value::Object(columns)) if feature["_type"].is_null() => {
            for (name, column) in columns {
                result = result.and(name_classes(&feature[name.as_str()], column, depth));
            }
        }
        _ => {}
    }
    result
}

/// Returns the name of a class.
fn class_name(feature: &Value, number: i64) -> Value {
    let name = usize::try_from(number).ok().and_then(|number| feature["names"].get(number));
    name.cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn named(feature: &Value, mut value: Value) -> Value {
        let _ = name_classes(feature, &mut value, MAX_DEPTH);
        value
    }

    #[test]
    fn numbers_of_classes_get_their_names_in_every_form_of_list() {
        let class = json!({"_type": "ClassLabel", "names": ["cat", "dog"]});
        assert_eq!(named(&class, json!(1)), json!("dog"));
        assert_eq!(named(&class, json!(-1)), json!(null));
        assert_eq!(named(&class, json!(2)), json!(null));
        for (number, result) in [(-1, Ok(())), (1, Ok(())), (2, Err(2))] {
            assert_eq!(name_classes(&json!([class]), &mut json!([0, number]), MAX_DEPTH), result);
        }
        for list in [
            json!({"_type": "Sequence", "feature": class}),
            json!({"_type": "List", "feature": class, "length": -1}),
            json!([class]),
        ] {
            assert_eq!(named(&list, json!([1, 0])), json!(["dog", "cat"]));
        }
        let item = json!({"bbox": {"_type": "Value", "dtype": "float32"}, "category": class});
        let sequence = json!({"_type": "Sequence", "feature": item});
        let columns = named(&sequence, json!({"bbox": [[1, 2, 3, 4]], "category": [1]}));
        assert_eq!(columns["category"], json!(["dog"]));
        let list = named(&json!({"_type": "List", "feature": item}), json!([{"category": 0}]));
        assert_eq!(list, json!([{"category": "cat"}]));
        assert_eq!(named(&item, json!({"category": 1})), json!({"category": "dog"}));
    }

    #[test]
    fn images_and_objects_are_found_by_their_type() {
        let image = json!({"_type": "Image"});
        let item = json!({"bbox": [{"_type": "Value"}], "label": {"_type": "Value"}});
        let Value::Object(features) = json!({
            "a": image,
            "b": {"_type": "Sequence", "feature": image},
            "c": [image],
            "d": {"_type": "List", "feature": item},
            "e": {"_type": "ClassLabel", "names": ["x"]},
            "f": {"_type": "Sequence", "feature": {"_type": "ClassLabel", "names": ["x"]}},
        }) else {
            panic!("an object");
        };
        let features = Features(features);
        let images: Vec<_> = features.0.iter().filter(|(_, feature)| is_image(feature)).collect();
        assert_eq!(images.len(), 3);
        assert_eq!(features.objects(), Some("d"));
        assert_eq!(features.classes().collect::<Vec<_>>(), ["e", "f"]);
    }
}
