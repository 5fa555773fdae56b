//! The kind of a file by its extension, the files that are never media, and the files that a dataset skips. The client
//! and the service share these rules. Whether a picture is valid is checked later, from its content.

use crate::SafeText;

/// Size limit of a file that is not a video, in bytes.
pub const MAX_PICTURE_BYTES: usize = 256 << 20;
/// Size limit of the local service for a video, in bytes.
const MAX_VIDEO_SIZE: u64 = 4 << 30;

/// What a file is, judged by its name. A picture or video may have any other name as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A picture, possibly in a format that only some services read.
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
            "png" | "apng" | "jpg" | "jpeg" | "jpe" | "jfif" | "mpo" | "gif" | "bmp" | "webp"
            | "tif" | "tiff" | "jp2" | "jxl" | "qoi" | "pbm" | "pgm" | "ppm" | "pnm" | "pam"
            | "ico" | "hdr" | "exr" | "avif" | "heic" | "heif" | "hif" | "dng" | "cr2" | "cr3"
            | "nef" | "nrw" | "arw" | "sr2" | "srw" | "orf" | "rw2" | "pef" | "raf" => {
                Self::Picture
            }
            // TS, MOD and TOD are not here, because most of such files are programs or music.
            "mp4" | "mov" | "mkv" | "webm" | "avi" | "m4v" | "wmv" | "flv" | "3gp" | "3g2"
            | "mpg" | "mpeg" | "vob" | "mts" | "m2ts" | "m2t" | "ogv" | "mxf" | "dv" => Self::Video,
            "jsonl" | "json" | "csv" | "tsv" | "parquet" | "txt" | "xml" | "xmp" | "yaml"
            | "yml" | "names" | "labels" | "cls" => Self::Sidecar,
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
        if self == Self::Video { MAX_VIDEO_SIZE } else { MAX_PICTURE_BYTES as u64 }
    }
}

/// A file that is not a media item of its dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedFile {
    /// The path relative to the folder, which is printable.
    pub file: SafeText,
    /// The reason, which is printable.
    pub reason: SafeText,
    pub kind: FileKind,
    /// Whether a pattern excludes the file, or the folder with everything in it.
    pub is_excluded: bool,
}

impl SkippedFile {
    /// Whether the file has the name of a picture or a video, so that a user would expect it in the dataset.
    pub fn is_media(&self) -> bool {
        self.kind.is_media() && !self.is_excluded && !self.is_unlisted()
    }

    /// Whether it is a folder whose files cannot be listed.
    pub fn is_unlisted(&self) -> bool {
        self.reason.as_str() == UNLISTED
    }

    /// Whether the user has neither hidden nor excluded the file.
    pub fn is_unexpected(&self) -> bool {
        !self.is_excluded && self.reason.as_str() != HIDDEN
    }

    /// Whether annotations of the file may be missing in the dataset.
    pub fn is_sidecar(&self) -> bool {
        self.kind == FileKind::Sidecar && self.is_unexpected() && !self.is_unlisted()
    }
}

/// The reason for skipping a hidden file.
pub const HIDDEN: &str = "hidden";
/// The reason for skipping a folder whose files cannot be listed now.
pub const UNLISTED: &str = "the folder cannot be listed; what was known of its files is kept";
/// Files and folders that systems, network drives and photo libraries keep for themselves, in lower case. Some contain
/// thumbnails or deleted pictures.
const SYSTEM_ENTRIES: [&str; 25] = [
    "$recycle.bin",
    "#recycle",
    "#snapshot",
    "@__thumb",
    "@appstore",
    "@eadir",
    "@recently-snapshot",
    "@recycle",
    "@sharebin",
    "@synoeastream",
    "@synoresource",
    "@tmp",
    "@transcode",
    "__macosx",
    "desktop.ini",
    "ehthumbs.db",
    "ipod photo cache",
    "lost+found",
    "network trash folder",
    "recycler",
    "system volume information",
    "temporary items",
    "thumbs.db",
    "trashbox",
    "~snapshot",
];
/// The end of the names of folders in which Lightroom keeps previews.
const PREVIEW_FOLDER: &str = ".lrdata";

/// Whether a file or folder of this name belongs to a system or program, and is never media.
pub fn is_system_entry(name: &str) -> bool {
    let name = name.to_lowercase();
    SYSTEM_ENTRIES.contains(&name.as_str()) || name.ends_with(PREVIEW_FOLDER)
}
