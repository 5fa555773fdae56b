//! What a local deployment needs from this machine: programs for videos and some kinds of pictures, and space on the
//! disk. `tessera doctor` reports this.

use std::path::Path;

use crate::cli::exit::CheckResult;
use tessera_model::text::format_bytes;
use tessera_service::DeploymentSettings;

/// Below this free space in bytes, exports and indexes of usual size may not fit.
const LITTLE_SPACE: u64 = 2 << 30;

/// Checks what local deployments need. `data` is the folder of their indexes, which may not exist yet.
pub fn check_requirements(data: &Path) -> Vec<CheckResult> {
    let videos = match DeploymentSettings::detect().ffmpeg {
        Some(program) => {
            CheckResult::passed("videos, AVIF and HEIF", program.display().to_string())
        }
        None => CheckResult::warning(
            "videos, AVIF and HEIF",
            "skipped; install ffmpeg and ffprobe to show them",
        ),
    };
    let mut results = vec![videos];
    results.extend(check_space(data));
    results
}

/// Returns nothing if the space cannot be found out, because the folder itself is checked elsewhere.
fn check_space(data: &Path) -> Option<CheckResult> {
    let existing = data.ancestors().find(|folder| folder.exists())?;
    let disk = rustix::fs::statvfs(existing).ok()?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let message = format!("{} are free for indexes and exports", format_bytes(free));
    let result = if free < LITTLE_SPACE { CheckResult::warning } else { CheckResult::passed };
    Some(result("disk", message))
}
