//! Tessera: see, search and curate image and video datasets from a terminal.
//!
//! One flow carries the whole program: a key becomes an event, `app::update` turns it into
//! effects, the runtime hands requests to the worker, the worker asks the service through `api`,
//! and the answer comes back as an event. `local` is a complete service of its own over folders
//! of this machine; the client reaches it by HTTP like any other.
//!
//! Who may import whom, from the bottom up (held by `tests/architecture.rs`):
//!
//! ```text
//! layer 0   model            input                   trace
//! layer 1   wire -> model    picture -> model         message -> model, picture
//! layer 2   api  -> model, wire, picture, trace       local -> model, wire, picture
//!           config -> model, input              journal -> model, wire, config
//!           credentials -> model
//! layer 3   worker -> model, message, picture, api, journal
//!           app -> model, message, picture, input, config, wire
//! layer 4   ui -> model, picture, input, config, app  cli -> model, api, config, credentials, journal,
//!                                                       local, picture, trace, wire
//! layer 5   runtime -> app, ui, worker, message, input, config, picture, api, model, trace
//!           accessible -> api, model
//! layer 6   main, open -> everything
//! ```

pub mod accessible;
pub mod app;
pub mod cli;
mod command_lines;
pub mod config;
pub mod credentials;
pub mod input;
pub mod message;
pub mod runtime;
pub mod state;
mod subprocess;
pub mod ui;
pub mod worker;
