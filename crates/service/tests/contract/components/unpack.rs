//! Tests with valid and damaged archives: formats, limits, names.

use std::{
    fs,
    io::{Cursor, Write as _},
    sync::atomic::AtomicBool,
};

use proptest::prelude::*;
use tar::{Builder, EntryType};
use tessera_media::ingest::archive_readers::{
    ArchiveKind, NESTED_ARCHIVE, UnpackError, UnpackLimits, UnpackReport, unpack,
};
use tessera_model::FileKind;
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

use super::archives::{
    GO, METHODS, NAMES, PLAIN, append_member, files_in, gzipped, names, random_bytes, skip_reasons,
    tar_of, unpack_bytes, unpack_with, zipped,
};

#[test]
fn archives_of_every_format_are_unpacked() {
    let members: [(&str, &[u8]); 4] =
        [("cats/1.jpg", b"one"), ("cats/2.jpg", b""), ("./a.png", b"a"), ("m.jsonl", b"{}")];
    let tar = tar_of(&members);
    for (kind, bytes) in [
        (ArchiveKind::Zip, zipped(&members)),
        // A program in front of an archive unpacks it.
        (ArchiveKind::Zip, [b"#!/bin/sh\n", &zipped(&members)[..]].concat()),
        (ArchiveKind::TarGz, gzipped(&tar)),
        // Bytes after the end of an archive are not read.
        (ArchiveKind::TarGz, [gzipped(&tar), vec![0; 600], b"more".to_vec()].concat()),
        (ArchiveKind::Tar, tar),
    ]
    .into_iter()
    .chain(PLAIN.map(|(kind, bytes)| (kind, bytes.to_vec())))
    {
        assert!(kind.matches(&mut Cursor::new(&bytes)).unwrap(), "{kind:?}");
        let (temp_dir, out) = unpack_bytes(kind, &bytes);
        assert_eq!(out, UnpackReport { files: 4, bytes: 6, ..UnpackReport::default() }, "{kind:?}");
        let expected =
            [("a.png", "a"), ("cats/1.jpg", "one"), ("cats/2.jpg", ""), ("m.jsonl", "{}")];
        let expected = expected.map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec()));
        assert_eq!(files_in(&temp_dir), expected, "{kind:?}");
    }
}

#[test]
fn formats_are_detected_by_name_and_signature() {
    let of = ArchiveKind::from_name;
    assert_eq!(of("a.ZIP"), Some(ArchiveKind::Zip));
    assert_eq!(of("a.b.tar"), Some(ArchiveKind::Tar));
    assert_eq!(of("a.tar.gz"), Some(ArchiveKind::TarGz));
    assert_eq!(of("A.tar.XZ"), Some(ArchiveKind::TarXz));
    assert_eq!(of("a.tar.zst"), Some(ArchiveKind::TarZst));
    for name in
        ["a.tgz", "a.xz", "a.zst", ".tar.zst", "a.gz", "zip", ".zip", "a.zip.png", "a.rar", ""]
    {
        assert_eq!(of(name), None, "{name}");
    }
    for kind in [
        ArchiveKind::Zip,
        ArchiveKind::Tar,
        ArchiveKind::TarGz,
        ArchiveKind::TarXz,
        ArchiveKind::TarZst,
    ] {
        assert_eq!(of(&format!("x{}", kind.as_str())), Some(kind));
        assert!(
            !kind.matches_signature(b"\x89PNG\r\n\x1a\n")
                && !kind.matches_signature(&random_bytes(512))
        );
    }
}

