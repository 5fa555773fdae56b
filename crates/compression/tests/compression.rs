//! Streams of several parts, with wrong checksums, and cut ones.

use std::io::{ErrorKind, Read, Write as _};

use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use tessera_compression::Compression;

/// "tessera\n" by `xz`.
const XZ: &[u8] = &[
    0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00, 0x00, 0x04, 0xE6, 0xD6, 0xB4, 0x46, 0x02, 0x00, 0x21, 0x01,
    0x16, 0x00, 0x00, 0x00, 0x74, 0x2F, 0xE5, 0xA3, 0x01, 0x00, 0x07, 0x74, 0x65, 0x73, 0x73, 0x65,
    0x72, 0x61, 0x0A, 0x00, 0xFA, 0x0D, 0x29, 0x3C, 0x9F, 0x7C, 0x83, 0x62, 0x00, 0x01, 0x20, 0x08,
    0xBB, 0x19, 0xD9, 0xBB, 0x1F, 0xB6, 0xF3, 0x7D, 0x01, 0x00, 0x00, 0x00, 0x00, 0x04, 0x59, 0x5A,
];

fn zstandard(text: &str) -> Vec<u8> {
    compress_to_vec(text.as_bytes(), CompressionLevel::Fastest)
}

fn read(compression: Compression, bytes: &[u8]) -> Result<String, ErrorKind> {
    let mut text = String::new();
    let read = compression.reader(bytes).read_to_string(&mut text);
    read.map(|_| text).map_err(|error| error.kind())
}

#[test]
fn all_parts_are_read_in_a_row() {
    let skippable = [&[0x53, 0x2A, 0x4D, 0x18, 3, 0, 0, 0][..], b"any"].concat();
    let frames = [&skippable[..], &zstandard("one"), &zstandard(""), &skippable, &zstandard("two")];
    let frames = frames.concat();
    assert!(Compression::Zstandard.matches_signature(&frames));
    assert_eq!(read(Compression::Zstandard, &frames).as_deref(), Ok("onetwo"));
    let member = |text: &str| {
        let mut gzip = GzEncoder::new(Vec::new(), flate2::Compression::best());
        gzip.write_all(text.as_bytes()).unwrap();
        gzip.finish().unwrap()
    };
    let members = [&member("one")[..], &member(""), &member("two"), &[0; 5_000]].concat();
    assert_eq!(read(Compression::Gzip, &members).as_deref(), Ok("onetwo"));
    assert!(read(Compression::Gzip, &members[..60]).is_err(), "cut");
    assert!(read(Compression::Gzip, &[&members[..], b"more"].concat()).is_err());
    let streams = [XZ, &[0; 4], XZ].concat();
    assert!(Compression::Xz.matches_signature(&streams));
    assert_eq!(read(Compression::Xz, &streams).as_deref(), Ok("tessera\ntessera\n"));
}

#[test]
fn cut_streams_are_errors() {
    for (compression, bytes) in
        [(Compression::Xz, XZ), (Compression::Zstandard, &zstandard("one and two"))]
    {
        for end in 0..bytes.len() {
            assert!(read(compression, &bytes[..end]).is_err(), "{compression:?} {end}");
        }
    }
    let skippable_cut = [0x50, 0x2A, 0x4D, 0x18, 9, 0, 0, 0, 1];
    assert_eq!(read(Compression::Zstandard, &skippable_cut), Err(ErrorKind::UnexpectedEof));
}

#[test]
fn wrong_checksums_are_errors_that_stay() {
    let mut zstandard = zstandard("one");
    *zstandard.last_mut().unwrap() ^= 1;
    let mut xz = XZ.to_vec();
    // The last byte of the content.
    let at = xz.windows(8).position(|bytes| bytes == b"tessera\n").unwrap();
    xz[at] ^= 1;
    for (compression, bytes) in [(Compression::Xz, xz), (Compression::Zstandard, zstandard)] {
        let bytes = [bytes, b"more".to_vec()].concat();
        let mut reader = compression.reader(&bytes[..]);
        let mut text = Vec::new();
        let first = reader.read_to_end(&mut text).unwrap_err().kind();
        let second = reader.read_to_end(&mut text).unwrap_err().kind();
        assert_eq!((first, second), (ErrorKind::InvalidData, ErrorKind::InvalidData));
        assert!(text.len() <= 8, "{compression:?}: {text:?}");
    }
}
