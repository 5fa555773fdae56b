//! Removes the objects whose keys cannot be addressed from the XML of a listing page, because the library would refuse
//! the whole page.

use roxmltree::Document;

use super::object_uri::is_addressable_key;

/// The keys of the objects that were removed from a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SkippedKeys(pub Vec<String>);

/// The elements of a listing (its root, an object and a key), for S3 and Google Cloud, and for Azure.
const ELEMENTS: [(&str, &str, &str); 2] =
    [("ListBucketResult", "Contents", "Key"), ("EnumerationResults", "Blob", "Name")];

/// Returns the page without objects whose keys cannot be addressed. Returns `None` if the page is not a listing.
pub(crate) fn addressable_page(page: &str) -> Option<(String, SkippedKeys)> {
    let (_, object, key) = ELEMENTS.iter().find(|(root, ..)| page.contains(&format!("<{root}")))?;
    let (start, end) = (format!("<{object}>"), format!("</{object}>"));
    let mut kept = String::with_capacity(page.len());
    let mut skipped = SkippedKeys::default();
    let mut rest = page;
    while let Some(at) = rest.find(&start) {
        let (before, from) = rest.split_at(at);
        let length = from.find(&end).map_or(from.len(), |at| at + end.len());
        let (element, after) = from.split_at(length);
        kept.push_str(before);
        match element_text(element, key) {
            // Some tools represent a folder by an object whose key ends with a slash.
            Some(Ok(key) | Err(key)) if key.ends_with('/') => {}
            Some(Ok(key)) if is_addressable_key(&key) => kept.push_str(element),
            Some(Ok(key) | Err(key)) => skipped.0.push(key),
            None => kept.push_str(element),
        }
        rest = after;
    }
    kept.push_str(rest);
    Some((kept, skipped))
}

/// Returns the text of an element. The error is the text as it is in the page, if it is not valid XML, like the
/// reference of a control character.
fn element_text(element: &str, name: &str) -> Option<Result<String, String>> {
    let (_, rest) = element.split_once(&format!("<{name}>"))?;
    let (raw, _) = rest.split_once(&format!("</{name}>"))?;
    let text = format!("<text>{raw}</text>");
    let Ok(document) = Document::parse(&text) else { return Some(Err(raw.to_owned())) };
    Some(Ok(document.root_element().text().unwrap_or_default().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_that_cannot_be_addressed_are_left_out() {
        let page = |keys: &[&str]| {
            let objects = keys.iter().map(|key| format!("<Contents><Key>{key}</Key></Contents>"));
            format!(
                "<ListBucketResult>{}<KeyCount>9</KeyCount></ListBucketResult>",
                objects.collect::<String>()
            )
        };
        let all = page(&[
            "a&amp;b.jpg",
            "a//b.jpg",
            "folder/",
            "a/../b.jpg",
            "tab&#x9;.jpg",
            "bell&#x7;.jpg",
            "&#34;c&#34;.jpg",
        ]);
        let kept = page(&["a&amp;b.jpg", "&#34;c&#34;.jpg"]);
        let skipped = ["a//b.jpg", "a/../b.jpg", "tab\t.jpg", "bell&#x7;.jpg"].map(str::to_owned);
        assert_eq!(addressable_page(&all), Some((kept, SkippedKeys(skipped.into()))));
        let azure = "<EnumerationResults><Blobs><Blob><Name>a//b</Name></Blob></Blobs></EnumerationResults>";
        let none = "<EnumerationResults><Blobs></Blobs></EnumerationResults>";
        let skipped = SkippedKeys(vec!["a//b".to_owned()]);
        assert_eq!(addressable_page(azure), Some((none.to_owned(), skipped)));
        assert_eq!(addressable_page("<html></html>"), None);
    }
}
