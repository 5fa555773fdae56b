//! The client against a scripted server that misbehaves: faults of the network and of services,
//! downloads and uploads; and the local side of exports and uploads.

#![expect(clippy::unwrap_used, reason = "a test that fails here fails rightly")]

mod addresses;
mod api_bytes;
mod api_requests;
mod archives;
mod connections;
mod curl;
mod damaged_bodies;
mod download_service;
mod downloads;
mod encoded_bodies;
mod encryption;
mod extract;
mod failure_texts;
mod faults;
mod http2;
mod inspect;
mod links;
mod local_targets;
mod log;
mod memory;
mod preflight;
mod recorded;
mod recorded_readings;
mod requests;
mod responses;
mod retry_table;
mod settings;
mod test_zip;
mod tokens;
mod uploads;
