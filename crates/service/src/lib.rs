//! The local deployment: the whole dataset media service over folders of one machine.
//!
//! [`Deployment::open`] opens an index folder, [`Deployment::add_folder`] adds a dataset, and [`Deployment::serve`] serves
//! the API. `archive` writes exports, `task` runs background work, `usecase` decides what a request may do, and `http`
//! speaks HTTP.

mod archive;
mod common_settings;
mod content_disposition;
mod deployment;
mod error;
mod http;
mod originals;
mod settings;
mod signed_link;
mod task;
mod task_error;
mod uploads;
mod usecase;

pub use deployment::{Deployment, SkippedFile};
pub use error::LocalError;
pub use http::{
    AccessLog, AccessMode, AccessRecord, AllowedHost, OPENAPI_PATH, ServerLimits, ServerOptions,
    ServiceCredentials,
};
pub use settings::{DeploymentSettings, InjectedFailure};
pub use task::EXTRACTOR_VERSION;
