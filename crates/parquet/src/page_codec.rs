//! Unpacks pages that are compressed with gzip, Brotli, LZ4 or Zstandard, up to a limit.

use std::io::Read;

use brotli_decompressor::Decompressor;
use parquet::basic::Compression;
use tessera_compression::Compression as Stream;

use crate::source::too_large;

const BROTLI_BUFFER_BYTES: usize = 4 << 10;
/// The maximum ratio by which an LZ4 block can expand.
const MAX_LZ4_RATIO: usize = 255;
/// The two sizes that precede each block in the Hadoop format.
const HADOOP_SIZES_BYTES: usize = 8;

pub(crate) const DAMAGED: &str = "a damaged page";

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum PageCodec {
    Gzip,
    Brotli,
    /// LZ4 blocks preceded by their sizes, as Hadoop writes them, or a single block, as some other old writers do.
    Lz4Hadoop,
    Lz4Block,
    Zstandard,
}

impl PageCodec {
    /// Returns the codec of a column, or `None` if the library unpacks its pages. The error names a codec that is not
    /// supported.
    pub(crate) fn of(compression: Compression) -> Result<Option<Self>, String> {
        match compression {
            Compression::UNCOMPRESSED | Compression::SNAPPY => Ok(None),
            Compression::GZIP(_) => Ok(Some(Self::Gzip)),
            Compression::BROTLI(_) => Ok(Some(Self::Brotli)),
            Compression::LZ4 => Ok(Some(Self::Lz4Hadoop)),
            Compression::LZ4_RAW => Ok(Some(Self::Lz4Block)),
            Compression::ZSTD(_) => Ok(Some(Self::Zstandard)),
            Compression::LZO => {
                Err("it is compressed with LZO; write it again with snappy or zstd".to_owned())
            }
        }
    }

    pub(crate) fn unpack(self, packed: &[u8], max_bytes: u64) -> Result<Vec<u8>, String> {
        match self {
            _ if packed.is_empty() => Ok(Vec::new()),
            Self::Gzip => read_limited(Stream::Gzip.reader(packed), max_bytes),
            Self::Brotli => read_limited(Decompressor::new(packed, BROTLI_BUFFER_BYTES), max_bytes),
            Self::Zstandard => read_limited(Stream::Zstandard.reader(packed), max_bytes),
            Self::Lz4Block => unpack_lz4_block(packed, max_bytes),
            Self::Lz4Hadoop => {
                let blocks = unpack_hadoop_blocks(packed, max_bytes);
                blocks.map_or_else(|| unpack_lz4_block(packed, max_bytes), Ok)
            }
        }
    }
}

fn read_limited(decoder: impl Read, max_bytes: u64) -> Result<Vec<u8>, String> {
    let mut unpacked = Vec::new();
    decoder.take(max_bytes + 1).read_to_end(&mut unpacked).map_err(|_| DAMAGED)?;
    let bytes = unpacked.len() as u64;
    if bytes > max_bytes { Err(too_large(bytes, max_bytes)) } else { Ok(unpacked) }
}

fn unpack_lz4_block(packed: &[u8], max_bytes: u64) -> Result<Vec<u8>, String> {
    let most = usize::try_from(max_bytes).unwrap_or(usize::MAX);
    let mut unpacked = vec![0; packed.len().saturating_mul(MAX_LZ4_RATIO).min(most)];
    let bytes = lz4_flex::block::decompress_into(packed, &mut unpacked).map_err(|_| DAMAGED)?;
    unpacked.truncate(bytes);
    Ok(unpacked)
}

/// Unpacks LZ4 blocks. Returns `None` if they are not in the Hadoop format or are too large.
fn unpack_hadoop_blocks(mut packed: &[u8], max_bytes: u64) -> Option<Vec<u8>> {
    let mut unpacked = Vec::new();
    while !packed.is_empty() {
        let (sizes, blocks) = packed.split_at_checked(HADOOP_SIZES_BYTES)?;
        let size = |at: usize| Some(u32::from_be_bytes(*sizes.get(at..)?.first_chunk()?));
        let (unpacked_bytes, packed_bytes) = (u64::from(size(0)?), usize::try_from(size(4)?).ok()?);
        let (block, rest) = blocks.split_at_checked(packed_bytes)?;
        max_bytes.checked_sub(unpacked.len() as u64 + unpacked_bytes)?;
        let content = unpack_lz4_block(block, unpacked_bytes).ok()?;
        if content.len() as u64 != unpacked_bytes {
            return None;
        }
        unpacked.extend(content);
        packed = rest;
    }
    Some(unpacked)
}

#[cfg(test)]
mod tests {
    use super::*;

    use flate2::{Compression as Level, write::GzEncoder};
    use std::io::Write as _;

    #[test]
    fn no_more_is_unpacked_than_allowed() {
        let plain = vec![7; 100_000];
        let mut gzip = GzEncoder::new(Vec::new(), Level::best());
        assert!(gzip.write_all(&plain).is_ok());
        let zstd = ruzstd::encoding::compress_to_vec(
            &plain[..],
            ruzstd::encoding::CompressionLevel::Fastest,
        );
        let lz4 = lz4_flex::block::compress(&plain);
        let length = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap_or(0).to_be_bytes();
        let hadoop = [&length(&plain)[..], &length(&lz4)[..], &lz4[..]].concat();
        for (codec, packed) in [
            (PageCodec::Gzip, gzip.finish().unwrap_or_default()),
            (PageCodec::Zstandard, zstd),
            (PageCodec::Lz4Block, lz4.clone()),
            (PageCodec::Lz4Hadoop, lz4),
            (PageCodec::Lz4Hadoop, hadoop),
        ] {
            assert_eq!(codec.unpack(&packed, 100_000), Ok(plain.clone()), "{codec:?}");
            assert!(codec.unpack(&packed, 99_999).is_err(), "{codec:?}");
            assert!(codec.unpack(&packed[..packed.len() / 2], 100_000).is_err(), "{codec:?}");
            assert_eq!(codec.unpack(&[], 0), Ok(Vec::new()), "{codec:?}");
        }
    }

    #[test]
    fn a_bomb_of_brotli_is_not_unpacked() {
        // 17 MiB of the letter "a".
        let bomb = include_bytes!("../tests/parquet/files/letters.br");
        let error = PageCodec::Brotli.unpack(bomb, 1 << 20).unwrap_err();
        assert_eq!(error, "a part of 2 MiB is larger than 1 MiB");
        assert_eq!(PageCodec::Brotli.unpack(bomb, 17 << 20).map(|it| it.len()), Ok(17 << 20));
    }

    #[test]
    fn a_codec_without_a_decoder_is_named() {
        let error = PageCodec::of(Compression::LZO).unwrap_err();
        assert_eq!(error, "it is compressed with LZO; write it again with snappy or zstd");
    }
}
