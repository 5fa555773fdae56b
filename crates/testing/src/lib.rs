//! Shared support for tests: clients, a scripted server, a real S3 service, certificates, services behind TLS, a model
//! hub, secrets that must not leak, sample pictures, raw files of cameras, scripts, and tiny models.
#![expect(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    clippy::must_use_candidate,
    reason = "a test fails by panicking"
)]

pub mod camera_raw;
pub mod canaries;
pub mod certificates;
pub mod clients;
pub mod full_text;
pub mod loopback_hub;
pub mod pictures;
pub mod scripted;
pub mod scripts;
pub mod seaweedfs;
pub mod server_schema;
pub mod tiny_graph;
pub mod tiny_model;
pub mod tls_service;
