//! What the tests of several crates share: clients, a scripted server, the secrets that must never
//! appear in output, and pictures of the sample dataset.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::missing_panics_doc,
    clippy::must_use_candidate,
    reason = "a test fails by panicking"
)]

pub mod canaries;
pub mod clients;
pub mod paintings;
pub mod scripted;
