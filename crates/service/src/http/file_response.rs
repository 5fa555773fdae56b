//! File responses: the whole file, one range, or 304.

use std::{
    io::{self, Read as _, Seek as _, SeekFrom},
    ops::Range,
};

use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use futures_util::{Stream, stream};
use tokio::task::spawn_blocking;

use crate::content_disposition::content_disposition;
use tessera_media::ingest::SourceFile;

/// Bytes of a file that are in memory at a time.
const BLOCK_BYTES: u64 = 128 << 10;

pub enum FileContent {
    InMemory(Bytes),
    File(Box<dyn SourceFile>),
}

impl FileContent {
    fn into_body(self, range: Range<u64>) -> Body {
        match self {
            Self::InMemory(bytes) => {
                let at = |position: u64| usize::try_from(position).unwrap_or(bytes.len());
                Body::from(bytes.slice(at(range.start)..at(range.end)))
            }
            Self::File(file) => Body::from_stream(blocks(file, range)),
        }
    }
}

/// Reads a range of a file, on the threads for that; none of them waits for the client.
fn blocks(
    file: Box<dyn SourceFile>,
    range: Range<u64>,
) -> impl Stream<Item = io::Result<Bytes>> + Send {
    stream::try_unfold((file, range), |(mut file, Range { start, end })| async move {
        if start >= end {
            return Ok(None);
        }
        let read = move || {
            let mut block = Vec::new();
            file.seek(SeekFrom::Start(start))?;
            file.by_ref().take(BLOCK_BYTES.min(end - start)).read_to_end(&mut block)?;
            Ok::<_, io::Error>((file, block))
        };
        let (file, block) = spawn_blocking(read).await.map_err(io::Error::other)??;
        let next = start + block.len() as u64;
        // The file has become shorter; the client sees that the response ends early.
        Ok((next > start).then(|| (Bytes::from(block), (file, next..end))))
    })
}

pub struct FileResponse {
    pub content: FileContent,
    pub length: u64,
    pub content_type: &'static str,
    /// Strong entity tag without quotes: equal tags mean equal bytes.
    pub etag: String,
    /// `inline` or `attachment`.
    pub disposition: &'static str,
    /// File name for saving, unescaped.
    pub name: String,
    pub cache_control: &'static str,
}

pub fn respond_with_file(served: FileResponse, request: &HeaderMap) -> Response {
    let tag = format!("\"{}\"", served.etag);
    let common = [
        (header::ETAG, tag.clone()),
        (header::CACHE_CONTROL, served.cache_control.to_owned()),
        (header::ACCEPT_RANGES, "bytes".to_owned()),
    ];
    let header_text = |name| request.get(name).and_then(|value| value.to_str().ok());
    let known = |tags: &str| tags.split(',').any(|one| one.trim() == tag || one.trim() == "*");
    if header_text(header::IF_NONE_MATCH).is_some_and(known) {
        return (StatusCode::NOT_MODIFIED, common).into_response();
    }
    // A range of another version would corrupt the client's copy.
    let same = header_text(header::IF_RANGE).is_none_or(|tag_of_client| tag_of_client == tag);
    let range = header_text(header::RANGE).filter(|_| same);
    let length = served.length;
    let range = range.and_then(|range| parse_range(range, length));
    if range.as_ref().is_some_and(Range::is_empty) {
        let whole = [(header::CONTENT_RANGE, format!("bytes */{length}"))];
        return (StatusCode::RANGE_NOT_SATISFIABLE, common, whole).into_response();
    }
    let part = range.as_ref().map(|Range { start, end }| {
        [(header::CONTENT_RANGE, format!("bytes {start}-{}/{length}", end - 1))]
    });
    let status = if part.is_some() { StatusCode::PARTIAL_CONTENT } else { StatusCode::OK };
    let Range { start, end } = range.unwrap_or(0..length);
    let body = served.content.into_body(start..end);
    let own = [
        (header::CONTENT_TYPE, served.content_type.to_owned()),
        (header::CONTENT_LENGTH, (end - start).to_string()),
        (header::CONTENT_DISPOSITION, content_disposition(served.disposition, &served.name)),
    ];
    (status, common, own, part, body).into_response()
}

/// Parses a `Range` of one part, which may be empty; anything else requests the whole file.
fn parse_range(range: &str, length: u64) -> Option<Range<u64>> {
    let (first, last) = range.strip_prefix("bytes=")?.split_once('-')?;
    let (first, last) = (first.trim(), last.trim());
    match (first.parse::<u64>(), last.parse::<u64>()) {
        (Ok(first), Ok(last)) if first <= last => Some(first..last.saturating_add(1).min(length)),
        (Ok(first), Err(_)) if last.is_empty() => Some(first..length),
        (Err(_), Ok(count)) if first.is_empty() => Some(length.saturating_sub(count)..length),
        _ => None,
    }
}
