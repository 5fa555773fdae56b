//! The trace of a run: JSON lines in a new file (`--trace FILE`).

use std::{
    fs::File,
    io::{self, Write},
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use serde_json::Value;

/// A trace that may be disabled. Clones write to the same file.
#[derive(Clone, Debug)]
pub struct Trace(Option<Arc<Mutex<TraceWriter>>>);

#[derive(Debug)]
struct TraceWriter {
    out: File,
    started: Instant,
    /// The error after which nothing more is written.
    write_error: Option<io::Error>,
}

impl Trace {
    pub fn disabled() -> Self {
        Self(None)
    }

    pub fn create(path: &Path) -> io::Result<Self> {
        let out = File::create_new(path)?;
        let writer = TraceWriter { out, started: Instant::now(), write_error: None };
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
        writer.write_error = writer.out.write_all(format!("{record}\n").as_bytes()).err();
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
