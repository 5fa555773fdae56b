//! Tests with blocks of metadata that are put together by hand.

use std::slice;

use super::{
    text_rules::{BlockText, Dates, date_labels_of_text},
    *,
};

/// An Exif field: tag, type, number of values, and the values in big-endian order.
type Field = (u16, u16, u32, Vec<u8>);

fn ascii(tag: u16, text: &str) -> Field {
    let bytes = [text.as_bytes(), b"\0"].concat();
    (tag, 2, u32::try_from(bytes.len()).unwrap(), bytes)
}

fn fractions(tag: u16, fractions: &[(u32, u32)]) -> Field {
    let bytes: Vec<u8> = fractions
        .iter()
        .flat_map(|pair| [pair.0.to_be_bytes(), pair.1.to_be_bytes()].concat())
        .collect();
    (tag, 5, u32::try_from(fractions.len()).unwrap(), bytes)
}

fn short(tag: u16, number: u16) -> Field {
    (tag, 3, 1, number.to_be_bytes().to_vec())
}

/// Writes a directory for the offset `at`, followed by the values that do not fit in its fields.
fn directory(at: usize, fields: &[Field]) -> Vec<u8> {
    let mut entries = u16::try_from(fields.len()).unwrap().to_be_bytes().to_vec();
    let mut values = Vec::new();
    let values_at = at + 2 + 12 * fields.len() + 4;
    for (tag, kind, count, bytes) in fields {
        entries.extend([tag.to_be_bytes(), kind.to_be_bytes()].concat());
        entries.extend(count.to_be_bytes());
        let mut value = bytes.clone();
        if bytes.len() > 4 {
            value = u32::try_from(values_at + values.len()).unwrap().to_be_bytes().to_vec();
            values.extend(bytes);
        }
        value.resize(4, 0);
        entries.extend(value);
    }
    [entries, vec![0; 4], values].concat()
}

/// Writes Exif with fields of the picture, of the exposure, and of the place.
fn exif(picture: &[Field], taken: &[Field], gps: &[Field]) -> Vec<u8> {
    let pointer = |tag, at: usize| (tag, 4, 1, u32::try_from(at).unwrap().to_be_bytes().to_vec());
    let with_pointers = |taken_at, gps_at| {
        let pointers = [pointer(0x8769, taken_at), pointer(0x8825, gps_at)];
        directory(8, &[picture, &pointers].concat())
    };
    let taken_at = 8 + with_pointers(0, 0).len();
    let taken = directory(taken_at, taken);
    let gps_at = taken_at + taken.len();
    let parts = [&b"MM\0*\0\0\0\x08"[..], &with_pointers(taken_at, gps_at), &taken];
    [parts.concat(), directory(gps_at, gps)].concat()
}

#[test]
fn exif_gives_a_caption_and_labels_of_the_camera_the_date_and_the_place() {
    let structure = exif(
        &[
            ascii(0x010E, "Two boats  "),
            ascii(0x010F, "NIKON CORPORATION"),
            ascii(0x0110, "NIKON D90"),
            ascii(0x0132, "2025:01:01 00:00:00"),
        ],
        &[
            fractions(0x829A, &[(10, 2500)]),
            fractions(0x829D, &[(28, 10)]),
            short(0x8827, 400),
            ascii(0x9003, "2024:05:17 18:00:01"),
            fractions(0x920A, &[(50, 1)]),
            ascii(0xA434, "AF-S 50mm"),
        ],
        &[
            ascii(1, "S"),
            fractions(2, &[(33, 1), (51, 1), (0, 1)]),
            ascii(3, "E"),
            fractions(4, &[(151, 1), (12, 1), (3, 1)]),
        ],
    );
    let read = read_exif(&structure);
    assert_eq!(read.caption.as_deref(), Some("Two boats"));
    let expected = [
        "camera:NIKON D90",
        "lens:AF-S 50mm",
        "exposure:1/250 s",
        "aperture:f/2.8",
        "iso:400",
        "focal-length:50 mm",
        "gps:-33.9,151.2",
    ];
    assert_eq!(read.labels, expected);
    assert_eq!(read.dates.original, ["year:2024", "date:2024-05-17"]);
    assert_eq!(read.dates.digitized, ["year:2025", "date:2025-01-01"]);
    assert!(expected.into_iter().all(tessera_model::is_metadata_label));
}

