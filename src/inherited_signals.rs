//! Finds out which signals this process ignores since its start. `nohup` ignores hang-ups, and a shell without job
//! control ignores interrupts of programs in the background. Such a signal stays ignored.

use std::fs;

/// Returns whether this process ignores a signal. This must be asked before the signal is handled. Only Linux reports
/// ignored signals to safe code, so on other systems no signal counts as ignored.
pub(crate) fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    ignored_signals(&status).is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Reads the set of ignored signals, in which bit 0 is signal 1.
fn ignored_signals(status: &str) -> Option<u64> {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(mask.trim(), 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mask_of_the_system_is_read() {
        let status = "Name:\ttessera\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000001007\n";
        assert_eq!(ignored_signals(status), Some(0x1007));
        assert_eq!(ignored_signals("Name:\ttessera\n"), None);
    }
}
