//! The files behind links: pictures, videos and thumbnails, which are opened by the signature of their link or with a
//! token. Any file can be sent as a whole or as a range.

use std::{
    io::{self, Read as _, Seek as _, SeekFrom},
    ops::Range,
};

use axum::{
    body::{Body, Bytes},
    extract::FromRequestParts,
    http::{HeaderMap, StatusCode, header, request::Parts},
    response::{IntoResponse as _, Response},
};
use futures_util::{Stream, stream};
use tokio::task::spawn_blocking;

use super::prelude::*;
use super::{
    auth::unix_seconds,
    openapi::MediaResponses,
    parameters::{MediaLinkPath, SignedLinkParams},
    signed_links::SignedLinks,
};
use crate::{
    links::content_disposition,
    usecase::{Original, OriginalFile, ServiceError},
};
use tessera_media::ingest::SourceFile;
use tessera_model::MediaId;
use tessera_picture::VideoContainer;
use tessera_store::media::MediaRecord;

/// Returns how a response to a link may be cached. The content for the current version never changes. A link with an
/// earlier version gets the current content, which the client must not keep as that version.
fn cache_control(record: &MediaRecord, version: &str) -> &'static str {
    if record.version() == version {
        "private, max-age=31536000, immutable"
    } else {
        "private, no-cache"
    }
}

pub(crate) struct AuthorizedMedia {
    id: MediaId,
    version: String,
}

impl FromRequestParts<AppState> for AuthorizedMedia {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Problem> {
        let params = QueryParams::from_request_parts(parts, state).await?;
        let MediaLinkPath(id, version) = MediaLinkPath::from_request_parts(parts, state).await?;
        let links = SignedLinks::from_request_parts(parts, state).await?;
        // An expiry that is not a number gives a signature that no link has.
        let expires = params.text(query::EXPIRES).map(|raw| raw.parse().unwrap_or(0));
        match params.text(query::SIGNATURE) {
            Some(signature) => {
                links.check_media_link(id, expires, signature, unix_seconds())?;
                Ok(Self { id, version })
            }
            None if state.authenticator.authorizes(&parts.headers).await => {
                Ok(Self { id, version })
            }
            None => Err(Problem::unauthorized()),
        }
    }
}

pub(crate) fn add_routes(routes: CheckedRoutes) -> CheckedRoutes {
    routes.add(routes!(original)).add(routes!(video)).add(routes!(thumbnail))
}

/// Returns the original file or, for a frame of a video, the picture of the frame.
#[utoipa::path(
    get,
    path = "/media/{media_id}/{version}/original",
    params(MediaLinkPath, SignedLinkParams),
    responses(
        (status = 200, description = "The picture", content(
            ("image/jpeg"), ("image/png"), ("image/gif"), ("image/bmp"), ("image/webp"),
            ("application/octet-stream"),
        )),
        MediaResponses,
    ),
    security((), ("token" = [])),
)]
pub(crate) async fn original(
    State(state): State<AppState>,
    AuthorizedMedia { id, version }: AuthorizedMedia,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    match state.spawn_blocking(move |deployment| deployment.original(id)).await? {
        Original::File(original) => respond_with_original(original, &version, &headers),
        Original::Frame(record, jpeg) => {
            let served = FileResponse {
                length: jpeg.len() as u64,
                etag: blake3::hash(&jpeg).to_hex().to_string(),
                content: FileContent::InMemory(jpeg.into()),
                content_type: "image/jpeg",
                disposition: "inline",
                name: record.file_name(),
                cache_control: cache_control(&record, &version),
            };
            Ok(respond_with_file(served, &headers))
        }
    }
}

/// Returns the video from which a frame was taken.
#[utoipa::path(
    get,
    path = "/media/{media_id}/{version}/video",
    params(MediaLinkPath, SignedLinkParams),
    responses(
        (status = 200, description = "The video", content(
            ("video/mp4"), ("video/quicktime"), ("video/x-matroska"), ("video/x-msvideo"),
            ("video/x-ms-wmv"), ("video/x-flv"), ("application/octet-stream"),
        )),
        MediaResponses,
    ),
    security((), ("token" = [])),
)]
pub(crate) async fn video(
    State(state): State<AppState>,
    AuthorizedMedia { id, version }: AuthorizedMedia,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let video = state.spawn_blocking(move |deployment| deployment.video(id)).await?;
    respond_with_original(video, &version, &headers)
}

