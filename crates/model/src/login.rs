//! What failures say about the login.

/// The code of a failure because the secret of the login is missing.
pub const NO_SECRET: &str = "no_secret";

/// What the status of a check of the login says about the login; `None` if it says nothing.
/// `by_dataset`: whether a dataset was read, or the list of datasets.
pub fn login_check_text(http_status: u16, by_dataset: bool) -> Option<&'static str> {
    Some(match http_status {
        401 => "401: the key has expired or is wrong, or the secret does not match",
        403 if by_dataset => "403: the login works, but has no permission for this dataset",
        403 => "403: the login works, but has no permission to list datasets",
        404 if by_dataset => "404: no such dataset, or no access to it",
        _ => return None,
    })
}
