//! Samples videos and animations into frames. Videos are detected by their first bytes and decoded by `ffmpeg`, if it
//! is installed. `ffmpeg` gets the open file and a single container format, so that no video can make it open another
//! file. Animations need no other program.

use std::{
    convert::Infallible,
    fmt,
    fs::File,
    io::{self, BufRead, BufReader, ErrorKind, Read, Seek as _, SeekFrom},
    path::Path,
    process::{ChildStdin, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError, Sender},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use image::{RgbImage, imageops};
use tessera_picture::{encode_jpeg, visit_frames};
use tessera_subprocess::{isolated_command, spawn_with_limit};

use super::{
    disk_quota::{ClaimedFile, DiskQuota},
    original_files::SourceFile,
};

const SAMPLING_TIMEOUT: Duration = Duration::from_mins(5);
const CANCELLATION_INTERVAL: Duration = Duration::from_millis(100);
/// Size above which only the key frames of a video are decoded, because decoding all frames of a film takes many
/// minutes.
const MAX_FULLY_DECODED: u64 = 64 << 20;
/// The pixels of the largest frame that the levels of H.264, HEVC and AV1 allow: 8192x4352.
const MAX_FRAME_PIXELS: u64 = 8192 * 4352;
/// Maximum memory of `ffmpeg`. A video of the largest frames in HEVC takes less than 1 GiB.
const MAX_FFMPEG_BYTES: u64 = 2 << 30;
/// Maximum number of frames that are kept of a video or animation.
const MAX_FRAMES: usize = 100;
/// Maximum sizes, in bytes, of an encoded frame, of a header line, and of the times of all frames.
const MAX_FRAME_BYTES: u64 = 16 << 20;
const MAX_HEADER_BYTES: u64 = 1 << 10;
const MAX_TIME_BYTES: u64 = 16 << 20;

/// Selects the first frame. A further frame is selected at a scene change at least two seconds after the last selected
/// frame, or after five seconds without one. The filters also print the times of the frames and limit their size.
/// Without the new clock, `ffmpeg` would repeat frames to fill the gaps.
const FILTERS: &str = "select='isnan(prev_selected_t)+gte(t-prev_selected_t,2)\
     *(gt(scene,0.3)+gte(t-prev_selected_t,5))',metadata=print:file=/proc/self/fd/2,\
     scale='min(1280,iw)':'min(1280,ih)':force_original_aspect_ratio=decrease,\
     format=yuvj420p,settb=1/25,setpts=N";

/// The reason why a video is skipped without `ffmpeg`. Such a video is tried again once `ffmpeg` is installed.
pub const FFMPEG_MISSING: &str = "a video: install ffmpeg to show its frames";

/// The reason why a video has no frames.
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

/// Brands of pictures that use the MP4 container: AVIF, HEIC, and the raw format of a camera.
const PICTURE_BRANDS: [&[u8]; 10] =
    [b"avif", b"avis", b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"crx "];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VideoContainer {
    pub content_type: &'static str,
    demuxer: &'static str,
}

impl VideoContainer {
    /// Detects the container from the first bytes of a file, of which at least 12 are needed.
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

    /// Samples the frames of a video, in the order of time. Fails if there are no frames, if sampling takes too long,
    /// or if it is cancelled.
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
        let mut command = isolated_command(ffmpeg);
        command
            .args(["-nostdin", "-v", "quiet", "-threads", "1", "-protocol_whitelist", protocol])
            .args(["-max_pixels", &MAX_FRAME_PIXELS.to_string()])
            .args(if is_large { &["-skip_frame", "nokey"][..] } else { &[] })
            .args(["-f", self.demuxer, "-i", address, "-map", "0:v:0", "-vf", FILTERS])
            .args(["-r", "25", "-f", "mpjpeg", "-c:v", "mjpeg", "-q:v", "4", "pipe:1"])
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = spawn_with_limit(&mut command, MAX_FFMPEG_BYTES).map_err(|cause| {
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
        // The process has finished or is no longer needed. In both cases, it must not outlive this call.
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

/// Reads an output in a thread, which drops its sender when it ends.
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

/// Reads the pictures with their numbers. If there are more than [`MAX_FRAMES`], keeps only every second picture, or
/// every fourth, and so on.
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

/// Reads one part of a multipart stream: header lines, an empty line, and as many bytes as the header announces.
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

/// Number of boxes of an MP4 file that are examined. The index is among the first boxes, or after the pictures.
const MAX_BOXES: usize = 64;

pub enum VideoInput {
    /// The video can be read at any position.
    File(File),
    /// The video is read once, from its start.
    Stream(Box<dyn SourceFile>),
}

impl VideoInput {
    /// Prepares a video, which is streamed if it is not on this machine. If the index comes after the pictures, no
    /// decoder can read a stream, so the video is copied to an unnamed file in `folder`.
    pub fn new(
        mut video: Box<dyn SourceFile>,
        folder: &Path,
        disk: &DiskQuota,
    ) -> io::Result<Self> {
        if let Some(file) = video.on_this_machine() {
            video.rewind()?;
            return Ok(Self::File(file?));
        }
        let has_index_behind = has_index_behind_pictures(&mut *video)?;
        video.rewind()?;
        if !has_index_behind {
            return Ok(Self::Stream(video));
        }
        let mut copy = ClaimedFile::new(tempfile::tempfile_in(folder)?, disk.claim_in(folder));
        io::copy(&mut video, &mut copy)?;
        copy.file.rewind()?;
        Ok(Self::File(copy.file))
    }

    pub fn length(&self) -> io::Result<u64> {
        match self {
            Self::File(file) => file.length(),
            Self::Stream(video) => video.length(),
        }
    }
}

/// Sends a video to its decoder in a thread, which ends when the decoder ends.
fn send_in_thread(
    mut video: Box<dyn SourceFile>,
    mut input: ChildStdin,
) -> JoinHandle<io::Result<()>> {
    thread::spawn(move || match io::copy(&mut video, &mut input) {
        // A broken pipe means that the decoder has read as much as it needs.
        Err(cause) if cause.kind() == ErrorKind::BrokenPipe => Ok(()),
        end => end.map(drop),
    })
}

/// Whether this is an MP4 file whose pictures (`mdat`) come before its index (`moov`).
fn has_index_behind_pictures(video: &mut dyn SourceFile) -> io::Result<bool> {
    let (length, mut position) = (video.length()?, 0_u64);
    for number in 0..MAX_BOXES {
        let mut head = [0; 16];
        if position.saturating_add(head.len() as u64) > length {
            return Ok(false);
        }
        video.seek(SeekFrom::Start(position))?;
        video.read_exact(&mut head)?;
        let [a, b, c, d, name @ .., _, _, _, _, _, _, _, _] = head;
        if number == 0 && &name != b"ftyp" {
            return Ok(false);
        }
        let size = match u32::from_be_bytes([a, b, c, d]) {
            // Size 1 means that the size is in the eight bytes after the name.
            1 => head.last_chunk().map_or(0, |size| u64::from_be_bytes(*size)),
            size => u64::from(size),
        };
        match &name {
            b"moov" => return Ok(false),
            b"mdat" => return Ok(true),
            _ if size < 8 => return Ok(false),
            _ => position = position.saturating_add(size),
        }
    }
    Ok(false)
}

/// The minimum times from a selected frame to the next one: the first if the scene has changed, the second if it has
/// not.
const SECONDS_TO_NEW_SCENE: f64 = 2.0;
const SECONDS_TO_NEXT: f64 = 5.0;
/// The mean difference in brightness at or above which two scenes differ. The maximum is 255.
const SCENE_DIFFERENCE: u32 = 25;
/// The width and height at which scenes are compared.
const SCENE_SIDE: u32 = 32;
/// Larger frames are scaled down, but not below this width or height.
const MIN_SIDE: u32 = 1_280;
const JPEG_QUALITY: u8 = 90;

/// The frames that are kept of an animation.
#[derive(Default)]
struct Selection {
    frames: Vec<VideoFrame>,
    /// The scene of the latest selected frame.
    scene: Vec<u8>,
    /// The factor by which the times between frames grow in a long animation.
    stretch: f64,
}

/// Returns the sampled frames of an animation, in the order of time. Returns `None` for a picture with a single frame.
pub fn sample_animation(bytes: &[u8], is_cancelled: &dyn Fn() -> bool) -> Option<Vec<VideoFrame>> {
    let mut selection = Selection { stretch: 1.0, ..Selection::default() };
    let (mut count, mut failed) = (0_u64, false);
    let visited = visit_frames(bytes, &mut |frame| {
        count += 1;
        let seconds = frame.seconds;
        let waited = selection.frames.last().map(|last| seconds - last.seconds);
        if waited.is_none_or(|waited| waited >= SECONDS_TO_NEW_SCENE * selection.stretch) {
            match frame.into_picture(MIN_SIDE) {
                Ok(picture) => selection.consider(&picture, seconds, waited),
                Err(_) => failed = true,
            }
        }
        !failed && !is_cancelled()
    });
    let is_animation = visited.is_ok() && count > 1 && !selection.frames.is_empty();
    is_animation.then_some(selection.frames)
}

impl Selection {
    /// Keeps a frame if it shows a different scene than the latest selected frame, or follows it after a long time.
    fn consider(&mut self, picture: &RgbImage, seconds: f64, waited: Option<f64>) {
        let scene = scene(picture);
        let is_late = waited.is_none_or(|waited| waited >= SECONDS_TO_NEXT * self.stretch);
        if !is_late && difference(&scene, &self.scene) < SCENE_DIFFERENCE {
            return;
        }
        let Ok(jpeg) = encode_jpeg(picture, JPEG_QUALITY) else { return };
        self.frames.push(VideoFrame { seconds, jpeg });
        self.scene = scene;
        if self.frames.len() > MAX_FRAMES {
            let mut number = 0;
            self.frames.retain(|_| {
                number += 1;
                number % 2 == 1
            });
            self.stretch *= 2.0;
        }
    }
}

fn scene(picture: &RgbImage) -> Vec<u8> {
    let small = imageops::thumbnail(picture, SCENE_SIDE, SCENE_SIDE);
    imageops::grayscale(&small).into_raw()
}

/// Returns the mean difference of two scenes.
fn difference(a: &[u8], b: &[u8]) -> u32 {
    let sum: u32 = a.iter().zip(b).map(|(a, b)| u32::from(a.abs_diff(*b))).sum();
    sum / (SCENE_SIDE * SCENE_SIDE)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[derive(Debug)]
    struct Remote(io::Cursor<Vec<u8>>);

    impl io::Read for Remote {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.0.read(buffer)
        }
    }

    impl io::Seek for Remote {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.0.seek(to)
        }
    }

    impl SourceFile for Remote {
        fn length(&self) -> io::Result<u64> {
            Ok(self.0.get_ref().len() as u64)
        }

        fn version(&self) -> io::Result<Option<i64>> {
            Ok(None)
        }
    }

    fn is_streamed(boxes: &[(&[u8; 4], u32)]) -> bool {
        let mut bytes = Vec::new();
        for (name, size) in boxes {
            bytes.extend(size.to_be_bytes());
            bytes.extend(*name);
            bytes.resize(bytes.len() + *size as usize - 8, b'-');
        }
        let folder = tempfile::tempdir().unwrap();
        let disk = DiskQuota::with_reserve(0);
        let video = Box::new(Remote(io::Cursor::new(bytes.clone())));
        let mut read = Vec::new();
        let streamed = match VideoInput::new(video, folder.path(), &disk).unwrap() {
            VideoInput::Stream(mut video) => {
                video.read_to_end(&mut read).unwrap();
                true
            }
            VideoInput::File(mut file) => {
                file.read_to_end(&mut read).unwrap();
                false
            }
        };
        assert_eq!(read, bytes, "from its start");
        streamed
    }

    #[test]
    fn only_a_video_whose_index_is_behind_its_pictures_becomes_a_file() {
        assert!(is_streamed(&[(b"ftyp", 32), (b"moov", 64), (b"mdat", 400)]));
        assert!(!is_streamed(&[(b"ftyp", 32), (b"free", 24), (b"mdat", 400), (b"moov", 64)]));
        assert!(is_streamed(&[(b"FLV\x01", 400)]));
        assert!(is_streamed(&[(b"ftyp", 32)]), "cut off");
    }
}
