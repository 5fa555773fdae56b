use std::{
    ffi::OsStr,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

use tessera_model::{FolderEntry, FolderListing, SafeText, archive_paths::*, file_kind::*};

#[test]
fn the_kind_of_a_file_follows_from_its_extension() {
    let listed: [(FileKind, &[&str]); 4] = [
        (
            FileKind::Picture,
            &[
                "png", "jpg", "jpeg", "jpe", "jfif", "gif", "bmp", "webp", "tif", "tiff", "jp2",
                "jxl", "qoi", "pbm", "pgm", "ppm", "pnm", "pam", "ico", "hdr", "exr", "avif",
                "heic", "heif", "dng", "cr2", "cr3", "nef", "nrw", "arw", "sr2", "srw", "orf",
                "rw2", "pef", "raf", "apng", "mpo", "hif", "JPG", "Png", "NEF",
            ],
        ),
        (
            FileKind::Video,
            &[
                "mp4", "mov", "mkv", "webm", "avi", "m4v", "wmv", "flv", "3gp", "3g2", "mpg",
                "mpeg", "vob", "mts", "m2ts", "m2t", "ogv", "mxf", "dv", "MP4",
            ],
        ),
        (
            FileKind::Sidecar,
            &[
                "jsonl", "json", "csv", "parquet", "txt", "xml", "XML", "yaml", "yml", "names",
                "labels", "cls",
            ],
        ),
        (
            FileKind::Archive,
            &["zip", "tar", "gz", "tgz", "bz2", "xz", "zst", "7z", "rar", "ZIP", "tar.gz"],
        ),
    ];
    for (kind, extensions) in listed {
        for extension in extensions {
            let name = format!("day.1/name.{extension}");
            assert_eq!(FileKind::from_name(&name), kind, "{name}");
        }
    }
    for name in ["", "png", "a.png.part", "README", "a.", "a.svg", "mp4", "a.jpg ", "a.ts"] {
        assert_eq!(FileKind::from_name(name), FileKind::Other, "{name:?}");
    }
}

#[test]
fn only_pictures_and_videos_are_media() {
    for (name, media) in
        [("a.png", true), ("a.mp4", true), ("a.txt", false), ("a.zip", false), ("a", false)]
    {
        assert_eq!(FileKind::from_name(name).is_media(), media, "{name}");
    }
}

#[test]
fn videos_may_be_4_gib_and_other_files_256_mib() {
    const MIB: u64 = 1024 * 1024;
    assert_eq!(FileKind::Video.max_size(), 4 * 1024 * MIB);
    for kind in [FileKind::Picture, FileKind::Sidecar, FileKind::Archive, FileKind::Other] {
        assert_eq!(kind.max_size(), 256 * MIB);
    }
}

#[test]
fn unsafe_and_hidden_paths_are_rejected() {
    let wrong = [
        "../a.png",
        "a/../../b.png",
        "/etc/passwd",
        "C:\\win\\x.png",
        "c:x.png",
        "a\\b.png",
        "a\0.png",
        "a\u{1b}[2J.png",
        ".git/config",
        "a/.hidden.png",
        "__MACOSX/a.png",
        "sub/NUL",
        "com1.png",
        "a.png.",
        "sub /a.png",
    ];
    for name in wrong {
        assert!(safe_relative_path(name).is_err(), "{name:?}");
    }
    assert!(safe_relative_path(&format!("{}a.png", "d/".repeat(40))).is_err());
    assert!(safe_relative_path(&format!("{}.png", "n".repeat(300))).is_err());
}

#[test]
fn plain_names_stay_as_they_are() {
    let right = [
        ("a.png", "a.png"),
        ("cats/été 1.jpg", "cats/été 1.jpg"),
        ("./a//b.png", "a/b.png"),
        ("common.png", "common.png"),
        ("a...b.png", "a...b.png"),
        ("./", ""),
    ];
    for (name, path) in right {
        assert_eq!(safe_relative_path(name), Ok(PathBuf::from(path)), "{name}");
    }
}

#[test]
fn the_name_of_a_file_becomes_safe_by_few_changes() {
    for (name, expected) in [
        ("été 1.jpg", "été 1.jpg"),
        (" lead..x.jpg", " lead..x.jpg"),
        ("a:b?.jpg", "a_b_.jpg"),
        ("pic.jpg ", "pic.jpg"),
        ("photo. .", "photo"),
        ("aux.jpg", "_aux.jpg"),
        ("nul .b.png", "_nul .b.png"),
        ("CON.", "_CON"),
        (".hidden.jpg", "_.hidden.jpg"),
        ("...", "_"),
        ("", "_"),
    ] {
        assert_eq!(safe_file_name(name), expected);
        assert_eq!(safe_relative_path(expected), Ok(PathBuf::from(expected)));
    }
}

#[test]
fn names_and_paths_as_long_and_deep_as_allowed_are_accepted_and_longer_ones_rejected() {
    let name = |length: usize| "n".repeat(length);
    // Three names of 255 bytes, one of 200 and one of 55, with four slashes between them.
    let long = [vec![name(MAX_NAME_BYTES); 3], vec![name(200), name(55)]].concat().join("/");
    assert_eq!(long.len(), MAX_PATH_BYTES);
    let deep = format!("{}a", "d/".repeat(MAX_DEPTH));
    for (allowed, rejected, reason) in [
        (name(MAX_NAME_BYTES), name(MAX_NAME_BYTES + 1), "its name is too long"),
        (long.clone(), format!("{long}n"), "its path is too long or too deep"),
        (deep.clone(), format!("d/{deep}"), "its path is too long or too deep"),
    ] {
        assert_eq!(safe_relative_path(&allowed), Ok(PathBuf::from(&allowed)));
        assert_eq!(safe_relative_path(&rejected), Err(reason));
    }
}

#[test]
fn only_ports_with_one_digit_are_reserved() {
    for (name, reserved) in [
        ("com1", true),
        ("LPT9.txt", true),
        ("com", false),
        ("com10", false),
        ("comx", false),
        ("con .png", true),
        ("contour", false),
    ] {
        assert_eq!(is_reserved(name), reserved, "{name}");
    }
}

#[test]
fn pictures_are_recognized_by_extension() {
    let is_picture = |name: &str, is_folder| {
        let entry = FolderEntry {
            name: SafeText::file_name(name),
            file_name: name.into(),
            is_folder,
            bytes: 1,
        };
        entry.is_picture()
    };
    assert!(is_picture("van.JPG", false) && is_picture("a.b.webp", false));
    assert!(!is_picture("jpg", false) && !is_picture("notes.txt", false));
    assert!(!is_picture("folder.png", true));
}

#[test]
fn the_path_of_an_entry_is_built_from_its_name_in_the_file_system() {
    let raw = OsStr::from_bytes(b"bell\x07\xff.png");
    let entry = FolderEntry {
        name: SafeText::file_name(&raw.to_string_lossy()),
        file_name: raw.to_owned(),
        is_folder: false,
        bytes: 1,
    };
    let listing = FolderListing { path: "/photos".into(), entries: vec![], omitted: 0 };
    assert_eq!(listing.entry_path(&entry), Path::new("/photos").join(raw));
}
