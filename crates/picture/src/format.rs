//! Recognizes the formats of pictures by their content. This is the only table of formats; the client and the service
//! share it.

use crate::{camera_raw::RawFormat, heif::find_ffmpeg};

/// The brands of HEIC, of pictures in any codec (`mif1`, `mif2`, `miaf`, `1pic`), and of sequences of pictures.
const HEIF_BRANDS: [&[u8; 4]; 11] = [
    b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"mif2", b"miaf", b"1pic",
    b"msf1",
];
/// Longer lists of brands are not read.
const MAX_BRANDS_LENGTH: usize = 256;

/// The format of a picture file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureFormat {
    Jpeg,
    Png,
    WebP,
    Gif,
    Bmp,
    Tiff,
    JpegXl,
    Qoi,
    /// Portable bitmap, graymap, pixmap or arbitrary map.
    Pnm,
    Ico,
    /// Radiance.
    Hdr,
    OpenExr,
    /// A raw file of a camera, which is shown by its embedded preview.
    Raw(RawFormat),
    Avif,
    Heif,
}

impl PictureFormat {
    /// The number of bytes from the start of a file that [`PictureFormat::detect`] needs. Raw files that start like a
    /// TIFF, and AVIF and HEIC with another main brand, need more.
    pub const SIGNATURE_LENGTH: usize = 12;

    /// The names of the formats that [`crate::decode`] reads, for use in messages.
    pub const DECODABLE: &str = "JPEG, PNG, WebP, GIF, BMP, TIFF, JPEG XL, QOI, PNM, ICO, HDR, OpenEXR or camera RAW \
                                 (DNG, CR2, CR3, NEF, ARW, ORF, RW2, PEF, RAF)";

    /// Detects the format of a file. The first bytes are enough, except that DNG, NEF, ARW and PEF are then taken for
    /// TIFF.
    pub fn detect(bytes: &[u8]) -> Option<Self> {
        Some(match bytes {
            [0xFF, 0xD8, 0xFF, ..] => Self::Jpeg,
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1A, b'\n', ..] => Self::Png,
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Self::WebP,
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Self::Gif,
            [b'B', b'M', ..] => Self::Bmp,
            [b'I', b'I', 0x2A, 0, _, _, _, _, b'C', b'R', 2, 0, ..] => Self::Raw(RawFormat::Cr2),
            // The second number of each pair marks a BigTIFF.
            [b'I', b'I', 0x2A | 0x2B, 0, ..] | [b'M', b'M', 0, 0x2A | 0x2B, ..] => {
                RawFormat::detect_in_tiff(bytes).map_or(Self::Tiff, Self::Raw)
            }
            [b'I', b'I', b'R', b'O' | b'S', ..] | [b'M', b'M', b'O', b'R', ..] => {
                Self::Raw(RawFormat::Orf)
            }
            [b'I', b'I', b'U', 0, ..] => Self::Raw(RawFormat::Rw2),
            [b'F', b'U', b'J', b'I', b'F', b'I', b'L', b'M', b'C', b'C', b'D', b'-', ..] => {
                Self::Raw(RawFormat::Raf)
            }
            // A bare codestream, or a codestream in a container.
            [0xFF, 0x0A, ..]
            | [0, 0, 0, 0x0C, b'J', b'X', b'L', b' ', b'\r', b'\n', 0x87, b'\n', ..] => {
                Self::JpegXl
            }
            [b'q', b'o', b'i', b'f', ..] => Self::Qoi,
            [b'P', b'1'..=b'7', b' ' | b'\t' | b'\r' | b'\n', ..] => Self::Pnm,
            [0, 0, 1, 0, ..] => Self::Ico,
            [b'#', b'?', b'R', b'A' | b'G', ..] => Self::Hdr,
            [0x76, 0x2F, 0x31, 1, ..] => Self::OpenExr,
            [_, _, _, _, b'f', b't', b'y', b'p', ..] => return Self::by_brands(bytes),
            _ => return None,
        })
    }

    /// Detects a format that uses the container of MP4. The first brand is the main one, and the brands after its
    /// version are those of readers that can read the file.
    fn by_brands(bytes: &[u8]) -> Option<Self> {
        let length = u32::from_be_bytes(*bytes.first_chunk()?);
        let length = usize::try_from(length).ok()?.clamp(16, MAX_BRANDS_LENGTH).min(bytes.len());
        let mut brands = bytes.get(8..length)?.as_chunks::<4>().0.iter();
        let main = brands.next()?;
        let all = || [main].into_iter().chain(brands.clone().skip(1));
        match main {
            b"crx " => Some(Self::Raw(RawFormat::Cr3)),
            // The version of a file with a short header is the brand of its codec.
            b"mif3" => Some(if brands.next() == Some(b"avif") { Self::Avif } else { Self::Heif }),
            _ if all().any(|brand| matches!(brand, b"avif" | b"avis")) => Some(Self::Avif),
            _ if all().any(|brand| HEIF_BRANDS.contains(&brand)) => Some(Self::Heif),
            _ => None,
        }
    }

    pub fn name(self) -> &'static str {
        self.names().0
    }

    /// Returns the usual extension of a file name, without a dot.
    pub fn extension(self) -> &'static str {
        self.names().1
    }

    /// Returns the media type. Registered types are those of IANA.
    pub fn media_type(self) -> &'static str {
        self.names().2
    }

    /// Returns the name, the extension and the media type.
    fn names(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Jpeg => ("JPEG", "jpg", "image/jpeg"),
            Self::Png => ("PNG", "png", "image/png"),
            Self::WebP => ("WebP", "webp", "image/webp"),
            Self::Gif => ("GIF", "gif", "image/gif"),
            Self::Bmp => ("BMP", "bmp", "image/bmp"),
            Self::Tiff => ("TIFF", "tiff", "image/tiff"),
            Self::JpegXl => ("JPEG XL", "jxl", "image/jxl"),
            Self::Qoi => ("QOI", "qoi", "image/qoi"),
            Self::Pnm => ("PNM", "pnm", "image/x-portable-anymap"),
            Self::Ico => ("ICO", "ico", "image/vnd.microsoft.icon"),
            Self::Hdr => ("HDR", "hdr", "image/vnd.radiance"),
            Self::OpenExr => ("OpenEXR", "exr", "image/x-exr"),
            Self::Raw(format) => format.names(),
            Self::Avif => ("AVIF", "avif", "image/avif"),
            Self::Heif => ("HEIC", "heic", "image/heic"),
        }
    }

    /// Whether [`crate::decode`] reads this format. AVIF and HEIC need `ffmpeg`.
    pub fn is_decodable(self) -> bool {
        self.missing_program_reason().is_none() || find_ffmpeg().is_some()
    }

    /// Explains why the format cannot be decoded, if it needs an optional program that is not installed.
    pub fn undecodable_reason(self) -> Option<String> {
        (!self.is_decodable()).then(|| self.missing_program_reason()).flatten()
    }

    /// Returns the same sentence as `undecodable_reason`, even if the program is installed. Returns `None` for formats
    /// that need no program.
    pub fn missing_program_reason(self) -> Option<String> {
        let reason = || {
            let name = self.name();
            format!(
                "{name} is decoded by ffmpeg, which was not found: install it, or convert the file"
            )
        };
        matches!(self, Self::Avif | Self::Heif).then(reason)
    }

    /// Whether every service and browser reads this format.
    pub fn is_common(self) -> bool {
        matches!(self, Self::Jpeg | Self::Png | Self::WebP | Self::Gif | Self::Bmp)
    }
}
