//! The state folder: values that outlive the program, a JSON file per [`tessera_model::StateKey`].

mod history_json;
mod instance_files;
mod jobs_json;
mod query_json;
mod selection_files;
mod selection_json;
mod session_json;
mod state_files;
mod store;
mod stored_jobs;
mod typed;
mod views_json;

pub use jobs_json::job_to_json;
pub use selection_files::{open_selection, read_selection, save_selection};
pub use selection_json::write as write_selection;
pub use store::StateStore;
pub use stored_jobs::StoredJob;
pub use views_json::write as write_views;