#[test]
fn a_position_without_seconds_is_read() {
    let latitude = [ascii(1, "N"), fractions(2, &[(48, 1), (30, 1), (0, 0)])];
    let longitude = [ascii(3, "W"), fractions(4, &[(2, 1), (0, 0), (0, 0)])];
    let structure = exif(&[], &[], &[latitude, longitude].concat());
    assert_eq!(read_exif(&structure).labels, ["gps:48.5,-2.0"]);
}

#[test]
fn blank_camera_fields_are_ignored() {
    let structure = exif(
        &[ascii(0x010E, "OLYMPUS DIGITAL CAMERA"), ascii(0x0110, "  ")],
        &[fractions(0x829A, &[(0, 0)]), ascii(0x9003, "0000:00:00 00:00:00")],
        &[fractions(2, &[(33, 1)])],
    );
    assert_eq!(read_exif(&structure), BlockText::default());
}

#[test]
fn values_that_stand_for_unknown_ones_give_no_labels() {
    let lenses = ["----", "0.0 mm f/0.0", "DT 0mm F0 SAM", "n/a", "Unknown", "(null)", "65535"];
    let mut unknown: Vec<Field> = lenses.map(|lens| ascii(0xA434, lens)).into();
    for number in [(u32::MAX, 1), (65_535, 1), (1, 1_000)] {
        unknown.extend([0x829D, 0x920A].map(|tag| fractions(tag, &[number])));
    }
    unknown.extend([fractions(0x829A, &[(65_535, 1)]), ascii(0x9003, "0001:01:01 00:00:00")]);
    for field in unknown {
        let read = read_exif(&exif(&[], slice::from_ref(&field), &[]));
        assert_eq!(read, BlockText::default(), "{field:?}");
    }
    for camera in ["Unknown", "null", "----"] {
        let of = |make: &str, model: &str| {
            read_exif(&exif(&[ascii(0x010F, make), ascii(0x0110, model)], &[], &[])).labels
        };
        assert!(of("Nikon", camera).is_empty(), "{camera}");
        assert_eq!(of(camera, "RX0"), ["camera:RX0"], "{camera}");
    }
}

#[test]
fn exif_fields_are_read_in_every_type_of_numbers_and_texts() {
    let [exposure, iso] = [[1_i32, 250], [400, 0]].map(|pair| pair.map(i32::to_be_bytes).concat());
    let taken = [
        (0x829A, 10, 1, exposure),
        (0x829D, 11, 1, 2.8_f32.to_be_bytes().to_vec()),
        (0x8827, 9, 1, iso[..4].to_vec()),
        (0x920A, 12, 1, 35.0_f64.to_be_bytes().to_vec()),
        (0xA434, 129, 5, "Zöll".as_bytes().to_vec()),
    ];
    let expected =
        ["lens:Zöll", "exposure:1/250 s", "aperture:f/2.8", "iso:400", "focal-length:35 mm"];
    // Some programs write all fields into the first directory.
    assert_eq!(read_exif(&exif(&[], &taken, &[])).labels, expected);
    assert_eq!(read_exif(&exif(&taken, &[], &[])).labels, expected);
    for seconds in [&[(33, 1), (51, 1), (0, 0)][..], &[(33, 1), (51, 1)], &[(3385, 100)]] {
        let gps = [ascii(1, "N"), fractions(2, seconds), ascii(3, "E"), fractions(4, seconds)];
        let position = exif(&[], &[], &gps);
        assert_eq!(read_exif(&position).labels, ["gps:33.9,33.9"], "{seconds:?}");
        assert_eq!(read_gps(&exif(&gps, &[], &[])).labels, ["gps:33.9,33.9"], "{seconds:?}");
    }
}

