//! Zstandard, frame by frame.

use std::io::{self, BufRead, Error, ErrorKind, Read};

use ruzstd::decoding::{
    BlockDecodingStrategy, FrameDecoder,
    errors::{FrameDecoderError, ReadFrameHeaderError},
};

use crate::limits::MAX_DICTIONARY_BYTES;

pub(crate) struct ZstandardReader<R> {
    source: R,
    decoder: FrameDecoder,
    in_frame: bool,
    has_content: bool,
}

impl<R: BufRead> ZstandardReader<R> {
    pub(crate) fn new(source: R) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(MAX_DICTIONARY_BYTES);
        Self { source, decoder, in_frame: false, has_content: false }
    }

    /// Reads the header of the next frame. Returns whether there is one.
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
