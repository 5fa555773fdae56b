//! Files that photo programs keep beside a picture, and pictures without an extension.

use super::{TestFolder, describe};

fn xmp(keyword: &str, description: &str) -> String {
    format!(
        r#"<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?>
        <x:xmpmeta xmlns:x="adobe:ns:meta/">
        <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
        <rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/"
            xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmp:Rating="4">
        <dc:description><rdf:Alt><rdf:li xml:lang="x-default">{description}</rdf:li></rdf:Alt></dc:description>
        <dc:subject><rdf:Bag><rdf:li>{keyword}</rdf:li></rdf:Bag></dc:subject>
        </rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end="w"?>"#
    )
}

#[test]
fn xmp_is_read_under_both_names_and_in_its_encoding() {
    let folder = TestFolder::with_media(&["a.jpg", "b.jpg", "c.jpg", "d.jpg"]);
    folder.write("a.xmp", xmp("truck", "a truck"));
    folder.write("b.jpg.xmp", xmp("van", "a van"));
    let wide = format!("\u{feff}{}", xmp("Möbel", "ein Möbel"));
    folder.write("c.XMP", wide.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>());
    folder.write("d.xmp", "<x:xmpmeta>");
    let expected = [
        describe("a.jpg", "a truck", "truck rating:4", "", ""),
        describe("b.jpg", "a van", "van rating:4", "", ""),
        describe("c.jpg", "ein Möbel", "Möbel rating:4", "", ""),
    ];
    assert_eq!(folder.descriptions(), expected);
    assert_eq!(folder.problem_of("d.xmp"), "line 1: invalid XML");
}

#[test]
fn documents_of_google_takeout_are_found_by_all_their_names() {
    let long = "a picture whose name has so many letters that it is cut off.jpg";
    let media = ["1.jpg", "2.jpg", "3.jpg", "4(1).jpg", "5.jpg", "5-edited.jpg", long];
    let folder = TestFolder::with_media(&media);
    let document = |text: &str| {
        format!(
            r#"{{"title": "x", "description": "{text}", "url": "https://photos.google.com/x",
                "photoTakenTime": {{"timestamp": "1715950800", "formatted": "17.05.2024"}},
                "people": [{{"name": "Ada"}}]}}"#
        )
    };
    for (name, text) in [
        ("1.jpg.json", "one"),
        ("2.jpg.supplemental-metadata.json", "two"),
        ("3.jpg.supplemen.json", "three"),
        ("4.jpg.supplemental-metadata(1).json", "four"),
        ("5.jpg.supp.json", "five"),
        (&format!("{}.json", &long[..46]), "long"),
        ("metadata.json", "of the album"),
    ] {
        folder.write(name, document(text));
    }
    let labels = "person:Ada year:2024 date:2024-05-17";
    let mut expected = [
        describe("1.jpg", "one", labels, "", ""),
        describe("2.jpg", "two", labels, "", ""),
        describe("3.jpg", "three", labels, "", ""),
        describe("4(1).jpg", "four", labels, "", ""),
        describe("5-edited.jpg", "five", labels, "", ""),
        describe("5.jpg", "five", labels, "", ""),
        describe(long, "long", labels, "", ""),
    ];
    expected.sort();
    let mut found = folder.descriptions();
    found.sort();
    assert_eq!(found, expected);
    let descriptions = folder.read_sidecars().descriptions;
    assert!(descriptions.values().all(|description| description.own.is_empty()));
}

#[test]
fn pictures_without_an_extension_are_recognized_by_their_content() {
    let folder = TestFolder::with_media(&[]);
    folder.write("cat/img1", b"\x89PNG\r\n\x1a\n0000");
    folder.write("cat/img1.txt", "a gray cat");
    folder.write("dog/img2", b"\xFF\xD8\xFF\xE00000");
    folder.write("dog/LICENSE", "MIT");
    let expected = [
        describe("cat/img1", "a gray cat", "cat", "", ""),
        describe("dog/img2", "", "dog", "", ""),
    ];
    assert_eq!(folder.descriptions(), expected);
}