#[test]
fn members_that_are_not_regular_files_are_skipped() {
    let mut tar = Builder::new(Vec::new());
    append_member(&mut tar, "../evil.png", EntryType::Regular, b"x");
    append_member(&mut tar, "/abs.png", EntryType::Regular, b"x");
    append_member(&mut tar, "..\\worse.png", EntryType::Regular, b"x");
    append_member(&mut tar, "2024-05-17T10:11:12.png", EntryType::Regular, b"x");
    append_member(&mut tar, "a\u{1b}[2J.png", EntryType::Regular, b"x");
    append_member(&mut tar, ".hidden/a.png", EntryType::Regular, b"x");
    append_member(&mut tar, "__MACOSX/a.png", EntryType::Regular, b"x");
    append_member(&mut tar, "link.png", EntryType::Symlink, b"");
    append_member(&mut tar, "hard.png", EntryType::Link, b"");
    append_member(&mut tar, "fifo.png", EntryType::Fifo, b"");
    append_member(&mut tar, "disk.png", EntryType::Block, b"");
    append_member(&mut tar, "inner.zip", EntryType::Regular, b"PK");
    append_member(&mut tar, "sub/", EntryType::Directory, b"");
    append_member(&mut tar, "good.png", EntryType::Regular, b"x");
    let (temp_dir, out) = unpack_bytes(ArchiveKind::Tar, &tar.into_inner().unwrap());
    assert_eq!(names(&temp_dir), ["2024-05-17T10:11:12.png", "abs.png", "good.png"]);
    assert!(!temp_dir.path().join("evil.png").exists());
    let expected = [
        ("../evil.png", "its name points outside the folder"),
        ("..\\worse.png", "its name points outside the folder"),
        ("a␛[2J.png", "its name contains control characters"),
        (".hidden/a.png", "hidden"),
        ("__MACOSX/a.png", "hidden"),
        ("link.png", "a link"),
        ("hard.png", "a link"),
        ("fifo.png", "not a regular file"),
        ("disk.png", "not a regular file"),
        ("inner.zip", NESTED_ARCHIVE),
    ];
    assert_eq!(skip_reasons(&out), expected.map(|(name, why)| (name.to_owned(), why)));
    assert_eq!((out.files, out.damage_reason), (3, None));
}

#[test]
fn a_hard_link_is_a_copy_of_the_earlier_member() {
    let mut tar = Builder::new(Vec::new());
    append_member(&mut tar, "a/1.png", EntryType::Regular, b"one");
    append_member(&mut tar, "a/1.png", EntryType::Regular, b"other");
    for (name, earlier) in [
        ("2.png", "a/1.png"),
        ("3.png", "./2.png"),
        ("4.png", "5.png"),
        ("5.png", "../../etc/passwd"),
        ("6.png", "a"),
        ("../7.png", "a/1.png"),
    ] {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(EntryType::Link);
        header.set_size(0);
        header.set_link_name_literal(earlier).unwrap();
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_cksum();
        tar.append(&header, &b""[..]).unwrap();
    }
    let bytes = tar.into_inner().unwrap();
    let (temp_dir, out) = unpack_bytes(ArchiveKind::Tar, &bytes);
    let files = files_in(&temp_dir);
    let copies: Vec<_> = files.iter().filter(|(name, _)| !name.starts_with('a')).collect();
    let copy = |name: &str| (name.to_owned(), b"other".to_vec());
    assert_eq!(copies, [&copy("2.png"), &copy("3.png")]);
    let outside = "its name points outside the folder";
    let expected = ["4.png", "5.png", "6.png"].map(|name| (name, "a link"));
    let expected = [&expected[..], &[("../7.png", outside)]].concat();
    let expected: Vec<_> = expected.into_iter().map(|(name, why)| (name.to_owned(), why)).collect();
    assert_eq!(skip_reasons(&out), expected);
    assert_eq!((out.files, out.bytes), (4, 18));
    let limits = UnpackLimits { max_total_bytes: 15, ..UnpackLimits::default() };
    let (_, out) = unpack_with(ArchiveKind::Tar, &bytes, limits);
    assert_eq!((out.files, out.damage_reason.is_some()), (3, true));
}

#[test]
fn tar_archives_are_unpacked_one_level_deep() {
    let inner = tar_of(&[("k.jpg", b"inner")]);
    let shard = tar_of(&[
        ("k.jpg", b"one"),
        ("k.json", b"{}"),
        ("inner.tar", &inner),
        ("../../evil.png", b"x"),
        ("link/../ok.png", b"ok"),
    ]);
    let (packed, cut) = (gzipped(&shard), &shard[..514]);
    let members: [(&str, &[u8]); 5] = [
        ("a/0.tar", &shard),
        ("1.tar.gz", &packed),
        ("cut.tar", cut),
        ("inner.zip", b"PK"),
        ("z.png", b"z"),
    ];
    let unpacked = |folder: &str| {
        [("k.jpg", "one"), ("k.json", "{}"), ("ok.png", "ok")]
            .map(|(name, text)| (format!("{folder}/{name}"), text.as_bytes().to_vec()))
    };
    let z = ("z.png".to_owned(), b"z".to_vec());
    let expected: Vec<_> =
        unpacked("1.tar.gz").into_iter().chain(unpacked("a/0.tar")).chain([z]).collect();
    let outside = "its name points outside the folder";
    let skipped = [
        ("a/0.tar/inner.tar", NESTED_ARCHIVE),
        ("a/0.tar/../../evil.png", outside),
        ("1.tar.gz/inner.tar", NESTED_ARCHIVE),
        ("1.tar.gz/../../evil.png", outside),
        ("cut.tar/k.jpg", "it is damaged"),
        ("cut.tar", "it is damaged"),
        ("inner.zip", NESTED_ARCHIVE),
    ];
    let skipped = skipped.map(|(name, why)| (name.to_owned(), why));
    for (kind, bytes) in
        [(ArchiveKind::Zip, zipped(&members)), (ArchiveKind::Tar, tar_of(&members))]
    {
        let (temp_dir, out) = unpack_bytes(kind, &bytes);
        let mut files = files_in(&temp_dir);
        files.retain(|(name, _)| !name.starts_with("cut.tar"));
        assert_eq!(files, expected, "{kind:?}");
        assert_eq!(skip_reasons(&out), skipped, "{kind:?}");
        assert_eq!((out.files, out.damage_reason), (7, None), "{kind:?}");
    }
}

