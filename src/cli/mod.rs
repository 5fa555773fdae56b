//! Contains the command line, and the commands that need no interface. Each noun of the command
//! line has a file or a folder.
//!
//! Output goes to standard output, and messages go to standard error.

mod analysis;
mod api;
mod auth;
mod command_line;
mod completion;
mod config;
mod connection;
mod context;
mod dataset;
mod dataset_folder;
mod deployment;
mod doctor;
mod doctor_result;
mod duplicates;
mod enrichment;
mod exit;
mod export;
mod global_options;
mod help;
mod image;
mod info;
mod input_options;
mod job_recorder;
mod jobs;
mod keyboard;
#[cfg(feature = "local")]
mod local;
#[cfg(not(feature = "local"))]
#[path = "unavailable.rs"]
mod local;
mod login;
mod mcp;
mod media;
mod messages;
mod output;
mod polling;
mod prelude;
mod profile;
mod query;
mod reindex;
mod search;
mod selection;
mod service_options;
mod set;
mod tag;
mod terminal_changes;
mod values;

pub use command_line::{
    Cli, CliCommand, HeadlessCommand, InterfaceCommand, StartPane, TuiOptions, definition,
    parse_args, print_help, refuse_before_change, run, run_until_interrupted,
};
pub use completion::print_candidates;
pub use config::run as configure;
pub use connection::Connection;
pub use context::{Context, TerminalInfo};
pub use deployment::{
    LOCAL_NAME, ServiceTarget, profile_by_name, profile_client, profile_client_without_secret,
    select_target,
};
pub use doctor::{DoctorOptions, run_doctor};
pub use doctor_result::DoctorResult;
pub use exit::{CliError, CliResult, Exit};
pub use global_options::{GlobalOptions, PrintFormat};
pub use image::{DrawOptions, NamedPicture, draw_pictures};
pub use info::{InfoCommand, run_info};
pub use job_recorder::JobRecorder;
pub use local::{
    LocalService, LocalSettings, check_storage_folder, local_settings, model_folder, run_model,
    run_store, run_text_tour, serve, start_demo, work,
};
pub use messages::{Messages, is_capable_terminal};
pub use output::{Column, Document, Output};
pub use service_options::{FolderOpening, ModelOptions, PatternOptions, ServeOptions, WorkOptions};
pub use values::{absolute_path, missing_folder, read_file_or_stdin, timestamp_now};
