//! File kinds by extension, the same for client and local service; whether a picture is valid is
//! checked later, from its content.

/// Size limit of the local service for a file that is not a video, in bytes.
const MAX_FILE_SIZE: u64 = 256 << 20;
/// Size limit of the local service for a video, in bytes.
const MAX_VIDEO_SIZE: u64 = 4 << 30;

/// What a file is by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A picture, also of a format that only some services read.
    Picture,
    Video,
    /// Captions, labels or boxes in a separate file.
    Sidecar,
    Archive,
    Other,
}

impl FileKind {
    /// Returns the kind of a file by its name or path; case-insensitive.
    pub fn from_name(name: &str) -> Self {
        let (_, extension) = name.rsplit_once('.').unwrap_or_default();
        match extension.to_ascii_lowercase().as_str() {
            "png" | "jpg" | "jpeg" | "jpe" | "jfif" | "gif" | "bmp" | "webp" | "tif" | "tiff"
            | "jp2" | "jxl" | "qoi" | "pbm" | "pgm" | "ppm" | "pnm" | "pam" | "ico" | "hdr"
            | "exr" | "avif" | "heic" | "heif" | "dng" | "cr2" | "cr3" | "nef" | "nrw" | "arw"
            | "sr2" | "srw" | "orf" | "rw2" | "pef" | "raf" => Self::Picture,
            "mp4" | "mov" | "mkv" | "webm" | "avi" | "m4v" | "wmv" | "flv" => Self::Video,
            "jsonl" | "json" | "csv" | "parquet" | "txt" | "xml" | "yaml" | "yml" | "names"
            | "labels" | "cls" => Self::Sidecar,
            "zip" | "tar" | "gz" | "tgz" | "bz2" | "xz" | "zst" | "7z" | "rar" => Self::Archive,
            _ => Self::Other,
        }
    }

    /// Whether it is a picture or a video.
    pub fn is_media(self) -> bool {
        matches!(self, Self::Picture | Self::Video)
    }

    /// Size limit of the local service for a file of this kind, in bytes.
    pub fn max_size(self) -> u64 {
        if self == Self::Video { MAX_VIDEO_SIZE } else { MAX_FILE_SIZE }
    }
}
