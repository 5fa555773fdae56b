//! Recognizes network file systems. On them, the database uses a rollback journal, because the write-ahead log of
//! `SQLite` needs shared memory, which network file systems do not offer reliably. Files are not mapped either, because
//! an unreachable server would crash the process.

use std::path::Path;

/// Returns the name of a network file system, by its number in statfs(2). File systems that may be on a network count
/// as well.
pub fn network_file_system(magic: u64) -> Option<&'static str> {
    Some(match magic {
        0x6969 => "NFS",
        0x517B | 0xFF53_4D42 | 0xFE53_4D42 => "SMB",
        0x6573_5546 => "FUSE",
        0x0102_1997 => "9P",
        0x00C3_6400 => "Ceph",
        0x0BD0_0BD0 => "Lustre",
        0x4750_4653 => "GPFS",
        0x1983_0326 => "BeeGFS",
        0x0116_1970 => "GFS2",
        0x7461_636F => "OCFS2",
        0x5346_414F | 0x6B41_4653 => "AFS",
        0x7375_7245 => "Coda",
        0x564C => "NCP",
        _ => return None,
    })
}

/// Returns the network file system that a directory is on, which is known only on Linux.
#[cfg_attr(not(target_os = "linux"), expect(unused_variables, reason = "nothing is asked there"))]
pub fn network_file_system_of(path: &Path) -> Option<&'static str> {
    #[cfg(target_os = "linux")]
    return network_file_system(u64::try_from(rustix::fs::statfs(path).ok()?.f_type).ok()?);
    #[cfg(not(target_os = "linux"))]
    None
}
