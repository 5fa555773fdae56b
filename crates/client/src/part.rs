//! The part file of a download: it grows beside the target and takes its name only when it has
//! been verified and is safe on the disk.
//!
//! Its name holds the identifier of the export, so that what is left of one export is never
//! continued with bytes of another.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io,
    os::{
        fd::AsFd,
        unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    },
    path::{Path, PathBuf},
};

use tempfile::TempPath;
use tokio::io::{AsyncSeekExt as _, AsyncWriteExt as _, BufWriter, SeekFrom};

use tessera_model::{ExportTaskId, Failure, FailureKind};

/// Bytes of the disk that a download leaves free.
const SPARE: u64 = 64 << 20;

/// Bytes that are written at once; so many at most are fetched again after a kill.
const BUFFER: usize = 256 << 10;
const FREE: &str = "Free some space and download again: it goes on where it stopped";

/// What happens to a file that has the name of the download already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// It stays, and nothing is fetched.
    Kept,
    /// The download takes its place, once it is verified. Only a plain file is replaced.
    Replaced,
}

/// A part file, open and locked.
pub(super) struct Part {
    target: PathBuf,
    existing: Existing,
    path: PathBuf,
    file: BufWriter<tokio::fs::File>,
    have: u64,
}

impl Part {
    /// Opens the part file of `target`, or creates it.
    ///
    /// # Errors
    /// As [`check_target`]; and when another program downloads to it, or the folder cannot be
    /// written.
    pub(super) async fn open(
        target: &Path,
        existing: Existing,
        task: ExportTaskId,
    ) -> Result<Self, Failure> {
        check_target(target, existing)?;
        let Some(name) = target.file_name() else {
            return Err(local(target, "this is not the name of a file"));
        };
        let mut part = name.to_owned();
        part.push(format!(".{}.part", task.short()));
        let path = target.with_file_name(part);
        let file = open_locked(&path)?;
        let have = file.metadata().map_err(|error| disk(&path, &error))?.len();
        // It may have been finished by another program while this one waited for the file.
        check_target(target, existing)?;
        let mut file = BufWriter::with_capacity(BUFFER, tokio::fs::File::from_std(file));
        let end = file.seek(SeekFrom::End(0)).await;
        end.map_err(|error| disk(&path, &error))?;
        Ok(Self { target: target.to_owned(), existing, path, file, have })
    }

    /// Bytes it holds.
    pub(super) fn have(&self) -> u64 {
        self.have
    }

    /// Whether the disk has room for so many more bytes, and something over (D15).
    ///
    /// # Errors
    /// [`FailureKind::Local`] with both numbers; what is there stays.
    pub(super) fn check_room(&self, missing: u64) -> Result<(), Failure> {
        check_room(self.file.get_ref(), &self.path, missing)
    }

    /// Adds a piece at the end.
    pub(super) async fn append(&mut self, piece: &[u8]) -> Result<(), Failure> {
        let written = self.file.write_all(piece).await;
        written.map_err(|error| disk(&self.path, &error))?;
        self.have += piece.len() as u64;
        Ok(())
    }

    /// Throws away what it holds.
    pub(super) async fn restart(&mut self) -> Result<(), Failure> {
        let emptied = async {
            self.file.flush().await?;
            self.file.get_ref().set_len(0).await?;
            self.file.rewind().await
        };
        emptied.await.map_err(|error| disk(&self.path, &error))?;
        self.have = 0;
        Ok(())
    }

    /// Everything on the disk, and a second door to the file for the verification.
    pub(super) async fn settle(&mut self) -> Result<File, Failure> {
        let settled = async {
            self.file.flush().await?;
            self.file.get_ref().sync_all().await?;
            self.file.get_ref().try_clone().await
        };
        let file = settled.await.map_err(|error| disk(&self.path, &error))?;
        Ok(file.into_std().await)
    }

