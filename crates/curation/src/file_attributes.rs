//! Reads and sets what a file has besides its bytes and time: permissions, owner and extended attributes. A copy gets
//! those of its original, and the journal keeps those that an action takes from a file.

use std::{
    fs::{self, File, FileTimes},
    io,
    os::unix::fs::MetadataExt as _,
    path::Path,
    time::{Duration, SystemTime},
};

use rustix::{
    fs::{
        Gid, Uid, XattrFlags, fchown, fgetxattr, fgetxattr_query, flistxattr, flistxattr_query,
        fsetxattr,
    },
    io::Errno,
};
use serde::{Deserialize, Serialize};
use tessera_files::set_file_mode;

/// The largest value of an extended attribute that the journal keeps, in bytes.
const MAX_RECORDED: usize = 4096;

/// The permissions, owner and extended attributes of a file. `None` means unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileAttributes {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mode: Option<u32>,
    /// The IDs of the user and the group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    owner: Option<(u32, u32)>,
    /// The extended attributes, which include access control lists, as names and values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    extended: Vec<(Vec<u8>, Vec<u8>)>,
}

impl FileAttributes {
    pub(crate) fn of(file: &File) -> io::Result<Self> {
        Ok(Self { extended: read_extended(file)?, ..Self::from(&file.metadata()?) })
    }

    /// Returns the attributes that the journal keeps of a file.
    pub(crate) fn recorded(path: &Path) -> io::Result<Self> {
        let mut attributes = Self::of(&File::open(path)?)?;
        attributes.extended.retain(|(_, value)| value.len() <= MAX_RECORDED);
        Ok(attributes)
    }

    /// Gives a file these attributes and a time, as far as its file system keeps them and this user may set them. File
    /// systems refuse each of them with many errors, and a file without them still has all bytes of the original. The
    /// permissions come last, so a file that does not get them stays private.
    pub(crate) fn give_to(&self, file: &File, modified: i64) {
        for (name, value) in &self.extended {
            let _ = fsetxattr(file, name.as_slice(), value, XattrFlags::empty());
        }
        if let Some((user, group)) = self.owner {
            // Only the superuser gives files away.
            let _ = fchown(file, Some(Uid::from_raw(user)), Some(Gid::from_raw(group)));
        }
        let _ = set_modified(file, modified);
        if let Some(mode) = self.mode {
            let _ = set_file_mode(file, mode);
        }
    }
}

impl From<&fs::Metadata> for FileAttributes {
    fn from(metadata: &fs::Metadata) -> Self {
        let owner = Some((metadata.uid(), metadata.gid()));
        Self { mode: Some(metadata.mode()), owner, extended: Vec::new() }
    }
}

fn set_modified(file: &File, nanos: i64) -> io::Result<()> {
    let age = Duration::from_nanos(nanos.unsigned_abs());
    let time = if nanos < 0 { SystemTime::UNIX_EPOCH - age } else { SystemTime::UNIX_EPOCH + age };
    file.set_times(FileTimes::new().set_modified(time))
}

fn read_extended(file: &File) -> io::Result<Vec<(Vec<u8>, Vec<u8>)>> {
    let Some(size) = if_kept(flistxattr_query(file))? else { return Ok(Vec::new()) };
    let mut names = vec![0; size];
    let size = flistxattr(file, names.as_mut_slice())?;
    let mut extended = Vec::new();
    for name in names[..size].split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let read = || {
            let mut value = vec![0; fgetxattr_query(file, name)?];
            let size = fgetxattr(file, name, value.as_mut_slice())?;
            value.truncate(size);
            Ok(value)
        };
        extended.extend(if_kept(read())?.map(|value| (name.to_owned(), value)));
    }
    Ok(extended)
}

/// Turns the error for an attribute that is gone, that may not be read, or that the file system does not keep, into
/// `None`.
fn if_kept<T>(result: Result<T, Errno>) -> io::Result<Option<T>> {
    match result {
        Err(
            Errno::NODATA
            | Errno::NOSYS
            | Errno::NOTSUP
            | Errno::PERM
            | Errno::ACCESS
            | Errno::INVAL
            | Errno::TOOBIG
            | Errno::RANGE,
        ) => Ok(None),
        other => Ok(Some(other?)),
    }
}