#[test]
fn a_shard_in_a_zip_file_is_verified_by_its_checksum() {
    let shard = tar_of(&[("k.jpg", b"one")]);
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    zip.start_file("0.tar", stored).unwrap();
    zip.write_all(&shard).unwrap();
    let mut wrong = zip.finish().unwrap().into_inner();
    let place = wrong.windows(3).position(|bytes| bytes == b"one").unwrap();
    wrong[place] ^= 0xFF;
    let (_place, out) = unpack_bytes(ArchiveKind::Zip, &wrong);
    assert_eq!(skip_reasons(&out).last(), Some(&("0.tar".to_owned(), "it is damaged")));
}

#[test]
fn long_names_of_skipped_members_are_reported_with_both_ends() {
    let long = |middle: &str| format!("{}{middle}{}.jpg", "x".repeat(200), "y".repeat(200));
    let deep = format!("{}e.jpg", "d/".repeat(300));
    let names = [long("a"), long("b"), deep];
    let members: Vec<(&str, &[u8])> = names.iter().map(|name| (&**name, &b"x"[..])).collect();
    let (_, out) = unpack_bytes(ArchiveKind::Zip, &zipped(&members));
    let reported: Vec<String> = skip_reasons(&out).into_iter().map(|(name, _)| name).collect();
    for (number, name) in (1..).zip(&reported) {
        assert!(FileKind::from_name(name).is_media() && name.chars().count() <= 256, "{name}");
        assert!(name.contains(&format!("(member {number})")), "{name}");
    }
    assert_eq!(reported.len(), 3);
}

#[test]
fn names_that_only_other_systems_reserve_are_unpacked() {
    let members: [(&str, &[u8]); 5] = [
        ("aux/c.jpg", b"x"),
        ("dir /k.jpg", b"x"),
        ("ok/../b.jpg", b"x"),
        ("ok/../../out.jpg", b"x"),
        ("ok/./../.././out.jpg", b"x"),
    ];
    let (temp_dir, out) = unpack_bytes(ArchiveKind::Zip, &zipped(&members));
    assert_eq!(names(&temp_dir), ["aux/c.jpg", "b.jpg", "dir /k.jpg"]);
    assert!(skip_reasons(&out).iter().all(|(_, why)| *why == "its name points outside the folder"));
}

#[test]
fn links_and_encrypted_zip_members_are_skipped() {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default();
    zip.add_symlink("link.png", "/etc/passwd", options).unwrap();
    zip.start_file("secret.png", options).unwrap();
    zip.write_all(b"x").unwrap();
    zip.start_file("good.png", options).unwrap();
    zip.write_all(b"x").unwrap();
    let mut bytes = zip.finish().unwrap().into_inner();
    // The encryption flag of the member in the central directory.
    let at = bytes.windows(10).rposition(|window| window == b"secret.png").unwrap();
    bytes[at - 46 + 8] |= 1;
    let (temp_dir, out) = unpack_bytes(ArchiveKind::Zip, &bytes);
    assert_eq!(names(&temp_dir), ["good.png"]);
    let expected = [("link.png", "a link"), ("secret.png", "it is encrypted")];
    assert_eq!(skip_reasons(&out), expected.map(|(name, why)| (name.to_owned(), why)));
}

