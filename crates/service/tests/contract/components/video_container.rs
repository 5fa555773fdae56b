//! Video containers, and their first frame by a fake `ffmpeg`.

use std::{
    fs::{self, File},
    os::unix::fs::PermissionsExt as _,
    path::Path,
};

use tessera_service::ingest::video::VideoContainer;

#[test]
fn containers_are_detected_by_their_first_bytes() {
    let of = |head: &[u8]| VideoContainer::detect(head).map(|container| container.content_type);
    assert_eq!(of(b"\0\0\0\x20ftypisom"), Some("video/mp4"));
    assert_eq!(of(b"\0\0\0\x14ftypqt  "), Some("video/quicktime"));
    assert_eq!(of(&[0x1A, 0x45, 0xDF, 0xA3, 1, 0, 0, 0, 0, 0, 0, 0]), Some("video/x-matroska"));
    assert_eq!(of(b"RIFF\x24\0\0\0AVI LIST"), Some("video/x-msvideo"));
    assert_eq!(of(b"RIFF\x24\0\0\0WEBPVP8 "), None);
    for picture in ["avif", "heic", "mif1", "crx "] {
        let head = [b"\0\0\0\x20ftyp", picture.as_bytes()].concat();
        assert_eq!(of(&head), None, "{picture} is not a video");
    }
    // A playlist is text and could name any other file.
    assert_eq!(of(b"#EXTM3U\n#EXT"), None);
    assert_eq!(of(b""), None);
}

/// Decodes a frame with a fake `ffmpeg` that runs these shell commands.
fn frame(commands: &str) -> Result<Vec<u8>, String> {
    let temp_dir = tempfile::tempdir().unwrap();
    let ffmpeg = temp_dir.path().join("ffmpeg");
    fs::write(&ffmpeg, format!("#!/bin/sh\n{commands}\n")).unwrap();
    fs::set_permissions(&ffmpeg, fs::Permissions::from_mode(0o755)).unwrap();
    let video = temp_dir.path().join("a.mp4");
    fs::write(&video, b"\0\0\0\x20ftypisom and more").unwrap();
    let container = VideoContainer::detect(b"\0\0\0\x20ftypisom").unwrap();
    container.first_frame(&ffmpeg, File::open(video).unwrap())
}

#[test]
fn the_frame_is_the_output_of_ffmpeg_and_failures_are_reported() {
    assert_eq!(frame("cat").unwrap(), b"\0\0\0\x20ftypisom and more");
    assert_eq!(frame("exit 1").unwrap_err(), "ffmpeg cannot decode its first frame");
    let missing = VideoContainer::detect(b"FLV\x01        ").unwrap();
    let file = File::open("/dev/null").unwrap();
    let why = missing.first_frame(Path::new("/nowhere/ffmpeg"), file).unwrap_err();
    assert!(why.starts_with("cannot start ffmpeg"), "{why}");
}
