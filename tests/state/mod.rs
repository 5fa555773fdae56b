//! Tests of `tessera::state`.

mod formats;
mod named_selections;
mod store;
mod stored_jobs;
