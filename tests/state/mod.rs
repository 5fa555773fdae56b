//! Tests of `tessera::state`, one file per topic.

mod formats;
mod named_selections;
mod state_folder;
mod stored_jobs;
