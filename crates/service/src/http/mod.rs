//! The API. A handler parses a request, calls one use case, and writes the response.

mod add_media;
mod app_state;
mod auth;
mod checked_routes;
mod compat;
mod connection_monitor;
mod connections;
mod credentials;
mod dataset;
mod explore;
mod export;
mod local_dataset;
mod long_json;
mod media;
mod metrics;
mod monitored_stream;
mod multipart_form;
mod openapi;
mod options;
mod origin_check;
mod parameters;
mod prelude;
mod probes;
mod problem;
mod query_image;
mod request_body;
mod request_observer;
mod server;
mod signed_links;
mod tags;

use app_state::AppState;
pub use credentials::revoke_access;
pub use openapi::OPENAPI_PATH;
pub use options::{AccessMode, AllowedHost, ServerLimits, ServerOptions, ServiceCredentials};
pub use request_observer::{AccessLog, AccessRecord};
