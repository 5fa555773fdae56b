//! Errors whose messages are documented, matched leniently: a code for programs, a remedy for users.

use crate::retry_table::ApiOperation;
use tessera_model::Failure;

/// Status, a part of the message in lower case, code, and remedy.
type KnownError = (u16, &'static str, &'static str, &'static str);

const STORAGE_URI_REMEDY: &str = "Check the address, and that the service may read it: storage of another \
                      account needs a role to assume";
const NOT_STARTED_REMEDY: &str = "Nothing was started; check the dataset before you send it again";

const KNOWN_ERRORS: [KnownError; 11] = [
    (
        400,
        "embedding_config",
        "no_embedding_config",
        "Index the dataset once with an embedding model first",
    ),
    (
        400,
        "one media source",
        "media_source_count",
        "Give exactly one of: files, a storage URI, an archive",
    ),
    (400, "no media files found", "no_media_at_uri", STORAGE_URI_REMEDY),
    (400, "invalid s3 uri", "no_media_at_uri", STORAGE_URI_REMEDY),
    (
        403,
        "add media feature is not enabled",
        "add_media_disabled",
        "Ask the operator of the service to set ADD_MEDIA_ENABLED",
    ),
    (403, "write access", "no_write_access", "Ask the owner of the dataset for write access"),
    (
        404,
        "dataset not found",
        "dataset_not_found",
        "List the datasets: it may have been deleted, or not be shared with you",
    ),
    (
        409,
        "task is running",
        "operation_running",
        "Wait until that task is done, then send it again",
    ),
    (409, "not ready", "dataset_not_ready", "Wait until the dataset is READY"),
    (500, "upload", "upload_failed", "The service could not store the media; send them again"),
    (500, "trigger", "trigger_failed", NOT_STARTED_REMEDY),
];

/// Adds the code and remedy of a documented message.
pub(super) fn add_known_remedy(operation: ApiOperation, failure: Failure) -> Failure {
    let message = failure.detail.as_ref().map(|detail| detail.as_str().to_lowercase());
    let message = message.unwrap_or_default();
    let known = KNOWN_ERRORS
        .into_iter()
        .find(|(status, pattern, ..)| failure.status == Some(*status) && message.contains(pattern));
    match known {
        Some((_, _, code, remedy)) => Failure { code: Some(code), ..failure.with_remedy(remedy) },
        // A 403 has two meanings, and the message may not distinguish them.
        None if failure.status == Some(403) && operation.adds_media() => failure.with_remedy(
            "Either adding media is disabled, or you have no write access to the dataset",
        ),
        None => failure,
    }
}
