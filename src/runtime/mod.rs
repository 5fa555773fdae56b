//! Runs the core in a terminal: input, output and signals.

mod alerts;
mod clipboard;
mod event_loop;
pub mod frames;
mod input;
mod options;
pub mod probe;
mod session;
mod signals;
pub mod terminal;
pub mod welcome_loop;

pub(crate) use crate::subprocess::{edit_text, run_in_terminal};
pub use clipboard::explain_copies;
pub use event_loop::{RunOutcome, run};
pub(crate) use input::sleep_until;
pub use options::RuntimeOptions;
pub use session::RunningApp;
pub use signals::{SignalReceiver, watch_signals};
