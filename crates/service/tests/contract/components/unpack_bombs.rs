//! Archives that would unpack to more than a service can keep.

use tar::{Builder, EntryType};
use tessera_media::ingest::archive_readers::{ArchiveKind, UnpackLimits};

use super::archives::{
    BOMBS, LARGE_DICTIONARIES, append_member, gzipped, names, random_bytes, tar_of, unpack_bytes,
    unpack_with, zipped,
};

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
fn a_hard_link_to_a_large_member_is_no_bomb() {
    let limits = UnpackLimits { ratio_exempt_bytes: 1 << 20, ..UnpackLimits::default() };
    let large = random_bytes(4 << 20);
    let mut tar = Builder::new(Vec::new());
    append_member(&mut tar, "1.mp4", EntryType::Regular, &large);
    let mut link = tar::Header::new_gnu();
    link.set_entry_type(EntryType::Link);
    link.set_size(0);
    tar.append_link(&mut link, "2.mp4", "1.mp4").unwrap();
    append_member(&mut tar, "late.png", EntryType::Regular, b"x");
    let (place, out) = unpack_with(ArchiveKind::Tar, &tar.into_inner().unwrap(), limits);
    assert_eq!((names(&place).len(), out.damage_reason), (3, None));
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
fn the_limits_of_an_archive_include_the_archives_inside() {
    let zeros = vec![0; 512 << 10];
    let names_: Vec<String> = (0..16).map(|n| format!("{n:02}.png")).collect();
    let members: Vec<_> = names_.iter().map(|name| (name.as_str(), &zeros[..])).collect();
    let shard = tar_of(&members);
    let packed = gzipped(&shard);
    let limits = UnpackLimits { ratio_exempt_bytes: 1 << 20, ..UnpackLimits::default() };
    let bomb = Some("its compression ratio is too high (decompression bomb)");
    let one_png = tar_of(&[("bomb.png", &vec![0; 8 << 20])]);
    for (kind, bytes) in [
        (ArchiveKind::Zip, zipped(&[("0.tar", &shard)])),
        (ArchiveKind::Zip, zipped(&[("0.tar.gz", &packed)])),
        (ArchiveKind::Tar, tar_of(&[("0.tar.gz", &packed)])),
        (ArchiveKind::Zip, zipped(&[("0.tar", &one_png)])),
    ] {
        let (_place, out) = unpack_with(kind, &bytes, limits.clone());
        assert_eq!(out.damage_reason, bomb, "{kind:?}");
        assert!(out.bytes <= 4 << 20, "{kind:?}: {}", out.bytes);
    }
    let zip = zipped(&[("0.tar", &shard), ("1.tar", &shard)]);
    let limits = UnpackLimits { max_members: 20, ..UnpackLimits::default() };
    let (_place, out) = unpack_with(ArchiveKind::Zip, &zip, limits);
    assert_eq!((out.files, out.damage_reason), (18, Some("it has too many members")));
    let limits = UnpackLimits { max_total_bytes: 1 << 20, ..UnpackLimits::default() };
    let (_place, out) = unpack_with(ArchiveKind::Zip, &zip, limits);
    let full = Some("there is not enough space for all of it");
    assert_eq!((out.files, out.damage_reason), (2, full));
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
