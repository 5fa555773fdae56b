//! The HTTP interface: handlers parse a request, call one use case and write the response.

mod add_media_form;
mod app_state;
mod auth;
mod checked_routes;
mod cluster_body;
mod compat;
mod compat_parameters;
mod connection_monitor;
mod connection_slots;
mod credentials;
mod dataset;
mod dataset_operations;
mod explore;
mod export;
mod file_response;
mod media;
mod multipart_form;
mod openapi;
mod options;
mod origin_check;
mod path_params;
mod problem;
mod query_image;
mod query_params;
mod router;
mod search_params;
mod selection;
mod server;
mod service_model;
mod signed_links;
mod stall_budget;
mod timed_body;

use app_state::{AppState, RequestCost};
pub use compat_parameters::HARMLESS_PARAMETERS;
pub use openapi::OPENAPI_PATH;
pub use options::{AccessMode, AllowedHost, ServerLimits, ServerOptions, ServiceCredentials};
