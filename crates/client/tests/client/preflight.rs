//! Checks of local media before an upload.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use crate::test_zip::gzip;
use glob::Pattern;
use tessera_client::{LocalFiles, files_to_send, preflight};
use tessera_model::{Failure, MediaSource, Preflight};
use zip::{ZipWriter, write::SimpleFileOptions};

fn check_archive(path: &Path) -> Result<Preflight, Failure> {
    preflight(&MediaSource::Archive(path.to_owned()))
}

fn tarball() -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    for name in ["a.JPG", "b/c.mp4", "readme"] {
        let mut header = tar::Header::new_gnu();
        header.set_size(3);
        header.set_cksum();
        tar.append_data(&mut header, name, &b"abc"[..]).unwrap();
    }
    tar.into_inner().unwrap()
}

fn zipped_with(name: &str) -> Vec<u8> {
    let mut zip = ZipWriter::new(io::Cursor::new(Vec::new()));
    zip.start_file(name, SimpleFileOptions::default()).unwrap();
    zip.write_all(b"abc").unwrap();
    zip.finish().unwrap().into_inner()
}

#[test]
fn archives_are_checked_before_sending() {
    let folder = tempfile::tempdir().unwrap();
    let check = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        check_archive(&path)
    };
    for (name, bytes) in [("x.tar", tarball()), ("x.tar.gz", gzip(&tarball()))] {
        let packed = check(name, &bytes).unwrap_or_else(|reason| panic!("{name}: {reason}"));
        assert_eq!((packed.images, packed.videos, packed.skipped), (1, 1, 1), "{name}");
        assert!(packed.warnings.is_empty());
    }
    // Written by `xz` and `zstd`; each contains two pictures.
    let xz = include_bytes!("../../../service/tests/contract/components/archives/plain.tar.xz");
    let zst = include_bytes!("../../../service/tests/contract/components/archives/plain.tar.zst");
    for (name, bytes, suffix) in [
        ("x.TGZ", &gzip(&tarball())[..], ".tgz"),
        ("x.tar.xz", &xz[..], ".tar.xz"),
        ("x.tar.zst", &zst[..], ".tar.zst"),
    ] {
        let packed = check(name, bytes).unwrap_or_else(|reason| panic!("{name}: {reason}"));
        assert!(packed.images > 0);
        let expected = format!("the API does not document {suffix}; prefer .tar.gz");
        assert_eq!(packed.warnings[0].as_str(), expected);
    }
    let none = check("x.zip", &zipped_with("a.txt")).ok().unwrap();
    assert!(none.warnings[0].as_str().contains("no file in the archive"));
    assert_eq!(check("y.zip", &zipped_with("a.png")).ok().unwrap().images, 1);
}

/// Sets the encryption bit in both headers of a ZIP archive with one entry.
fn locked(mut zip: Vec<u8>) -> Vec<u8> {
    zip[6] |= 1;
    let central = zip.windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap();
    zip[central + 8] |= 1;
    zip
}

#[test]
fn invalid_archives_are_rejected_immediately() {
    let (zip, tar, text) = (zipped_with("a.png"), tarball(), b"<html> plain text ".repeat(99));
    let mut wrong_sum = tar.clone();
    wrong_sum[150] ^= 1;
    let nothing = ZipWriter::new(io::Cursor::new(Vec::new())).finish().unwrap().into_inner();
    let corpus = [
        ("html.zip", text.clone()),
        ("tar.zip", tar.clone()),
        ("gz.zip", gzip(&tar)),
        ("empty.zip", Vec::new()),
        ("cut.zip", zip[..zip.len() / 2].to_vec()),
        ("locked.zip", locked(zip.clone())),
        ("rar.zip", b"Rar!\x1a\x07\x01\x00 and more".to_vec()),
        ("seven.zip", b"7z\xbc\xaf\x27\x1c and more".to_vec()),
        ("nothing.zip", nothing),
        ("html.tar", text.clone()),
        ("zip.tar", zip),
        ("gz.tar", gzip(&tar)),
        ("empty.tar", Vec::new()),
        ("cut.tar", tar[..700].to_vec()),
        ("sum.tar", wrong_sum),
        ("zeros.tar", vec![0; 1_024]),
        ("html.tar.gz", text.clone()),
        ("text.tar.gz", gzip(&text)),
        ("tar.tar.gz", tar.clone()),
        ("cut.tar.gz", gzip(&tar)[..20].to_vec()),
        ("empty.tgz", gzip(b"")),
        ("tar.tar.xz", tar.clone()),
        ("gz.tar.zst", gzip(&tar)),
        ("empty.tar.zst", Vec::new()),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in corpus {
        let (path, begun) = (folder.path().join(name), std::time::Instant::now());
        fs::write(&path, bytes).unwrap();
        assert!(check_archive(&path).is_err(), "{name}");
        assert!(begun.elapsed().as_millis() < 1_000, "{name}");
    }
    fs::create_dir(folder.path().join("folder.zip")).unwrap();
    let path = folder.path().join("folder.zip");
    let failure = check_archive(&path).unwrap_err();
    let expected = format!("{}: not a regular file", path.display());
    assert_eq!(failure.message.as_str(), expected);
}

fn png() -> Vec<u8> {
    let mut bytes = io::Cursor::new(Vec::new());
    image::RgbImage::new(3, 2).write_to(&mut bytes, image::ImageFormat::Png).unwrap();
    bytes.into_inner()
}

#[test]
fn folders_are_searched_and_bad_files_reported() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir_all(at("sub/.git")).unwrap();
    for name in ["a.png", "sub/a.png", ".hidden.png", "sub/.git/b.png"] {
        fs::write(at(name), png()).unwrap();
    }
    fs::write(at("broken.jpg"), "no picture").unwrap();
    fs::write(at("empty.mp4"), "").unwrap();
    fs::write(at("clip.MP4"), "video").unwrap();
    fs::write(at("notes.txt"), "text").unwrap();
    std::os::unix::fs::symlink(at("a.png"), at("link.png")).unwrap();
    let LocalFiles { files: chosen, preflight: found } =
        files_to_send(&[folder.path().to_owned()], None);
    let paths: Vec<_> = chosen.into_iter().map(|file| file.path).collect();
    assert_eq!(paths, [at("a.png"), at("clip.MP4"), at("sub/a.png")]);
    assert_eq!((found.images, found.videos, found.skipped, found.unreadable), (2, 1, 2, 2));
    assert_eq!(found.bytes, 2 * png().len() as u64 + 5);
    assert_eq!(found.unreadable_files[1].reason.as_str(), "the file is empty");

    let LocalFiles { files: chosen, preflight: found } =
        files_to_send(&[at("link.png"), at("notes.txt"), at("gone.png")], None);
    assert_eq!((chosen.len(), found.unreadable), (1, 2));
}

