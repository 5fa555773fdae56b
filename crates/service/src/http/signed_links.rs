//! The links in responses. Links to archives expire, and so do the links to pictures in archives. Other links to
//! pictures do not.

use axum::{
    extract::FromRequestParts,
    http::{StatusCode, request::Parts},
};

use super::{AppState, auth::equals_secret, origin_check::RequestOrigin, problem::Problem};
use crate::links::{media_link, media_signature, signature};
use tessera_model::{ExportTaskId, MediaId};
use tessera_store::cluster::StoredPreview;

/// The lifetime in seconds.
const ARCHIVE_LINK_LIFETIME: u64 = 3600;

pub(crate) struct SignedLinks {
    key: [u8; 32],
    /// The start of every link.
    pub origin: String,
    /// Whether links to archives are relative, without the origin, as on premises.
    relative_archives: bool,
    /// Whether previews repeat the identifier and the link under the names that public clients read.
    pub with_image_names: bool,
}

impl FromRequestParts<AppState> for SignedLinks {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Problem> {
        let RequestOrigin(origin) =
            parts.extensions.get().cloned().ok_or_else(Problem::internal)?;
        let relative_archives = state.compat && !state.authenticator.requires_login();
        let store = state.deployment.store.clone();
        Ok(Self {
            key: state.link_key.get(move || store.link_key().ok()).await,
            origin,
            relative_archives,
            with_image_names: state.compat,
        })
    }
}

impl SignedLinks {
    /// Returns the links to the original, to the thumbnail and, for a frame, to the video.
    pub(crate) fn media_links(&self, preview: &StoredPreview) -> (String, String, Option<String>) {
        let StoredPreview { media, version, .. } = preview;
        let link = |target| media_link(&self.key, &self.origin, *media, version, target, None);
        (link("original"), link("thumbnail"), preview.frame.map(|_| link("video")))
    }

    /// Checks a link to a media item at `now`. Links of exports expire. Fails with 403 if the link is not valid, and
    /// with 410 if it has expired.
    pub(crate) fn check_media_link(
        &self,
        media: MediaId,
        expires: Option<u64>,
        signature: &str,
        now: u64,
    ) -> Result<(), Problem> {
        if !equals_secret(signature, &media_signature(&self.key, media, expires)) {
            return Err(Problem::forbidden("This link is not valid"));
        }
        if expires.is_some_and(|expires| expires < now) {
            let message = "This link has expired with its export; export again";
            return Err(Problem::plain(StatusCode::GONE, message));
        }
        Ok(())
    }

    /// Returns the link to an archive, which is valid for an hour after `now` (in Unix seconds).
    pub(crate) fn archive_link(&self, export: ExportTaskId, now: u64) -> String {
        let expires = now + ARCHIVE_LINK_LIFETIME;
        let origin = if self.relative_archives { "" } else { self.origin.as_str() };
        let signature = self.archive_signature(export, expires);
        format!("{origin}/exports/{export}?expires={expires}&signature={signature}")
    }

    /// Checks a link to an archive at `now`. Fails with 403 if the link is not valid, and with 410 if it has expired.
    pub(crate) fn check_archive_link(
        &self,
        export: ExportTaskId,
        expires: u64,
        signature: &str,
        now: u64,
    ) -> Result<(), Problem> {
        if !equals_secret(signature, &self.archive_signature(export, expires)) {
            return Err(Problem::forbidden("This link is not valid"));
        }
        if expires < now {
            let message = "This link has expired; ask export_status for a new one";
            return Err(Problem::plain(StatusCode::GONE, message));
        }
        Ok(())
    }

    fn archive_signature(&self, export: ExportTaskId, expires: u64) -> String {
        signature(&self.key, "archive", &format!("{export} {expires}"))
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn links_of_exports_expire_and_cannot_be_extended() {
        let key = [7; 32];
        let links = SignedLinks {
            key,
            origin: "http://127.0.0.1:1".to_owned(),
            relative_archives: false,
            with_image_names: false,
        };
        let (media, other) = (MediaId(Uuid::from_u128(1)), MediaId(Uuid::from_u128(2)));
        let link = media_link(&key, &links.origin, media, "v", "original", Some(1_000));
        let (_, signature) = link.split_once("?expires=1000&signature=").unwrap();
        let code =
            |media, expires, now| match links.check_media_link(media, expires, signature, now) {
                Ok(()) => 200,
                Err(Problem::Plain(status, _)) => status.as_u16(),
                Err(Problem::Invalid(_)) => 422,
            };
        assert_eq!(code(media, Some(1_000), 1_000), 200);
        assert_eq!(code(media, Some(1_000), 1_001), 410);
        for (media, expires) in [(media, Some(2_000)), (media, None), (other, Some(1_000))] {
            assert_eq!(code(media, expires, 500), 403);
        }
    }

    #[test]
    fn archive_links_expire_and_cannot_be_forged() {
        let signed_by = |key| SignedLinks {
            key,
            origin: "http://127.0.0.1:1".to_owned(),
            relative_archives: false,
            with_image_names: false,
        };
        let links = signed_by([7; 32]);
        let (export, other) = (ExportTaskId(Uuid::from_u128(1)), ExportTaskId(Uuid::from_u128(2)));
        let link = links.archive_link(export, 1_000);
        let (_, query) = link.split_once("?expires=").unwrap();
        let (expires, signature) = query.split_once("&signature=").unwrap();
        let expires: u64 = expires.parse().unwrap();
        assert_eq!(expires, 4_600, "an hour later");
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
