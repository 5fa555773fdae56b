//! The state folder: values that outlive the program, a JSON file per [`tessera_model::StateKey`].

mod job_files;
mod jobs_json;
mod searches_json;
mod selections;
mod state_folder;

pub use job_files::StoredJob;
pub use jobs_json::job_to_json;
pub use searches_json::write_views;
pub use selections::write_selection;
pub use selections::{open_selection, read_selection, save_selection};
pub use state_folder::StateFolder;
