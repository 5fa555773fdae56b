//! Unpacks an uploaded archive into a folder: plain files with safe names, within limits that
//! are checked against what is really written, never against what the archive says of itself.
//!
//! What is wrong with a member costs that member; what is wrong with the archive ends the
//! unpacking, and what was good until then stays.

mod meter;
mod tarball;
mod zipped;

use std::{
    fs::{self, File},
    io::{self, ErrorKind, Read, Write},
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
};

use super::{
    kind::Kind,
    stage::{Places, private, room},
};
use tessera_model::{SafeText, member::checked};

/// Bytes that are copied at once.
const COPY: usize = 64 << 10;

/// The formats of archives that are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArchiveKind {
    /// `.zip`
    Zip,
    /// `.tar`
    Tar,
    /// `.tar.gz`
    TarGz,
}

/// What an archive may bring. The defaults are those of the service.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Most members.
    pub members: usize,
    /// Most bytes of a file that is no video.
    pub file: u64,
    /// Most bytes of a video.
    pub video: u64,
    /// Most bytes of all files; what the disk has free counts as well.
    pub total: u64,
    /// Most bytes written for each byte packed, once `free` bytes were written.
    pub ratio: u64,
    /// Bytes from which on the ratio counts.
    pub free: u64,
    /// Most members passed over that are named; of more only the number is told.
    pub named: usize,
}

/// What came out of an archive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unpacked {
    /// Files written.
    pub files: usize,
    /// Bytes written.
    pub bytes: u64,
    /// Members passed over, with the reason.
    pub skipped: Vec<(SafeText, &'static str)>,
    /// Members passed over that are not named.
    pub unnamed: usize,
    /// Why the archive was not read to its end.
    pub damage: Option<&'static str>,
}

/// Why nothing came out of an archive.
#[derive(Debug)]
pub enum Unfinished {
    /// The flag was set.
    Stopped,
    /// The archive cannot be opened or the folder cannot be written.
    Disk(io::Error),
}

/// Why a member is not there.
enum Trouble {
    /// It is passed over, and why.
    Member(&'static str),
    /// Nothing more is taken from the archive, and why.
    Archive(&'static str),
    /// Nothing more can be done.
    End(Unfinished),
}

/// How the bytes of a member ended.
enum Flow {
    /// All of them came: so many.
    Ended(u64),
    /// There are more than wanted.
    Cut,
}

/// An unpacking under way.
struct Unpacking<'a> {
    places: Places,
    root: &'a Path,
    limits: Limits,
    stop: &'a AtomicBool,
    members: usize,
    /// Bytes of the archive taken before the member at hand.
    taken: u64,
    /// Bytes that came out, kept or not, before the member at hand.
    swollen: u64,
    outcome: Unpacked,
}

impl ArchiveKind {
    /// The format that a file name says, in any case.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let ends = |end| name.strip_suffix(end).is_some_and(|stem| !stem.is_empty());
        [(".zip", Self::Zip), (".tar", Self::Tar), (".tar.gz", Self::TarGz)]
            .into_iter()
            .find_map(|(end, kind)| ends(end).then_some(kind))
    }

    /// The end of its names.
    #[must_use]
    pub fn extension(self) -> &'static str {
        match self {
            Self::Zip => ".zip",
            Self::Tar => ".tar",
            Self::TarGz => ".tar.gz",
        }
    }

    /// Whether a file that begins with `head` (512 bytes or the whole) may be one.
    #[must_use]
    pub fn begins(self, head: &[u8]) -> bool {
        match self {
            Self::Zip => head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06"),
            Self::Tar => tarball::begins(head),
            Self::TarGz => head.starts_with(&[0x1F, 0x8B, 0x08]),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            members: 200_000,
            file: Kind::Other.largest(),
            video: Kind::Video.largest(),
            total: u64::MAX,
            ratio: 200,
            free: 64 << 20,
            named: 10_000,
        }
    }
}

