//! The interface for screen readers and pipes (`--accessible`): numbered prompts and sentences.

mod announcer;
mod export;
mod sentences;
mod session;

pub use announcer::Announcer;
pub use session::{AccessibleOptions, run};
