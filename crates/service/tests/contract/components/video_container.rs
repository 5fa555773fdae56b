//! Video containers, and their frames by a fake `ffmpeg` and by the installed one.

use std::{
    fs::{self, File},
    path::Path,
    process::{Command, Stdio},
};

use tessera_media::ingest::{
    VideoInput,
    video::{VideoFrame, sample_frames},
};
use tessera_picture::{VideoContainer, audio_format, decode::decode};
use tessera_testing::scripts::write_script;

use crate::video::write_ffprobe;

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
    for (unit, video) in [
        (&b"\x67\x64\0\x0A"[..], "video/h264"),
        (b"\x09\xF0\0\0", "video/h264"),
        (b"\x40\x01\x0C\x01", "video/h265"),
        (b"\x46\x01\x10\0", "video/h265"),
        (b"\x06\x05\xFF\xFF", "video/h264"),
        (b"\x4E\x01\x05\xFF", "video/h265"),
    ] {
        for start in [&b"\0\0\0\x01"[..], b"\0\0\x01"] {
            assert_eq!(of(&[start, unit, &[0; 8]].concat()), Some(video), "{start:?} {unit:?}");
        }
    }
    for header in [&b"\xB0\x01\0\0"[..], b"\xB5\x89\x13\0", b"\x20\0\xC4\x8D"] {
        let head = [b"\0\0\x01", header, &[0; 8]].concat();
        assert_eq!(of(&head), Some("video/mp4v-es"), "{header:?}");
    }
    for system in [b"\x1F\x07\0\x3F", b"\x1F\x07\0\xBF"] {
        assert_eq!(of(&[&system[..], &[0xFF; 8]].concat()), Some("video/dv"), "{system:?}");
    }
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
    for picture in [&b"GIF89a"[..], b"P5\n64 64\n255\n", b"BM", b"II*\0", b"\0\0\x01\0"] {
        let head = [picture, &[0x47; VideoContainer::SIGNATURE_LENGTH]].concat();
        assert_eq!(VideoContainer::detect(&head), None, "{picture:?}");
    }
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
    let sampled = sample_frames(container, &ffmpeg, video, &|| false);
    sampled.map(|video| video.frames).map_err(|error| error.to_string())
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
    let reason = sample_frames(container, missing, file(), &|| false).unwrap_err().to_string();
    assert!(reason.starts_with("cannot start ffprobe"), "{reason}");
    let waiting = Path::new("/bin/cat");
    assert!(sample_frames(container, waiting, file(), &|| true).is_err());
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
    // The limit is set just after the start. A shell that starts `tail` before would not pass it on.
    let limited = "until test \"$(ulimit -v)\" != unlimited; do :; done";
    let commands =
        |mebibytes| format!("{limited}\n{} || exit 1\n{}", allocate(mebibytes), frames(1));
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
        let frames = sample_frames(container, Path::new("ffmpeg"), file, &|| false);
        Some(frames.map(|video| video.frames.len()).map_err(|error| error.to_string()))
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
    let frames = sample_frames(container, Path::new("ffmpeg"), file, &|| false).unwrap().frames;
    let times: Vec<f64> = frames.iter().map(|frame| frame.seconds).collect();
    // The first change is too early, the second is a frame, and then one comes every 5 s.
    assert_eq!(times, [0.0, 3.0, 8.0]);
    assert!(frames.iter().all(|frame| frame.jpeg.starts_with(&[0xFF, 0xD8])));
}

/// Makes a video with the installed `ffmpeg`, and samples its frames. Returns `None` if a program or an encoder is
/// missing.
fn sampled_from(name: &str, arguments: &[&str]) -> Option<Result<Vec<VideoFrame>, String>> {
    let temp_dir = tempfile::tempdir().unwrap();
    let video = temp_dir.path().join(name);
    let mut command = Command::new("ffmpeg");
    command.args(["-nostdin", "-v", "quiet"]).args(arguments).arg(&video);
    command.status().is_ok_and(|status| status.success()).then_some(())?;
    let container = VideoContainer::detect(&fs::read(&video).unwrap()).unwrap();
    let file = VideoInput::File(File::open(&video).unwrap());
    let frames = sample_frames(container, Path::new("ffmpeg"), file, &|| false);
    Some(frames.map(|video| video.frames).map_err(|error| error.to_string()))
}

/// Returns the size and a pixel of a frame.
fn shown(frame: &VideoFrame) -> ((u32, u32), [u8; 3]) {
    let decoded = decode(&frame.jpeg, u32::MAX).unwrap();
    (decoded.original, decoded.pixels.get_pixel(8, 8).0)
}

const LIME: [&str; 4] = ["-f", "lavfi", "-i", "color=0x20C060:s=64x48:r=5:d=1"];
const LARGE_BLUE: [&str; 4] = ["-f", "lavfi", "-i", "color=blue:s=96x64:r=5:d=1"];

