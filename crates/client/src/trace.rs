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
pub struct Trace(Option<Arc<Mutex<Writer>>>);

#[derive(Debug)]
struct Writer {
    out: File,
    started: Instant,
    /// Why nothing is written any more.
    broken: Option<io::Error>,
}

impl Trace {
    /// Writes nothing.
    #[must_use]
    pub fn off() -> Self {
        Self(None)
    }

    /// Writes to a new file.
    ///
    /// # Errors
    /// The file is there already or cannot be made.
    pub fn to(path: &Path) -> io::Result<Self> {
        let out = File::create_new(path)?;
        Ok(Self(Some(Arc::new(Mutex::new(Writer { out, started: Instant::now(), broken: None })))))
    }

    /// Whether anything is written.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Writes a line with its time, at once: the program may be killed. A line that cannot be written
    /// is the last one.
    pub fn line(&self, record: impl FnOnce() -> Value) {
        let Some(writer) = &self.0 else { return };
        let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
        if writer.broken.is_some() {
            return;
        }
        let mut record = record();
        record["at_us"] = micros(writer.started.elapsed()).into();
        writer.broken = writer.out.write_all(format!("{record}\n").as_bytes()).err();
    }

    /// Tells whether all of it was written.
    ///
    /// # Errors
    /// Why the trace is not complete.
    pub fn finish(&self) -> io::Result<()> {
        let Some(writer) = &self.0 else { return Ok(()) };
        let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
        writer.broken.take().map_or(Ok(()), Err)
    }
}

/// A span as a trace has it.
#[must_use]
pub fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}