#[test]
fn zip_members_are_unpacked_in_all_common_compressions() {
    let (temp_dir, out) = unpack_bytes(ArchiveKind::Zip, METHODS);
    let packed = ["bzip2", "deflate64", "lzma", "xz", "zstd"];
    let expected =
        packed.map(|name| (format!("{name}.png"), b"one and one and one and two".to_vec()));
    assert_eq!(files_in(&temp_dir), expected);
    let dictionary = "unpacking it takes a dictionary of more than 128 MiB; compress it again with a smaller one";
    let expected = [
        ("ppmd.png", "unsupported compression method; compress it with deflate"),
        ("wrong.png", "it is damaged"),
        ("torn.png", "it is damaged"),
        ("dictionary.png", dictionary),
    ];
    assert_eq!(skip_reasons(&out), expected.map(|(name, why)| (name.to_owned(), why)));
}

#[test]
fn names_are_relative_and_in_the_encoding_of_their_system() {
    let (temp_dir, out) = unpack_bytes(ArchiveKind::Zip, NAMES);
    let expected = [
        "abs/b.png",
        "c/d.png",
        "cat/a.png",
        "flagged-Θ.png",
        "größe.png",
        "größe2.png",
        "server/e.png",
        "猫の写真.png",
    ];
    assert_eq!(names(&temp_dir), expected);
    let outside = ("..\\evil.png".to_owned(), "its name points outside the folder");
    assert_eq!(skip_reasons(&out), [outside]);
}

#[test]
fn members_with_the_same_name_are_all_kept() {
    let mut bytes = zipped(&[("a.png", b"1"), ("b.png", b"2")]);
    for at in 0..bytes.len() - 5 {
        if &bytes[at..at + 5] == b"b.png" {
            bytes[at] = b'a';
        }
    }
    let (temp_dir, out) = unpack_bytes(ArchiveKind::Zip, &bytes);
    assert_eq!(names(&temp_dir), ["a.png", "a_2.png"]);
    assert_eq!((out.files, out.skipped.len(), out.damage_reason), (2, 0, None));
}

#[test]
fn members_with_wrong_sizes_are_skipped() {
    let mut bytes = zipped(&[("lie.png", &[b'x'; 1_000]), ("good.png", b"x")]);
    // The real size of the first member, in both of its headers.
    for at in 0..bytes.len() - 4 {
        if bytes[at..at + 4] == 1_000_u32.to_le_bytes() {
            bytes[at..at + 4].copy_from_slice(&10_u32.to_le_bytes());
        }
    }
    let (temp_dir, out) = unpack_bytes(ArchiveKind::Zip, &bytes);
    assert_eq!(names(&temp_dir), ["good.png"]);
    assert_eq!(skip_reasons(&out), [("lie.png".to_owned(), "it is damaged")]);
}

#[test]
fn a_video_has_the_limit_of_videos_under_any_name() {
    let video = [&[0x47][..], &[0; 187]].concat().repeat(4);
    let members = [("00001.MTS", &video[..]), ("a.ts", &video), ("b.ts", &[b'x'; 752])];
    let archives = [(ArchiveKind::Zip, zipped(&members)), (ArchiveKind::Tar, tar_of(&members))];
    for (kind, bytes) in archives {
        let limits = UnpackLimits { max_file_bytes: 10, ..UnpackLimits::default() };
        let (temp_dir, out) = unpack_with(kind, &bytes, limits);
        assert_eq!(names(&temp_dir), ["00001.MTS", "a.ts"], "{kind:?}");
        assert_eq!(fs::read(temp_dir.path().join("out/a.ts")).unwrap(), video);
        assert_eq!(skip_reasons(&out), [("b.ts".to_owned(), "it is too large")]);
    }
}

#[test]
fn limits_are_enforced() {
    let members: [(&str, &[u8]); 4] =
        [("a.png", &[1; 20]), ("b.mp4", &[2; 20]), ("c.png", &[3; 5]), ("d.png", &[4; 5])];
    let archives = [(ArchiveKind::Zip, zipped(&members)), (ArchiveKind::Tar, tar_of(&members))];
    for (kind, bytes) in archives {
        let limits = UnpackLimits { max_file_bytes: 10, ..UnpackLimits::default() };
        let (temp_dir, out) = unpack_with(kind, &bytes, limits.clone());
        assert_eq!(names(&temp_dir), ["b.mp4", "c.png", "d.png"], "{kind:?}");
        assert_eq!(skip_reasons(&out), [("a.png".to_owned(), "it is too large")]);
        let limits = UnpackLimits { max_total_bytes: 42, ..UnpackLimits::default() };
        let (temp_dir, out) = unpack_with(kind, &bytes, limits.clone());
        assert_eq!(names(&temp_dir), ["a.png", "b.mp4"], "{kind:?}");
        assert_eq!(out.damage_reason, Some("there is not enough space for all of it"));
        let limits = UnpackLimits { max_members: 3, ..UnpackLimits::default() };
        let (_place, out) = unpack_with(kind, &bytes, limits.clone());
        assert_eq!((out.files, out.damage_reason), (3, Some("it has too many members")));
        let limits = UnpackLimits {
            max_file_bytes: 1,
            max_video_bytes: 1,
            max_reported: 1,
            ..UnpackLimits::default()
        };
        let (_place, out) = unpack_with(kind, &bytes, limits.clone());
        assert_eq!((out.files, out.skipped.len(), out.unreported), (0, 1, 3));
    }
}

