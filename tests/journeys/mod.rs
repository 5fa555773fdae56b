//! Level 6: journeys. Keys in, screen out, through the real core, worker and client, by HTTP,
//! against a real local deployment over painted pictures. A journey waits for rest (no answer is
//! awaited), never for time; the clock of the core is moved by hand.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod exporting;
mod harness;
mod jobs;
mod looking;
mod losing;
mod marking;
mod querying;
mod region;
mod results;
mod way;
