//! Where archives may be saved, and which pictures may be sent.

use std::{fs, io::Cursor, os::unix::fs::symlink};

use image::{ImageFormat, RgbImage};
use tessera_client::{
    ExistingFile, QueryImageUpload, check_extraction_folder, check_folder, check_target,
};

#[test]
fn an_archive_replaces_only_a_regular_file_and_only_if_it_may() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("old.zip"), "old").unwrap();
    fs::create_dir(at("folder.zip")).unwrap();
    symlink(at("old.zip"), at("link.zip")).unwrap();
    symlink(at("nowhere"), at("broken.zip")).unwrap();
    let (kept, other) = (
        "already exists and is not overwritten. Choose another name, or move the old file away",
        "not a regular file, so it is not replaced. Choose another name",
    );
    let no_folder = "the folder does not exist. Create the folder first, or choose another one";
    let no_directory = "not a folder. Create the folder first, or choose another one";
    for (name, existing, reason) in [
        ("new.zip", ExistingFile::Keep, None),
        ("new.zip", ExistingFile::Replace, None),
        ("old.zip", ExistingFile::Keep, Some((at("old.zip"), kept))),
        ("old.zip", ExistingFile::Replace, None),
        ("folder.zip", ExistingFile::Keep, Some((at("folder.zip"), kept))),
        ("folder.zip", ExistingFile::Replace, Some((at("folder.zip"), other))),
        ("link.zip", ExistingFile::Replace, Some((at("link.zip"), other))),
        ("broken.zip", ExistingFile::Keep, Some((at("broken.zip"), kept))),
        ("gone/new.zip", ExistingFile::Keep, Some((at("gone"), no_folder))),
        ("old.zip/new.zip", ExistingFile::Keep, Some((at("old.zip"), no_directory))),
    ] {
        let found = check_target(&at(name), existing).err().map(|failure| failure.to_string());
        let expected = reason.map(|(path, reason)| format!("{}: {reason}", path.display()));
        assert_eq!(found, expected, "{name} {existing:?}");
    }
    assert_eq!(check_folder("".as_ref()), Ok(()), "the current folder");
    assert_eq!(check_folder(folder.path()), Ok(()));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4, "the checks left a file");
}

/// No user can create files in `/proc`.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_in_which_no_file_can_be_created_is_refused() {
    assert!(check_target("/proc/new.zip".as_ref(), ExistingFile::Keep).is_err());
    for refused in ["/proc", "/proc/new/folder", "/proc/version/folder"] {
        let failure = check_extraction_folder(refused.as_ref()).unwrap_err().to_string();
        assert!(failure.starts_with("/proc"), "{failure}");
    }
    let folder = tempfile::tempdir().unwrap();
    for accepted in [folder.path(), &folder.path().join("new/folder"), "new".as_ref()] {
        assert_eq!(check_extraction_folder(accepted), Ok(()), "{}", accepted.display());
    }
}

fn picture(format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    RgbImage::new(3, 2).write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

#[tokio::test]
async fn the_size_of_a_query_image_is_known_if_it_can_be_decoded() {
    for format in [ImageFormat::Jpeg, ImageFormat::Png, ImageFormat::Gif, ImageFormat::Bmp] {
        let image = QueryImageUpload::new(picture(format).into(), "a").await.unwrap();
        assert_eq!(image.size(), Some((3, 2)), "{format:?}");
    }
    let damaged = QueryImageUpload::new((&b"\xff\xd8\xff\xe0 cut"[..]).into(), "a").await.unwrap();
    assert_eq!(damaged.size(), None, "the service may read it");
}

#[tokio::test]
async fn only_pictures_up_to_32_mib_are_sent() {
    let sent = async |bytes: Vec<u8>| {
        let image = QueryImageUpload::new(bytes.into(), "a\u{7}.jpg").await;
        image.err().map(|failure| failure.to_string())
    };
    let limit = 32 << 20;
    assert_eq!(QueryImageUpload::MAX_BYTES, limit);
    let mut padded = picture(ImageFormat::Png);
    padded.resize(usize::try_from(limit).unwrap(), 0);
    assert_eq!(sent(padded.clone()).await, None);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.png");
    fs::write(&path, &padded).unwrap();
    assert!(QueryImageUpload::read(&path).await.is_ok());
    padded.push(0);
    let too_large = "larger than 32 MiB. Choose a smaller copy of the picture";
    assert_eq!(sent(padded.clone()).await, Some(format!("a␇.jpg: {too_large}")));
    fs::write(&path, &padded).unwrap();
    let failure = QueryImageUpload::read(&path).await.unwrap_err().to_string();
    assert_eq!(failure, format!("{}: {too_large}", path.display()));
    for other in [&b""[..], b"text", b"%PDF-1.7"] {
        assert_eq!(
            sent(other.to_vec()).await.as_deref(),
            Some(
                "a␇.jpg: not a picture. Choose a JPEG, PNG, WebP, GIF, BMP, TIFF, JPEG XL, QOI, PNM, ICO, HDR, OpenEXR or \
                 camera RAW (DNG, CR2, CR3, NEF, ARW, ORF, RW2, PEF, RAF) file"
            )
        );
    }
    let failure = QueryImageUpload::read(folder.path()).await.unwrap_err().to_string();
    let expected = format!("{}: not a file. Choose a picture file", folder.path().display());
    assert_eq!(failure, expected);
}

#[tokio::test]
async fn raw_files_of_cameras_are_sent_as_jpegs_and_may_be_larger() {
    let jpeg = picture(ImageFormat::Jpeg);
    for (extension, mut file) in tessera_testing::camera_raw::camera_raw_files(&jpeg, &jpeg) {
        if extension == "nef" {
            file.resize((32 << 20) + 1, 0);
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(format!("a.{extension}"));
        fs::write(&path, file).unwrap();
        let image = QueryImageUpload::read(&path).await.unwrap();
        assert_eq!(image.size(), Some((2, 3)), "{extension}: upright");
    }
}