/// Unpacks the file `archive` into the folder `into`, which is made anew: what an interrupted
/// attempt left in it is removed. Links, devices, hidden and encrypted members are passed over;
/// archives inside are not opened; a second member of the same name gets a number.
///
/// # Errors
/// Stopped, or the disk refuses. An archive that is no archive is an outcome with damage.
pub fn unpack(
    archive: &Path,
    kind: ArchiveKind,
    into: &Path,
    limits: Limits,
    stop: &AtomicBool,
) -> Result<Unpacked, Unfinished> {
    let file = File::open(archive).map_err(Unfinished::Disk)?;
    match fs::remove_dir_all(into) {
        Err(cause) if cause.kind() != ErrorKind::NotFound => return Err(Unfinished::Disk(cause)),
        _ => private(into).map_err(Unfinished::Disk)?,
    }
    let total = limits.total.min(room(into).map_err(Unfinished::Disk)?);
    let mut unpacking = Unpacking {
        places: Places::new(into),
        root: into,
        limits: Limits { total, ..limits },
        stop,
        members: 0,
        taken: 0,
        swollen: 0,
        outcome: Unpacked::default(),
    };
    let end = match kind {
        ArchiveKind::Zip => zipped::unpack(file, &mut unpacking),
        ArchiveKind::Tar => tarball::unpack(file, &mut unpacking),
        ArchiveKind::TarGz => tarball::unpack_gz(file, &mut unpacking),
    };
    match end {
        Ok(()) => {}
        Err(Trouble::Member(why) | Trouble::Archive(why)) => unpacking.outcome.damage = Some(why),
        Err(Trouble::End(end)) => return Err(end),
    }
    Ok(unpacking.outcome)
}

impl Unpacking<'_> {
    /// Begins the next member, after `taken` bytes of the archive.
    fn begin(&mut self, taken: u64) -> Result<(), Trouble> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Trouble::End(Unfinished::Stopped));
        }
        if self.members == self.limits.members {
            return Err(Trouble::Archive("it has too many members"));
        }
        self.members += 1;
        self.taken = taken;
        Ok(())
    }

    /// Puts down what is wrong with a member; passes on what ends the unpacking.
    fn settle(&mut self, name: &str, end: Result<(), Trouble>) -> Result<(), Trouble> {
        match end {
            Err(Trouble::Member(_)) if self.outcome.skipped.len() >= self.limits.named => {
                self.outcome.unnamed += 1;
                Ok(())
            }
            Err(Trouble::Member(why)) => {
                self.outcome.skipped.push((SafeText::new(name, 256), why));
                Ok(())
            }
            end => end,
        }
    }

    /// Writes the member `name`, which has `size` bytes. `taken` tells the bytes of the archive
    /// that were taken so far.
    fn write(
        &mut self,
        name: &str,
        size: u64,
        content: &mut impl Read,
        taken: impl Fn() -> u64,
    ) -> Result<(), Trouble> {
        let wanted = checked(name).map_err(Trouble::Member)?;
        if wanted.as_os_str().is_empty() {
            return Err(Trouble::Member("it has no name"));
        }
        let kind = Kind::of(name);
        if kind == Kind::Archive {
            return Err(Trouble::Member("an archive inside the archive is not opened"));
        }
        let largest = if kind == Kind::Video { self.limits.video } else { self.limits.file };
        let room = self.limits.total - self.outcome.bytes;
        let (path, mut file) = self.places.create(&wanted).map_err(disk)?;
        let end = match self.flow(content, &mut file, largest.min(room), taken) {
            Ok(Flow::Ended(bytes)) if bytes == size => {
                self.outcome.files += 1;
                self.outcome.bytes += bytes;
                return Ok(());
            }
            Ok(Flow::Ended(_)) => Trouble::Member("it is damaged"),
            Ok(Flow::Cut) if room < largest => Trouble::Archive("there is no room for all of it"),
            Ok(Flow::Cut) => Trouble::Member("it is too large"),
            Err(trouble) => trouble,
        };
        fs::remove_file(self.root.join(path)).map_err(disk)?;
        Err(end)
    }

    /// Copies at most `most` bytes of a member, with an eye on bombs.
    fn flow(
        &mut self,
        content: &mut impl Read,
        out: &mut impl Write,
        most: u64,
        taken: impl Fn() -> u64,
    ) -> Result<Flow, Trouble> {
        let mut block = vec![0; COPY];
        let mut bytes = 0;
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return Err(Trouble::End(Unfinished::Stopped));
            }
            let length = match content.read(&mut block) {
                Ok(0) => return Ok(Flow::Ended(bytes)),
                Ok(length) => length,
                Err(cause) if cause.kind() == ErrorKind::Interrupted => continue,
                Err(_) => return Err(Trouble::Member("it is damaged")),
            };
            bytes += length as u64;
            self.swollen += length as u64;
            let packed = taken();
            if self.is_bomb(bytes, packed - self.taken) || self.is_bomb(self.swollen, packed) {
                return Err(Trouble::Archive("it grows far beyond its size: a bomb"));
            }
            if bytes > most {
                return Ok(Flow::Cut);
            }
            out.write_all(&block[..length]).map_err(disk)?;
        }
    }

    fn is_bomb(&self, bytes: u64, packed: u64) -> bool {
        bytes > self.limits.free && bytes / self.limits.ratio > packed
    }
}

fn disk(cause: io::Error) -> Trouble {
    Trouble::End(Unfinished::Disk(cause))
}

#[cfg(test)]
mod tests;
