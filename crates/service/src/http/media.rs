//! The pictures: originals from their folder, thumbnails from the store. Opened by the signature
//! of their link or by the login.

use std::io::Cursor;

use axum::{extract::State, http::HeaderMap, response::Response};

use super::{
    Site,
    describe::{Content, Signed},
    file::{Served, answer},
    guard::Origin,
    links::Links,
    params::{MediaPath, Params},
    problem::Problem,
};
use crate::{
    ingest::{Folder, video::Container},
    store::media,
};
use tessera_model::MediaId;
use tessera_wire::{paths::query, problem::ProblemBody};

/// The content behind such a link never changes.
const CACHING: &str = "private, max-age=31536000, immutable";

/// The picture as it lies in the folder.
#[utoipa::path(
    get,
    path = "/media/{media_id}/{version}/original",
    operation_id = "original",
    params(MediaPath, Signed),
    responses(
        (status = 200, description = "The picture", content(
            ("image/jpeg"), ("image/png"), ("image/gif"), ("image/bmp"), ("image/webp"),
            ("application/octet-stream"),
        )),
        (status = 401, description = "No signature and no token", body = ProblemBody),
        Content,
    ),
    security((), ("token" = [])),
)]
pub async fn original(
    State(site): State<Site>,
    path: MediaPath,
    origin: Origin,
    params: Params,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let id = opened(&site, &path, &origin, &params, &headers)?;
    let served = site
        .blocking(move |deployment| {
            let found = deployment.store.read(|c| media::find(c, id))?;
            let (media, folder) = found.ok_or_else(missing)?;
            let folder = Folder::open(&folder).map_err(|_| missing())?;
            let head = folder.head(&media.path).map_err(|_| missing())?;
            let file = folder.file(&media.path).map_err(|_| missing())?;
            let length = file.metadata().map_err(|_| missing())?.len();
            Ok(Served {
                content: tokio::fs::File::from_std(file),
                length,
                kind: kind(&head),
                tag: hex(&media.content),
                disposition: "inline",
                name: media.file_name(),
                caching: CACHING,
            })
        })
        .await?;
    answer(served, &headers).await
}

/// The thumbnail.
#[utoipa::path(
    get,
    path = "/media/{media_id}/{version}/thumbnail",
    operation_id = "thumbnail",
    params(MediaPath, Signed),
    responses(
        (status = 200, description = "The thumbnail", content_type = "image/jpeg"),
        (status = 401, description = "No signature and no token", body = ProblemBody),
        Content,
    ),
    security((), ("token" = [])),
)]
pub async fn thumbnail(
    State(site): State<Site>,
    path: MediaPath,
    origin: Origin,
    params: Params,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let id = opened(&site, &path, &origin, &params, &headers)?;
    let jpeg = site
        .blocking(move |deployment| {
            let found = deployment.store.read(|c| media::thumbnail(c, id))?;
            found.ok_or_else(missing)
        })
        .await?;
    let served = Served {
        length: jpeg.len() as u64,
        content: Cursor::new(jpeg),
        kind: "image/jpeg",
        tag: path.version,
        disposition: "inline",
        name: format!("{id}.jpg"),
        caching: CACHING,
    };
    answer(served, &headers).await
}

/// The media of a link that may be opened.
fn opened(
    site: &Site,
    path: &MediaPath,
    origin: &Origin,
    params: &Params,
    headers: &HeaderMap,
) -> Result<MediaId, Problem> {
    let id = path.media.ok_or_else(missing)?;
    let links = Links::new(site.deployment.store.link_key(), origin);
    match params.text(query::SIGNATURE) {
        Some(signature) if links.opens_media(id, signature) => Ok(id),
        Some(_) => Err(Problem::forbidden("This link is not valid")),
        None if site.gate.admits(headers) => Ok(id),
        None => Err(Problem::unauthorized()),
    }
}

fn missing() -> Problem {
    Problem::not_found("Media not found")
}

/// The type of a file by its first bytes; its name proves nothing.
fn kind(head: &[u8]) -> &'static str {
    match head {
        [0xFF, 0xD8, ..] => "image/jpeg",
        [0x89, b'P', ..] => "image/png",
        [b'G', b'I', b'F', ..] => "image/gif",
        [b'B', b'M', ..] => "image/bmp",
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', ..] => "image/webp",
        _ => Container::of(head).map_or("application/octet-stream", |video| video.content_type),
    }
}

fn hex(hash: &[u8; 32]) -> String {
    blake3::Hash::from(*hash).to_hex().to_string()
}
