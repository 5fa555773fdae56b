//! The pictures, opened by the signature of their link or with a token.

use axum::{
    extract::{FromRequestParts, State},
    http::{HeaderMap, request::Parts},
    response::Response,
};

use super::{
    AppState,
    file_response::{FileContent, FileResponse, respond_with_file},
    openapi::{MediaResponses, SignedLinkParams},
    path_params::MediaLinkPath,
    problem::Problem,
    query_params::QueryParams,
    signed_links::SignedLinks,
};
use crate::usecase::{Original, OriginalFile, ServiceError};
use tessera_media::ingest::video::VideoContainer;
use tessera_model::MediaId;
use tessera_wire::paths::query;

/// The content behind such a link never changes.
const IMMUTABLE_CACHE: &str = "private, max-age=31536000, immutable";

pub struct AuthorizedMedia {
    id: MediaId,
    version: String,
}

impl FromRequestParts<AppState> for AuthorizedMedia {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Problem> {
        let params = QueryParams::from_request_parts(parts, state).await?;
        let MediaLinkPath(id, version) = MediaLinkPath::from_request_parts(parts, state).await?;
        let links = SignedLinks::from_request_parts(parts, state).await?;
        match params.text(query::SIGNATURE) {
            Some(signature) if links.is_valid_media_link(id, signature) => Ok(Self { id, version }),
            Some(_) => Err(Problem::forbidden("This link is not valid")),
            None if state.authenticator.authorizes(&parts.headers).await => {
                Ok(Self { id, version })
            }
            None => Err(Problem::unauthorized()),
        }
    }
}

/// The original file; for a frame of a video, its picture.
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
pub async fn original(
    State(state): State<AppState>,
    AuthorizedMedia { id, .. }: AuthorizedMedia,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    match state.spawn_blocking(move |deployment| deployment.original(id)).await? {
        Original::File(original) => respond_with_original(original, &headers),
        Original::Frame(record, jpeg) => {
            let served = FileResponse {
                length: jpeg.len() as u64,
                etag: blake3::hash(&jpeg).to_hex().to_string(),
                content: FileContent::InMemory(jpeg.into()),
                content_type: "image/jpeg",
                disposition: "inline",
                name: record.file_name(),
                cache_control: IMMUTABLE_CACHE,
            };
            Ok(respond_with_file(served, &headers))
        }
    }
}

/// The video that a frame is from.
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
pub async fn video(
    State(state): State<AppState>,
    AuthorizedMedia { id, .. }: AuthorizedMedia,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let video = state.spawn_blocking(move |deployment| deployment.video(id)).await?;
    respond_with_original(video, &headers)
}

fn respond_with_original(
    OriginalFile { record, file, head }: OriginalFile,
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
        cache_control: IMMUTABLE_CACHE,
    };
    Ok(respond_with_file(served, headers))
}

/// The thumbnail.
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
pub async fn thumbnail(
    State(state): State<AppState>,
    AuthorizedMedia { id, version }: AuthorizedMedia,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let jpeg = state.spawn_blocking(move |deployment| deployment.thumbnail(id)).await?;
    let served = FileResponse {
        length: jpeg.len() as u64,
        content: FileContent::InMemory(jpeg.into()),
        content_type: "image/jpeg",
        etag: version,
        disposition: "inline",
        name: format!("{id}.jpg"),
        cache_control: IMMUTABLE_CACHE,
    };
    Ok(respond_with_file(served, &headers))
}

/// The content type of a file by its first bytes; its name proves nothing.
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
