//! The trace of a run (`--trace FILE`): JSON lines in bounded, private files.

use std::{
    io,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use serde_json::Value;
use tessera_model::text::escape_json;

use tessera_files::RotatingFile;

/// A trace that may be disabled. Clones write to the same file.
#[derive(Clone, Debug)]
pub struct Trace(Option<Arc<Mutex<TraceWriter>>>);

#[derive(Debug)]
struct TraceWriter {
    file: RotatingFile,
    started: Instant,
    /// The error after which nothing more is written.
    write_error: Option<io::Error>,
}

impl Trace {
    pub fn disabled() -> Self {
        Self(None)
    }

    pub fn create(path: &Path) -> io::Result<Self> {
        let file = RotatingFile::create(path)?;
        let writer = TraceWriter { file, started: Instant::now(), write_error: None };
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
        writer.write_error = writer.file.write_line(&escape_json(&format!("{record}\n"))).err();
    }

    pub fn finish(&self) -> io::Result<()> {
        let Some(writer) = &self.0 else { return Ok(()) };
        let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
        writer.write_error.take().map_or(Ok(()), Err)
    }
}

pub fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_trace_contains_nothing_that_a_terminal_interprets() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace");
        let trace = Trace::create(&path).unwrap();
        trace.write(|| json!({ "name": "\u{9b}2J\u{1b}\u{202e}" }));
        trace.finish().unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.chars().all(|c| c == '\n' || !c.is_control() && c != '\u{202e}'));
        let record: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(record["name"], "\u{9b}2J\u{1b}\u{202e}");
    }
}
