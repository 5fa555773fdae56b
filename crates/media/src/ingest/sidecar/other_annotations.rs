//! Recognizes annotations in JSON formats that are not read, so that the user knows what to do with them.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::ingest::documents;

/// The keys of a document, or of its first element if the document is a list, and what the document is.
const FORMATS: [(&[&str], bool, &str); 9] = [
    (&["_via_img_metadata"], false, "annotations of VIA"),
    (&["objects", "size"], false, "annotations of Supervisely"),
    (&["image", "annotations"], true, "annotations of CreateML"),
    (&["image_id", "bbox"], true, "results of COCO without the names of the images"),
    (&["data", "annotations"], true, "annotations in the own format of Label Studio"),
    (&["annotation_id", "lead_time"], true, "annotations in the own format of Label Studio"),
    (&["name", "labels"], true, "annotations of BDD100K"),
    (&["samples"], false, "labels of FiftyOne"),
    (&["classes", "labels"], false, "labels of FiftyOne"),
];

type Keys<'a> = BTreeMap<String, &'a RawValue>;

/// Returns why a document is not read, if it contains annotations.
pub(super) fn reason(text: &str) -> Option<String> {
    let mut first = None;
    let is_list = documents::for_each_element(text, |element| {
        first.get_or_insert(element);
    });
    let document = if is_list.is_some() { first?.get() } else { text };
    let values: Keys<'_> = documents::parse_object(document)?;
    let has = |values: &Keys<'_>, keys: &[&str]| keys.iter().all(|key| values.contains_key(*key));
    // VIA also writes an object with a value for each picture.
    let picture = values.values().next().and_then(|value| documents::parse_object(value.get()));
    let is_via = picture.is_some_and(|picture| has(&picture, &["filename", "regions"]));
    let fits = |(keys, in_list, _): &&(&[&str], bool, &str)| {
        *in_list == is_list.is_some() && has(&values, keys)
    };
    let known = FORMATS.iter().find(fits).map(|(_, _, name)| *name);
    let name = known.or(is_via.then_some("annotations of VIA"))?;
    Some(format!("{name}, which are not read; export them as COCO"))
}
