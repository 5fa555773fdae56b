//! Journeys: keys go in and screens come out, through the real core, worker and client, over HTTP,
//! against a real local deployment with painted pictures. A journey waits until no response is
//! pending, never for a duration. Tests move the clock of the core.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod duplicates;
mod exporting;
mod harness;
mod jobs;
mod looking;
mod losing;
mod map;
mod marking;
mod querying;
mod region;
mod results;
mod way;
