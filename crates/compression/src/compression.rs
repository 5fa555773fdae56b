//! The compression formats, by their signature, and the reader of each.

use std::io::{BufRead, Read};

use flate2::bufread::MultiGzDecoder;
use lzma_rust2::XzReader;

use crate::{fused_reader::FusedReader, limits::MAX_DICTIONARY_BYTES, zstandard::ZstandardReader};

/// What the decoder of xz counts beside the dictionary.
const XZ_OVERHEAD_KIB: u32 = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    Gzip,
    Xz,
    Zstandard,
}

impl Compression {
    /// Whether a file that starts with `head` may have this format.
    pub fn matches_signature(self, head: &[u8]) -> bool {
        match self {
            Self::Gzip => head.starts_with(&[0x1F, 0x8B, 0x08]),
            Self::Xz => head.starts_with(b"\xFD7zXZ\0"),
            // The second: a frame without content, with which parallel compressors begin.
            Self::Zstandard => {
                head.starts_with(&[0x28, 0xB5, 0x2F, 0xFD])
                    || matches!(head, [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..])
            }
        }
    }

    /// Returns what `source` contains, all of its parts in a row, with their checksums verified. An error of the kind
    /// `OutOfMemory` means that it needs a larger dictionary than [`MAX_DICTIONARY_BYTES`].
    pub fn reader<'a>(self, source: impl BufRead + 'a) -> Box<dyn Read + 'a> {
        match self {
            Self::Gzip => Box::new(MultiGzDecoder::new(source)),
            Self::Xz => {
                let dictionary = u32::try_from(MAX_DICTIONARY_BYTES >> 10).unwrap_or(u32::MAX);
                let limit = dictionary.saturating_add(XZ_OVERHEAD_KIB);
                Box::new(FusedReader::new(XzReader::new_mem_limit(source, true, limit)))
            }
            Self::Zstandard => Box::new(FusedReader::new(ZstandardReader::new(source))),
        }
    }
}