#[test]
fn media_whose_name_says_nothing_are_found_by_their_content() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in ["noext", "photo.jpg.1", "saved.jpg_large", "p.mpo"] {
        fs::write(at(name), png()).unwrap();
    }
    let video = [&[0x47][..], &[0; 187]].concat().repeat(4);
    for name in ["c05.ts", "x.mts", "w.3gp"] {
        fs::write(at(name), &video).unwrap();
    }
    fs::write(at("app.ts"), "export const a = 1;").unwrap();
    fs::write(at("README"), "text").unwrap();
    let found = files_to_send(&[folder.path().to_owned()], None).preflight;
    assert_eq!((found.images, found.videos, found.skipped, found.unreadable), (4, 3, 2, 0));
    let found = files_to_send(&[at("c05.ts"), at("app.ts")], None).preflight;
    assert_eq!((found.videos, found.unreadable), (1, 1));
}

#[test]
fn pipes_are_rejected_before_they_are_opened() {
    let LocalFiles { files: chosen, preflight: found } =
        files_to_send(&[PathBuf::from("/dev/null"), PathBuf::from("/dev/zero")], None);
    assert_eq!((chosen.len(), found.unreadable), (0, 2));
    assert_eq!(found.unreadable_files[0].reason.as_str(), "not a regular file");
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let mode = rustix::fs::Mode::RUSR;
    let fifo = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, at("pipe.png"), fifo, mode, 0).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(at("socket.mp4")).unwrap();
    std::os::unix::fs::symlink(at("gone.png"), at("link.png")).unwrap();
    let LocalFiles { files: chosen, preflight: found } =
        files_to_send(&[at("pipe.png"), at("socket.mp4"), at("link.png")], None);
    assert_eq!((chosen.len(), found.unreadable), (0, 3));
    let LocalFiles { files: chosen, preflight: found } =
        files_to_send(&[folder.path().to_owned()], None);
    assert_eq!((chosen.len(), found.unreadable, found.skipped), (0, 2, 1), "the link is skipped");
}

#[test]
fn a_pattern_matches_names_or_paths_below_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("day")).unwrap();
    for name in ["a.png", "b.png", "day/a.png"] {
        fs::write(folder.path().join(name), png()).unwrap();
    }
    let count = |pattern: &str| {
        let glob = Pattern::new(pattern).unwrap();
        files_to_send(&[folder.path().to_owned()], Some(&glob)).files.len()
    };
    assert_eq!((count("a.*"), count("*.png"), count("day/*"), count("*.jpg")), (2, 3, 1, 0));
}

#[test]
fn a_file_that_is_named_several_times_is_sent_once() {
    let folder = tempfile::tempdir().unwrap();
    let day = folder.path().join("day");
    fs::create_dir(&day).unwrap();
    fs::write(day.join("a.png"), png()).unwrap();
    std::os::unix::fs::symlink(day.join("a.png"), folder.path().join("link.png")).unwrap();
    let paths = ["day/a.png", "day/a.png", "./day/a.png", "day/../day/a.png", "link.png", "day"];
    let found = files_to_send(&paths.map(|path| folder.path().join(path)), None);
    assert_eq!((found.files.len(), found.preflight.images), (1, 1));
    // Equal files with names of their own are different files.
    fs::hard_link(day.join("a.png"), day.join("b.png")).unwrap();
    assert_eq!(files_to_send(&[day], None).files.len(), 2);
}

