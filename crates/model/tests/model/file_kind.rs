use tessera_model::FileKind;

#[test]
fn the_kind_of_a_file_follows_from_its_extension() {
    let listed: [(FileKind, &[&str]); 4] = [
        (
            FileKind::Picture,
            &[
                "png", "jpg", "jpeg", "jpe", "jfif", "gif", "bmp", "webp", "tif", "tiff", "jp2",
                "jxl", "qoi", "pbm", "pgm", "ppm", "pnm", "pam", "ico", "hdr", "exr", "avif",
                "heic", "heif", "dng", "cr2", "cr3", "nef", "nrw", "arw", "sr2", "srw", "orf",
                "rw2", "pef", "raf", "JPG", "Png", "NEF",
            ],
        ),
        (FileKind::Video, &["mp4", "mov", "mkv", "webm", "avi", "m4v", "wmv", "flv", "MP4"]),
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
    for name in ["", "png", "a.png.part", "README", "a.", "a.svg", "mp4", "a.jpg "] {
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
