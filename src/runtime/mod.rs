//! The terminal program: input, output and signals around the core.

mod alerts;
pub mod cell_writer;
mod editor;
mod event_loop;
pub mod frames;
mod graphics_results;
mod input;
mod options;
pub mod probe;
mod session;
mod signals;
pub mod terminal;
mod trace_events;
pub mod welcome;

pub(crate) use editor::edit as edit_text;
pub use event_loop::{RunOutcome, run};
pub use options::RuntimeOptions;
pub use session::RunningApp;
pub use signals::{SignalReceiver, watch_signals};