#[test]
#[expect(clippy::print_stdout, reason = "who runs the tests should know what was not tested")]
fn streams_of_cameras_and_old_programs_are_sampled() {
    let mpeg2 = ["-c:v", "mpeg2video", "-r", "25"];
    let cases: [(&str, &[&str]); 9] = [
        ("camera.ts", &mpeg2),
        (
            "00001.MTS",
            &["-c:v", "mpeg2video", "-r", "25", "-f", "mpegts", "-mpegts_m2ts_mode", "1"],
        ),
        ("old.mpg", &mpeg2),
        ("disc.vob", &mpeg2),
        ("free.ogv", &["-c:v", "libtheora"]),
        ("phone.3gp", &["-c:v", "mpeg4"]),
        ("windows.wmv", &["-c:v", "wmv2"]),
        ("old.flv", &["-c:v", "flv"]),
        ("bare.m4v", &["-c:v", "mpeg4", "-f", "m4v"]),
    ];
    for (name, arguments) in cases {
        match sampled_from(name, &[&LIME[..], arguments].concat()) {
            Some(frames) => assert_eq!(shown(&frames.unwrap()[0]).0, (64, 48), "{name}"),
            None => println!("skipped: {name} needs ffmpeg with an encoder"),
        }
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "who runs the tests should know what was not tested")]
fn a_video_is_shown_as_players_show_it() {
    let size_and_color = |name: &str, arguments: &[&[&str]]| {
        let frames = sampled_from(name, &arguments.concat());
        if frames.is_none() {
            println!("skipped: {name} needs ffmpeg with an encoder");
        }
        frames.map(|frames| shown(&frames.unwrap()[0]))
    };
    let is_close = |one: [u8; 3], other: [u8; 3]| {
        one.iter().zip(other).all(|(one, other)| one.abs_diff(other) < 12)
    };
    let mpeg4 = &["-c:v", "mpeg4"][..];
    if let Some((size, _)) = size_and_color("wide.mp4", &[&LIME, mpeg4, &["-vf", "setsar=2/1"]]) {
        assert_eq!(size, (128, 48), "pixels twice as wide as high");
    }
    if let Some((size, _)) = size_and_color("tape.dv", &[&LIME, &["-target", "pal-dv"]]) {
        assert_eq!(size, (768, 576), "the pixels of a tape are wider than high");
    }
    let default =
        &["-map", "0", "-map", "1", "-disposition:v:0", "0", "-disposition:v:1", "default"];
    if let Some((size, _)) = size_and_color("two.mkv", &[&LIME, &LARGE_BLUE, mpeg4, default]) {
        assert_eq!(size, (96, 64), "the second stream is the default");
    }
    let tagged = ["-vf", "scale=out_color_matrix=bt709", "-colorspace", "bt709", "-qp", "0"];
    let tagged = [&tagged[..], &["-c:v", "libx264", "-pix_fmt", "yuv420p"]].concat();
    if let Some((_, color)) = size_and_color("hd.mp4", &[&LIME, &tagged]) {
        assert!(is_close(color, [0x20, 0xC0, 0x60]), "the colors of high definition: {color:?}");
    }
    let sharp = ["-f", "lavfi", "-i", "color=0xC80000:s=1280x720:r=5:d=1,format=rgb24"];
    let untagged = ["-vf", "scale=out_color_matrix=bt709,format=yuv420p", "-c:v", "libx264"];
    if let Some((_, color)) = size_and_color("untagged.mp4", &[&sharp, &untagged]) {
        assert!(is_close(color, [0xC8, 0, 0]), "colors that are not stated: {color:?}");
    }
    let hidden = ["-f", "lavfi", "-i", "color=0xFF00FF@0:s=64x48:r=5:d=1,format=rgba"];
    for (name, codec) in [
        ("animation.mov", &["-c:v", "qtrle", "-pix_fmt", "argb"][..]),
        ("master.mov", &["-c:v", "prores_ks", "-pix_fmt", "yuva444p10le"]),
        ("web.webm", &["-c:v", "libvpx-vp9", "-pix_fmt", "yuva420p"]),
        ("old.webm", &["-c:v", "libvpx", "-pix_fmt", "yuva420p", "-auto-alt-ref", "0"]),
    ] {
        if let Some((_, color)) = size_and_color(name, &[&hidden, codec]) {
            assert!(is_close(color, [0x80; 3]), "{name} shows what is hidden: {color:?}");
        }
    }
    // The code of white paper is 58 % in PQ.
    let paper = ["-f", "lavfi", "-i", "color=0x949494:s=64x48:r=5:d=1"];
    let pq = ["-c:v", "libx265", "-x265-params", "log-level=none", "-color_trc", "smpte2084"];
    let pq = [&pq[..], &["-color_primaries", "bt2020", "-colorspace", "bt2020nc"]].concat();
    if let Some((_, color)) = size_and_color("light.mp4", &[&paper, &pq]) {
        assert!(color.iter().all(|&sample| sample > 230), "white paper: {color:?}");
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "who runs the tests should know what was not tested")]
fn music_with_a_cover_is_not_a_video() {
    let sound = ["-f", "lavfi", "-i", "sine=duration=1"];
    let cover = ["-map", "0", "-map", "1", "-c:a", "aac", "-c:v", "mjpeg", "-frames:v", "1"];
    let cover = [&cover[..], &["-disposition:v", "attached_pic"]].concat();
    for (name, arguments) in [
        ("song.mp4", [&sound[..], &LIME, &cover].concat()),
        ("speech.mkv", [&sound[..], &["-c:a", "vorbis", "-ac", "2", "-strict", "-2"]].concat()),
    ] {
        match sampled_from(name, &arguments) {
            Some(frames) => assert_eq!(frames.unwrap_err(), "audio without a video", "{name}"),
            None => println!("skipped: {name} needs ffmpeg with an encoder"),
        }
    }
}
