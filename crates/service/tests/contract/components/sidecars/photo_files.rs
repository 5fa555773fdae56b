//! Files that photo programs keep beside a picture, and media whose name does not say that they are media.

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
fn of_two_xmp_files_the_one_with_the_whole_name_wins_in_any_case_of_letters() {
    let folder = TestFolder::with_media(&["a.jpg", "a.cr2", "b.JPG"]);
    folder.write("a.xmp", xmp("truck", "a truck"));
    folder.write("a.jpg.Xmp", xmp("van", "a van"));
    folder.write("b.Xmp", xmp("boat", "a boat"));
    let expected = [
        describe("a.cr2", "a truck", "truck rating:4", "", ""),
        describe("a.jpg", "a van", "van rating:4", "", ""),
        describe("b.JPG", "a boat", "boat rating:4", "", ""),
    ];
    assert_eq!(folder.descriptions(), expected);
}

#[test]
fn documents_of_google_takeout_are_found_by_all_their_names() {
    let long = "a picture whose name has so many letters that it is cut off.jpg";
    let media =
        ["1.jpg", "2.jpg", "3.jpg", "4(1).jpg", "5.jpg", "5-edited.jpg", "6-bearbeitet.jpg", long];
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
        ("6.jpg.json", "six"),
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
        describe("6-bearbeitet.jpg", "six", labels, "", ""),
        describe(long, "long", labels, "", ""),
    ];
    expected.sort();
    let mut found = folder.descriptions();
    found.sort();
    assert_eq!(found, expected);
    let descriptions = folder.read_sidecars().descriptions;
    assert!(descriptions.values().all(|description| description.extra_columns.is_empty()));
}

#[test]
fn a_document_whose_name_fits_several_pictures_describes_none() {
    let start = "a".repeat(46);
    let media = ["-anna.jpg", "-bob.jpg"].map(|end| format!("{start}{end}"));
    let copies = ["-a.jpg", "-a(1).jpg"].map(|end| format!("{}{end}", start.replace('a', "b")));
    let media: Vec<&str> = media.iter().chain(&copies).map(String::as_str).collect();
    let folder = TestFolder::with_media(&media);
    for (start, text) in [(&media[0][..46], "one of two"), (&media[2][..46], "a copy")] {
        for number in ["", "(1)"] {
            let document = TAKEN.replace("OLYMPUS DIGITAL CAMERA", &format!("{text}{number}"));
            folder.write(&format!("{start}{number}.json"), document);
        }
    }
    let labels = "person:Ada year:2024 date:2024-05-17";
    let expected = [
        describe(media[3], "a copy(1)", labels, "", ""),
        describe(media[2], "a copy", labels, "", ""),
    ];
    assert_eq!(folder.descriptions(), expected);
}

#[test]
fn media_whose_name_says_nothing_are_recognized_by_their_content() {
    let folder = TestFolder::with_media(&[]);
    let png = b"\x89PNG\r\n\x1a\n0000";
    let packet = [&[0x47][..], &[0; 187]].concat();
    folder.write("cat/img1", png);
    folder.write("cat/img1.txt", "a gray cat");
    folder.write("dog/img2", b"\xFF\xD8\xFF\xE00000");
    folder.write("dog/LICENSE", "MIT");
    folder.write("c05.ts", packet.repeat(4));
    folder.write("c05.txt", "a clip");
    folder.write("app.ts", "export const a = 1;");
    folder.write("app.txt", "a program");
    folder.write("photo.jpg.1", png);
    folder.write("photo.jpg.1.txt", "a copy");
    folder.write("saved.jpg_large", png);
    folder.write("saved.json", r#"{"caption": "a download"}"#);
    folder.write("take.jpg~", png);
    folder.write("take.jpg~.json", TAKEN);
    folder.write("x.ts", packet.repeat(4));
    folder.write("metadata.csv", "file_name,caption\nx,a name alone\n");
    let labels = "person:Ada year:2024 date:2024-05-17";
    let expected = [
        describe("c05.ts", "a clip", "", "", ""),
        describe("cat/img1", "a gray cat", "cat", "", ""),
        describe("dog/img2", "", "dog", "", ""),
        describe("photo.jpg.1", "a copy", "", "", ""),
        describe("saved.jpg_large", "a download", "", "", ""),
        describe("take.jpg~", "", labels, "", ""),
        describe("x.ts", "a name alone", "", "", ""),
    ];
    assert_eq!(folder.descriptions(), expected);
}

/// A document of Google Takeout with a description that the camera wrote.
const TAKEN: &str = r#"{"description": "OLYMPUS DIGITAL CAMERA",
    "photoTakenTime": {"timestamp": "1715950800"}, "people": [{"name": "Ada"}]}"#;

