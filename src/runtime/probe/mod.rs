//! Detects what the terminal can draw.

mod capabilities;
mod query;
mod replies;

pub use capabilities::{Capabilities, Environment};
pub use query::{cell_size, probe, probe_for_command};
pub use replies::LateReplyFilter;
