//! Does what the commands and the interface share with profiles and their logins, fetches the members of clusters,
//! judges the media items of a dataset, and acts on the originals of local datasets. Nothing here needs a terminal or a
//! command line, because the caller asks the user and presents the outcome.

use std::any::Any;

use tessera_model::Failure;
use tokio::task::spawn_blocking;

pub mod check;
mod cluster_members;
pub mod dataset_summary;
pub mod file_actions;
mod import_key_pair;
pub mod leaks;
pub mod media_rows;
pub mod missing_media;
pub mod models;
mod profiles;
mod secrets;
pub mod split;

pub use cluster_members::{MemberReader, WantedMembers};
pub use import_key_pair::{IssueError, IssuedKeyPair, KeyPairOwner, SaveError, issue_key_pair};
pub use profiles::{NewProfile, check_value, create_profile, require_source};
pub use secrets::{SecretSource, find_secret, open_secrets, preferred_place, secret_location};

/// Runs blocking work on a blocking thread. A panic becomes an internal error. The work is boxed, because the compiler
/// would otherwise generate the tasks of the runtime once for every caller.
pub async fn run_blocking<T, E>(
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, E>
where
    T: Send + 'static,
    E: From<Failure> + Send + 'static,
{
    let boxed: Box<dyn FnOnce() -> Box<dyn Any + Send> + Send> = Box::new(|| Box::new(work()));
    let result = spawn_blocking(boxed).await.ok().and_then(|result| result.downcast().ok());
    result.map_or_else(|| Err(Failure::internal_error().into()), |result| *result)
}