#[test]
fn every_damaged_exif_is_read_without_a_panic() {
    let whole = exif(
        &[ascii(0x010E, "Two boats"), ascii(0x0110, "NIKON D90")],
        &[fractions(0x829A, &[(1, 250)]), ascii(0x9003, "2024:05:17 18:00:01")],
        &[ascii(1, "N"), fractions(2, &[(33, 1), (51, 1), (0, 1)])],
    );
    for length in 0..whole.len() {
        read_exif(&whole[..length]);
        for byte in [0, 1, 0x7F, 0xFF] {
            let mut damaged = whole.clone();
            damaged[length] = byte;
            read_exif(&damaged);
        }
    }
}

/// A packet with properties in both notations: as attributes and as elements.
const PACKET: &str = r#"<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
 <rdf:Description xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmlns:photoshop="http://ns.adobe.com/photoshop/1.0/"
   xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:mwg="http://www.metadataworkinggroup.com/schemas/regions/"
   xmlns:ext="http://iptc.org/std/Iptc4xmpExt/2008-02-29/"
   xmp:Rating="4" photoshop:DateCreated="2023-12-31T23:59:59">
  <dc:title><rdf:Alt><rdf:li xml:lang="x-default">Harbor</rdf:li><rdf:li xml:lang="de">Hafen</rdf:li></rdf:Alt></dc:title>
  <dc:description><rdf:Alt><rdf:li xml:lang="x-default">Two boats in the evening</rdf:li></rdf:Alt></dc:description>
  <dc:subject><rdf:Bag><rdf:li>boat</rdf:li><rdf:li>sea</rdf:li></rdf:Bag></dc:subject>
  <ext:PersonInImage><rdf:Bag><rdf:li>Ada</rdf:li></rdf:Bag></ext:PersonInImage>
  <mwg:Regions rdf:parseType="Resource"><mwg:RegionList><rdf:Bag>
   <rdf:li><rdf:Description mwg:Name="Grace" mwg:Type="Face"/></rdf:li>
   <rdf:li><rdf:Description mwg:Name="a boat" mwg:Type="Focus"/></rdf:li>
   <rdf:li xmlns:ms="http://ns.microsoft.com/photo/1.2/t/Region#" ms:PersonDisplayName="Ada"/>
   <rdf:li xmlns:ms="http://ns.microsoft.com/photo/1.2/t/Region#" rdf:parseType="Resource">
    <ms:PersonDisplayName>Carl</ms:PersonDisplayName></rdf:li>
  </rdf:Bag></mwg:RegionList></mwg:Regions>
 </rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end="w"?>"#;

#[test]
fn xmp_gives_caption_keywords_persons_rating_and_date() {
    let padded = format!("{PACKET}\n      \0\0");
    let read = read_xmp(padded.as_bytes());
    assert_eq!(read.caption.as_deref(), Some("Harbor Two boats in the evening"));
    assert_eq!(read.keywords, ["boat", "sea"]);
    assert_eq!(read.dates.original, ["year:2023", "date:2023-12-31"]);
    let expected = ["rating:4", "person:Ada", "person:Grace", "person:Ada", "person:Carl"];
    assert_eq!(read.labels, expected);
}

#[test]
fn xmp_texts_with_qualifiers_are_read() {
    let packet = r#"<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns:dc="http://purl.org/dc/elements/1.1/"><rdf:Description>
  <dc:title rdf:parseType="Resource"><rdf:value><rdf:Alt><rdf:li xml:lang="de">Hafen</rdf:li>
   <rdf:li xml:lang="x-default">Harbor</rdf:li></rdf:Alt></rdf:value></dc:title>
  <dc:description><rdf:Alt><rdf:li rdf:value="Evening"/></rdf:Alt></dc:description>
  <dc:subject><rdf:Bag><rdf:li>plain</rdf:li>
   <rdf:li rdf:parseType="Resource"><rdf:value>boat</rdf:value></rdf:li>
   <rdf:li><rdf:Description rdf:value="sea"/></rdf:li></rdf:Bag></dc:subject>
 </rdf:Description></rdf:RDF>"#;
    let read = read_xmp(packet.as_bytes());
    assert_eq!(read.caption.as_deref(), Some("Harbor Evening"));
    assert_eq!(read.keywords, ["plain", "boat", "sea"]);
}