#[test]
fn files_before_the_damage_are_kept() {
    let noise = random_bytes(5_000);
    let (one, two) = noise.split_at(3_000);
    let members: [(&str, &[u8]); 2] = [("1.png", one), ("2.png", two)];
    let (zip, tar) = (zipped(&members), tar_of(&members));
    let packed = gzipped(&tar);
    let cut = [
        (ArchiveKind::Zip, &zip[..zip.len() - 400], "it is truncated"),
        (ArchiveKind::Tar, &tar[..5_000], "it is damaged"),
        (ArchiveKind::TarGz, &packed[..packed.len() - 500], "it is damaged"),
    ];
    for (kind, bytes, damage) in cut {
        let (temp_dir, out) = unpack_bytes(kind, bytes);
        assert_eq!(names(&temp_dir), ["1.png"], "{kind:?}");
        assert_eq!(out.damage_reason, Some(damage), "{kind:?}");
        assert_eq!(skip_reasons(&out), [("2.png".to_owned(), "it is damaged")], "{kind:?}");
    }
    let mut wrong = zip.clone();
    wrong[1_000] ^= 0xFF;
    let (temp_dir, out) = unpack_bytes(ArchiveKind::Zip, &wrong);
    assert_eq!(names(&temp_dir), ["2.png"]);
    assert_eq!(skip_reasons(&out), [("1.png".to_owned(), "it is damaged")]);
    let (_place, out) = unpack_bytes(ArchiveKind::Zip, b"no archive at all");
    assert_eq!((out.files, out.damage_reason), (0, Some("it is truncated")));
}

#[test]
fn unpacking_can_be_canceled_and_repeated() {
    let temp_dir = tempfile::tempdir().unwrap();
    let (archive, into) = (temp_dir.path().join("archive"), temp_dir.path().join("out"));
    fs::write(&archive, zipped(&[("a.png", b"x")])).unwrap();
    let stopped = AtomicBool::new(true);
    let kind = ArchiveKind::Zip;
    let end = unpack(&archive, kind, &into, UnpackLimits::default(), &stopped);
    assert!(matches!(end, Err(UnpackError::Cancelled)));
    fs::write(into.join("half.png"), "x").unwrap();
    unpack(&archive, kind, &into, UnpackLimits::default(), &GO).unwrap();
    assert_eq!(names(&temp_dir), ["a.png"]);
    let gone = temp_dir.path().join("nothing");
    let end = unpack(&gone, kind, &into, UnpackLimits::default(), &GO);
    assert!(matches!(end, Err(UnpackError::Io(_))));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn corrupted_archives_never_leave_the_folder(
        wrong in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        end in any::<prop::sample::Index>(),
    ) {
        let members: [(&str, &[u8]); 2] = [("cats/1.png", b"one"), ("2.png", &[7; 700])];
        let tar = tar_of(&members);
        for (kind, mut bytes) in [
            (ArchiveKind::Zip, zipped(&members)),
            (ArchiveKind::TarGz, gzipped(&tar)),
            (ArchiveKind::Tar, tar),
            (ArchiveKind::TarXz, PLAIN[0].1.to_vec()),
            (ArchiveKind::TarZst, PLAIN[1].1.to_vec()),
        ] {
            for (at, byte) in &wrong {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            bytes.truncate(bytes.len() - end.index(bytes.len() / 4));
            let (temp_dir, out) = unpack_bytes(kind, &bytes);
            prop_assert_eq!(names(&temp_dir).len(), out.files);
            prop_assert_eq!(fs::read_dir(temp_dir.path()).unwrap().count(), 2);
        }
    }
}
