//! Runs the program in a pseudo-terminal that never replies, and keeps all its output.

use std::{
    io::{Read, Write},
    path::Path,
    process::Command,
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::{
    fs::{Mode, OFlags, open},
    termios::{Action, tcflow},
};

/// A limit that is much longer than any step takes.
const TIMEOUT: Duration = Duration::from_mins(2);

struct Output {
    parser: vt100::Parser,
    bytes: String,
    /// Whether the output is complete, because nothing holds the terminal open any more.
    ended: bool,
}

/// The running program.
pub struct Program {
    child: Box<dyn Child + Send + Sync>,
    master: Option<Box<dyn MasterPty + Send>>,
    writer: Option<Box<dyn Write + Send>>,
    output: Arc<(Mutex<Output>, Condvar)>,
    reading: Option<thread::JoinHandle<()>>,
    vanished: Arc<AtomicBool>,
    found: String,
    tty: String,
    folder: tempfile::TempDir,
}

impl Program {
    /// Runs `tessera demo` with few pictures.
    pub fn demo() -> Self {
        Self::sized(120, 40)
    }

    pub fn sized(columns: u16, rows: u16) -> Self {
        let (command, folder) = Self::demonstration();
        Self::start(command, folder, (columns, rows))
    }

    /// Runs `demo` with half-blocks, so that no test picture is shown.
    pub fn in_half_blocks() -> Self {
        let (mut command, folder) = Self::demonstration();
        command.env("TESSERA_GRAPHICS", "half");
        Self::start(command, folder, (120, 40))
    }

    fn demonstration() -> (CommandBuilder, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_tessera"));
        command.args(["demo", "--images", "12", "--data"]);
        command.arg(folder.path());
        (command, folder)
    }

    /// Runs `tessera` without a target, in an empty home folder.
    pub fn alone() -> Self {
        let command = CommandBuilder::new(env!("CARGO_BIN_EXE_tessera"));
        Self::start(command, tempfile::tempdir().unwrap(), (120, 40))
    }

    /// Runs a command that `prepare` sets up, in a home of its own.
    pub fn command(
        folder: tempfile::TempDir,
        prepare: impl FnOnce(&mut CommandBuilder, &Path),
    ) -> Self {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_tessera"));
        prepare(&mut command, folder.path());
        Self::start(command, folder, (120, 40))
    }

    /// Runs `tessera open` in a terminal that `TERM` does not name.
    pub fn without_term() -> Self {
        let mut command = CommandBuilder::new("env");
        command.args(["-u", "TERM", env!("CARGO_BIN_EXE_tessera"), "open", "."]);
        let folder = tempfile::tempdir().unwrap();
        command.cwd(folder.path());
        Self::start(command, folder, (80, 24))
    }

    /// Runs a shell script in a terminal, with `folder` as its home.
    pub fn script(script: &str, folder: tempfile::TempDir) -> Self {
        let programs = Path::new(env!("CARGO_BIN_EXE_tessera")).parent().unwrap();
        let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
        let mut command = CommandBuilder::new("bash");
        command.args(["--norc", "-euc", script]);
        command.env("PATH", path);
        command.env("TESSERA_GRAPHICS", "half");
        command.env_remove("DBUS_SESSION_BUS_ADDRESS");
        command.cwd(folder.path());
        Self::start(command, folder, (120, 40))
    }

    /// Returns the folder of the program's settings, index and state.
    pub fn home(&self) -> &Path {
        self.folder.path()
    }

    /// Runs one ignored test of this binary.
    pub fn ignored_test(name: &str) -> Self {
        let mut command = CommandBuilder::new(std::env::current_exe().unwrap());
        command.args(["--exact", name, "--ignored", "--nocapture"]);
        Self::start(command, tempfile::tempdir().unwrap(), (80, 24))
    }

    fn start(
        mut command: CommandBuilder,
        folder: tempfile::TempDir,
        (columns, rows): (u16, u16),
    ) -> Self {
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let tty = pair.master.tty_name().unwrap().to_string_lossy().into_owned();
        let found = settings(&tty);
        command.env("TERM", "xterm-256color");
        // The multiplexer and the clipboard of the developer must not be used.
        for outside in ["TMUX", "STY", "ZELLIJ", "DISPLAY", "WAYLAND_DISPLAY"] {
            command.env_remove(outside);
        }
        // The keyring of the developer must not be used.
        command.env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent");
        for home in ["XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"] {
            command.env(home, folder.path());
        }
        let child = pair.slave.spawn_command(command).unwrap();
        let reader = pair.master.try_clone_reader().unwrap();
        let writer = pair.master.take_writer().unwrap();
        let parser = vt100::Parser::new(rows.try_into().unwrap(), columns.try_into().unwrap(), 0);
        let output = Output { parser, bytes: String::new(), ended: false };
        let output = Arc::new((Mutex::new(output), Condvar::new()));
        let vanished = Arc::new(AtomicBool::new(false));
        let reading = thread::spawn({
            let (output, vanished) = (Arc::clone(&output), Arc::clone(&vanished));
            move || read_all(reader, &output, &vanished)
        });
        // From here on, only the program holds the slave side open.
        drop(pair.slave);
        Self {
            child,
            master: Some(pair.master),
            writer: Some(writer),
            output,
            reading: Some(reading),
            vanished,
            found,
            tty,
            folder,
        }
    }

    /// Waits until the screen shows `words`.
    pub fn wait_for(&self, words: &str) {
        self.wait_until(words, |output| output.parser.screen().contents().contains(words));
    }

    /// Waits until the screen no longer shows `words`.
    pub fn wait_until_gone(&self, words: &str) {
        self.wait_until(words, |output| {
            // Within a frame that draws everything again, the screen is empty for a moment.
            let is_whole = output.bytes.rfind("\x1b[?2026l") >= output.bytes.rfind("\x1b[?2026h");
            is_whole && !output.parser.screen().contents().contains(words)
        });
    }

    /// Waits until `words` are written after `start`.
    pub fn wait_for_after(&self, start: usize, words: &str) {
        self.wait_until(words, |output| output.bytes[start..].contains(words));
    }

    /// Waits until any of `words` is written.
    pub fn wait_for_any(&self, words: &[&str]) {
        self.wait_until(&words.join(" or "), |output| {
            words.iter().any(|words| output.bytes.contains(words))
        });
    }

    /// Waits until `wanted` is written after the last `other`.
    pub fn wait_for_last(&self, wanted: &str, other: &str) {
        self.wait_until(wanted, |output| output.bytes.rfind(wanted) > output.bytes.rfind(other));
    }

    fn wait_until(&self, what: &str, ready: impl Fn(&Output) -> bool) {
        let (output, changed) = &*self.output;
        let output = output.lock().unwrap();
        let (output, late) =
            changed.wait_timeout_while(output, TIMEOUT, |output| !ready(output)).unwrap();
        assert!(!late.timed_out(), "`{what}` never came:\n{}", output.parser.screen().contents());
    }

    pub fn press(&mut self, keys: &str) {
        let writer = self.writer.as_mut().unwrap();
        writer.write_all(keys.as_bytes()).unwrap();
        writer.flush().unwrap();
    }

    /// Changes the size of the terminal, which signals the program.
    pub fn resize(&self, columns: u16, rows: u16) {
        let mut output = self.output.0.lock().unwrap();
        output.parser.screen_mut().set_size(rows.try_into().unwrap(), columns.try_into().unwrap());
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        self.master.as_ref().unwrap().resize(size).unwrap();
    }

    /// Stops the output of the terminal, as Ctrl-S does in a shell.
    pub fn stop_output(&self) {
        let flags = OFlags::RDWR | OFlags::NOCTTY;
        let terminal = open(&self.tty, flags, Mode::empty()).unwrap();
        tcflow(terminal, Action::OOff).unwrap();
    }

    pub fn process_id(&self) -> u32 {
        self.child.process_id().unwrap()
    }

    /// Continues the output, as Ctrl-Q does.
    pub fn resume_output(&self) {
        let flags = OFlags::RDWR | OFlags::NOCTTY;
        let terminal = open(&self.tty, flags, Mode::empty()).unwrap();
        tcflow(terminal, Action::OOn).unwrap();
    }

    /// Returns the resident memory of the program, according to `/proc`.
    pub fn resident_bytes(&self) -> u64 {
        let id = self.child.process_id().unwrap();
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
    }

    pub fn signal(&self, name: &str) {
        let id = self.process_id().to_string();
        let sent = Command::new("kill").args([&format!("-{name}"), &id]).status().unwrap();
        assert!(sent.success());
    }

    /// Closes the terminal while the program runs. The reader holds the terminal open until its
    /// next read, so the program is made to draw.
    pub fn vanish(&mut self) {
        self.vanished.store(true, Ordering::SeqCst);
        self.press("?");
        self.reading.take().unwrap().join().unwrap();
        self.writer = None;
        self.master = None;
    }

    /// Waits for the end and all output, and returns the exit code.
    pub fn wait(&mut self) -> u32 {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                self.wait_until("the end of the output", |output| output.ended);
                return status.exit_code();
            }
            assert!(start.elapsed() < TIMEOUT, "it does not end:\n{}", self.output());
            thread::yield_now();
        }
    }

    /// Waits until the program handles a signal itself, according to `/proc`. A shell that is replaced by the program
    /// resets its handlers.
    pub fn wait_until_handled(&self, signal: u32) {
        let start = Instant::now();
        let id = self.process_id();
        let handles = || {
            let name = std::fs::read_to_string(format!("/proc/{id}/comm")).unwrap();
            let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
            let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
            let mask = u64::from_str_radix(mask.trim(), 16).unwrap();
            name.trim() == "tessera" && mask >> (signal - 1) & 1 == 1
        };
        while !handles() {
            assert!(start.elapsed() < TIMEOUT, "it does not handle the signal");
            thread::yield_now();
        }
    }

    /// Waits until the program has opened a file, according to `/proc`.
    pub fn wait_until_open(&self, file: &Path) {
        let start = Instant::now();
        let folder = format!("/proc/{}/fd", self.process_id());
        let is_open = || {
            let mut files = std::fs::read_dir(&folder).unwrap().flatten();
            files.any(|it| std::fs::read_link(it.path()).is_ok_and(|open| open == file))
        };
        while !is_open() {
            assert!(start.elapsed() < TIMEOUT, "it does not open {}", file.display());
            thread::yield_now();
        }
    }

    /// Waits until the process is stopped, according to `/proc`.
    pub fn wait_until_stopped(&self) {
        let start = Instant::now();
        let id = self.process_id();
        while !std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap().contains(") T ") {
            assert!(start.elapsed() < TIMEOUT, "it does not stop");
            thread::yield_now();
        }
    }

    /// Returns the text on the screen.
    pub fn screen(&self) -> String {
        self.output.0.lock().unwrap().parser.screen().contents()
    }

    /// Returns all output so far.
    pub fn output(&self) -> String {
        self.output.0.lock().unwrap().bytes.clone()
    }

    pub fn line_settings(&self) -> String {
        settings(&self.tty)
    }

    /// Returns whether the line settings are the same as before the start.
    pub fn is_as_found(&self) -> bool {
        settings(&self.tty) == self.found
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // A failed test must not leave the program running. The program may have ended already.
        let _ = self.child.kill();
    }
}

/// Reads the output until the program ends or the terminal closes.
fn read_all(
    mut reader: Box<dyn Read + Send>,
    output: &(Mutex<Output>, Condvar),
    vanished: &AtomicBool,
) {
    let (output, changed) = output;
    let mut chunk = [0; 4096];
    while let Ok(count @ 1..) = reader.read(&mut chunk)
        && !vanished.load(Ordering::SeqCst)
    {
        let mut output = output.lock().unwrap();
        output.parser.process(&chunk[..count]);
        output.bytes.push_str(&String::from_utf8_lossy(&chunk[..count]));
        changed.notify_all();
    }
    output.lock().unwrap().ended = true;
    changed.notify_all();
}

fn settings(tty: &str) -> String {
    let output = Command::new("stty").args(["-F", tty, "-a"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
