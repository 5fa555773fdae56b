//! Links that need no login, because they contain a keyed hash of their target. Links to archives
//! expire; links to pictures contain the content version, so that they can be cached forever.

use axum::{
    extract::FromRequestParts,
    http::{StatusCode, request::Parts},
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};

use super::{AppState, auth::equals_secret, origin_check::RequestOrigin, problem::Problem};
use crate::store::preview::StoredPreview;
use tessera_model::{ExportTaskId, MediaId};

/// In seconds.
const ARCHIVE_LINK_LIFETIME: u64 = 3600;

pub struct SignedLinks {
    key: [u8; 32],
    /// The start of every link.
    pub origin: String,
}

impl FromRequestParts<AppState> for SignedLinks {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Problem> {
        let RequestOrigin(origin) =
            parts.extensions.get().cloned().ok_or_else(Problem::internal)?;
        Ok(Self { key: *state.deployment.store.link_key(), origin })
    }
}

impl SignedLinks {
    pub fn media_links(&self, preview: &StoredPreview) -> (String, String) {
        let StoredPreview { media, version, .. } = preview;
        let origin = &self.origin;
        let signature = self.signature("media", &media.to_string());
        let link = |what| format!("{origin}/media/{media}/{version}/{what}?signature={signature}");
        (link("original"), link("thumbnail"))
    }

    pub fn is_valid_media_link(&self, media: MediaId, signature: &str) -> bool {
        equals_secret(signature, &self.signature("media", &media.to_string()))
    }

    /// The link to an archive, valid for an hour after `now` (Unix seconds).
    pub fn archive_link(&self, export: ExportTaskId, now: u64) -> String {
        let (origin, expires) = (&self.origin, now + ARCHIVE_LINK_LIFETIME);
        let signature = self.signature("archive", &format!("{export} {expires}"));
        format!("{origin}/exports/{export}?expires={expires}&signature={signature}")
    }

    /// Checks a link to an archive at `now`: 403 if it is not valid, 410 if it has expired.
    pub fn check_archive_link(
        &self,
        export: ExportTaskId,
        expires: u64,
        signature: &str,
        now: u64,
    ) -> Result<(), Problem> {
        let own = self.signature("archive", &format!("{export} {expires}"));
        if !equals_secret(signature, &own) {
            return Err(Problem::forbidden("This link is not valid"));
        }
        if expires < now {
            let message = "This link has expired; ask export_status for a new one";
            return Err(Problem::plain(StatusCode::GONE, message));
        }
        Ok(())
    }

    fn signature(&self, kind: &str, target: &str) -> String {
        let hash = blake3::keyed_hash(&self.key, format!("{kind} {target}").as_bytes());
        URL_SAFE_NO_PAD.encode(&hash.as_bytes()[..16])
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn archive_links_expire_and_cannot_be_forged() {
        let signed_by = |key| SignedLinks { key, origin: "http://127.0.0.1:1".to_owned() };
        let links = signed_by([7; 32]);
        let (export, other) = (ExportTaskId(Uuid::from_u128(1)), ExportTaskId(Uuid::from_u128(2)));
        let link = links.archive_link(export, 1_000);
        let (_, query) = link.split_once("?expires=").unwrap();
        let (expires, signature) = query.split_once("&signature=").unwrap();
        let expires: u64 = expires.parse().unwrap();
        let code = |export, expires, signature: &str, now| match links
            .check_archive_link(export, expires, signature, now)
        {
            Ok(()) => 200,
            Err(Problem::Plain(status, _)) => status.as_u16(),
            Err(Problem::Invalid(_)) => 422,
        };
        assert_eq!(code(export, expires, signature, 1_000), 200);
        assert_eq!(code(export, expires, signature, expires), 200);
        assert_eq!(code(export, expires, signature, expires + 1), 410);
        assert_eq!(code(export, expires + 1, signature, 1_000), 403);
        assert_eq!(code(other, expires, signature, 1_000), 403);
        assert_eq!(code(export, expires, "", 1_000), 403);
        let stranger = signed_by([8; 32]);
        assert!(stranger.check_archive_link(export, expires, signature, 1_000).is_err());
    }
}
