//! Runs `ffmpeg` or `ffprobe` on a video, within limits of time and memory. The program gets the open file or a pipe,
//! and no other file.

use std::{
    convert::Infallible,
    fmt,
    fs::File,
    io::{self, BufReader, ErrorKind, Read, Seek as _, SeekFrom},
    path::Path,
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError, Sender},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use super::{
    disk_quota::{ClaimedFile, DiskQuota},
    original_files::SourceFile,
};
use tessera_files::error_name;
use tessera_picture::{VideoContainer, is_quicktime};
use tessera_subprocess::{isolated_command, spawn_with_limit};

const CANCELLATION_INTERVAL: Duration = Duration::from_millis(100);
/// Maximum memory of a program. A video of the largest frames in HEVC takes less than 1 GiB.
const MAX_PROGRAM_BYTES: u64 = 2 << 30;

/// The reason why a video has no frames.
#[derive(Debug)]
pub enum VideoError {
    Undecodable(String),
    Unreadable(io::Error),
    /// The program that decodes it could not be started, which says nothing about the video.
    NotStarted(String),
}

impl fmt::Display for VideoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Undecodable(reason) | Self::NotStarted(reason) => f.write_str(reason),
            Self::Unreadable(cause) => write!(f, "cannot be read ({})", error_name(cause)),
        }
    }
}

pub struct VideoProgram<'a> {
    pub path: &'a Path,
    pub container: VideoContainer,
    /// The arguments before the input, and after it.
    pub options: &'a [&'a str],
    pub outputs: &'a [&'a str],
    pub timeout: Duration,
}

impl VideoProgram<'_> {
    /// Runs the program, and reads its output and its errors. Returns what was read, and the video, so that another
    /// program can read it.
    pub fn run<O: Send + 'static, E: Send + 'static>(
        &self,
        video: VideoInput,
        read_output: fn(BufReader<ChildStdout>) -> O,
        read_errors: fn(BufReader<ChildStderr>) -> E,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<((O, E), VideoInput), VideoError> {
        let (mut child, input) = self.start(video)?;
        let (sender, finished) = mpsc::channel::<Infallible>();
        let output = child.stdout.take().map(|output| read_in_thread(output, &sender, read_output));
        let errors = child.stderr.take().map(|errors| read_in_thread(errors, &sender, read_errors));
        drop(sender);
        let has_ended = wait_for_end(&finished, self.timeout, is_cancelled);
        // The process has finished or is no longer needed. In both cases, it must not outlive this call.
        let _ = child.kill();
        let _ = child.wait();
        let failed = |why: &str| VideoError::Undecodable(format!("{} {why}", self.name()));
        if !has_ended {
            return Err(failed("took too long to decode it"));
        }
        let video = input.into_video()?;
        let output = output.and_then(|thread| thread.join().ok());
        let errors = errors.and_then(|thread| thread.join().ok());
        let read = output.zip(errors).ok_or_else(|| failed("cannot decode it"))?;
        Ok((read, video))
    }

    fn start(&self, video: VideoInput) -> Result<(Child, RunningInput), VideoError> {
        let (protocol, address, stdin) = match &video {
            VideoInput::File(file) => {
                let file = file.try_clone().and_then(|mut file| file.rewind().map(|()| file));
                // Linux opens this file again at its start. macOS continues at the position of the descriptor.
                ("file", "/dev/fd/0", file.map_err(VideoError::Unreadable)?.into())
            }
            VideoInput::Stream(_) => ("pipe", "pipe:0", Stdio::piped()),
        };
        let mut command = isolated_command(self.path);
        command
            .args(self.options)
            .args(["-protocol_whitelist", protocol, "-f", self.container.demuxer, "-i", address])
            .args(self.outputs)
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = spawn_with_limit(&mut command, MAX_PROGRAM_BYTES).map_err(|cause| {
            VideoError::NotStarted(format!("cannot start {} ({})", self.name(), error_name(&cause)))
        })?;
        let input = match (video, child.stdin.take()) {
            (VideoInput::Stream(video), Some(input)) => {
                RunningInput::Stream(send_in_thread(video, input))
            }
            (video, _) => RunningInput::Ready(video),
        };
        Ok((child, input))
    }

    fn name(&self) -> std::borrow::Cow<'_, str> {
        self.path.file_name().unwrap_or_default().to_string_lossy()
    }
}

/// The input of a running program.
enum RunningInput {
    Ready(VideoInput),
    /// A thread sends the stream, and returns it.
    Stream(JoinHandle<(Box<dyn SourceFile>, io::Result<()>)>),
}

impl RunningInput {
    /// Returns the video, which starts at its first byte again.
    fn into_video(self) -> Result<VideoInput, VideoError> {
        let thread = match self {
            Self::Ready(video) => return Ok(video),
            Self::Stream(thread) => thread,
        };
        let stopped = || VideoError::Undecodable("the program that reads it stopped".to_owned());
        let (mut video, sent) = thread.join().map_err(|_| stopped())?;
        sent.and_then(|()| video.rewind()).map_err(VideoError::Unreadable)?;
        Ok(VideoInput::Stream(video))
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
fn wait_for_end(
    finished: &Receiver<Infallible>,
    timeout: Duration,
    is_cancelled: &dyn Fn() -> bool,
) -> bool {
    let deadline = Instant::now() + timeout;
    while Instant::now() < deadline && !is_cancelled() {
        if finished.recv_timeout(CANCELLATION_INTERVAL) == Err(RecvTimeoutError::Disconnected) {
            return true;
        }
    }
    false
}

/// Sends a video to a program in a thread, which ends when the program ends.
fn send_in_thread(
    mut video: Box<dyn SourceFile>,
    mut input: ChildStdin,
) -> JoinHandle<(Box<dyn SourceFile>, io::Result<()>)> {
    thread::spawn(move || {
        let sent = match io::copy(&mut video, &mut input) {
            // A broken pipe means that the program has read as much as it needs.
            Err(cause) if cause.kind() == ErrorKind::BrokenPipe => Ok(()),
            end => end.map(drop),
        };
        (video, sent)
    })
}

// The video that a program reads: a file of this machine, or a stream from object storage.

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
        if number == 0 && &name != b"ftyp" && !is_quicktime(&head) {
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
        assert!(!is_streamed(&[(b"wide", 8), (b"mdat", 400), (b"moov", 64)]));
        assert!(is_streamed(&[(b"FLV\x01", 400)]));
        assert!(is_streamed(&[(b"ftyp", 32)]), "cut off");
    }
}
