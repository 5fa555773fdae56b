//! Video containers, and their frames by a fake `ffmpeg` and by the installed one.

use std::{
    fs::{self, File},
    path::Path,
    process::{Command, Stdio},
};

use tessera_media::ingest::{VideoContainer, VideoInput, audio_format, video::VideoFrame};

use crate::video::{write_ffprobe, write_script};

#[test]
fn containers_are_detected_by_their_first_bytes() {
    let of = |head: &[u8]| VideoContainer::detect(head).map(|container| container.content_type);
    assert_eq!(of(b"\0\0\0\x20ftypisom"), Some("video/mp4"));
    assert_eq!(of(b"\0\0\0\x14ftypqt  "), Some("video/quicktime"));
    assert_eq!(of(&[0x1A, 0x45, 0xDF, 0xA3, 1, 0, 0, 0, 0, 0, 0, 0]), Some("video/x-matroska"));
    assert_eq!(of(b"RIFF\x24\0\0\0AVI LIST"), Some("video/x-msvideo"));
    assert_eq!(of(b"RIFF\x24\0\0\0WEBPVP8 "), None);
    assert_eq!(of(b"OggS\0\x02\0\0\0\0\0\0"), Some("video/ogg"));
    assert_eq!(of(b"\0\0\x01\xBA\x44\0\x04\0\x04\x01\0\0"), Some("video/mpeg"));
    assert_eq!(of(b"\0\0\x01\0\x01\0\x10\x10\0\0\x01\0"), None, "an icon");
    assert_eq!(of(b"\0\0\0\x01\x67\x64\0\x0A\0\0\0\0"), Some("video/h264"));
    for name in ["moov", "mdat", "wide", "free", "skip", "pnot"] {
        let head = [b"\0\0\0\x08", name.as_bytes(), b"\0\0\0\0"].concat();
        assert_eq!(of(&head), Some("video/quicktime"), "{name}");
    }
    for picture in ["avif", "heic", "mif1", "crx "] {
        let head = [b"\0\0\0\x20ftyp", picture.as_bytes()].concat();
        assert_eq!(of(&head), None, "{picture} is not a video");
    }
    // A playlist is text and could name any other file.
    assert_eq!(of(b"#EXTM3U\n#EXT"), None);
    assert_eq!(of(b""), None);
}

#[test]
fn transport_streams_are_detected_by_their_packets() {
    for (first, length) in [(0, 188), (4, 192), (0, 204)] {
        let mut head = vec![0x55; VideoContainer::SIGNATURE_LENGTH];
        for packet in head[first..].chunks_mut(length) {
            packet[0] = 0x47;
        }
        let container = VideoContainer::detect(&head).unwrap();
        assert_eq!(container.content_type, "video/mp2t", "{length}");
        head[first + 2 * length] = 0x48;
        assert_eq!(VideoContainer::detect(&head), None, "{length}");
        assert_eq!(VideoContainer::detect(&head[..300]), None, "{length}");
    }
    assert_eq!(VideoContainer::detect(&[b"GIF89a", &[0x47; 1018][..]].concat()), None, "GIF");
}

#[test]
fn sound_is_named() {
    let heads = [
        (&b"ID3\x04\0\0\0\0\0\0\0\0"[..], Some("sound (MP3)")),
        (b"\xFF\xFB\x90\x64\0\0\0\0\0\0\0\0", Some("sound (MP3)")),
        (b"fLaC\0\0\0\x22\0\0\0\0", Some("sound (FLAC)")),
        (b"RIFF\x24\0\0\0WAVEfmt ", Some("sound (WAV)")),
        (b"\xFF\xD8\xFF\xE0\0\0\0\0\0\0\0\0", None),
        (b"\xFF\x0A\xFA\x7F\0\0\0\0\0\0\0\0", None),
        (b"\xFF\xFEt\0e\0x\0t\0..", None),
        (b"", None),
    ];
    for (head, format) in heads {
        assert_eq!(audio_format(head), format, "{head:?}");
    }
}