#[test]
fn xmp_that_is_not_quite_xml_is_read() {
    let utf_16 =
        |order: fn(u16) -> [u8; 2]| -> Vec<u8> { PACKET.encode_utf16().flat_map(order).collect() };
    let bare = PACKET.replace("Two boats", "Two & boats").replace("Harbor", "Har\u{1}bor");
    let older = format!("old <bytes {PACKET} meta> </rdf:RDF>\n{}", PACKET.replace("Two", "Four"));
    let western = PACKET.replace("Two", "Fünf").chars().map(|c| u8::try_from(c).unwrap()).collect();
    for (packet, expected) in [
        (older.into_bytes(), "Harbor Two boats in the evening"),
        (bare.into_bytes(), "Har bor Two & boats in the evening"),
        (western, "Harbor Fünf boats in the evening"),
        (utf_16(u16::to_le_bytes), "Harbor Two boats in the evening"),
        (utf_16(u16::to_be_bytes), "Harbor Two boats in the evening"),
    ] {
        assert_eq!(read_xmp(&packet).caption.as_deref(), Some(expected));
    }
}

#[test]
fn xmp_over_the_limits_is_ignored() {
    let entities = r#"<!DOCTYPE x [<!ENTITY a "aaaa">]><x>&a;</x>"#.to_owned();
    let namespaces: Vec<String> =
        (0..100).map(|number| format!(" xmlns:n{number}=\"u\"")).collect();
    let namespaces = namespaces.concat();
    for packet in [entities, format!("<x{namespaces}/>"), "<x".to_owned()] {
        assert_eq!(read_xmp(packet.as_bytes()), BlockText::default());
    }
}

fn iptc(records: &[(u8, &[u8])]) -> Vec<u8> {
    let data_set = |&(number, body): &(u8, &[u8])| {
        let length = u16::try_from(body.len()).unwrap().to_be_bytes();
        [&[0x1C, 2, number], &length[..], body].concat()
    };
    records.iter().flat_map(data_set).collect()
}

#[test]
fn iptc_is_found_among_the_resources_of_photoshop() {
    let records = iptc(&[
        (5, b"Harbor"),
        (25, b"boat"),
        (25, b"caf\xE9"),
        (25, b"the mayor\x92s boat"),
        (55, b"20231231"),
        (120, b"Two boats in the Harbor"),
    ]);
    let length = u32::try_from(records.len()).unwrap().to_be_bytes();
    // A resource with a name and a body of odd length precedes the IPTC resource.
    let other = b"8BIM\x03\xED\x02ab\0\0\0\0\x03abc\0";
    let resources = [&other[..], b"8BIM\x04\x04\0\0", &length, &records].concat();
    let expected = BlockText {
        caption: Some("Two boats in the Harbor".to_owned()),
        keywords: ["boat", "caf\u{e9}", "the mayor\u{2019}s boat"].map(str::to_owned).into(),
        dates: Dates {
            original: vec!["year:2023".to_owned(), "date:2023-12-31".to_owned()],
            ..Dates::default()
        },
        ..BlockText::default()
    };
    assert_eq!(read_iptc(&resources), expected);
    assert_eq!(read_iptc(&records), expected);
    let padded = [&records[..], &[0; 3]].concat();
    let longs = padded.as_chunks().0.iter();
    let swapped: Vec<u8> = longs.flat_map(|&[a, b, c, d]| [d, c, b, a]).collect();
    assert_eq!(read_iptc(&swapped), expected, "long numbers in the other byte order");
    for length in 0..resources.len() {
        read_iptc(&resources[..length]);
    }
}

