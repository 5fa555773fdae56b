//! The local deployment: `serve`, `work`, `demo`, `open` and local profiles. Builds without the feature
//! `local` contain stubs that report its absence.

#[cfg(feature = "local")]
mod access_log;
#[cfg(feature = "local")]
mod added_models;
#[cfg(feature = "local")]
mod demo;
#[cfg(feature = "local")]
mod explanation;
#[cfg(feature = "local")]
mod model;
#[cfg(feature = "local")]
mod model_folder;
#[cfg(feature = "local")]
mod serve;
mod serve_options;
#[cfg(feature = "local")]
mod service;
#[cfg(feature = "local")]
mod settings;
#[cfg(feature = "local")]
mod stop_signals;
#[cfg(feature = "local")]
mod store;
#[cfg(feature = "local")]
mod store_check;
#[cfg(not(feature = "local"))]
mod unavailable;
#[cfg(feature = "local")]
mod work;
mod work_options;

pub use serve_options::ServeOptions;
#[cfg(not(feature = "local"))]
pub use unavailable::*;
pub use work_options::WorkOptions;
#[cfg(feature = "local")]
pub use {
    demo::{run_text_tour, start_demo},
    model::run_model,
    model_folder::model_folder,
    serve::serve,
    service::LocalService,
    settings::{LocalSettings, check_storage_folder, local_settings},
    store::run_store,
    store_check::check_store,
    tessera_search::text::language::LanguageChoice,
    tessera_service::InjectedFailure,
    tessera_store::lock_holder,
    work::work,
};