/// Samples frames with a fake `ffmpeg` that runs these shell commands.
fn sampled(commands: &str) -> Result<Vec<VideoFrame>, String> {
    let temp_dir = tempfile::tempdir().unwrap();
    let ffmpeg = temp_dir.path().join("ffmpeg");
    write_script(&ffmpeg, commands);
    write_ffprobe(temp_dir.path(), r#"{"index": 0, "codec_type": "video"}"#);
    let video = temp_dir.path().join("a.mp4");
    fs::write(&video, b"\0\0\0\x20ftypisom and more").unwrap();
    let container = VideoContainer::detect(b"\0\0\0\x20ftypisom").unwrap();
    let video = VideoInput::File(File::open(video).unwrap());
    container.sample_frames(&ffmpeg, video, &|| false).map_err(|error| error.to_string())
}

/// Shell commands that write this many frames, each with its number as its picture, every 2.5 s.
fn frames(count: u32) -> String {
    let one = r#"printf -- '--ffmpeg\r\nContent-type: image/jpeg\r\nContent-length: %s\r\n\r\n%s\r\n' ${#n} $n
        echo "frame:$n pts:$n pts_time:$((n * 5 / 2)).$((n * 5 % 2 * 5))" >&2
        echo "lavfi.scene_score=0.1" >&2"#;
    format!("n=0; while [ $n -lt {count} ]; do\n{one}\nn=$((n + 1)); done")
}

#[test]
fn frames_are_the_output_of_ffmpeg_with_their_times() {
    let expected: Vec<VideoFrame> = [("0", 0.0), ("1", 2.5), ("2", 5.0)]
        .map(|(jpeg, seconds)| VideoFrame { seconds, jpeg: jpeg.into() })
        .into();
    assert_eq!(sampled(&frames(3)).unwrap(), expected);
}

#[test]
fn the_frames_of_a_long_video_are_thinned_evenly() {
    let frames = sampled(&frames(450)).unwrap();
    assert_eq!(frames.len(), 57);
    let times: Vec<f64> = frames.iter().map(|frame| frame.seconds).collect();
    assert!(times.windows(2).all(|pair| (pair[1] - pair[0] - 20.0).abs() < 1e-9), "{times:?}");
}

#[test]
fn failures_of_ffmpeg_are_reported() {
    for commands in ["exit 1", "cat", "printf 'Content-length: 99\\r\\n\\r\\nx'"] {
        assert_eq!(sampled(commands).unwrap_err(), "ffmpeg cannot decode it", "{commands}");
    }
    let container = VideoContainer::detect(b"FLV\x01        ").unwrap();
    let file = || VideoInput::File(File::open("/dev/null").unwrap());
    let missing = Path::new("/nowhere/ffmpeg");
    let reason = container.sample_frames(missing, file(), &|| false).unwrap_err().to_string();
    assert!(reason.starts_with("cannot start ffprobe"), "{reason}");
    let waiting = Path::new("/bin/cat");
    assert!(container.sample_frames(waiting, file(), &|| true).is_err());
}

#[test]
fn ffmpeg_inherits_no_variables_but_those_it_needs() {
    // Cargo sets these variables for every test, as a user may have set the keys of a cloud.
    let commands = format!("test -z \"$HOME$CARGO_MANIFEST_DIR$USER\" || exit 1\n{}", frames(1));
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    assert_eq!(sampled(&commands).unwrap().len(), 1);
}

#[cfg(target_os = "linux")]
#[test]
fn ffmpeg_has_a_limit_of_memory() {
    let allocate = |mebibytes| format!("head -c {mebibytes}M /dev/zero | tail -n 1 > /dev/null");
    // The shell waits for the end of its input, so that the limit is set before it allocates.
    let commands =
        |mebibytes| format!("cat > /dev/null\n{} || exit 1\n{}", allocate(mebibytes), frames(1));
    assert_eq!(sampled(&commands(64)).unwrap().len(), 1);
    assert_eq!(sampled(&commands(2100)).unwrap_err(), "ffmpeg cannot decode it");
}

#[test]
#[expect(clippy::print_stdout, reason = "who runs the tests should know what was not tested")]
fn frames_have_a_limit_of_pixels() {
    let temp_dir = tempfile::tempdir().unwrap();
    let sampled = |size: &str| {
        let video = temp_dir.path().join("large.avi");
        let mut command = Command::new("ffmpeg");
        command.args(["-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i"]);
        command.arg(format!("color=red:s={size}:r=1:d=1")).args(["-c:v", "mjpeg"]).arg(&video);
        command.status().is_ok_and(|status| status.success()).then_some(())?;
        let container = VideoContainer::detect(&fs::read(&video).unwrap()).unwrap();
        let file = VideoInput::File(File::open(&video).unwrap());
        let frames = container.sample_frames(Path::new("ffmpeg"), file, &|| false);
        Some(frames.map(|frames| frames.len()).map_err(|error| error.to_string()))
    };
    let Some(largest) = sampled("8192x4352") else {
        println!("skipped: ffmpeg is missing");
        return;
    };
    assert_eq!(largest, Ok(1));
    assert_eq!(sampled("8192x4368"), Some(Err("ffmpeg cannot decode it".to_owned())));
}

#[test]
#[expect(clippy::print_stdout, reason = "who runs the tests should know what was not tested")]
fn scene_changes_are_sampled_at_most_every_two_seconds() {
    let temp_dir = tempfile::tempdir().unwrap();
    let video = temp_dir.path().join("scenes.mp4");
    // Red for 1 s, green for 2 s, blue for 7 s.
    let scenes = [
        "color=red:s=64x48:r=10:d=1",
        "color=lime:s=64x48:r=10:d=2",
        "color=blue:s=64x48:r=10:d=7",
    ];
    let mut command = Command::new("ffmpeg");
    command.args(["-nostdin", "-v", "error"]).stdout(Stdio::null());
    for scene in scenes {
        command.args(["-f", "lavfi", "-i", scene]);
    }
    command.args(["-filter_complex", "[0][1][2]concat=n=3", "-c:v", "mpeg4"]).arg(&video);
    if !command.status().is_ok_and(|status| status.success()) {
        println!("skipped: ffmpeg is missing");
        return;
    }
    let container = VideoContainer::detect(&fs::read(&video).unwrap()).unwrap();
    let file = VideoInput::File(File::open(&video).unwrap());
    let frames = container.sample_frames(Path::new("ffmpeg"), file, &|| false).unwrap();
    let times: Vec<f64> = frames.iter().map(|frame| frame.seconds).collect();
    // The first change is too early, the second is a frame, and then one comes every 5 s.
    assert_eq!(times, [0.0, 3.0, 8.0]);
    assert!(frames.iter().all(|frame| frame.jpeg.starts_with(&[0xFF, 0xD8])));
}