    /// Gives the file its final name, without replacing another one that is to be kept.
    pub(super) fn publish(self) -> Result<(PathBuf, u64), Failure> {
        check_target(&self.target, self.existing)?;
        let renamed = TempPath::try_from_path(&self.path).and_then(|part| {
            let named = match self.existing {
                Existing::Kept => part.persist_noclobber(&self.target),
                Existing::Replaced => part.persist(&self.target),
            };
            named.map_err(|failed| {
                // A temporary path removes its file when dropped; this one must stay.
                let kept = failed.path.keep();
                kept.err().map_or(failed.error, |failed| failed.error)
            })
        });
        renamed.map_err(|error| disk(&self.target, &error))?;
        let folder = match self.target.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let settled = File::open(folder).and_then(|folder| folder.sync_all());
        settled.map_err(|error| disk(folder, &error))?;
        Ok((self.target, self.have))
    }

    /// Removes the file: nothing in it is worth going on with.
    pub(super) fn discard(self) -> Result<(), Failure> {
        fs::remove_file(&self.path).map_err(|error| disk(&self.path, &error))
    }
}

/// Looks whether a download may get this name.
///
/// # Errors
/// [`FailureKind::Local`] when it exists and is to be kept, or is no plain file.
pub fn check_target(target: &Path, existing: Existing) -> Result<(), Failure> {
    match fs::symlink_metadata(target) {
        Ok(found) if existing == Existing::Replaced && found.is_file() => Ok(()),
        Ok(_) if existing == Existing::Replaced => {
            Err(local(target, "is no plain file and is not replaced").remedy("Choose another name"))
        }
        Ok(_) => Err(local(target, "already exists and is not overwritten")
            .remedy("Choose another name, or move the old file away")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(disk(target, &error)),
    }
}

/// Whether the disk that `open` lies on has room for so many more bytes, and something over (D15).
///
/// # Errors
/// [`FailureKind::Local`] with both numbers.
pub(super) fn check_room(open: impl AsFd, path: &Path, missing: u64) -> Result<(), Failure> {
    let space = rustix::fs::fstatvfs(open).map_err(|error| disk(path, &error.into()))?;
    let free = space.f_bavail.saturating_mul(space.f_frsize);
    if missing == 0 || free >= missing.saturating_add(missing / 20).saturating_add(SPARE) {
        return Ok(());
    }
    let mib = |bytes: u64| bytes.div_ceil(1 << 20);
    let reason = format!("{} MiB are still to come, and {} MiB are free", mib(missing), mib(free));
    Err(local(path, &reason).remedy(FREE))
}

fn open_locked(path: &Path) -> Result<File, Failure> {
    let strange = fs::symlink_metadata(path).is_ok_and(|metadata| !metadata.is_file());
    if strange {
        return Err(local(path, "is in the way and is no file").remedy("Move it away"));
    }
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    let file = options.open(path).map_err(|error| disk(path, &error))?;
    let taken = || local(path, "another program downloads this archive").remedy("Let it finish");
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(taken()),
        Err(TryLockError::Error(error)) => return Err(disk(path, &error)),
    }
    // Between opening and locking, the other program may have renamed this very file.
    let same = fs::symlink_metadata(path)
        .and_then(|named| Ok(named.ino() == file.metadata()?.ino()))
        .is_ok_and(|same| same);
    if same { Ok(file) } else { Err(taken()) }
}

pub(super) fn local(path: &Path, reason: &str) -> Failure {
    Failure::new(FailureKind::Local, format!("{}: {reason}", path.display()))
}

pub(super) fn disk(path: &Path, error: &io::Error) -> Failure {
    let failure = local(path, &error.to_string());
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            failure.remedy(FREE)
        }
        io::ErrorKind::NotFound => failure.remedy("Make the folder first, or choose another"),
        io::ErrorKind::PermissionDenied => failure.remedy("Choose a folder you may write to"),
        io::ErrorKind::AlreadyExists => failure.remedy("Choose another name"),
        _ => failure,
    }
}