#[test]
fn texts_of_a_png_give_a_caption_or_the_prompt_of_a_generator() {
    let texts = |texts: &[(&str, &str)]| -> Vec<(String, String)> {
        texts.iter().map(|&(keyword, text)| (keyword.to_owned(), text.to_owned())).collect()
    };
    let described = texts(&[("Title", "Harbor"), ("Description", "boats"), ("Software", "x")]);
    assert_eq!(read_png_texts(&described).caption.as_deref(), Some("Harbor boats"));
    let generated = "a boat, oil\nNegative prompt: people\nSteps: 20";
    let read = read_png_texts(&texts(&[("parameters", generated)]));
    assert_eq!(read.caption.as_deref(), Some("a boat, oil"));
}

#[test]
fn dates_as_in_mails_are_read() {
    for text in [
        "Fri, 17 May 2024 10:11:12 GMT",
        "17 May 2024 10:11:12 +0200",
        "Fri, 17 May 2024 23:59:59 -0500",
    ] {
        assert_eq!(date_labels_of_text(text), ["year:2024", "date:2024-05-17"], "{text}");
    }
}

#[test]
fn dates_that_do_not_exist_give_no_labels() {
    for text in [
        "0000:00:00",
        "0000",
        "0001:01:01",
        "0001",
        "2024:02:30",
        "2024-13-01",
        "20241300",
        "20240",
        "yesterday",
        "",
    ] {
        assert!(date_labels_of_text(text).is_empty(), "{text}");
    }
}

#[test]
fn a_date_without_a_day_gives_the_year() {
    for text in ["1965", "1965-07", " 1965 ", "19650000", "19650700", "1965:07:00 00:00:00"] {
        assert_eq!(date_labels_of_text(text), ["year:1965"], "{text}");
    }
}

#[test]
fn directions_are_read_as_letters_or_words_and_zeros_are_no_position() {
    let place = |south: &str, west: &str, degrees: u32| {
        let degrees = [(degrees, 1), (0, 1), (0, 1)];
        let gps = [ascii(1, south), fractions(2, &degrees), ascii(3, west), fractions(4, &degrees)];
        read_exif(&exif(&[], &[], &gps)).labels
    };
    for (south, west) in [("S", "W"), ("s", "w"), ("South", "West")] {
        assert_eq!(place(south, west, 33), ["gps:-33.0,-33.0"], "{south}");
    }
    assert_eq!(place("north", "E", 33), ["gps:33.0,33.0"]);
    assert!(place("S", "W", 0).is_empty());
}

#[test]
fn blocks_of_one_picture_are_merged_and_the_newest_standard_wins() {
    let segment = |marker: u8, body: &[u8]| {
        let length = u16::try_from(body.len() + 2).unwrap().to_be_bytes();
        [&[0xFF, marker], &length[..], body].concat()
    };
    let structure = exif(&[ascii(0x010E, "by Exif"), ascii(0x0110, "A1")], &[], &[]);
    let records = iptc(&[(25, b"sea"), (25, b"harbor"), (120, b"by IPTC")]);
    let file = [
        vec![0xFF, 0xD8],
        segment(0xE1, &[b"Exif\0\0", &*structure].concat()),
        segment(0xE1, &[b"http://ns.adobe.com/xap/1.0/\0", PACKET.as_bytes()].concat()),
        segment(0xED, &[b"Photoshop 3.0\0", &*records].concat()),
        segment(0xDA, &[0; 4]),
    ];
    let read = read(&file.concat());
    assert_eq!(read.caption.as_deref(), Some("Harbor Two boats in the evening"));
    let expected = [
        "person:Ada",
        "person:Grace",
        "person:Carl",
        "boat",
        "sea",
        "harbor",
        "year:2023",
        "date:2023-12-31",
        "rating:4",
        "camera:A1",
    ];
    assert_eq!(read.labels, expected);
}

