//! Builds archives byte by byte, including hostile ones.

use std::io::Write as _;

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[derive(Clone)]
pub(crate) struct ZipMember {
    pub name: Vec<u8>,
    /// Unix file type and permissions.
    pub mode: u32,
    pub method: u16,
    pub flags: u16,
    pub packed: Vec<u8>,
    pub crc: u32,
    pub size: u32,
    pub comment: &'static str,
}

pub(crate) fn stored_member(name: &str, bytes: &[u8]) -> ZipMember {
    ZipMember {
        name: name.into(),
        mode: 0o100_644,
        method: 0,
        // Names are UTF-8.
        flags: 1 << 11,
        packed: bytes.to_vec(),
        crc: crc32fast::hash(bytes),
        size: u32::try_from(bytes.len()).unwrap(),
        comment: "",
    }
}

/// Zeros, deflated.
pub(crate) fn deflated_zeros(name: &str, size: usize) -> ZipMember {
    let mut deflate = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
    let bytes = vec![0; size];
    deflate.write_all(&bytes).unwrap();
    let raw = stored_member(name, &bytes);
    ZipMember { method: 8, packed: deflate.finish().unwrap(), ..raw }
}

pub(crate) fn zip_bytes(members: &[ZipMember]) -> Vec<u8> {
    let (mut all, mut directory) = (Vec::new(), Vec::new());
    for raw in members {
        let start = u32::try_from(all.len()).unwrap();
        all.extend(local_header(raw));
        all.extend(&raw.packed);
        directory.extend(central_header(raw, start));
    }
    let count = u16::try_from(members.len()).unwrap();
    [&all[..], &directory, &end_of_directory(count, directory.len(), all.len())].concat()
}

pub(crate) fn local_header(raw: &ZipMember) -> Vec<u8> {
    [&b"PK\x03\x04\x14\0"[..], &common_fields(raw), &raw.name].concat()
}

pub(crate) fn central_header(raw: &ZipMember, start: u32) -> Vec<u8> {
    let comment = u16::try_from(raw.comment.len()).unwrap().to_le_bytes();
    let rest = [&comment[..], &[0; 4], &(raw.mode << 16).to_le_bytes(), &start.to_le_bytes()];
    // Made on Unix, so that the mode applies.
    [
        &b"PK\x01\x02\x14\x03\x14\0"[..],
        &common_fields(raw),
        &rest.concat(),
        &raw.name,
        raw.comment.as_bytes(),
    ]
    .concat()
}

pub(crate) fn end_of_directory(count: u16, size: usize, start: usize) -> Vec<u8> {
    let (count, word) = (count.to_le_bytes(), |n: usize| u32::try_from(n).unwrap().to_le_bytes());
    [&b"PK\x05\x06\0\0\0\0"[..], &count, &count, &word(size), &word(start), &[0, 0]].concat()
}

/// The fields that both headers share.
fn common_fields(raw: &ZipMember) -> Vec<u8> {
    let packed = u32::try_from(raw.packed.len()).unwrap();
    let name = u16::try_from(raw.name.len()).unwrap();
    let date = [0, 0, 0x21, 0];
    [
        &raw.flags.to_le_bytes()[..],
        &raw.method.to_le_bytes(),
        &date,
        &raw.crc.to_le_bytes(),
        &packed.to_le_bytes(),
        &raw.size.to_le_bytes(),
        &name.to_le_bytes(),
        &[0, 0],
    ]
    .concat()
}
