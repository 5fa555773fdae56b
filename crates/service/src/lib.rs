//! The local deployment: the whole dataset media service, over the folders of one machine.
//!
//! [`Deployment::open`] opens an index folder, [`Deployment::add_folder`] adds a dataset, and [`Deployment::serve`]
//! serves the API. `http` speaks HTTP, `usecase` decides what a request may do, `task` runs background work, and
//! `archive` writes exports.

mod archive;
mod deployment;
mod error;
mod folder_watch;
mod http;
mod links;
mod opened_archive;
mod originals;
mod settings;
mod tag_file;
mod task;
mod task_error;
mod uploads;
mod usecase;

pub use deployment::Deployment;
pub use error::LocalError;
pub use folder_watch::FolderWatch;
pub use http::{
    AccessLog, AccessMode, AccessRecord, AllowedHost, OPENAPI_PATH, ServerLimits, ServerOptions,
    ServiceCredentials, revoke_access,
};
pub use settings::{DeploymentSettings, InjectedFailure, OriginalPaths};
pub use task::EXTRACTOR_VERSION;
pub use tessera_retrieval::ModelChoice;
