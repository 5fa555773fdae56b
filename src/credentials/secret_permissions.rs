//! Decides who else may be able to use the file of a secret. Container engines and Kubernetes mount secrets that belong
//! to root and that groups or all users of the container may read, in volumes that nobody can write.

use std::{
    fs::{self, File},
    os::unix::fs::MetadataExt as _,
    path::Path,
};

use rustix::{
    fs::{StatVfsMountFlags, fstatvfs},
    process::geteuid,
};
use tessera_files::{Guarantee, missing_guarantees, parent_dir};

/// The folder in which container engines mount secrets, behind its links.
const CONTAINER_SECRETS: &str = "/run/secrets";
const ROOT: u32 = 0;
const ANY_WRITE: u32 = 0o222;
const OTHERS_WRITE: u32 = 0o022;
const GROUP_READ: u32 = 0o040;
const OTHERS_ACCESS: u32 = 0o077;

/// What to do on a disk without permissions, such as NTFS or FAT.
pub(super) const WITHOUT_PERMISSIONS: &str = "its disk keeps no permissions, so move it to another disk, for example \
                                              by XDG_CONFIG_HOME, or give the secret in TESSERA_API_SECRET";

/// Whether the disk of a folder keeps the permissions of files.
pub(super) fn keeps_permissions(folder: &Path) -> bool {
    missing_guarantees(folder, &[Guarantee::Privacy]).is_empty()
}

/// The properties that decide whether the file of a secret may be used.
#[derive(Clone, Copy, Debug)]
pub(super) struct SecretAccess {
    mode: u32,
    owner: u32,
    /// Whether the disk of the file keeps permissions, so that the user can change them.
    keeps_permissions: bool,
    /// Whether the file was mounted for this process: nobody can write there, or a container engine put it there.
    is_mounted: bool,
}

impl SecretAccess {
    /// Inspects an open file, because its path may refer to another file by now.
    pub(super) fn of(file: &File, path: &Path) -> Result<Self, String> {
        let metadata = file.metadata().map_err(|error| error.to_string())?;
        let is_read_only =
            fstatvfs(file).is_ok_and(|disk| disk.f_flag.contains(StatVfsMountFlags::RDONLY));
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let is_mounted = is_read_only || path.starts_with(CONTAINER_SECRETS);
        let mode = metadata.mode();
        let keeps_permissions =
            is_mounted || mode & OTHERS_ACCESS == 0 || keeps_permissions(parent_dir(&path));
        Ok(Self { mode, owner: metadata.uid(), keeps_permissions, is_mounted })
    }

    /// Checks that only this user can use the file, or that it was mounted for this process.
    pub(super) fn require_private(self) -> Result<(), String> {
        if self.is_mounted {
            return self.require_no_writers();
        }
        if self.mode & OTHERS_ACCESS != 0 {
            let remedy = self.remedy("run chmod 600 on it and consider replacing the secrets");
            return Err(format!("is readable by others; {remedy}"));
        }
        Ok(())
    }

    /// Checks that the file belongs to this user, or to root in a mount.
    pub(super) fn require_own(self) -> Result<(), String> {
        let is_trusted =
            self.owner == geteuid().as_raw() || (self.is_mounted && self.owner == ROOT);
        let error = || "belongs to another user; remove it and enter the secrets again".to_owned();
        is_trusted.then_some(()).ok_or_else(error)
    }

    /// Like [`Self::require_private`], but also accepts a file that is shared with a group and that nobody may write,
    /// which is how secrets are handed to a service.
    pub(super) fn require_readers_are_meant(self) -> Result<(), String> {
        if self.is_mounted {
            return self.require_no_writers();
        }
        if self.mode & OTHERS_WRITE != 0 {
            let remedy = self.remedy("run chmod 600 on it, and replace the secret");
            return Err(format!("is writable by others; {remedy}"));
        }
        let is_shared_with_group = self.mode & (OTHERS_ACCESS | ANY_WRITE) == GROUP_READ;
        if self.mode & OTHERS_ACCESS != 0 && !is_shared_with_group {
            let remedy = self.remedy("run chmod 600 on it, or chmod 440 if its group may read it");
            return Err(format!("is readable by others; {remedy}"));
        }
        Ok(())
    }

    fn remedy(self, chmod: &str) -> &str {
        if self.keeps_permissions { chmod } else { WITHOUT_PERMISSIONS }
    }

    fn require_no_writers(self) -> Result<(), String> {
        if self.mode & OTHERS_WRITE != 0 {
            let reason = "is writable by others; mount it with mode 0440 or 0400 (defaultMode of the volume in Kubernetes)";
            return Err(reason.to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(mode: u32, is_mounted: bool) -> SecretAccess {
        SecretAccess { mode, owner: geteuid().as_raw(), keeps_permissions: true, is_mounted }
    }

    #[test]
    fn a_secret_file_that_others_can_use_is_refused() {
        for mode in [0o100_600, 0o100_400, 0o100_440] {
            assert_eq!(access(mode, false).require_readers_are_meant(), Ok(()), "{mode:o}");
        }
        for mode in [0o100_644, 0o100_640, 0o100_604, 0o100_444] {
            let reason = access(mode, false).require_readers_are_meant().unwrap_err();
            assert!(reason.contains("readable by others") && reason.contains("chmod 600"));
            assert!(access(mode, false).require_private().is_err(), "{mode:o}");
        }
        for mode in [0o100_666, 0o100_620, 0o100_602] {
            let reason = access(mode, false).require_readers_are_meant().unwrap_err();
            assert!(reason.contains("writable by others") && reason.contains("chmod"), "{reason}");
        }
        assert!(
            access(0o100_440, false).require_private().is_err(),
            "the program writes this file"
        );
    }

    #[test]
    fn a_disk_without_permissions_is_named_instead_of_chmod() {
        for mode in [0o100_777, 0o100_644] {
            let fixed = SecretAccess { keeps_permissions: false, ..access(mode, false) };
            for refused in [fixed.require_private(), fixed.require_readers_are_meant()] {
                let reason = refused.unwrap_err();
                assert!(
                    reason.contains("XDG_CONFIG_HOME") && !reason.contains("chmod"),
                    "{reason}"
                );
            }
        }
    }

    #[test]
    fn mounted_secrets_may_be_readable_but_not_writable_by_others() {
        for mode in [0o100_644, 0o100_640, 0o100_444, 0o100_440, 0o100_400] {
            let access = access(mode, true);
            assert_eq!(access.require_readers_are_meant(), Ok(()), "{mode:o}");
            assert_eq!(access.require_private(), Ok(()), "{mode:o}");
        }
        for mode in [0o100_666, 0o100_660] {
            for reason in [
                access(mode, true).require_readers_are_meant(),
                access(mode, true).require_private(),
            ] {
                let reason = reason.unwrap_err();
                assert!(reason.contains("defaultMode") && !reason.contains("chmod"), "{reason}");
            }
        }
        let of_root = |is_mounted| SecretAccess { owner: ROOT, ..access(0o100_440, is_mounted) };
        let of_other = SecretAccess { owner: u32::MAX, ..of_root(true) };
        assert!(of_root(true).require_own().is_ok() && of_other.require_own().is_err());
    }
}
