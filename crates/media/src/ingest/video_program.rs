//! Runs `ffmpeg` or `ffprobe` on a video, within limits of time and memory. The program gets the open file or a pipe,
//! and no other file.

use std::{
    convert::Infallible,
    fmt,
    io::{self, BufReader, ErrorKind, Read, Seek as _},
    path::Path,
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError, Sender},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use tessera_subprocess::{isolated_command, spawn_with_limit};

use super::{original_files::SourceFile, video_container::VideoContainer, video_input::VideoInput};

const CANCELLATION_INTERVAL: Duration = Duration::from_millis(100);
/// Maximum memory of a program. A video of the largest frames in HEVC takes less than 1 GiB.
const MAX_PROGRAM_BYTES: u64 = 2 << 30;

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
                let file = file.try_clone().map_err(VideoError::Unreadable)?;
                ("file", "/proc/self/fd/0", file.into())
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
            VideoError::Undecodable(format!("cannot start {} ({})", self.name(), cause.kind()))
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
