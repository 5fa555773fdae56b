//! Uses the files of a service on the same machine instead of copies: the archive of an export, and the originals of
//! its pictures. What is shared is verified like what is copied.

use std::{
    cell::Cell,
    collections::HashMap,
    fs::{self, File},
    io::{self, Read as _, Write as _},
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    sync::Arc,
};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, fstat, linkat, openat, stat};
use serde_json::Value;
use tempfile::NamedTempFile;

use crate::{
    bounded_unpack::{ArchiveError, VerifiedArchive, for_each_entry, into_failure, verify},
    extract::{create_file, remove},
    inspect::{image_name, write_joined_rows},
    part_file::{ExistingFile, check_target, disk_failure},
};
use tessera_model::{Archive, Failure, MediaId};
use tessera_wire::{export::column, fields::parsed};

/// Finds the original of a media item on this machine.
pub type OriginalLookup = Arc<dyn Fn(MediaId) -> Option<PathBuf> + Send + Sync>;

/// The originals with which extracted pictures may share their space.
#[derive(Clone)]
pub struct Originals {
    pub lookup: OriginalLookup,
    /// Whether a picture may be another name of its original. A change of the picture then changes the original.
    pub hard_links: bool,
}

/// Makes a file at `target` that shares its blocks with the archive at `source`. Returns `None` if the archive has to be
/// downloaded instead, because the file system cannot share blocks. Blocks on the disk.
pub fn share_archive(
    source: &Path,
    target: &Path,
    existing: ExistingFile,
) -> Result<Option<Archive>, Failure> {
    check_target(target, existing)?;
    let refused = |error: io::Error| disk_failure(target, &error);
    let part = tessera_files::shared_temporary(target).map_err(refused)?;
    let Ok(source) = File::open(source) else { return Ok(None) };
    if tessera_files::share_blocks(part.as_file(), &source).is_err() {
        return Ok(None);
    }
    let file = part.reopen().map_err(refused)?;
    let bytes = file.metadata().map_err(refused)?.len();
    let Ok(VerifiedArchive { entries, images }) = verify(file) else { return Ok(None) };
    tessera_files::synced(part.as_file().sync_all()).map_err(refused)?;
    publish(part, target, existing).map_err(refused)?;
    tessera_files::sync_dir(tessera_files::parent_dir(target)).map_err(refused)?;
    Ok(Some(Archive { path: target.to_owned(), bytes, entries, images }))
}

fn publish(part: NamedTempFile, target: &Path, existing: ExistingFile) -> io::Result<()> {
    let path = part.path().to_owned();
    let named = match existing {
        ExistingFile::Keep => tessera_files::publish_new(part.into_temp_path(), target),
        ExistingFile::Replace => part.persist(target).map(drop).map_err(|failed| failed.error),
    };
    if named.is_err() {
        // The part must not stay. It no longer exists if it was renamed nevertheless.
        let _ = fs::remove_file(path);
    }
    named
}

/// Writes each row of an archive as a JSON object with the path of the original as `original_path`, or null. Returns
/// the number of rows. Blocks on the disk.
pub fn list_originals(
    archive: &Path,
    target: &Path,
    existing: ExistingFile,
    lookup: &OriginalLookup,
) -> Result<u64, Failure> {
    check_target(target, existing)?;
    let refused = |error: io::Error| disk_failure(target, &error);
    let mut list = tessera_files::shared_temporary(target).map_err(refused)?;
    let rows = Cell::new(0);
    let with_original = |mut row: Value, _| {
        rows.set(rows.get() + 1);
        let original = parsed(&row, column::MEDIA_ID).and_then(|id| lookup(id));
        // A path that is not text has no form that other programs would read as this path.
        row["original_path"] =
            original.and_then(|path| path.into_os_string().into_string().ok()).into();
        row
    };
    let mut out = io::BufWriter::new(list.as_file_mut());
    write_joined_rows(archive, |_| false, with_original, &mut out, target)?;
    out.flush().map_err(refused)?;
    drop(out);
    publish(list, target, existing).map_err(refused)?;
    Ok(rows.get())
}

