//! Fuzzes the metadata in pictures: Exif, XMP and IPTC.

use jpeg_encoder::{ColorType, Encoder};
use tessera_media::ingest::embedded_text::{self, EmbeddedText};

use super::{fuzz, mutation::mutated};

/// An Exif block with a camera model, and a directory with a date and an exposure time.
const EXIF: &[u8] = b"Exif\0\0MM\0*\0\0\0\x08\
    \0\x02\x01\x10\0\x02\0\0\0\x04A12\0\x87\x69\0\x04\0\0\0\x01\0\0\0\x26\0\0\0\0\
    \0\x02\x82\x9A\0\x05\0\0\0\x01\0\0\0\x44\x90\x03\0\x02\0\0\0\x14\0\0\0\x4C\0\0\0\0\
    \0\0\0\x01\0\0\0\xFA2024:05:17 18:00:01\0";
const XMP: &str = "http://ns.adobe.com/xap/1.0/\0<rdf:RDF \
    xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:dc='http://purl.org/dc/elements/1.1/' \
    xmlns:xmp='http://ns.adobe.com/xap/1.0/'><rdf:Description xmp:Rating='4'><dc:title><rdf:Alt>\
    <rdf:li>Harbor</rdf:li></rdf:Alt></dc:title><dc:subject><rdf:Bag><rdf:li>boat</rdf:li></rdf:Bag>\
    </dc:subject></rdf:Description></rdf:RDF>";
const IPTC: &[u8] =
    b"Photoshop 3.0\x008BIM\x04\x04\0\0\0\0\0\x14\x1C\x02\x19\0\x03sea\x1C\x02\x78\0\x07A beach";

fn jpeg() -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, 50);
    for (number, segment) in [(1, EXIF), (1, XMP.as_bytes()), (13, IPTC)] {
        encoder.add_app_segment(number, segment.to_vec()).expect("a short segment");
    }
    encoder.encode(&[0; 3], 1, 1, ColorType::Rgb).expect("an encoder");
    bytes
}

#[test]
fn the_undamaged_picture_has_all_texts() {
    let expected = EmbeddedText {
        caption: Some("Harbor".to_owned()),
        labels: [
            "boat",
            "sea",
            "year:2024",
            "date:2024-05-17",
            "rating:4",
            "camera:A12",
            "exposure:1/250 s",
        ]
        .map(str::to_owned)
        .to_vec(),
    };
    assert_eq!(embedded_text::read(&jpeg()), expected);
}

#[test]
fn damaged_texts_are_read_within_the_limits() {
    let tokens = &["xmlns:a='b'", "<!DOCTYPE a>", "&lt;", "8BIM", "II*\0", "\u{1c}\u{2}"];
    fuzz(2_000, &mutated(vec![jpeg()], tokens), |input| {
        let EmbeddedText { caption, labels } = embedded_text::read(&input.0);
        assert!(caption.is_none_or(|caption| (1..=2_048).contains(&caption.chars().count())));
        assert!(labels.len() <= 64);
        assert!(labels.iter().all(|label| (1..=128).contains(&label.chars().count())));
    });
}
