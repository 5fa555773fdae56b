//! The local deployment: the whole dataset media service over folders of one machine.
//!
//! [`Deployment::open`] opens an index folder, [`Deployment::add_folder`] adds a dataset, and
//! [`Deployment::serve`] serves the HTTP API. Layers, lowest first: `index`, `similarity`, `cluster` and
//! `text` compute; `ingest` and `object_storage` read media; `store` keeps rows; `retrieval` ranks; `archive`
//! writes exports; `task` runs background work; `usecase` decides what a request may do; `http` speaks HTTP.

mod archive;
pub mod cluster;
mod common_settings;
mod content_disposition;
mod deployment;
mod error;
pub mod file_stat;
mod http;
pub mod index;
pub mod ingest;
mod issues;
pub mod learned_model;
pub mod network_file_system;
pub mod object_storage;
mod originals;
mod path_display;
mod retrieval;
mod settings;
mod signed_link;
pub mod similarity;
pub mod store;
mod stored_pictures;
mod task;
mod task_error;
pub mod text;
mod uploads;
mod usecase;

pub use deployment::{Deployment, SkippedFile};
pub use error::LocalError;
pub use http::{
    AccessLog, AccessMode, AccessRecord, AllowedHost, OPENAPI_PATH, ServerLimits, ServerOptions,
    ServiceCredentials,
};
pub use retrieval::{CaptionIndex, CaptionIndexBuilder};
pub use settings::{DeploymentSettings, InjectedFailure};
pub use task::EXTRACTOR_VERSION;
