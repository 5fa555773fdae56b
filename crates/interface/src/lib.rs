//! The terminal interface without a terminal: the state of everything that is on the screen, what each event changes,
//! and the drawing. It is pure: no network, no files, no clock and no threads.

pub mod app;
pub mod command_lines;
pub mod drawing;
pub mod file_uri;
pub mod job;
pub mod message;
pub mod printable_text;
pub mod remote;
pub mod ui;
