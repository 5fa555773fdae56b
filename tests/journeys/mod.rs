//! Journeys: keys go in and screens come out, through the real core, worker and client, over HTTP,
//! against a real local deployment with painted pictures. A journey waits until no response is
//! pending, never for a duration. Tests move the clock of the core.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod exporting;
mod harness;
mod jobs;
mod local_folder;
mod looking;
mod querying;
mod way;
