//! Videos: detected by their first bytes, and sampled into frames, which `ffmpeg` decodes if installed.
//! It gets the open file and one container format, so that no video can make it open another file.

use std::{
    convert::Infallible,
    env, fmt,
    io::{self, BufRead, BufReader, Read},
    path::Path,
    process::{Command, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError, Sender},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use super::video_input::{VideoInput, send_in_thread};

const SAMPLING_TIMEOUT: Duration = Duration::from_mins(5);
const CANCELLATION_INTERVAL: Duration = Duration::from_millis(100);
/// Of larger videos, only key frames are decoded: decoding all frames of a film takes many minutes.
const MAX_FULLY_DECODED: u64 = 64 << 20;
/// Per video.
const MAX_FRAMES: usize = 100;
/// Size limits of an encoded frame, of a header line, and of the times of all frames, in bytes.
const MAX_FRAME_BYTES: u64 = 16 << 20;
const MAX_HEADER_BYTES: u64 = 1 << 10;
const MAX_TIME_BYTES: u64 = 16 << 20;

/// Selects the first frame, then each scene change that is two seconds after the last selected frame,
/// and a frame after five seconds without one. Writes their times, and limits their size. Without the
/// new clock, `ffmpeg` would repeat frames to fill the gaps.
const FILTERS: &str = "select='isnan(prev_selected_t)+gte(t-prev_selected_t,2)\
     *(gt(scene,0.3)+gte(t-prev_selected_t,5))',metadata=print:file=/proc/self/fd/2,\
     scale='min(1280,iw)':'min(1280,ih)':force_original_aspect_ratio=decrease,\
     format=yuvj420p,settb=1/25,setpts=N";

/// Why a video is skipped without `ffmpeg`; it is tried again once `ffmpeg` is installed.
pub const FFMPEG_MISSING: &str = "a video: install ffmpeg to show its frames";

/// Why a video has no frames.
#[derive(Debug)]
pub enum VideoError {
    Undecodable(String),
    Unreadable(io::Error),
}

impl fmt::Display for VideoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Undecodable(reason) => f.write_str(reason),
            Self::Unreadable(cause) => write!(f, "cannot be read ({})", cause.kind()),
        }
    }
}

/// A frame as JPEG, with its time in the video.
#[derive(Clone, Debug, PartialEq)]
pub struct VideoFrame {
    pub seconds: f64,
    pub jpeg: Vec<u8>,
}

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
                if PICTURE_BRANDS.iter().any(|picture| brand.starts_with(picture)) =>
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

    /// Samples the frames of a video, in the order of time. Fails if there are none, if it takes too
    /// long, or if it is cancelled.
    pub fn sample_frames(
        self,
        ffmpeg: &Path,
        video: VideoInput,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<Vec<VideoFrame>, VideoError> {
        let is_large = video.length().is_ok_and(|length| length > MAX_FULLY_DECODED);
        let (protocol, address, stdin, stream) = match video {
            VideoInput::File(file) => ("file", "/proc/self/fd/0", file.into(), None),
            VideoInput::Stream(video) => ("pipe", "pipe:0", Stdio::piped(), Some(video)),
        };
        let mut child = command_without_secrets(ffmpeg)
            .args(["-nostdin", "-v", "quiet", "-threads", "1", "-protocol_whitelist", protocol])
            .args(if is_large { &["-skip_frame", "nokey"][..] } else { &[] })
            .args(["-f", self.demuxer, "-i", address, "-map", "0:v:0", "-vf", FILTERS])
            .args(["-r", "25", "-f", "mpjpeg", "-c:v", "mjpeg", "-q:v", "4", "pipe:1"])
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|cause| {
                VideoError::Undecodable(format!("cannot start ffmpeg ({})", cause.kind()))
            })?;
        let sent =
            stream.zip(child.stdin.take()).map(|(video, input)| send_in_thread(video, input));
        let (sender, finished) = mpsc::channel::<Infallible>();
        let pictures =
            child.stdout.take().map(|output| read_in_thread(output, &sender, read_pictures));
        let times = child.stderr.take().map(|output| read_in_thread(output, &sender, read_times));
        drop(sender);
        let has_ended = wait_for_end(&finished, is_cancelled);
        // Either it has finished or it is not wanted any more; never leave the process behind.
        let _ = child.kill();
        let _ = child.wait();
        if !has_ended {
            let reason = "ffmpeg took too long to decode it";
            return Err(VideoError::Undecodable(reason.to_owned()));
        }
        if let Some(Err(cause)) = sent.and_then(|thread| thread.join().ok()) {
            return Err(VideoError::Unreadable(cause));
        }
        let pictures = pictures.and_then(|thread| thread.join().ok()).unwrap_or_default();
        let times = times.and_then(|thread| thread.join().ok()).unwrap_or_default();
        let frame = |(number, jpeg)| Some(VideoFrame { seconds: *times.get(number)?, jpeg });
        let frames: Vec<VideoFrame> = pictures.into_iter().filter_map(frame).collect();
        if frames.is_empty() {
            return Err(VideoError::Undecodable("ffmpeg cannot decode it".to_owned()));
        }
        Ok(frames)
    }
}

