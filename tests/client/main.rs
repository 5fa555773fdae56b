//! The client and its worker against a server that misbehaves by script: faults of the network
//! and of services, downloads, and what the worker promises.

#![expect(clippy::unwrap_used, reason = "a test that fails here fails rightly")]

#[path = "../support/canaries.rs"]
mod canaries;
#[path = "../support/clients.rs"]
mod clients;
#[expect(dead_code, reason = "other tests use the rest")]
#[path = "../support/scripted.rs"]
mod scripted;

mod downloads;
mod faults;
mod links;
mod log;
mod uploads;
mod worker;
