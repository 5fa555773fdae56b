//! File responses: the whole file, one range, or 304.

use std::{io::SeekFrom, ops::Range};

use axum::{
    body::Body,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncSeek, AsyncSeekExt as _};
use tokio_util::io::ReaderStream;

use super::problem::Problem;
use crate::content_disposition::content_disposition;

pub struct FileResponse<C> {
    pub content: C,
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

pub async fn respond_with_file<C>(
    mut served: FileResponse<C>,
    request: &HeaderMap,
) -> Result<Response, Problem>
where
    C: AsyncRead + AsyncSeek + Unpin + Send + 'static,
{
    let tag = format!("\"{}\"", served.etag);
    let common = [
        (header::ETAG, tag.clone()),
        (header::CACHE_CONTROL, served.cache_control.to_owned()),
        (header::ACCEPT_RANGES, "bytes".to_owned()),
    ];
    let header_text = |name| request.get(name).and_then(|value| value.to_str().ok());
    let known = |tags: &str| tags.split(',').any(|one| one.trim() == tag || one.trim() == "*");
    if header_text(header::IF_NONE_MATCH).is_some_and(known) {
        return Ok((StatusCode::NOT_MODIFIED, common).into_response());
    }
    // A range of another version would corrupt the client's copy.
    let same = header_text(header::IF_RANGE).is_none_or(|tag_of_client| tag_of_client == tag);
    let range = header_text(header::RANGE).filter(|_| same);
    let length = served.length;
    let range = range.and_then(|range| parse_range(range, length));
    if range.as_ref().is_some_and(Range::is_empty) {
        let whole = [(header::CONTENT_RANGE, format!("bytes */{length}"))];
        return Ok((StatusCode::RANGE_NOT_SATISFIABLE, common, whole).into_response());
    }
    let part = range.as_ref().map(|Range { start, end }| {
        [(header::CONTENT_RANGE, format!("bytes {start}-{}/{length}", end - 1))]
    });
    let status = if part.is_some() { StatusCode::PARTIAL_CONTENT } else { StatusCode::OK };
    let Range { start, end } = range.unwrap_or(0..length);
    if start > 0 {
        let sought = served.content.seek(SeekFrom::Start(start)).await;
        sought.map_err(|_| Problem::internal())?;
    }
    let body = Body::from_stream(ReaderStream::new(served.content.take(end - start)));
    let own = [
        (header::CONTENT_TYPE, served.content_type.to_owned()),
        (header::CONTENT_LENGTH, (end - start).to_string()),
        (header::CONTENT_DISPOSITION, content_disposition(served.disposition, &served.name)),
    ];
    Ok((status, common, own, part, body).into_response())
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
