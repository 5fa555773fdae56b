//! The client and its worker against a server that misbehaves by script: faults of the network
//! and of services, downloads, and what the worker promises.

#![expect(clippy::unwrap_used, reason = "a test that fails here fails rightly")]

mod downloads;
mod faults;
mod interface;
mod links;
mod log;
mod retry_table;
mod uploads;
