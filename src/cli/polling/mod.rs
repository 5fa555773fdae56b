//! Polls an operation of the service until it finishes: reports each change, prints a heartbeat,
//! and stops at the timeout.
//!
//! Connection losses do not end it, because the operation continues at the service.

mod events;
mod operations;
mod poller;

pub use events::StatusChange;
pub use poller::Poller;
