//! The local deployment over plain HTTP requests, one test per documented rule and status code; and
//! its components through their public items.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails where its world is not as said"
)]

mod access_log;
mod addition;
mod annotation_formats;
mod architecture;
mod backup;
mod bucket;
mod bucket_archives;
mod bucket_dataset;
mod bucket_pictures;
mod bucket_uploads;
mod captions;
mod change;
mod changed_files;
mod citus;
mod client;
mod codes;
mod compat;
mod components;
mod connections;
mod credentials;
mod crowd;
mod damage;
mod dataset;
mod describe;
mod described;
mod duplicate_groups;
mod early;
mod elsewhere;
mod embeddings;
mod engines;
mod explore;
mod export;
mod fault_proxy;
mod faults;
mod folder;
mod formats;
mod forms;
mod guard;
mod index_files;
mod languages;
mod limits;
mod login;
mod manage_dataset;
mod map;
mod media;
mod metrics;
mod model_labels;
mod objects;
mod onprem;
mod parameters;
mod parquet_images;
mod private_data;
mod processes;
mod properties;
mod quota;
mod ranges;
mod real_s3;
mod refused;
mod restart;
mod round_trip;
mod search_tables;
mod selection;
mod shared_folder;
mod shutdown;
mod similarity;
mod statement_batch;
mod states;
mod store_outage;
mod store_tls;
mod support;
mod tags;
mod test_store;
mod text;
mod transcripts;
mod user_model;
mod video;
mod vql;
