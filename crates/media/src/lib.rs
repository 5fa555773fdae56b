//! Reads media from outside, within limits: folders, sidecars, texts inside pictures, images inside Parquet files,
//! uploads, archives and buckets. Nothing here depends on the store or on a dataset.

pub mod ingest;
pub mod network_file_system;
pub mod object_storage;
