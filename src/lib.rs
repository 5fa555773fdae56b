//! Tessera: see, search and curate image and video datasets from a terminal.
//!
//! One flow carries the whole program: a key becomes an event, `app::update` turns it into
//! effects, the runtime hands requests to the worker, the worker calls the service through
//! `tessera-client`, and the response comes back as an event. `tessera-service` is a complete
//! service over folders of this machine. The client reaches it by HTTP like any other service.
//!
//! Cargo enforces which crate may use which; `tests/architecture.rs` enforces which module of this
//! crate may import which:
//!
//! ```text
//! layer 0   input   job -> remote   message -> job, custom_command
//!           command_lines   printable_text   custom_command   credentials   inherited_signals
//!           file_uri   tables
//! layer 1   config -> input, custom_command    subprocess -> credentials, custom_command
//! layer 2   state -> config                 drawing -> config
//!           usecase -> config, credentials
//! layer 3   worker -> message, custom_command, state, usecase
//!           app -> job, message, custom_command, input, config, drawing, file_uri
//!           cli -> config, credentials, state, job, usecase
//! layer 4   ui -> input, config, drawing, app
//! layer 5   runtime -> app, ui, worker
//! layer 6   accessible -> app, ui, worker, runtime
//! layer 7   main, launcher -> everything
//! ```

pub mod accessible;
pub mod app;
pub mod cli;
mod command_lines;
pub mod config;
pub mod credentials;
pub mod custom_command;
pub mod drawing;
mod file_uri;
mod inherited_signals;
pub mod input;
pub mod job;
pub mod message;
mod printable_text;
pub mod remote;
pub mod runtime;
pub mod state;
mod subprocess;
mod tables;
pub mod ui;
pub mod usecase;
pub mod worker;
