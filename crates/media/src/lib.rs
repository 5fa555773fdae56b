//! Reads media from outside, bounded: folders, sidecars, texts inside pictures, images inside Parquet files, uploads,
//! archives and buckets. Nothing here knows the store or a dataset.

pub mod file_stat;
pub mod ingest;
pub mod network_file_system;
pub mod object_storage;
pub mod path_display;
