//! Failures of local files, and the free space of their disk.

use std::{io, os::fd::AsFd, path::Path};

use tessera_model::Failure;

/// Disk space that a download leaves free.
const MIN_FREE_BYTES: u64 = 64 << 20;
const FREE_SPACE_REMEDY: &str = "Free some space and download again; the download resumes";

pub(super) fn local_failure(path: &Path, reason: &str) -> Failure {
    Failure::local(format!("{}: {reason}", path.display()))
}

pub(super) fn disk_failure(path: &Path, error: &io::Error) -> Failure {
    let failure = local_failure(path, &error.to_string());
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            failure.with_remedy(FREE_SPACE_REMEDY)
        }
        io::ErrorKind::NotFound => {
            failure.with_remedy("Create the folder first, or choose another one")
        }
        io::ErrorKind::PermissionDenied => failure.with_remedy("Choose a folder you may write to"),
        io::ErrorKind::AlreadyExists => failure.with_remedy("Choose another name"),
        _ => failure,
    }
}

/// Checks that the disk of `open` has room for `missing` more bytes plus a reserve.
pub(super) fn check_room(open: impl AsFd, path: &Path, missing: u64) -> Result<(), Failure> {
    let space = rustix::fs::fstatvfs(open).map_err(|error| disk_failure(path, &error.into()))?;
    let free = space.f_bavail.saturating_mul(space.f_frsize);
    if missing == 0 || free >= missing.saturating_add(missing / 20).saturating_add(MIN_FREE_BYTES) {
        return Ok(());
    }
    let mib = |bytes: u64| bytes.div_ceil(1 << 20);
    let reason = format!("needs {} MiB more, but only {} MiB are free", mib(missing), mib(free));
    Err(local_failure(path, &reason).with_remedy(FREE_SPACE_REMEDY))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tessera_model::SafeText;

    #[test]
    fn each_error_of_a_disk_says_what_to_do() {
        let path = Path::new("x.zip");
        for (kind, remedy) in [
            (io::ErrorKind::StorageFull, FREE_SPACE_REMEDY),
            (io::ErrorKind::QuotaExceeded, FREE_SPACE_REMEDY),
            (io::ErrorKind::FileTooLarge, FREE_SPACE_REMEDY),
            (io::ErrorKind::NotFound, "Create the folder first, or choose another one"),
            (io::ErrorKind::PermissionDenied, "Choose a folder you may write to"),
            (io::ErrorKind::AlreadyExists, "Choose another name"),
        ] {
            let failure = disk_failure(path, &kind.into());
            assert_eq!(failure.remedy.as_ref().map(SafeText::as_str), Some(remedy), "{kind}");
            assert!(failure.message.as_str().starts_with("x.zip: "), "{failure}");
        }
        assert!(disk_failure(path, &io::ErrorKind::Interrupted.into()).remedy.is_none());
    }
}
