//! Recognizes annotations in JSON formats that are not read, so that the user knows what to do with them.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::ingest::documents;

/// The keys of a document, or of its first element if the document is a list, and what the document is.
const FORMATS: [(&[&str], bool, &str); 6] = [
    (&["_via_img_metadata"], false, "annotations of VIA"),
    (&["objects", "size"], false, "annotations of Supervisely"),
    (&["image", "annotations"], true, "annotations of CreateML"),
    (&["image_id", "bbox"], true, "results of COCO without the names of the images"),
    (&["data", "annotations"], true, "annotations in the own format of Label Studio"),
    (&["name", "labels"], true, "annotations of BDD100K"),
];

/// Returns why a document is not read, if it contains annotations.
pub(super) fn reason(text: &str) -> Option<String> {
    let mut first = None;
    let is_list = documents::for_each_element(text, |element| {
        first.get_or_insert(element);
    });
    let document = if is_list.is_some() { first?.get() } else { text };
    let values: BTreeMap<String, &RawValue> = documents::parse_object(document)?;
    let fits = |keys: &[&str]| keys.iter().all(|key| values.contains_key(*key));
    let (_, _, name) =
        FORMATS.iter().find(|(keys, in_list, _)| *in_list == is_list.is_some() && fits(keys))?;
    Some(format!("{name}, which are not read; export them as COCO"))
}
