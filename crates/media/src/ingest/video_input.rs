//! The video that a program reads: a file of this machine, or a stream from object storage.

use std::{
    fs::File,
    io::{self, Seek as _, SeekFrom},
    path::Path,
};

use super::{
    disk_quota::{ClaimedFile, DiskQuota},
    original_files::SourceFile,
    video_container::is_quicktime,
};

/// Number of boxes of an MP4 file that are examined. The index is among the first boxes, or after the pictures.
const MAX_BOXES: usize = 64;

pub enum VideoInput {
    /// The video can be read at any position.
    File(File),
    /// The video is read once, from its start.
    Stream(Box<dyn SourceFile>),
}

impl VideoInput {
    /// Prepares a video, which is streamed if it is not on this machine. If the index comes after the pictures, no
    /// decoder can read a stream, so the video is copied to an unnamed file in `folder`.
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

    pub fn length(&self) -> io::Result<u64> {
        match self {
            Self::File(file) => file.length(),
            Self::Stream(video) => video.length(),
        }
    }
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
        if number == 0 && &name != b"ftyp" && !is_quicktime(&head) {
            return Ok(false);
        }
        let size = match u32::from_be_bytes([a, b, c, d]) {
            // Size 1 means that the size is in the eight bytes after the name.
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

        fn version(&self) -> io::Result<Option<i64>> {
            Ok(None)
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
        assert!(!is_streamed(&[(b"wide", 8), (b"mdat", 400), (b"moov", 64)]));
        assert!(is_streamed(&[(b"FLV\x01", 400)]));
        assert!(is_streamed(&[(b"ftyp", 32)]), "cut off");
    }
}
