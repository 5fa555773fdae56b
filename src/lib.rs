//! Tessera: see, search and curate image and video datasets from a terminal.
//!
//! One flow carries the whole program: a key becomes an event, `App::update` of `tessera-interface` turns it into
//! effects, the runtime hands requests to the worker, the worker calls the service through `tessera-client`, and the
//! response comes back as an event. `tessera-service` is a complete service over folders of this machine. The client
//! reaches it by HTTP like any other service.
//!
//! Cargo enforces which crate may use which. `tests/architecture.rs` enforces which module of this crate may import
//! which, also from the crates of the interface and the settings:
//!
//! ```text
//! layer 0   credentials   environment   process_signals   state
//! layer 1   subprocess -> credentials
//! layer 2   usecase -> credentials, state, subprocess
//! layer 3   worker -> environment, state, subprocess, usecase
//!           cli -> credentials, environment, process_signals, state, subprocess, usecase
//! layer 4   runtime -> environment, process_signals, subprocess, worker
//! layer 5   accessible -> worker, runtime
//! layer 6   main, launcher -> everything
//! ```

pub mod accessible;
pub mod cli;
pub mod credentials;
mod environment;
pub mod process_signals;
pub mod runtime;
pub mod state;
mod subprocess;
pub mod usecase;
pub mod worker;
