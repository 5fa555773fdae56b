//! Tests the core as a pure function: state and event go in, state and effects come out, without a
//! terminal, a network or a clock. Responses arrive stale, failed, repeated and out of order on
//! purpose.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod additions;
mod basket;
mod check;
mod comparison;
mod components;
mod copying;
mod diverse;
mod duplicates;
mod exports;
mod file_actions;
mod frames;
mod get_model;
mod jobs;
mod kept_tags;
mod layout;
mod login;
mod manage_dataset;
mod map;
mod members;
mod mosaic;
mod mouse;
mod path_fields;
mod plots;
mod query;
mod reads;
mod region;
mod results;
mod searching;
mod session;
mod split;
mod tagging;
mod terminal;
mod viewer;
mod way;
mod welcome;