#[test]
fn texts_of_cameras_in_documents_of_google_takeout_are_not_captions() {
    let folder = TestFolder::with_media(&["a.jpg", "b.jpg"]);
    folder.write("a.jpg.json", TAKEN);
    folder.write("b.txt", "OLYMPUS DIGITAL CAMERA");
    let expected = [
        describe("a.jpg", "", "person:Ada year:2024 date:2024-05-17", "", ""),
        describe("b.jpg", "OLYMPUS DIGITAL CAMERA", "", "", ""),
    ];
    assert_eq!(folder.descriptions(), expected);
}

#[test]
fn keywords_dates_and_persons_are_read_as_editors_write_them() {
    let folder = TestFolder::with_media(&["a.jpg"]);
    for (content, labels) in [
        (
            r#"xmlns:lr="http://ns.adobe.com/lightroom/1.0/"><lr:hierarchicalSubject><rdf:Bag>
            <rdf:li>music|AC/DC</rdf:li></rdf:Bag></lr:hierarchicalSubject>"#,
            "AC/DC",
        ),
        (
            r#"xmlns:lr="http://ns.adobe.com/lightroom/1.0/"
            xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:subject><rdf:Seq><rdf:li>dog</rdf:li>
            <rdf:li>darktable</rdf:li><rdf:li>format</rdf:li><rdf:li>jpg</rdf:li></rdf:Seq></dc:subject>
            <lr:hierarchicalSubject><rdf:Seq><rdf:li>darktable|format|jpg</rdf:li>
            <rdf:li>animal|dog</rdf:li></rdf:Seq></lr:hierarchicalSubject>"#,
            "dog",
        ),
        (
            r#"xmlns:d="http://www.digikam.org/ns/1.0/"><d:TagsList><rdf:Seq>
            <rdf:li>animal/dog</rdf:li></rdf:Seq></d:TagsList>"#,
            "dog",
        ),
        (
            r#"xmlns:exif="http://ns.adobe.com/exif/1.0/" exif:DateTimeOriginal="2024:05:17 10:11:12">"#,
            "year:2024 date:2024-05-17",
        ),
        (
            r#"xmlns:r="http://ns.microsoft.com/photo/1.2/t/Region#"><r:x><rdf:Description
            r:PersonDisplayName="Ada"/></r:x>"#,
            "person:Ada",
        ),
        (
            r#"xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:subject><rdf:Bag><rdf:li>sea</rdf:li>
            </rdf:Bag></dc:subject>"#,
            "sea",
        ),
    ] {
        let packet = format!(
            r#"<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
            <rdf:Description {content}</rdf:Description></rdf:RDF>"#
        );
        folder.write("a.xmp", packet);
        assert_eq!(folder.descriptions(), [describe("a.jpg", "", labels, "", "")], "{content}");
    }
}

#[test]
fn an_xmp_file_describes_only_the_file_whose_extension_it_states() {
    let folder = TestFolder::with_media(&["a.jpg", "a.png", "b.jpg", "c.jpg"]);
    let stating = |extension: &str| {
        let namespace = r#"xmlns:photoshop="http://ns.adobe.com/photoshop/1.0/""#;
        let stated = format!(r#"{namespace} photoshop:SidecarForExtension="{extension}""#);
        xmp("truck", "a truck").replace("xmlns:xmp=", &format!("{stated} xmlns:xmp="))
    };
    folder.write("a.xmp", stating("JPG"));
    folder.write("b.xmp", stating("CR2"));
    folder.write("c.jpg.xmp", stating("CR2"));
    let described = |name| describe(name, "a truck", "truck rating:4", "", "");
    assert_eq!(folder.descriptions(), [described("a.jpg"), described("c.jpg")]);
    let why = "it describes a CR2 file, which is not beside it; to use it for another file, name it like `a.jpg.xmp`";
    assert_eq!(folder.problem_of("b.xmp"), why);
    assert_eq!(folder.read_sidecars().problems.len(), 1);
}

#[test]
fn the_default_language_of_a_description_is_taken() {
    let folder = TestFolder::with_media(&["a.jpg"]);
    let packet = xmp("truck", "a truck")
        .replace("<rdf:Alt>", r#"<rdf:Alt><rdf:li xml:lang="de">ein Lastwagen</rdf:li>"#);
    folder.write("a.xmp", packet);
    let labels = "truck rating:4";
    assert_eq!(folder.descriptions(), [describe("a.jpg", "a truck", labels, "", "")]);
}
