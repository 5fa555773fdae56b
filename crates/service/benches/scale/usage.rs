//! Measures what this process and its files use.

use std::{
    fs,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
};

/// The number of ticks per second in the times in `/proc`.
const TICKS: f64 = 100.0;

static WHOLE_MACHINE: AtomicBool = AtomicBool::new(false);

/// Makes [`cpu_seconds`] return the time of all processes from now on, because a server does a part of the work.
pub fn count_whole_machine() {
    WHOLE_MACHINE.store(true, Ordering::Relaxed);
}

/// Returns the processor time of this process or of the whole machine, in user mode and in the kernel.
pub fn cpu_seconds() -> f64 {
    if WHOLE_MACHINE.load(Ordering::Relaxed) {
        let times = fs::read_to_string("/proc/stat").unwrap();
        let fields = times.lines().next().unwrap().split_whitespace().skip(1);
        // The first three fields are user mode, user mode with low priority, and the kernel.
        let ticks = fields.take(3).map(|ticks| ticks.parse::<f64>().unwrap());
        return ticks.sum::<f64>() / TICKS;
    }
    let status = fs::read_to_string("/proc/self/stat").unwrap();
    let (_, fields) = status.rsplit_once(')').unwrap();
    let ticks =
        fields.split_whitespace().skip(11).take(2).map(|field| field.parse::<f64>().unwrap());
    ticks.sum::<f64>() / TICKS
}

/// Returns a kind of memory in MiB.
pub fn memory(which: &str) -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(which)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1024.0
}

/// Restarts the measurement of the highest memory.
pub fn reset_highest_memory() {
    fs::write("/proc/self/clear_refs", "5").unwrap();
}

pub fn disk_bytes(folder: &Path) -> u64 {
    let files = walkdir::WalkDir::new(folder).into_iter().map(Result::unwrap);
    files.map(|file| file.metadata().unwrap().len()).sum()
}

pub fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / 1024.0 / 1024.0
}

/// Returns the value below which this share of the times is. Sorts the times.
pub fn percentile(times: &mut [f64], part: f64) -> f64 {
    times.sort_unstable_by(f64::total_cmp);
    times[((times.len() - 1) as f64 * part) as usize]
}
