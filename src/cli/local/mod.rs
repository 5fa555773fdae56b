//! Contains the local deployment: `serve`, `work`, `demo`, `open` and local profiles. Builds without the feature
//! `local` have `cli/unavailable.rs` in its place.

mod access_log;
mod demo;
mod files;
mod listening;
mod model;
mod requirements;
mod serve;
mod service;
mod store;

pub use crate::usecase::models::model_folder;
pub use demo::{run_text_tour, start_demo};
pub use model::run_model;
pub use requirements::check_requirements;
pub use serve::{serve, work};
pub use service::{LocalService, LocalSettings, check_storage_folder, local_settings};
pub use store::{check_store, run_store};

use tessera_search::text::{full_text_query, language::Language};

/// Returns the version of the library that stores local deployments.
pub fn sqlite_version() -> &'static str {
    tessera_store::sqlite::version()
}

/// Returns why the local service refuses a full-text query. The reason is the same in all languages.
pub fn full_text_error(text: &str) -> Option<String> {
    full_text_query::parse(text, Language::default()).err().map(|error| error.to_string())
}
