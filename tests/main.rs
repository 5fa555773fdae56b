//! The tests of the terminal program are one binary, so that a change relinks only one.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod accessible;
mod architecture;
mod cli;
mod config;
mod coverage;
mod dependencies;
mod fuzz;
mod generated;
mod hostile;
mod input;
mod journeys;
mod language;
mod screens;
mod state;
mod support;
mod terminal;
mod test_store;
mod update;
mod worker;
