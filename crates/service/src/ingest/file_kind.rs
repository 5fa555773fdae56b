//! What a file of a dataset is by its name: the first sieve of uploads, archives and object
//! storage, before anything of it is read. Whether a picture is one, its content tells later.

/// Largest file of a dataset that is no video, in bytes.
const MAX_FILE_SIZE: u64 = 256 << 20;
/// Largest video, in bytes.
const MAX_VIDEO_SIZE: u64 = 4 << 30;

/// The kind of a file by the end of its name, in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A picture in a format that is opened.
    Picture,
    /// A video.
    Video,
    /// What people have beside their pictures: captions, labels, boxes.
    Sidecar,
    /// Files packed into one.
    Archive,
    /// Anything else.
    Other,
}

impl FileKind {
    /// The kind of the file called `name`, a name or a path.
    #[must_use]
    pub fn from_name(name: &str) -> Self {
        let (_, extension) = name.rsplit_once('.').unwrap_or_default();
        match extension.to_ascii_lowercase().as_str() {
            "png" | "jpg" | "jpeg" | "gif" | "bmp" | "webp" => Self::Picture,
            "mp4" | "mov" | "mkv" | "webm" | "avi" | "m4v" => Self::Video,
            "jsonl" | "json" | "csv" | "txt" | "xml" => Self::Sidecar,
            "zip" | "tar" | "gz" | "tgz" | "bz2" | "xz" | "zst" | "7z" | "rar" => Self::Archive,
            _ => Self::Other,
        }
    }

    /// Whether it is media of a dataset.
    #[must_use]
    pub fn is_media(self) -> bool {
        matches!(self, Self::Picture | Self::Video)
    }

    /// Most bytes that a file of this kind may have.
    #[must_use]
    pub fn max_size(self) -> u64 {
        if self == Self::Video { MAX_VIDEO_SIZE } else { MAX_FILE_SIZE }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_are_told_by_their_extension_in_any_case() {
        let kinds = [
            ("a/b.JPeG", FileKind::Picture),
            ("clip.v2.MP4", FileKind::Video),
            ("metadata.jsonl", FileKind::Sidecar),
            ("rest.tar.gz", FileKind::Archive),
            ("jpg", FileKind::Other),
            ("a.jpg/readme", FileKind::Other),
            ("", FileKind::Other),
        ];
        for (name, kind) in kinds {
            assert_eq!(FileKind::from_name(name), kind, "{name}");
        }
        assert!(FileKind::Video.max_size() > FileKind::Picture.max_size());
    }
}
