//! What the program did and when, as JSON lines in a new file (`--trace FILE`). Commands write their
//! exchanges into it; the interface its events and frames, too.

use std::{
    fs::File,
    io::{self, Write},
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use serde_json::Value;

/// A trace, or none. Clones write to the same file.
#[derive(Clone, Debug)]
pub struct Trace(Option<Arc<Mutex<TraceWriter>>>);

#[derive(Debug)]
struct TraceWriter {
    out: File,
    started: Instant,
    /// Why nothing is written any more.
    write_error: Option<io::Error>,
}

impl Trace {
    /// Writes nothing.
    #[must_use]
    pub fn disabled() -> Self {
        Self(None)
    }

    /// Writes to a new file.
    ///
    /// # Errors
    /// The file is there already or cannot be made.
    pub fn create(path: &Path) -> io::Result<Self> {
        let out = File::create_new(path)?;
        Ok(Self(Some(Arc::new(Mutex::new(TraceWriter {
            out,
            started: Instant::now(),
            write_error: None,
        })))))
    }

    /// Whether anything is written.
    #[must_use]
    pub fn is_enabled(&self) -> bool {
        self.0.is_some()
    }

    /// Writes a line with its time, at once: the program may be killed. A line that cannot be written
    /// is the last one.
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

    /// Tells whether all of it was written.
    ///
    /// # Errors
    /// Why the trace is not complete.
    pub fn finish(&self) -> io::Result<()> {
        let Some(writer) = &self.0 else { return Ok(()) };
        let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
        writer.write_error.take().map_or(Ok(()), Err)
    }
}

/// A span as a trace has it.
#[must_use]
pub fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}
