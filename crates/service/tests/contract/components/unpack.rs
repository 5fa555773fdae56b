//! Tests with valid and hostile archives: formats, limits, names, decompression bombs.

use std::{
    fs,
    io::{Cursor, Write as _},
    path::Path,
    sync::atomic::AtomicBool,
};

use flate2::{Compression, write::GzEncoder};
use proptest::prelude::*;
use tar::{Builder, EntryType, Header};
use tempfile::TempDir;
use tessera_service::ingest::{
    scan_folder,
    unpack::{ArchiveKind, UnpackError, UnpackLimits, UnpackReport, unpack},
};
use zip::{ZipWriter, write::SimpleFileOptions};

static GO: AtomicBool = AtomicBool::new(false);

fn zipped(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn tar_of(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut tar = Builder::new(Vec::new());
    for (name, bytes) in members {
        append_member(&mut tar, name, EntryType::Regular, bytes);
    }
    tar.into_inner().unwrap()
}

/// Appends a member without validating its name, as hostile archives do.
fn append_member(tar: &mut Builder<Vec<u8>>, name: &str, kind: EntryType, bytes: &[u8]) {
    let mut header = Header::new_gnu();
    header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
    header.set_entry_type(kind);
    header.set_size(bytes.len() as u64);
    header.set_mode(0o644);
    header.set_cksum();
    tar.append(&header, bytes).unwrap();
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut gz = GzEncoder::new(Vec::new(), Compression::best());
    gz.write_all(bytes).unwrap();
    gz.finish().unwrap()
}

/// Archives written by `xz` and `zstd`: plain ones, bombs, and ones with a dictionary of 256 MiB.
const PLAIN: [(ArchiveKind, &[u8]); 2] = [
    (ArchiveKind::TarXz, include_bytes!("archives/plain.tar.xz")),
    (ArchiveKind::TarZst, include_bytes!("archives/plain.tar.zst")),
];
const BOMBS: [(ArchiveKind, &[u8]); 2] = [
    (ArchiveKind::TarXz, include_bytes!("archives/bomb.tar.xz")),
    (ArchiveKind::TarZst, include_bytes!("archives/bomb.tar.zst")),
];
const LARGE_DICTIONARIES: [(ArchiveKind, &[u8]); 2] = [
    (ArchiveKind::TarXz, include_bytes!("archives/dictionary.tar.xz")),
    (ArchiveKind::TarZst, include_bytes!("archives/dictionary.tar.zst")),
];

/// Bytes that do not compress.
fn random_bytes(length: usize) -> Vec<u8> {
    let mut state = 7_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..length).map(|_| next()).collect()
}

fn unpack_with(kind: ArchiveKind, bytes: &[u8], limits: UnpackLimits) -> (TempDir, UnpackReport) {
    let temp_dir = tempfile::tempdir().unwrap();
    let archive = temp_dir.path().join("archive");
    fs::write(&archive, bytes).unwrap();
    let out = unpack(&archive, kind, &temp_dir.path().join("out"), limits, &GO).unwrap();
    (temp_dir, out)
}

fn unpack_bytes(kind: ArchiveKind, bytes: &[u8]) -> (TempDir, UnpackReport) {
    unpack_with(kind, bytes, UnpackLimits::default())
}

/// Files in a directory, with their content.
fn files_in(temp_dir: &TempDir) -> Vec<(String, Vec<u8>)> {
    let root = temp_dir.path().join("out");
    let scan = scan_folder(&root);
    assert_eq!(scan.skipped, []);
    let read = |path: &Path| fs::read(root.join(path)).unwrap();
    let files = scan.files.iter();
    files.map(|file| (file.path.to_str().unwrap().to_owned(), read(&file.path))).collect()
}

fn names(temp_dir: &TempDir) -> Vec<String> {
    files_in(temp_dir).into_iter().map(|(name, _)| name).collect()
}

fn skip_reasons(out: &UnpackReport) -> Vec<(String, &'static str)> {
    out.skipped.iter().map(|(name, why)| (name.to_string(), *why)).collect()
}

