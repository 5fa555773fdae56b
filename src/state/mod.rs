//! Saves values that outlive the program in the state folder, with a JSON file for each
//! [`tessera_model::StateKey`].

mod job_files;
mod merge;
mod recent;
mod searches;
mod selections;
mod state_folder;

pub use recent::{read_recent, remember_place};
pub use searches::write_views;
pub use selections::{load_selection, read_selection, save_selection, write_selection};
pub use state_folder::{StateFolder, StoredJob};