/// Shares the pictures of one archive with their originals.
pub(super) struct PictureSharing<'a> {
    originals: &'a Originals,
    /// The media items and their sizes in the archive, by the names of their pictures there.
    media: HashMap<String, (MediaId, u64)>,
    /// Whether the file system may share blocks. Cleared at the first failure, because all pictures are on one disk.
    can_reflink: Cell<bool>,
}

impl<'a> PictureSharing<'a> {
    /// Finds the media items of the pictures, whose identifiers a local service writes as the comments of the entries.
    pub(super) fn new(archive: &Path, originals: &'a Originals) -> Result<Self, Failure> {
        let mut media = HashMap::new();
        let open = || File::open(archive).map_err(ArchiveError::from);
        let read = open().and_then(|file| {
            for_each_entry(file, |entry| {
                if let (Some(_), Ok(id)) = (image_name(&entry), entry.header.comment().parse()) {
                    let size = entry.header.size();
                    media.insert(entry.name, (id, size));
                }
                Ok(())
            })
        });
        read.map_err(|error| into_failure(archive, error))?;
        Ok(Self { originals, media, can_reflink: Cell::new(true) })
    }

    /// Returns the size of the pictures that can become other names of their originals in `folder`, because these are on
    /// the same disk.
    pub(super) fn linkable_bytes(&self, folder: &OwnedFd) -> u64 {
        if !self.originals.hard_links {
            return 0;
        }
        let Ok(disk) = fstat(folder).map(|it| it.st_dev) else { return 0 };
        let is_linkable = |id| {
            let original = (self.originals.lookup)(id);
            original.and_then(|path| stat(&path).ok()).is_some_and(|it| it.st_dev == disk)
        };
        let linkable = self.media.values().filter(|(id, _)| is_linkable(*id));
        linkable.map(|(_, size)| *size).fold(0, u64::saturating_add)
    }

    /// Creates the file `path` (in the open folder `directory`) from the original, if the original has this size and
    /// checksum. Returns whether it was created; otherwise, no such file exists.
    pub(super) fn share(
        &self,
        entry: &str,
        (size, checksum): (u64, u32),
        directory: &OwnedFd,
        path: &Path,
    ) -> bool {
        let original = self.media.get(entry).and_then(|(id, _)| (self.originals.lookup)(*id));
        let Some(original) = original else { return false };
        let shared = self.reflink(&original, directory, path)
            || (self.originals.hard_links && hard_link(&original, directory, path));
        if !shared || has_content(directory, path, size, checksum) {
            return shared;
        }
        // If the file cannot be removed, copying the entry reports that the path is in use.
        let _ = remove(directory, path);
        false
    }

    fn reflink(&self, original: &Path, directory: &OwnedFd, path: &Path) -> bool {
        if !self.can_reflink.get() {
            return false;
        }
        let Ok(original) = File::open(original) else { return false };
        let Ok(new) = create_file(directory, path) else { return false };
        let shared = tessera_files::share_blocks(&new, &original).is_ok();
        self.can_reflink.set(shared);
        if !shared {
            // If the file cannot be removed, copying the entry reports that the path is in use.
            let _ = remove(directory, path);
        }
        shared
    }
}

fn hard_link(original: &Path, directory: &OwnedFd, path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    linkat(CWD, original, directory, name, AtFlags::empty()).is_ok()
}

fn has_content(directory: &OwnedFd, path: &Path, size: u64, checksum: u32) -> bool {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let name = path.file_name().unwrap_or_default();
    let file = openat(directory, name, flags, Mode::empty()).map(File::from);
    let read = |mut file: File| -> io::Result<bool> {
        if file.metadata()?.len() != size {
            return Ok(false);
        }
        let (mut block, mut hasher) = (vec![0; 1 << 16], crc32fast::Hasher::new());
        loop {
            match file.read(&mut block)? {
                0 => return Ok(hasher.finalize() == checksum),
                length => hasher.update(&block[..length]),
            }
        }
    };
    file.is_ok_and(|file| read(file).unwrap_or(false))
}
