//! The tests of the terminal program, in one binary: linking one is what a change costs.

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
