//! File responses: the whole file, one range, or 304.

use std::io::SeekFrom;

use axum::{
    body::Body,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncSeek, AsyncSeekExt as _};
use tokio_util::io::ReaderStream;

use super::problem::Problem;

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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RequestedRange {
    Whole,
    /// First byte and length.
    Range(u64, u64),
    Unsatisfiable,
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
    let word = |name| request.get(name).and_then(|value| value.to_str().ok());
    let known = |tags: &str| tags.split(',').any(|one| one.trim() == tag || one.trim() == "*");
    if word(header::IF_NONE_MATCH).is_some_and(known) {
        return Ok((StatusCode::NOT_MODIFIED, common).into_response());
    }
    // A range of another version would corrupt the client's copy.
    let same = word(header::IF_RANGE).is_none_or(|tag_of_client| tag_of_client == tag);
    let range = word(header::RANGE).filter(|_| same);
    let length = served.length;
    let (status, first, count) =
        match range.map_or(RequestedRange::Whole, |range| parse_range(range, length)) {
            RequestedRange::Whole => (StatusCode::OK, 0, length),
            RequestedRange::Range(first, count) => (StatusCode::PARTIAL_CONTENT, first, count),
            RequestedRange::Unsatisfiable => {
                let whole = [(header::CONTENT_RANGE, format!("bytes */{length}"))];
                return Ok((StatusCode::RANGE_NOT_SATISFIABLE, common, whole).into_response());
            }
        };
    if first > 0 {
        let sought = served.content.seek(SeekFrom::Start(first)).await;
        sought.map_err(|_| Problem::internal())?;
    }
    let body = Body::from_stream(ReaderStream::new(served.content.take(count)));
    let own = [
        (header::CONTENT_TYPE, served.content_type.to_owned()),
        (header::CONTENT_LENGTH, count.to_string()),
        (header::CONTENT_DISPOSITION, content_disposition(served.disposition, &served.name)),
    ];
    let mut response = (status, common, own, body).into_response();
    if status == StatusCode::PARTIAL_CONTENT {
        let range = format!("bytes {first}-{}/{length}", first + count - 1);
        let value = range.parse().map_err(|_| Problem::internal())?;
        response.headers_mut().insert(header::CONTENT_RANGE, value);
    }
    Ok(response)
}

/// Parses a `Range` of one part; anything else requests the whole file.
fn parse_range(range: &str, length: u64) -> RequestedRange {
    let Some((first, last)) = range.strip_prefix("bytes=").and_then(|rest| rest.split_once('-'))
    else {
        return RequestedRange::Whole;
    };
    let (first, last) = (first.trim(), last.trim());
    let bounds = match (first.parse::<u64>(), last.parse::<u64>()) {
        (Ok(first), Ok(last)) if first <= last => (first, last.saturating_add(1).min(length)),
        (Ok(first), Err(_)) if last.is_empty() => (first, length),
        (Err(_), Ok(count)) if first.is_empty() => (length.saturating_sub(count), length),
        _ => return RequestedRange::Whole,
    };
    match bounds {
        (first, end) if first < end => RequestedRange::Range(first, end - first),
        _ => RequestedRange::Unsatisfiable,
    }
}

/// A file name in a header: every byte that could end or split it is encoded.
fn content_disposition(kind: &str, name: &str) -> String {
    use std::fmt::Write as _;
    let mut encoded = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    format!("{kind}; filename*=UTF-8''{encoded}")
}
