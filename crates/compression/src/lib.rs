//! Reads streams from outside that are compressed with gzip, xz or Zstandard. The memory is bounded, whatever the
//! streams claim to need.

use std::io::{self, BufRead, Error, ErrorKind, Read};

use flate2::bufread::GzDecoder;
use lzma_rust2::{LzmaReader, XzReader};
use ruzstd::decoding::{
    BlockDecodingStrategy, FrameDecoder,
    errors::{FrameDecoderError, ReadFrameHeaderError},
};

/// The maximum size of the output that a decoder keeps in memory. `zstd --long` needs this much, and `xz -9` needs half
/// of it.
const MAX_DICTIONARY_BYTES: u64 = 128 << 20;

/// The memory that the xz decoder counts in addition to the dictionary.
const XZ_OVERHEAD_KIB: u32 = 256;

/// A compression format.
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
            // The second signature belongs to a frame without content, which parallel compressors write first.
            Self::Zstandard => {
                head.starts_with(&[0x28, 0xB5, 0x2F, 0xFD])
                    || matches!(head, [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..])
            }
        }
    }

    /// Returns the content of `source`, with all of its parts in a row and with their checksums verified. An error of
    /// the kind `OutOfMemory` means that the source needs a dictionary larger than `MAX_DICTIONARY_BYTES`.
    pub fn reader<'a>(self, source: impl BufRead + 'a) -> Box<dyn Read + 'a> {
        match self {
            Self::Gzip => Box::new(FusedReader::new(GzipReader(Some(GzDecoder::new(source))))),
            Self::Xz => {
                let dictionary = u32::try_from(MAX_DICTIONARY_BYTES >> 10).unwrap_or(u32::MAX);
                let limit = dictionary.saturating_add(XZ_OVERHEAD_KIB);
                Box::new(FusedReader::new(XzReader::new_mem_limit(source, true, limit)))
            }
            Self::Zstandard => Box::new(FusedReader::new(ZstandardReader::new(source))),
        }
    }
}

/// Returns the content of `source`, which is LZMA with these properties and this dictionary. Without a size, the
/// content ends at its end marker. An error of the kind `OutOfMemory` means that the dictionary is too large.
pub fn lzma_reader<'a>(
    source: impl BufRead + 'a,
    properties: u8,
    dictionary: u32,
    size: Option<u64>,
) -> io::Result<Box<dyn Read + 'a>> {
    if u64::from(dictionary) > MAX_DICTIONARY_BYTES {
        return Err(ErrorKind::OutOfMemory.into());
    }
    let size = size.unwrap_or(u64::MAX);
    let reader = LzmaReader::new_with_props(source, size, properties, dictionary, None)?;
    Ok(Box::new(FusedReader::new(reader)))
}

/// A reader that repeats its first error. After an error, decoders would return the rest of the source as if it were
/// content.
struct FusedReader<R> {
    inner: R,
    error: Option<ErrorKind>,
}

impl<R> FusedReader<R> {
    fn new(inner: R) -> Self {
        Self { inner, error: None }
    }
}

impl<R: Read> Read for FusedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(kind) = self.error {
            return Err(kind.into());
        }
        // Decoders interpret an empty read as the end of a part.
        if buffer.is_empty() {
            return Ok(0);
        }
        let result = self.inner.read(buffer);
        self.error = result.as_ref().err().map(io::Error::kind);
        result
    }
}

/// Reads gzip member by member. Zeros after a member are padding, which tapes and disks leave behind.
struct GzipReader<R>(Option<GzDecoder<R>>);

impl<R: BufRead> Read for GzipReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(decoder) = &mut self.0 {
            let length = decoder.read(buffer)?;
            if length > 0 {
                return Ok(length);
            }
            self.0 =
                self.0.take().map(GzDecoder::into_inner).map(next_member).transpose()?.flatten();
        }
        Ok(0)
    }
}

/// Returns the next member of a gzip file, or `None` at its end.
fn next_member<R: BufRead>(mut source: R) -> io::Result<Option<GzDecoder<R>>> {
    loop {
        let rest = source.fill_buf()?;
        let zeros = rest.iter().take_while(|byte| **byte == 0).count();
        match rest.get(zeros) {
            Some(_) => {
                source.consume(zeros);
                return Ok(Some(GzDecoder::new(source)));
            }
            None if rest.is_empty() => return Ok(None),
            None => source.consume(zeros),
        }
    }
}

/// Reads Zstandard frame by frame.
struct ZstandardReader<R> {
    source: R,
    decoder: FrameDecoder,
    in_frame: bool,
    has_content: bool,
}

impl<R: BufRead> ZstandardReader<R> {
    fn new(source: R) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(MAX_DICTIONARY_BYTES);
        Self { source, decoder, in_frame: false, has_content: false }
    }

    /// Reads the header of the next frame. Returns whether there is another frame.
    fn begin_frame(&mut self) -> io::Result<bool> {
        loop {
            if self.source.fill_buf()?.is_empty() {
                let end = || Err(ErrorKind::UnexpectedEof.into());
                return if self.has_content { Ok(false) } else { end() };
            }
            match self.decoder.reset(&mut self.source) {
                Ok(()) => {
                    (self.in_frame, self.has_content) = (true, true);
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => self.skip(u64::from(length))?,
                Err(error) => return Err(decoding_error(error)),
            }
        }
    }

    fn skip(&mut self, length: u64) -> io::Result<()> {
        let skipped = io::copy(&mut self.source.by_ref().take(length), &mut io::sink())?;
        if skipped == length { Ok(()) } else { Err(ErrorKind::UnexpectedEof.into()) }
    }

    fn read_frame(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
            let one = BlockDecodingStrategy::UptoBlocks(1);
            self.decoder.decode_blocks(&mut self.source, one).map_err(decoding_error)?;
        }
        self.decoder.read(buffer)
    }

    fn end_frame(&mut self) -> io::Result<()> {
        self.in_frame = false;
        match self.decoder.get_checksum_from_data() {
            Some(stored) if Some(stored) != self.decoder.get_calculated_checksum() => {
                Err(Error::new(ErrorKind::InvalidData, "wrong checksum"))
            }
            _ => Ok(()),
        }
    }
}

impl<R: BufRead> Read for ZstandardReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.in_frame && !self.begin_frame()? {
                return Ok(0);
            }
            match self.read_frame(buffer)? {
                0 => self.end_frame()?,
                length => return Ok(length),
            }
        }
    }
}

fn decoding_error(error: FrameDecoderError) -> Error {
    match error {
        FrameDecoderError::WindowSizeTooBig { .. } => Error::new(ErrorKind::OutOfMemory, error),
        error => Error::new(ErrorKind::InvalidData, error),
    }
}
