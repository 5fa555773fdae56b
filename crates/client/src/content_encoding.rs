//! The encoding of response bodies. A download asks for the bytes of the archive itself, but some storages and proxies
//! compress them all the same. Gzip is decoded. Any other encoding is named, because its bytes would look damaged.

use std::{
    io::{self, Write as _},
    mem,
};

use bytes::{Bytes, BytesMut};
use flate2::write::MultiGzDecoder;
use reqwest::header::{CONTENT_ENCODING, HeaderMap};

use crate::errors::AttemptError;
use tessera_model::{Failure, FailureKind, SafeText};

/// The first byte of each gzip stream. No archive and no picture starts with it.
const GZIP_START: u8 = 0x1f;

/// Returns the encoding of a body, or `None` if the body is not encoded.
pub(super) fn content_encoding(headers: &HeaderMap) -> Option<String> {
    let values = headers.get_all(CONTENT_ENCODING).iter();
    let names = values.map(|value| String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase());
    let names = names.collect::<Vec<_>>().join(", ");
    let is_encoded = names.split(',').any(|name| !matches!(name.trim(), "" | "identity"));
    is_encoded.then_some(names)
}

/// Decodes a whole body. Returns `None` if it exceeds `limit` decoded bytes.
pub(super) fn decode_body(
    headers: &HeaderMap,
    body: Bytes,
    limit: usize,
) -> Result<Option<Bytes>, AttemptError> {
    if content_encoding(headers).is_none() {
        return Ok(Some(body));
    }
    let (mut decoder, mut whole) = (BodyDecoder::new(headers)?, BytesMut::new());
    // Small pieces keep a body that expands a thousandfold from exceeding the limit by much.
    for start in (0..body.len()).step_by(PIECE_BYTES) {
        let piece = body.slice(start..body.len().min(start + PIECE_BYTES));
        whole.extend_from_slice(&decoder.decode(piece)?);
        if whole.len() > limit {
            return Ok(None);
        }
    }
    whole.extend_from_slice(&decoder.end()?);
    Ok((whole.len() <= limit).then(|| whole.freeze()))
}

const PIECE_BYTES: usize = 4 << 10;

fn unknown_encoding(encoding: &str) -> AttemptError {
    let encoding = SafeText::name(encoding);
    let sentence = format!(
        "the response is encoded as {encoding}, which was not requested (Content-Encoding)"
    );
    let remedy =
        "Ask the operator of the service, of its storage or of the proxy to send it unencoded";
    AttemptError::Fatal(Failure::new(FailureKind::Unexpected, sentence).with_remedy(remedy))
}

/// Decodes a body chunk by chunk.
pub(super) struct BodyDecoder {
    gzip: Option<MultiGzDecoder<Vec<u8>>>,
    has_started: bool,
}

impl BodyDecoder {
    pub(super) fn new(headers: &HeaderMap) -> Result<Self, AttemptError> {
        let gzip = match content_encoding(headers).as_deref() {
            None => None,
            Some("gzip" | "x-gzip") => Some(MultiGzDecoder::new(Vec::new())),
            Some(other) => return Err(unknown_encoding(other)),
        };
        Ok(Self { gzip, has_started: false })
    }

    pub(super) fn decode(&mut self, chunk: Bytes) -> Result<Bytes, AttemptError> {
        let has_started = mem::replace(&mut self.has_started, true);
        // An object may have a wrong header, which its storage then sends with the unencoded bytes.
        if !has_started && chunk.first() != Some(&GZIP_START) {
            self.gzip = None;
        }
        let Some(decoder) = &mut self.gzip else { return Ok(chunk) };
        decoder.write_all(&chunk).map_err(|error| damaged(&error))?;
        Ok(mem::take(decoder.get_mut()).into())
    }

    /// Returns the rest of the body.
    pub(super) fn end(self) -> Result<Bytes, AttemptError> {
        let rest = self.gzip.map(MultiGzDecoder::finish).transpose();
        Ok(rest.map_err(|error| damaged(&error))?.unwrap_or_default().into())
    }
}

fn damaged(error: &io::Error) -> AttemptError {
    AttemptError::NoResponse(format!("the compressed response is damaged: {error}"))
}
