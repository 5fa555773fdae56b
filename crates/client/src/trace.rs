//! The trace of a run: JSON lines in new files that only this user can read (`--trace FILE`). A full
//! file is renamed to `FILE.1`, and so on; the oldest one is removed.

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use serde_json::Value;
use tessera_model::text::escape_json;

const MAX_FILE_BYTES: u64 = 10 << 20;
const MAX_FILES: usize = 5;

/// A trace that may be disabled. Clones write to the same file.
#[derive(Clone, Debug)]
pub struct Trace(Option<Arc<Mutex<TraceWriter>>>);

#[derive(Debug)]
struct TraceWriter {
    path: PathBuf,
    out: File,
    bytes: u64,
    max_bytes: u64,
    started: Instant,
    /// The error after which nothing more is written.
    write_error: Option<io::Error>,
}

impl Trace {
    pub fn disabled() -> Self {
        Self(None)
    }

    pub fn create(path: &Path) -> io::Result<Self> {
        Self::create_with_limit(path, MAX_FILE_BYTES)
    }

    fn create_with_limit(path: &Path, max_bytes: u64) -> io::Result<Self> {
        if (1..MAX_FILES).any(|number| numbered(path, number).exists()) {
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, "an older part exists"));
        }
        let writer = TraceWriter {
            path: path.to_owned(),
            out: create_private(path)?,
            bytes: 0,
            max_bytes,
            started: Instant::now(),
            write_error: None,
        };
        Ok(Self(Some(Arc::new(Mutex::new(writer)))))
    }

    pub fn is_enabled(&self) -> bool {
        self.0.is_some()
    }

    /// Unbuffered, because the program may be killed; the first failed write ends the trace.
    pub fn write(&self, record: impl FnOnce() -> Value) {
        let Some(writer) = &self.0 else { return };
        let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
        if writer.write_error.is_some() {
            return;
        }
        let mut record = record();
        record["at_us"] = micros(writer.started.elapsed()).into();
        writer.write_error = writer.write_line(&escape_json(&format!("{record}\n"))).err();
    }

    pub fn finish(&self) -> io::Result<()> {
        let Some(writer) = &self.0 else { return Ok(()) };
        let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
        writer.write_error.take().map_or(Ok(()), Err)
    }
}

impl TraceWriter {
    fn write_line(&mut self, line: &str) -> io::Result<()> {
        let length = line.len() as u64;
        if self.bytes > 0 && self.bytes + length > self.max_bytes {
            for number in (0..MAX_FILES - 1).rev() {
                let part = numbered(&self.path, number);
                if part.exists() {
                    fs::rename(part, numbered(&self.path, number + 1))?;
                }
            }
            (self.out, self.bytes) = (create_private(&self.path)?, 0);
        }
        self.bytes += length;
        self.out.write_all(line.as_bytes())
    }
}

fn create_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

fn numbered(path: &Path, number: usize) -> PathBuf {
    if number == 0 {
        return path.to_owned();
    }
    let mut name = OsString::from(path);
    name.push(format!(".{number}"));
    name.into()
}

pub fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use serde_json::json;

    use super::*;

    #[test]
    fn a_long_trace_keeps_its_newest_files_and_all_are_private() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace");
        let trace = Trace::create_with_limit(&path, 1_000).unwrap();
        for number in 0..1_000 {
            trace.write(|| json!({ "number": number, "name": "\u{9b}2J\u{1b}\u{202e}" }));
        }
        trace.finish().unwrap();
        let mut numbers = Vec::new();
        for number in (0..MAX_FILES).rev() {
            let part = numbered(&path, number);
            let metadata = fs::metadata(&part).unwrap();
            assert!(metadata.len() <= 1_000, "{}", metadata.len());
            assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
            let text = fs::read_to_string(part).unwrap();
            assert!(text.chars().all(|c| c == '\n' || !c.is_control() && c != '\u{202e}'));
            numbers.extend(text.lines().map(|line| {
                serde_json::from_str::<Value>(line).unwrap()["number"].as_u64().unwrap()
            }));
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), MAX_FILES);
        assert!(numbers.is_sorted() && numbers.last() == Some(&999), "{numbers:?}");
        assert!(Trace::create(&path).is_err(), "nothing is overwritten");
        fs::remove_file(&path).unwrap();
        assert!(Trace::create(&path).is_err(), "nor are its older parts");
    }
}
