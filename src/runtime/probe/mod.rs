//! Detects what the terminal can draw.

mod capabilities;
mod environment;
mod late_replies;
mod query;
mod replies;

pub use capabilities::Capabilities;
pub use environment::Environment;
pub use late_replies::LateReplyFilter;
pub use query::{cell_size, probe, probe_for_command};
