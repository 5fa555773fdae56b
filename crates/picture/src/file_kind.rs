//! Decides what a file is by its content, because any name may be the name of a picture or video.

use std::{fs::File, io::Read as _, path::Path};

use tessera_model::FileKind;

use crate::{PictureFormat, VideoContainer};

/// Returns the kind of a picture or video by the first bytes of its file. [`VideoContainer::SIGNATURE_LENGTH`] of them
/// are enough.
pub fn media_kind(head: &[u8]) -> Option<FileKind> {
    let video = VideoContainer::detect(head).map(|_| FileKind::Video);
    video.or_else(|| PictureFormat::detect(head).map(|_| FileKind::Picture))
}

/// Returns the kind of a file on this machine. The content decides if the name says nothing.
pub fn file_kind(path: &Path) -> FileKind {
    let by_name = FileKind::from_name(&path.to_string_lossy());
    // Reading a pipe would never end.
    if by_name != FileKind::Other || !path.is_file() {
        return by_name;
    }
    let mut head = Vec::new();
    let limit = VideoContainer::SIGNATURE_LENGTH as u64;
    let read = File::open(path).and_then(|file| file.take(limit).read_to_end(&mut head));
    read.ok().and_then(|_| media_kind(&head)).unwrap_or(by_name)
}