fn respond_with_original(
    OriginalFile { record, file, head }: OriginalFile,
    version: &str,
    headers: &HeaderMap,
) -> Result<Response, Problem> {
    let name = record.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let served = FileResponse {
        length: file.length().map_err(|_| ServiceError::media_not_found())?,
        content: FileContent::File(file),
        content_type: sniff_content_type(&head),
        etag: blake3::Hash::from(record.content_hash).to_hex().to_string(),
        disposition: "inline",
        name,
        cache_control: cache_control(&record, version),
    };
    Ok(respond_with_file(served, headers))
}

/// Returns the thumbnail.
#[utoipa::path(
    get,
    path = "/media/{media_id}/{version}/thumbnail",
    params(MediaLinkPath, SignedLinkParams),
    responses(
        (status = 200, description = "The thumbnail", content_type = "image/jpeg"),
        MediaResponses,
    ),
    security((), ("token" = [])),
)]
pub(crate) async fn thumbnail(
    State(state): State<AppState>,
    AuthorizedMedia { id, version }: AuthorizedMedia,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (record, jpeg) = state.spawn_blocking(move |deployment| deployment.thumbnail(id)).await?;
    let served = FileResponse {
        length: jpeg.len() as u64,
        content: FileContent::InMemory(jpeg.into()),
        content_type: "image/jpeg",
        etag: record.version(),
        disposition: "inline",
        name: format!("{id}.jpg"),
        cache_control: cache_control(&record, &version),
    };
    Ok(respond_with_file(served, &headers))
}

/// Returns the content type of a file by its first bytes, because its name proves nothing.
fn sniff_content_type(head: &[u8]) -> &'static str {
    match head {
        [0xFF, 0xD8, ..] => "image/jpeg",
        [0x89, b'P', ..] => "image/png",
        [b'G', b'I', b'F', ..] => "image/gif",
        [b'B', b'M', ..] => "image/bmp",
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', ..] => "image/webp",
        _ => VideoContainer::detect(head)
            .map_or("application/octet-stream", |video| video.content_type),
    }
}

/// The number of bytes of a file that are in memory at a time.
const BLOCK_BYTES: u64 = 128 << 10;

pub(crate) enum FileContent {
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

/// Reads a range of a file on the blocking threads. No thread waits for the client.
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
        // If the file has become shorter, the response ends early, which the client notices.
        Ok((next > start).then(|| (Bytes::from(block), (file, next..end))))
    })
}

pub(crate) struct FileResponse {
    pub content: FileContent,
    pub length: u64,
    pub content_type: &'static str,
    /// A strong entity tag without quotes. Equal tags mean equal bytes.
    pub etag: String,
    /// `inline` or `attachment`.
    pub disposition: &'static str,
    /// The file name for saving, not escaped.
    pub name: String,
    pub cache_control: &'static str,
}

pub(crate) fn respond_with_file(served: FileResponse, request: &HeaderMap) -> Response {
    let tag = format!("\"{}\"", served.etag);
    let common = [
        (header::ETAG, tag.clone()),
        (header::CACHE_CONTROL, served.cache_control.to_owned()),
        (header::ACCEPT_RANGES, "bytes".to_owned()),
    ];
    let header_text = |name| request.get(name).and_then(|value| value.to_str().ok());
    let is_listed = |one: &str| one == tag || one == "*";
    let lists = |tags: &str| tags.split(',').any(|one| is_listed(one.trim()));
    if header_text(header::IF_MATCH).is_some_and(|tags| !lists(tags)) {
        let message = "The file is not the one that If-Match names";
        return Problem::plain(StatusCode::PRECONDITION_FAILED, message).into_response();
    }
    // Weak tags are compared as well, because a proxy that compresses a response makes its tag weak.
    let lists_weakly =
        |tags: &str| tags.split(',').any(|one| is_listed(one.trim().trim_start_matches("W/")));
    if header_text(header::IF_NONE_MATCH).is_some_and(lists_weakly) {
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
    let content_headers = [
        (header::CONTENT_TYPE, served.content_type.to_owned()),
        (header::CONTENT_LENGTH, (end - start).to_string()),
        (header::CONTENT_DISPOSITION, content_disposition(served.disposition, &served.name)),
    ];
    (status, common, content_headers, part, body).into_response()
}

/// Parses a `Range` with one part, which may be empty. Any other value requests the whole file.
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
