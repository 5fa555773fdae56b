//! Damaged and hostile archives: they are rejected while they are read.

use std::{
    fs::{self, File},
    io::{Seek as _, SeekFrom, Write as _},
    os::unix::fs::FileExt as _,
    path::Path,
};

use tessera_client::{ExistingFile, ExtractOptions, extract, read_entry};

use super::test_zip::{
    ZipMember, central_header, deflated_zeros, end_of_directory, local_header, stored_member,
    zip_bytes,
};

/// Names and contents of all extracted files, or the first error.
type ExtractedFiles = Result<Vec<(String, Vec<u8>)>, String>;

fn extracted(bytes: &[u8]) -> ExtractedFiles {
    let home = tempfile::tempdir().unwrap();
    let archive = home.path().join("x.zip");
    fs::write(&archive, bytes).unwrap();
    extracted_file(&archive)
}

fn extracted_file(archive: &Path) -> ExtractedFiles {
    let folder = archive.with_extension("");
    let extraction = extract(archive, &folder, &ExtractOptions::new(ExistingFile::Replace, false));
    let extraction = extraction.map_err(|failure| failure.to_string())?;
    if let Some(rejected) = extraction.rejected_entries.first.first() {
        return Err(rejected.to_string());
    }
    let entries = walkdir::WalkDir::new(&folder).sort_by_file_name().into_iter();
    let files = entries.map(Result::unwrap).filter(|entry| !entry.file_type().is_dir());
    let name = |path: &Path| path.strip_prefix(&folder).unwrap().display().to_string();
    Ok(files.map(|file| (name(file.path()), fs::read(file.path()).unwrap())).collect())
}

#[test]
fn no_flipped_byte_changes_what_comes_out() {
    let noise = |seed: u32| -> Vec<u8> {
        (0..700_u32).map(|at| (at ^ seed).wrapping_mul(2_654_435_761).to_be_bytes()[1]).collect()
    };
    let mut members = vec![deflated_zeros("metadata.json", 3_000)];
    members.extend((0..4).map(|n| stored_member(&format!("images/{n}.jpg"), &noise(n))));
    let sound = zip_bytes(&members);
    let expected = extracted(&sound).unwrap();
    let home = tempfile::tempdir().unwrap();
    let archive = home.path().join("x.zip");
    fs::write(&archive, &sound).unwrap();
    let file = File::options().write(true).open(&archive).unwrap();
    let (mut flips, mut undetected) = (0, 0);
    for (at, &byte) in (0..).zip(&sound) {
        for mask in [0x01, 0x80, 0xFF] {
            file.write_all_at(&[byte ^ mask], at).unwrap();
            flips += 1;
            if let Ok(content) = extracted_file(&archive) {
                undetected += 1;
                assert!(content == expected, "byte {at}, mask {mask:x}");
            }
        }
        file.write_all_at(&[byte], at).unwrap();
    }
    // No checksum covers dates, modes and comments.
    assert!(flips > 9_000 && undetected < flips / 20, "{undetected} of {flips}");
}

#[test]
fn archive_bombs_are_rejected_while_reading() {
    let bomb = deflated_zeros("a", 80 << 20);
    let error = extracted(&zip_bytes(std::slice::from_ref(&bomb))).unwrap_err();
    assert!(error.contains("compression limit"), "{error}");
    // The declared size does not matter.
    let lying = ZipMember { size: 7, ..bomb };
    assert!(extracted(&zip_bytes(&[lying])).is_err());
    let parts = ["a", "b", "c", "d"].map(|name| deflated_zeros(name, 60 << 20));
    let error = extracted(&zip_bytes(&parts)).unwrap_err();
    assert!(error.contains("compression limit"), "all together: {error}");
    // The largest picture that may be compressed this much.
    let home = tempfile::tempdir().unwrap();
    let archive = home.path().join("x.zip");
    fs::write(&archive, zip_bytes(&[deflated_zeros("images/a.bmp", 64 << 20)])).unwrap();
    assert_eq!(read_entry(&archive, "images/a.bmp").unwrap().len(), 64 << 20);
    let inner = zip_bytes(&[stored_member("x", b"y")]);
    let files = extracted(&zip_bytes(&[stored_member("nested.zip", &inner)])).unwrap();
    assert_eq!(files.len(), 1, "it is just a file");
}

#[test]
fn overlapping_entries_are_rejected() {
    let raw = stored_member("a", &[7; 1_000]);
    let body = [local_header(&raw), raw.packed.clone()].concat();
    let directory = central_header(&raw, 0).repeat(50);
    let bytes = [&body[..], &directory, &end_of_directory(50, directory.len(), body.len())];
    assert!(extracted(&bytes.concat()).unwrap_err().contains("overlap"));
}

#[test]
fn incomplete_archives_are_rejected() {
    let raw = stored_member("a", b"abc");
    let sound = zip_bytes(std::slice::from_ref(&raw));
    let encrypted = ZipMember { flags: raw.flags | 1, ..raw.clone() };
    let unknown = ZipMember { method: 97, ..raw.clone() };
    let wrong = ZipMember { crc: raw.crc ^ 1, ..raw.clone() };
    let body = [local_header(&raw), raw.packed.clone(), central_header(&raw, 0)].concat();
    let mut renamed = sound.clone();
    renamed[30] = b'b';
    for (what, bytes) in [
        ("encrypted", zip_bytes(&[encrypted])),
        ("packed in an unknown way", zip_bytes(&[unknown])),
        ("another checksum", zip_bytes(&[wrong])),
        ("more members than there are", [&body[..], &end_of_directory(60_000, 47, 34)].concat()),
        ("cut off", sound[..sound.len() - 5].to_vec()),
        ("empty", Vec::new()),
        ("another name in front", renamed),
    ] {
        assert!(extracted(&bytes).is_err(), "{what}");
    }
}

#[test]
fn large_directories_are_not_loaded_into_memory() {
    let count = 2_000_001_u64;
    let size = count * 46;
    let home = tempfile::tempdir().unwrap();
    let archive = home.path().join("x.zip");
    let mut sparse = File::create(&archive).unwrap();
    sparse.write_all(b"PK\x01\x02").unwrap();
    sparse.seek(SeekFrom::Start(size)).unwrap();
    let wide = |n: u64| n.to_le_bytes();
    let end64 = [
        &b"PK\x06\x06"[..],
        &wide(44),
        &[45, 3, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        &wide(count),
        &wide(count),
        &wide(size),
        &wide(0),
        b"PK\x06\x07\0\0\0\0",
        &wide(size),
        &[1, 0, 0, 0],
        b"PK\x05\x06\0\0\0\0",
        &[0xFF; 12],
        &[0, 0],
    ];
    sparse.write_all(&end64.concat()).unwrap();
    let error = extracted_file(&archive).unwrap_err();
    assert!(error.contains("more than 2000000 entries"), "{error}");
}
