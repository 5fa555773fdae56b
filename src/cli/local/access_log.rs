//! Writes the access log of `tessera serve`: a line of JSON for each request. A separate thread writes the lines, so
//! that no response waits for a slow disk or reader. Records that the thread cannot keep up with are counted.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel},
    },
    thread,
};

use crate::cli::prelude::*;
use crate::cli::{messages::write_message, output::write_stdout};
use tessera_files::RotatingFile;
use tessera_service::{AccessLog, AccessRecord};

/// The number of records that may wait to be written. Further records are lost.
const MAX_WAITING: usize = 4096;
/// How long the last records may take to be written at the end.
const END_TIMEOUT: Duration = Duration::from_secs(1);

/// The thread that writes the log. It ends when the log has no sender any more.
pub struct AccessLogThread {
    ended: Receiver<()>,
}

type WriteLine = Box<dyn FnMut(&PrintableText) -> CliResult<()> + Send>;

/// Opens what the lines are written to. The path `-` is standard output.
fn open_destination(path: &Path) -> CliResult<WriteLine> {
    if path == "-" {
        return Ok(Box::new(write_stdout));
    }
    let mut file = RotatingFile::append(path).map_err(|error| log_error(&error))?;
    Ok(Box::new(move |line| file.write_line(line.as_str()).map_err(|error| log_error(&error))))
}

/// Opens the log and starts its thread.
pub fn open_access_log(path: &Path) -> CliResult<(AccessLog, AccessLogThread)> {
    let destination = open_destination(path)?;
    let (sender, records) = sync_channel(MAX_WAITING);
    let lost = Arc::new(AtomicU64::new(0));
    let log = access_log(sender, lost.clone());
    let (end, ended) = channel();
    let body = move || {
        write_records(destination, &records, &lost);
        // Sending fails if nothing waits for the end.
        let _ = end.send(());
    };
    thread::Builder::new()
        .name("access-log".to_owned())
        .spawn(body)
        .map_err(|error| log_error(&error))?;
    Ok((log, AccessLogThread { ended }))
}

fn log_error(error: &io::Error) -> CliError {
    CliError::io("write the access log", error)
}

fn access_log(sender: SyncSender<AccessRecord>, lost: Arc<AtomicU64>) -> AccessLog {
    AccessLog::new(move |record| {
        if sender.try_send(record).is_err() {
            lost.fetch_add(1, Ordering::Relaxed);
        }
    })
}

/// Writes each record. After a gap, it also writes how many records are missing.
fn write_records(mut write_line: WriteLine, records: &Receiver<AccessRecord>, lost: &AtomicU64) {
    let mut is_failing = false;
    for record in records {
        let missing = lost.swap(0, Ordering::Relaxed);
        let mut written = Ok(());
        if missing > 0 {
            let line = json!({ "time": record.time, "lost": missing });
            written = write_line(&PrintableText::compact_json(&line));
        }
        let line = PrintableText::compact_json(&json!(record));
        match written.and_then(|()| write_line(&line)) {
            Ok(()) => is_failing = false,
            Err(error) => {
                lost.fetch_add(missing + 1, Ordering::Relaxed);
                // The message is empty if nothing reads standard output.
                if !is_failing && !error.message.is_empty() {
                    write_message(&format!("warning: {}.", error.message));
                }
                is_failing = true;
            }
        }
    }
}

impl AccessLogThread {
    /// Waits until the last records are written. A reader that has stopped reading is not waited
    /// for.
    pub fn finish(self) {
        if self.ended.recv_timeout(END_TIMEOUT) == Err(RecvTimeoutError::Timeout) {
            write_message("warning: the last lines of the access log were not written.");
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn record(id: &str) -> AccessRecord {
        AccessRecord {
            time: "2025-04-24T07:44:46.136915Z".to_owned(),
            request_id: id.to_owned(),
            remote: [127, 0, 0, 1].into(),
            forwarded_for: Vec::new(),
            method: "GET",
            route: Some("/api/v1/datasets".to_owned()),
            status: Some(200),
            bytes: 7,
            duration_us: 1_000,
        }
    }

    #[test]
    fn a_line_has_these_fields_and_a_gap_is_counted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("access.log");
        let (sender, records) = sync_channel(1);
        let lost = Arc::new(AtomicU64::new(0));
        let log = access_log(sender, lost.clone());
        for id in ["kept", "too many", "too many"] {
            log.write(record(id));
        }
        drop(log);
        write_records(open_destination(&path).unwrap(), &records, &lost);
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let gap = json!({ "time": "2025-04-24T07:44:46.136915Z", "lost": 2 });
        let kept = json!({
            "time": "2025-04-24T07:44:46.136915Z", "request_id": "kept", "remote": "127.0.0.1",
            "forwarded_for": [], "method": "GET", "route": "/api/v1/datasets", "status": 200,
            "bytes": 7, "duration_us": 1_000,
        });
        assert_eq!(lines, [gap, kept]);
    }
}