#[test]
fn archives_of_every_format_are_unpacked() {
    let members: [(&str, &[u8]); 4] =
        [("cats/1.jpg", b"one"), ("cats/2.jpg", b""), ("./a.png", b"a"), ("m.jsonl", b"{}")];
    let tar = tar_of(&members);
    for (kind, bytes) in [
        (ArchiveKind::Zip, zipped(&members)),
        (ArchiveKind::TarGz, gzipped(&tar)),
        (ArchiveKind::Tar, tar),
    ]
    .into_iter()
    .chain(PLAIN.map(|(kind, bytes)| (kind, bytes.to_vec())))
    {
        assert!(kind.matches_signature(&bytes[..bytes.len().min(512)]), "{kind:?}");
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
        assert_eq!(of(&format!("x{}", kind.extension())), Some(kind));
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
    assert_eq!(names(&temp_dir), ["good.png"]);
    assert!(!temp_dir.path().join("evil.png").exists());
    let expected = [
        ("../evil.png", "its name points outside the folder"),
        ("/abs.png", "its name is not a plain relative path"),
        ("a␛[2J.png", "its name contains control characters"),
        (".hidden/a.png", "hidden"),
        ("__MACOSX/a.png", "hidden"),
        ("link.png", "a link"),
        ("hard.png", "a link"),
        ("fifo.png", "not a regular file"),
        ("disk.png", "not a regular file"),
        ("inner.zip", "nested archives are not unpacked"),
    ];
    assert_eq!(skip_reasons(&out), expected.map(|(name, why)| (name.to_owned(), why)));
    assert_eq!((out.files, out.damage_reason), (1, None));
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
fn decompression_bombs_are_detected() {
    let limits = UnpackLimits { ratio_exempt_bytes: 1 << 20, ..UnpackLimits::default() };
    let zeros = vec![0; 8 << 20];
    let bomb = ("bomb.png", &zeros[..]);
    let tar = gzipped(&tar_of(&[("good.png", b"x"), bomb, ("late.png", b"x")]));
    let zip = zipped(&[("good.png", b"x"), bomb, ("late.png", b"x")]);
    let [xz, zst] = BOMBS.map(|(kind, bytes)| (kind, bytes.to_vec()));
    for (kind, bytes) in [(ArchiveKind::Zip, zip), (ArchiveKind::TarGz, tar), xz, zst] {
        let (temp_dir, out) = unpack_with(kind, &bytes, limits.clone());
        assert_eq!(names(&temp_dir), ["good.png"], "{kind:?}");
        assert_eq!(
            out.damage_reason,
            Some("its compression ratio is too high (decompression bomb)"),
            "{kind:?}"
        );
    }
}

#[test]
fn large_dictionaries_are_refused() {
    for (kind, bytes) in LARGE_DICTIONARIES {
        let (_place, out) = unpack_bytes(kind, bytes);
        let reason = "unpacking it takes a dictionary of more than 128 MiB; compress it again with a smaller one";
        assert_eq!((out.files, out.damage_reason), (0, Some(reason)), "{kind:?}");
    }
}

#[test]
fn many_small_bombs_are_detected() {
    let limits = UnpackLimits { ratio_exempt_bytes: 1 << 20, ..UnpackLimits::default() };
    let zeros = vec![0; 512 << 10];
    let names_: Vec<String> = (0..16).map(|n| format!("{n:02}.png")).collect();
    let members: Vec<_> = names_.iter().map(|name| (name.as_str(), &zeros[..])).collect();
    for (kind, bytes) in
        [(ArchiveKind::Zip, zipped(&members)), (ArchiveKind::TarGz, gzipped(&tar_of(&members)))]
    {
        let (_place, out) = unpack_with(kind, &bytes, limits.clone());
        assert_eq!(
            out.damage_reason,
            Some("its compression ratio is too high (decompression bomb)"),
            "{kind:?}"
        );
        assert!(out.bytes <= 2 << 20, "{kind:?}: {}", out.bytes);
    }
}

#[test]
fn bombs_in_skipped_members_are_detected() {
    let limits =
        UnpackLimits { ratio_exempt_bytes: 1 << 20, max_file_bytes: 10, ..UnpackLimits::default() };
    let tar = gzipped(&tar_of(&[("bomb.png", &vec![0; 8 << 20])]));
    let (_place, out) = unpack_with(ArchiveKind::TarGz, &tar, limits);
    assert_eq!(out.damage_reason, Some("its compression ratio is too high (decompression bomb)"));
}

#[test]
fn overlapping_members_are_detected() {
    let bytes = zipped(&[("a.png", &random_bytes(4_096))]);
    let directory = bytes.windows(4).position(|window| window == b"PK\x01\x02").unwrap();
    let end = bytes.windows(4).rposition(|window| window == b"PK\x05\x06").unwrap();
    let entry = &bytes[directory..end];
    // One member, listed a hundred times in the central directory.
    let mut bomb = bytes[..directory].to_vec();
    bomb.extend(entry.repeat(100));
    let mut tail = bytes[end..].to_vec();
    tail[8..10].copy_from_slice(&100_u16.to_le_bytes());
    tail[10..12].copy_from_slice(&100_u16.to_le_bytes());
    tail[12..16].copy_from_slice(&u32::try_from(entry.len() * 100).unwrap().to_le_bytes());
    bomb.extend(tail);
    let (_place, out) = unpack_bytes(ArchiveKind::Zip, &bomb);
    assert_eq!(out.damage_reason, Some("its members overlap (decompression bomb)"));
    assert!(out.files < 4);
}

#[test]
fn endless_names_are_not_read_into_memory() {
    let mut tar = Builder::new(Vec::new());
    append_member(&mut tar, "good.png", EntryType::Regular, b"x");
    append_member(&mut tar, "././@LongLink", EntryType::GNULongName, &vec![b'a'; 4 << 20]);
    append_member(&mut tar, "b.png", EntryType::Regular, b"x");
    let (temp_dir, out) = unpack_bytes(ArchiveKind::Tar, &tar.into_inner().unwrap());
    assert_eq!(
        (names(&temp_dir), out.damage_reason),
        (vec!["good.png".to_owned()], Some("it is damaged"))
    );
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
