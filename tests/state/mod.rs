//! Tests of `tessera::state`.

mod named_selections;
mod store;
mod stored_jobs;
