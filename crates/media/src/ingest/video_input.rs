//! How `ffmpeg` reads a video: as an open file, or as a stream of one that is not on this machine.

use std::{
    fs::File,
    io::{self, ErrorKind, Seek as _, SeekFrom},
    path::Path,
    process::ChildStdin,
    thread::{self, JoinHandle},
};

use super::{
    disk_quota::{ClaimedFile, DiskQuota},
    original_files::SourceFile,
};

/// Boxes of an MP4 file that are examined: an index is among the first, or behind the pictures.
const MAX_BOXES: usize = 64;

pub enum VideoInput {
    /// It can be read at any position.
    File(File),
    /// It is read once, from its start.
    Stream(Box<dyn SourceFile>),
}

impl VideoInput {
    /// Streams a video that is not on this machine. If its index is behind its pictures, no decoder can
    /// read it like that: it becomes an unnamed file in `folder`.
    pub fn new(
        mut video: Box<dyn SourceFile>,
        folder: &Path,
        disk: &DiskQuota,
    ) -> io::Result<Self> {
        if let Some(file) = video.on_this_machine() {
            video.rewind()?;
            return Ok(Self::File(file?));
        }
        let has_index_behind = has_index_behind_pictures(&mut *video)?;
        video.rewind()?;
        if !has_index_behind {
            return Ok(Self::Stream(video));
        }
        let mut copy = ClaimedFile::new(tempfile::tempfile_in(folder)?, disk.claim_in(folder));
        io::copy(&mut video, &mut copy)?;
        copy.file.rewind()?;
        Ok(Self::File(copy.file))
    }

    pub(super) fn length(&self) -> io::Result<u64> {
        match self {
            Self::File(file) => file.length(),
            Self::Stream(video) => video.length(),
        }
    }
}

/// Sends a video to its decoder in a thread, which ends with the decoder.
pub(super) fn send_in_thread(
    mut video: Box<dyn SourceFile>,
    mut input: ChildStdin,
) -> JoinHandle<io::Result<()>> {
    thread::spawn(move || match io::copy(&mut video, &mut input) {
        // The decoder has seen enough.
        Err(cause) if cause.kind() == ErrorKind::BrokenPipe => Ok(()),
        end => end.map(drop),
    })
}

/// Whether this is an MP4 file whose pictures (`mdat`) come before its index (`moov`).
fn has_index_behind_pictures(video: &mut dyn SourceFile) -> io::Result<bool> {
    let (length, mut position) = (video.length()?, 0_u64);
    for number in 0..MAX_BOXES {
        let mut head = [0; 16];
        if position.saturating_add(head.len() as u64) > length {
            return Ok(false);
        }
        video.seek(SeekFrom::Start(position))?;
        video.read_exact(&mut head)?;
        let [a, b, c, d, name @ .., _, _, _, _, _, _, _, _] = head;
        if number == 0 && &name != b"ftyp" {
            return Ok(false);
        }
        let size = match u32::from_be_bytes([a, b, c, d]) {
            // The size is the number after the name.
            1 => head.last_chunk().map_or(0, |size| u64::from_be_bytes(*size)),
            size => u64::from(size),
        };
        match &name {
            b"moov" => return Ok(false),
            b"mdat" => return Ok(true),
            _ if size < 8 => return Ok(false),
            _ => position = position.saturating_add(size),
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[derive(Debug)]
    struct Remote(io::Cursor<Vec<u8>>);

    impl io::Read for Remote {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.0.read(buffer)
        }
    }

    impl io::Seek for Remote {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.0.seek(to)
        }
    }

    impl SourceFile for Remote {
        fn length(&self) -> io::Result<u64> {
            Ok(self.0.get_ref().len() as u64)
        }
    }

    fn is_streamed(boxes: &[(&[u8; 4], u32)]) -> bool {
        let mut bytes = Vec::new();
        for (name, size) in boxes {
            bytes.extend(size.to_be_bytes());
            bytes.extend(*name);
            bytes.resize(bytes.len() + *size as usize - 8, b'-');
        }
        let folder = tempfile::tempdir().unwrap();
        let disk = DiskQuota::with_reserve(0);
        let video = Box::new(Remote(io::Cursor::new(bytes.clone())));
        let mut read = Vec::new();
        let streamed = match VideoInput::new(video, folder.path(), &disk).unwrap() {
            VideoInput::Stream(mut video) => {
                video.read_to_end(&mut read).unwrap();
                true
            }
            VideoInput::File(mut file) => {
                file.read_to_end(&mut read).unwrap();
                false
            }
        };
        assert_eq!(read, bytes, "from its start");
        streamed
    }

    #[test]
    fn only_a_video_whose_index_is_behind_its_pictures_becomes_a_file() {
        assert!(is_streamed(&[(b"ftyp", 32), (b"moov", 64), (b"mdat", 400)]));
        assert!(!is_streamed(&[(b"ftyp", 32), (b"free", 24), (b"mdat", 400), (b"moov", 64)]));
        assert!(is_streamed(&[(b"FLV\x01", 400)]));
        assert!(is_streamed(&[(b"ftyp", 32)]), "cut off");
    }
}
