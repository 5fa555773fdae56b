//! What a file of a dataset is by its name: the first sieve of uploads, archives and object
//! storage, before anything of it is read. Whether a picture is one, its content tells later.

/// Largest file of a dataset that is no video, in bytes.
const LARGEST: u64 = 256 << 20;
/// Largest video, in bytes.
const LARGEST_VIDEO: u64 = 4 << 30;

/// The kind of a file by the end of its name, in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
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

impl Kind {
    /// The kind of the file called `name`, a name or a path.
    #[must_use]
    pub fn of(name: &str) -> Self {
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
    pub fn largest(self) -> u64 {
        if self == Self::Video { LARGEST_VIDEO } else { LARGEST }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn m27_media_are_told_by_their_extension_in_any_case() {
        let kinds = [
            ("a/b.JPeG", Kind::Picture),
            ("clip.v2.MP4", Kind::Video),
            ("metadata.jsonl", Kind::Sidecar),
            ("rest.tar.gz", Kind::Archive),
            ("jpg", Kind::Other),
            ("a.jpg/readme", Kind::Other),
            ("", Kind::Other),
        ];
        for (name, kind) in kinds {
            assert_eq!(Kind::of(name), kind, "{name}");
        }
        assert!(Kind::Video.largest() > Kind::Picture.largest());
    }
}