#[test]
fn comments_in_xmp_do_not_cut_texts() {
    let commented = PACKET.replace("Two boats", "Two<!-- x --> bo<?y z?>ats");
    assert_ne!(commented, PACKET);
    assert_eq!(read_xmp(commented.as_bytes()), read_xmp(PACKET.as_bytes()));
}

#[test]
fn the_date_of_the_scene_comes_before_the_date_of_the_scan() {
    let scanned = PACKET.replace("photoshop:DateCreated=", "xmp:CreateDate=");
    let of = |blocks| merged(blocks).labels.into_iter().filter(|it| it.starts_with("date:"));
    let taken = read_exif(&exif(&[], &[ascii(0x9003, "1965:07:01 12:00:00")], &[]));
    let dates = of([Some(read_xmp(scanned.as_bytes())), Some(taken)]);
    assert!(dates.eq(["date:1965-07-01"]));
    let digitized = read_exif(&exif(&[], &[ascii(0x9004, "2020:01:02 12:00:00")], &[]));
    let records = read_iptc(&iptc(&[(55, b"19650701")]));
    assert!(of([Some(digitized), Some(records)]).eq(["date:1965-07-01"]));
    assert!(of([Some(read_xmp(scanned.as_bytes())), None]).eq(["date:2023-12-31"]));
}

#[test]
fn a_sidecar_decides_what_a_picture_has_once() {
    let labels = ["rating:2", "year:2010", "date:2010-01-01", "camera:A1", "person:Ada", "boat"];
    let embedded = EmbeddedText { caption: None, labels: labels.map(str::to_owned).into() };
    let beside = |labels: &[&str]| {
        let labels: Vec<String> = labels.iter().map(|&label| label.to_owned()).collect();
        embedded.labels_beside(&labels)
    };
    assert_eq!(beside(&["rating:5", "year:1965", "sea"]), ["camera:A1", "person:Ada", "boat"]);
    assert_eq!(beside(&["sea", "person:Bob"]), labels);
}

#[test]
fn fast_lenses_and_high_sensitivities_have_their_values() {
    let long = |tag, number: u32| (tag, 4, 1, number.to_be_bytes().to_vec());
    let of = |fields: &[Field]| read_exif(&exif(&[], fields, &[])).labels;
    assert_eq!(of(&[fractions(0x829D, &[(95, 100)])]), ["aperture:f/0.95"]);
    let largest = short(0x8827, u16::MAX);
    for (kind, tag) in [(1, 0x8831), (2, 0x8832), (3, 0x8833), (4, 0x8832), (7, 0x8833)] {
        let fields = [largest.clone(), short(0x8830, kind), long(tag, 102_400)];
        assert_eq!(of(&fields), ["iso:102400"], "{kind}");
    }
    assert!(of(&[largest]).is_empty());
    let usual = [short(0x8827, 400), short(0x8830, 2), long(0x8832, 500)];
    assert_eq!(of(&usual), ["iso:400"]);
}

#[test]
fn many_keywords_leave_room_for_persons_and_metadata() {
    let keywords: String = (0..400)
        .map(|number| format!("<rdf:li>word {number}</rdf:li>"))
        .collect::<Vec<_>>()
        .concat();
    let packet = PACKET.replace("<rdf:li>boat</rdf:li><rdf:li>sea</rdf:li>", &keywords);
    let read = read(&jpeg_xl_with(&packet));
    let labels: Vec<&str> = read.labels.iter().map(String::as_str).collect();
    assert_eq!(labels[..4], ["person:Ada", "person:Grace", "person:Carl", "word 0"]);
    assert_eq!(labels[255..], ["word 252", "year:2023", "date:2023-12-31", "rating:4"]);
}

/// Writes a JPEG XL file with XMP but without a picture.
fn jpeg_xl_with(packet: &str) -> Vec<u8> {
    let length = u32::try_from(packet.len() + 8).unwrap().to_be_bytes();
    [b"\0\0\0\x0CJXL \r\n\x87\n", &length[..], b"xml ", packet.as_bytes()].concat()
}
