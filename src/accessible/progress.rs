//! The progress of operations: each change is announced, and a heartbeat after 30 seconds without one.

use std::time::Duration;

use crate::app::{App, Job, Uptime};

const HEARTBEAT: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(super) struct ProgressStatus {
    last_line: String,
    announced_at: Uptime,
}

impl ProgressStatus {
    pub fn new(now: Uptime) -> Self {
        Self { last_line: String::new(), announced_at: now }
    }

    /// When the next heartbeat is due.
    pub fn next_heartbeat(&self) -> Uptime {
        self.announced_at + HEARTBEAT
    }

    /// Returns the line to announce at this time, if there is one.
    pub fn next_line(&mut self, line: String, now: Uptime) -> Option<String> {
        if line != self.last_line {
            (self.last_line, self.announced_at) = (line.clone(), now);
            return Some(line);
        }
        (now >= self.next_heartbeat()).then(|| {
            self.announced_at = now;
            format!("still {line}")
        })
    }
}

/// The operations that are running: datasets that are busy, and active jobs.
pub(super) fn running(app: &App) -> Vec<String> {
    let datasets = app.store().dataset_list().iter().filter(|dataset| dataset.status.is_busy());
    let datasets = datasets.map(|it| {
        let percent = it.progress.map(u64::from).map_or_else(String::new, percent_text);
        format!("{} is {}{percent}", it.name, it.status.as_str())
    });
    datasets.chain(app.jobs().iter().filter(|job| job.is_active()).map(job_text)).collect()
}

fn job_text(job: &Job) -> String {
    let percent = job.progress().map(|(done, total)| 100 * done / total.max(1));
    let percent = percent.map_or_else(String::new, percent_text);
    format!("{} of {} {}{percent}", job.kind.label(), job.dataset_name, job.label())
}

/// In tens, because every change is announced.
fn percent_text(percent: u64) -> String {
    format!(" {} percent", percent / 10 * 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_and_heartbeat_is_announced() {
        let mut progress = ProgressStatus::new(Duration::ZERO);
        let mut lines = Vec::new();
        for at in 0..95 {
            let line = if at < 10 { "export RUNNING" } else { "export PACKING" };
            let now = Duration::from_secs(at);
            lines.extend(progress.next_line(line.to_owned(), now).map(|line| (at, line)));
        }
        let lines: Vec<(u64, &str)> = lines.iter().map(|(at, line)| (*at, line.as_str())).collect();
        let still = "still export PACKING";
        let expected = [(0, "export RUNNING"), (10, "export PACKING"), (40, still), (70, still)];
        assert_eq!(lines, expected);
    }
}
