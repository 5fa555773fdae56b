//! Contains the local deployment: `serve`, `work`, `demo`, `open` and local profiles. Builds without the feature
//! `local` contain stubs that report its absence.

#[cfg(feature = "local")]
mod access_log;
#[cfg(feature = "local")]
mod demo;
#[cfg(feature = "local")]
mod embeddings;
#[cfg(feature = "local")]
mod listening;
#[cfg(feature = "local")]
mod model;
#[cfg(feature = "local")]
mod originals;
#[cfg(feature = "local")]
mod serve;
#[cfg(feature = "local")]
mod service;
#[cfg(feature = "local")]
mod store;
#[cfg(not(feature = "local"))]
mod unavailable;

pub use crate::cli::service_options::ServeOptions;
pub use crate::cli::service_options::WorkOptions;
#[cfg(feature = "local")]
pub use crate::usecase::models::model_folder;
#[cfg(feature = "local")]
pub use demo::{run_text_tour, start_demo};
#[cfg(feature = "local")]
pub use model::run_model;
#[cfg(feature = "local")]
pub use serve::{serve, work};
#[cfg(feature = "local")]
pub use service::check_requirements;
#[cfg(feature = "local")]
pub use service::{LocalService, LocalSettings, check_storage_folder, local_settings};
#[cfg(feature = "local")]
pub use store::{check_store, run_store};
#[cfg(not(feature = "local"))]
pub use unavailable::*;
