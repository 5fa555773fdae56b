//! Tests of `tessera::state`, one file per topic.

mod formats;
mod named_selections;
mod store;
mod stored_jobs;