/// A tar archive of empty files and a folder.
fn tar_of(names: &[&str]) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    let mut folder = tar::Header::new_gnu();
    folder.set_entry_type(tar::EntryType::Directory);
    folder.set_size(0);
    folder.set_cksum();
    tar.append_data(&mut folder, "folder.png/", &b""[..]).unwrap();
    for name in names {
        let mut header = tar::Header::new_gnu();
        header.set_size(0);
        header.set_cksum();
        tar.append_data(&mut header, name, &b""[..]).unwrap();
    }
    tar.into_inner().unwrap()
}

#[test]
fn media_in_an_archive_are_counted_by_the_extensions_of_media_files() {
    let folder = tempfile::tempdir().unwrap();
    let count = |names: &[&str]| {
        let path = folder.path().join("x.tar");
        fs::write(&path, tar_of(names)).unwrap();
        let found = check_archive(&path).unwrap();
        assert_eq!(found.bytes, fs::metadata(&path).unwrap().len());
        let warnings = found.warnings.iter().map(|warning| warning.as_str().to_owned());
        ((found.images, found.videos, found.skipped), warnings.collect::<Vec<_>>())
    };
    let archives = "the archive contains 2 archives, whose media are not counted; a local service unpacks tar archives";
    let none = vec!["no file in the archive has the name of an image or video".to_owned()];
    for (names, counts, warnings) in [
        (&["a.JPG", "b.jpeg", "c.png", "d.webp", "e.gif", "f.bmp"][..], (6, 0, 0), vec![]),
        (&["a.tif", "b.tiff", "c.avif", "d.jfif", "e.jpe"], (5, 0, 0), vec![]),
        (
            &["a.mp4", "b.MOV", "c.mkv", "d.webm", "e.avi", "f.m4v", "g.wmv", "h.flv"],
            (0, 8, 0),
            vec![],
        ),
        (&["a.png", "b.mp4", "c.txt", "png"], (1, 1, 2), vec![]),
        (&["a.txt", "0.tar", "1.zip"], (0, 0, 1), vec![archives.to_owned()]),
        (&["a.txt"], (0, 0, 1), none.clone()),
        (&[], (0, 0, 0), none),
    ] {
        assert_eq!(count(names), (counts, warnings), "{names:?}");
    }
}

#[test]
fn a_remote_source_says_what_will_be_added() {
    let warning = |source: MediaSource| {
        let found = preflight(&source).map_err(|failure| failure.to_string())?;
        assert!(found.is_empty() && found.folders.is_empty());
        Ok::<_, String>(found.warnings[0].to_string())
    };
    let storage = |uri: &str| warning(MediaSource::Storage(uri.to_owned()));
    for (uri, expected) in [
        ("s3://b/photos/", Ok("everything in this storage folder is added")),
        ("s3://b/list.csv", Ok("a manifest: all listed files are added")),
        (
            "s3://b/a.jpg",
            Ok("neither a folder nor a manifest (.csv, .parquet, .txt): the service may refuse it"),
        ),
        ("b/photos", Err("s3_uri: must begin with s3://, gs:// or az://")),
    ] {
        let found = storage(uri);
        assert_eq!(found.as_deref().map_err(String::as_str), expected, "{uri}");
    }
    assert_eq!(
        warning(MediaSource::ServerPath("/data".into())).as_deref(),
        Ok("the pipeline resolves the path, so it cannot be checked locally")
    );
    let nothing = preflight(&MediaSource::Files(vec![])).unwrap();
    assert_eq!(nothing.warnings[0].as_str(), "no readable media found");
}

#[test]
fn all_unreadable_files_are_counted_and_the_first_200_named() {
    let names: Vec<PathBuf> =
        (0..201).map(|number| PathBuf::from(format!("/nowhere/{number}.png"))).collect();
    let LocalFiles { files: chosen, preflight: found } = files_to_send(&names, None);
    assert_eq!((chosen.len(), found.unreadable, found.unreadable_files.len()), (0, 201, 200));
    assert_eq!(found.unreadable_files[199].name.as_str(), "/nowhere/199.png");
    let one_less = files_to_send(&names[..200], None).preflight;
    assert_eq!((one_less.unreadable, one_less.unreadable_files.len()), (200, 200));
}

#[test]
fn a_picture_of_a_format_that_is_not_decoded_here_is_sent_and_a_damaged_one_not() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("a.tif"), b"II*\0 the rest is for the service").unwrap();
    fs::write(at("b.png"), &png()[..20]).unwrap();
    // A picture whose name says video is only read by name.
    fs::write(at("c.mp4"), png()).unwrap();
    let LocalFiles { files: chosen, preflight: found } =
        files_to_send(&[folder.path().to_owned()], None);
    let paths: Vec<_> = chosen.into_iter().map(|file| file.path).collect();
    assert_eq!(paths, [at("a.tif"), at("c.mp4")]);
    assert_eq!((found.images, found.videos, found.unreadable), (1, 1, 1));
    assert_eq!(found.folders, [folder.path()]);
}
