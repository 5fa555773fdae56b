//! Whether a service has accepted a change of a dataset: only with the evidence that the interface
//! names.

use crate::{fields::Fields, lenient::text};
use tessera_model::{Dataset, Status};

/// Evidence that a change was accepted. Only the readers of this module create it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepted(());

/// The status of a response that accepts a change.
pub const ACCEPTED_STATUS: u16 = 202;

/// `POST add_media` and `POST reindex`: the status 202. The document shows no body.
pub fn read_accepted(http_status: u16) -> Option<Accepted> {
    (http_status == ACCEPTED_STATUS).then_some(Accepted(()))
}

/// `GET process/add_media`: the observed `status` is `success`.
pub fn read_processing<'a>(object: impl Into<Fields<'a>>) -> Option<Accepted> {
    let object = object.into();
    let succeeded = text(object, "status").is_some_and(|it| it.eq_ignore_ascii_case("success"));
    if !succeeded {
        object.note("status");
    }
    succeeded.then_some(Accepted(()))
}

/// Evidence from the dataset when the response was lost: it has changed since `before`, and not into
/// ERROR.
pub fn accepted_since(before: &Dataset, now: &Dataset) -> Option<Accepted> {
    let counts = |dataset: &Dataset| (dataset.n_images, dataset.n_videos);
    let changed = now.status != before.status || counts(now) != counts(before);
    (changed && now.status != Status::Error).then_some(Accepted(()))
}
