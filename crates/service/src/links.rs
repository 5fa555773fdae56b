//! Makes links that need no login, because they contain a keyed hash of their target. This file also writes the header
//! that names a saved file.

use std::fmt::Write as _;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};

use tessera_model::MediaId;

/// The origin of links to the files of this machine, for clients in the process of their service. Links to this service
/// end with the process.
pub(crate) const FILE_ORIGIN: &str = "file://";

/// Returns the signature of a target of a kind.
pub(crate) fn signature(key: &[u8; 32], kind: &str, target: &str) -> String {
    let hash = blake3::keyed_hash(key, format!("{kind} {target}").as_bytes());
    URL_SAFE_NO_PAD.encode(&hash.as_bytes()[..16])
}

/// Returns the signature of a link to a media item, which is valid until `expires` (in Unix seconds) or until links are
/// revoked.
pub(crate) fn media_signature(key: &[u8; 32], media: MediaId, expires: Option<u64>) -> String {
    match expires {
        None => signature(key, "media", &media.to_string()),
        Some(expires) => signature(key, "media until", &format!("{media} {expires}")),
    }
}

/// Returns the link to `original` or `thumbnail` of a media item. `version` changes with the content, so that the
/// response can be cached forever.
pub(crate) fn media_link(
    key: &[u8; 32],
    origin: &str,
    media: MediaId,
    version: &str,
    target: &str,
    expires: Option<u64>,
) -> String {
    let signature = media_signature(key, media, expires);
    let expires = expires.map_or_else(String::new, |expires| format!("expires={expires}&"));
    format!("{origin}/media/{media}/{version}/{target}?{expires}signature={signature}")
}

/// Returns the header for a file name. Every byte that could end or split the header is encoded.
pub(crate) fn content_disposition(kind: &str, name: &str) -> String {
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
