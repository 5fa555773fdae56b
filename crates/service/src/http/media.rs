//! The pictures: originals from their folder, thumbnails from the store. Opened by the signature
//! of their link or by the login.

use std::io::Cursor;

use axum::{extract::State, http::HeaderMap, response::Response};

use super::{
    AppState,
    file_response::{FileResponse, respond_with_file},
    openapi::{FileResponses, SignedLinkParams},
    origin_check::RequestOrigin,
    problem::Problem,
    query_params::{MediaLinkPath, QueryParams},
    signed_links::SignedLinks,
};
use crate::{
    ingest::{SandboxedDir, video::VideoContainer},
    store::media,
};
use tessera_model::MediaId;
use tessera_wire::{error_body::ProblemBody, paths::query};

/// The content behind such a link never changes.
const IMMUTABLE_CACHE: &str = "private, max-age=31536000, immutable";

/// The picture as it lies in the folder.
#[utoipa::path(
    get,
    path = "/media/{media_id}/{version}/original",
    operation_id = "original",
    params(MediaLinkPath, SignedLinkParams),
    responses(
        (status = 200, description = "The picture", content(
            ("image/jpeg"), ("image/png"), ("image/gif"), ("image/bmp"), ("image/webp"),
            ("application/octet-stream"),
        )),
        (status = 401, description = "No signature and no token", body = ProblemBody),
        FileResponses,
    ),
    security((), ("token" = [])),
)]
pub async fn original(
    State(site): State<AppState>,
    path: MediaLinkPath,
    origin: RequestOrigin,
    params: QueryParams,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let id = authorized_media(&site, &path, &origin, &params, &headers)?;
    let served = site
        .spawn_blocking(move |deployment| {
            let found = deployment.store.read(|c| media::find(c, id))?;
            let (media, folder) = found.ok_or_else(media_not_found)?;
            let folder = SandboxedDir::open(&folder).map_err(|_| media_not_found())?;
            let head = folder.read_head(&media.path).map_err(|_| media_not_found())?;
            let file = folder.open_file(&media.path).map_err(|_| media_not_found())?;
            let length = file.metadata().map_err(|_| media_not_found())?.len();
            Ok(FileResponse {
                content: tokio::fs::File::from_std(file),
                length,
                content_type: sniff_content_type(&head),
                etag: hex(&media.content_hash),
                disposition: "inline",
                name: media.file_name(),
                cache_control: IMMUTABLE_CACHE,
            })
        })
        .await?;
    respond_with_file(served, &headers).await
}

/// The thumbnail.
#[utoipa::path(
    get,
    path = "/media/{media_id}/{version}/thumbnail",
    operation_id = "thumbnail",
    params(MediaLinkPath, SignedLinkParams),
    responses(
        (status = 200, description = "The thumbnail", content_type = "image/jpeg"),
        (status = 401, description = "No signature and no token", body = ProblemBody),
        FileResponses,
    ),
    security((), ("token" = [])),
)]
pub async fn thumbnail(
    State(site): State<AppState>,
    path: MediaLinkPath,
    origin: RequestOrigin,
    params: QueryParams,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let id = authorized_media(&site, &path, &origin, &params, &headers)?;
    let jpeg = site
        .spawn_blocking(move |deployment| {
            let found = deployment.store.read(|c| media::thumbnail(c, id))?;
            found.ok_or_else(media_not_found)
        })
        .await?;
    let served = FileResponse {
        length: jpeg.len() as u64,
        content: Cursor::new(jpeg),
        content_type: "image/jpeg",
        etag: path.version,
        disposition: "inline",
        name: format!("{id}.jpg"),
        cache_control: IMMUTABLE_CACHE,
    };
    respond_with_file(served, &headers).await
}

/// The media of a link that may be opened.
fn authorized_media(
    site: &AppState,
    path: &MediaLinkPath,
    origin: &RequestOrigin,
    params: &QueryParams,
    headers: &HeaderMap,
) -> Result<MediaId, Problem> {
    let id = path.media.ok_or_else(media_not_found)?;
    let links = SignedLinks::new(site.deployment.store.link_key(), origin);
    match params.text(query::SIGNATURE) {
        Some(signature) if links.is_valid_media_link(id, signature) => Ok(id),
        Some(_) => Err(Problem::forbidden("This link is not valid")),
        None if site.authenticator.is_authorized(headers) => Ok(id),
        None => Err(Problem::unauthorized()),
    }
}

fn media_not_found() -> Problem {
    Problem::not_found("Media not found")
}

/// The type of a file by its first bytes; its name proves nothing.
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

fn hex(hash: &[u8; 32]) -> String {
    blake3::Hash::from(*hash).to_hex().to_string()
}
