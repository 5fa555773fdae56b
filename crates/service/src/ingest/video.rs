//! Videos: detected by their first bytes, and represented by their first frame, which `ffmpeg`
//! decodes if installed. It gets the open file and one container format, so that no video can make
//! it open another file.

use std::{
    env,
    fs::File,
    io::Read as _,
    path::Path,
    process::{Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

const FRAME_TIMEOUT: Duration = Duration::from_secs(20);
/// Size limit of an encoded frame, in bytes.
const MAX_FRAME_BYTES: u64 = 64 << 20;

/// Why a video is skipped without `ffmpeg`; it is tried again once `ffmpeg` is installed.
pub const FFMPEG_MISSING: &str = "a video: install ffmpeg to decode its first frame";

/// Brands of pictures in the container of MP4: AVIF, HEIC, and the raw format of a camera.
const PICTURE_BRANDS: [&[u8]; 10] =
    [b"avif", b"avis", b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"crx "];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VideoContainer {
    pub content_type: &'static str,
    demuxer: &'static str,
}

impl VideoContainer {
    /// Detects the container from the first 12 or more bytes of a file.
    pub fn detect(head: &[u8]) -> Option<Self> {
        let is = |content_type, demuxer| Some(Self { content_type, demuxer });
        match head {
            [_, _, _, _, b'f', b't', b'y', b'p', brand @ ..]
                if PICTURE_BRANDS.iter().any(|picture| brand.starts_with(*picture)) =>
            {
                None
            }
            [_, _, _, _, b'f', b't', b'y', b'p', b'q', b't', ..] => is("video/quicktime", "mov"),
            [_, _, _, _, b'f', b't', b'y', b'p', ..] => is("video/mp4", "mov"),
            [0x1A, 0x45, 0xDF, 0xA3, ..] => is("video/x-matroska", "matroska"),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'A', b'V', b'I', b' ', ..] => {
                is("video/x-msvideo", "avi")
            }
            [0x30, 0x26, 0xB2, 0x75, 0x8E, 0x66, 0xCF, 0x11, ..] => is("video/x-ms-wmv", "asf"),
            [b'F', b'L', b'V', 1, ..] => is("video/x-flv", "flv"),
            _ => None,
        }
    }

    /// Decodes the first frame as PNG bytes.
    pub fn first_frame(self, ffmpeg: &Path, video: File) -> Result<Vec<u8>, String> {
        let mut child = command_without_secrets(ffmpeg)
            .args(["-nostdin", "-v", "quiet", "-threads", "1", "-protocol_whitelist", "file"])
            .args(["-f", self.demuxer, "-i", "/proc/self/fd/0"])
            .args(["-map", "0:v:0", "-frames:v", "1", "-f", "image2pipe", "-c:v", "png", "pipe:1"])
            .stdin(video)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|cause| format!("cannot start ffmpeg ({})", cause.kind()))?;
        let (sender, frame) = mpsc::channel();
        if let Some(output) = child.stdout.take() {
            thread::spawn(move || {
                let mut bytes = Vec::new();
                let read = output.take(MAX_FRAME_BYTES).read_to_end(&mut bytes);
                // The receiver is gone after a timeout.
                let _ = sender.send(read.map(|_| bytes));
            });
        }
        let frame = frame.recv_timeout(FRAME_TIMEOUT);
        // Either it has finished or it timed out; never leave the process behind.
        let _ = child.kill();
        let ended = child.wait();
        match (frame, ended) {
            (Ok(Ok(bytes)), Ok(_)) if !bytes.is_empty() => Ok(bytes),
            (Err(mpsc::RecvTimeoutError::Timeout), _) => {
                Err("ffmpeg took too long to decode its first frame".to_owned())
            }
            _ => Err("ffmpeg cannot decode its first frame".to_owned()),
        }
    }
}

/// A command that does not inherit our variables, which may hold secrets.
fn command_without_secrets(program: &Path) -> Command {
    let mut command = Command::new(program);
    for (name, _) in env::vars_os() {
        if name.to_string_lossy().starts_with("TESSERA_") {
            command.env_remove(name);
        }
    }
    command
}