/// Reads an output in a thread, which drops its sender at the end.
fn read_in_thread<R: Read + Send + 'static, T: Send + 'static>(
    output: R,
    running: &Sender<Infallible>,
    read: fn(BufReader<R>) -> T,
) -> JoinHandle<T> {
    let running = running.clone();
    thread::spawn(move || {
        let result = read(BufReader::new(output));
        drop(running);
        result
    })
}

/// Waits until all senders of `finished` are gone. Returns `false` on cancellation or timeout.
fn wait_for_end(finished: &Receiver<Infallible>, is_cancelled: &dyn Fn() -> bool) -> bool {
    let deadline = Instant::now() + SAMPLING_TIMEOUT;
    while Instant::now() < deadline && !is_cancelled() {
        if finished.recv_timeout(CANCELLATION_INTERVAL) == Err(RecvTimeoutError::Disconnected) {
            return true;
        }
    }
    false
}

/// Reads the pictures with their numbers. Of more than [`MAX_FRAMES`], it keeps every second, fourth,
/// and so on.
fn read_pictures(mut output: impl BufRead) -> Vec<(usize, Vec<u8>)> {
    let (mut kept, mut stride) = (Vec::new(), 1);
    let pictures = std::iter::from_fn(|| next_part(&mut output));
    for (number, picture) in pictures.enumerate() {
        if number % stride == 0 {
            kept.push((number, picture));
        }
        if kept.len() > MAX_FRAMES {
            stride *= 2;
            kept.retain(|(number, _)| number % stride == 0);
        }
    }
    kept
}

/// Reads one part of a multipart stream: header lines, an empty line, and as many bytes as the header
/// announces.
fn next_part(output: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut length: Option<u64> = None;
    loop {
        let mut line = String::new();
        let read = output.by_ref().take(MAX_HEADER_BYTES).read_line(&mut line).ok()?;
        match (length, line.trim(), line.split_once(':')) {
            _ if read == 0 => return None,
            (Some(_), "", _) => break,
            (_, _, Some((name, value))) if name.eq_ignore_ascii_case("content-length") => {
                length = value.trim().parse().ok();
            }
            _ => {}
        }
    }
    let length = length.filter(|&length| length <= MAX_FRAME_BYTES)?;
    let mut bytes = Vec::new();
    output.take(length).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 == length).then_some(bytes)
}

/// Reads the time of each picture, in seconds.
fn read_times(output: impl BufRead) -> Vec<f64> {
    let time = |line: String| {
        let text = line.split_whitespace().find_map(|word| word.strip_prefix("pts_time:"))?;
        Some(text.parse().ok().filter(|seconds: &f64| seconds.is_finite()).unwrap_or(0.0))
    };
    output.take(MAX_TIME_BYTES).lines().map_while(Result::ok).filter_map(time).collect()
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
