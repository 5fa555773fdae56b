//! What the program tells about itself, for shells, readers and programs: `completion`, `man`, `spec`
//! and `version`. All of it is read from the command line as it is defined, and needs no settings.

mod man;
mod spec;

use std::{
    fs,
    path::{Path, PathBuf},
};

use clap::{CommandFactory as _, Subcommand};
use clap_complete::Shell;
use serde_json::json;

use crate::cli::{Cli, CliError, Column, Document, Exit, Output};

/// The commands.
#[derive(Debug, Subcommand)]
pub enum InfoCommand {
    /// Print the completions for a shell.
    #[command(after_help = COMPLETION_EXAMPLES)]
    Completion {
        /// The shell.
        shell: Shell,
    },
    /// Print the manual, as `man -l -` reads it.
    Man {
        /// Write it and a page for each command into this folder instead.
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
    /// Describe every command, option, exit code and document as JSON.
    Spec,
    /// Tell the version, and the platform it was built for.
    Version,
}

const COMPLETION_EXAMPLES: &str = "\
Examples:
  tessera completion bash > ~/.local/share/bash-completion/completions/tessera
  tessera completion zsh  > ~/.zfunc/_tessera
  tessera completion fish > ~/.config/fish/completions/tessera.fish";

/// A variable of the environment and what it is for, beside those that stand for an option.
const ENVIRONMENT_VARIABLES: [(&str, &str); 17] = [
    ("TESSERA_API_KEY", "names the key of a hosted deployment"),
    (
        "TESSERA_API_SECRET_FILE",
        "a file that holds the secret of the key; better than the next one",
    ),
    ("TESSERA_API_SECRET", "the secret of the key"),
    ("NO_COLOR", "no colour, when set and not empty"),
    ("FORCE_COLOR, CLICOLOR_FORCE", "colour also where no terminal is, when neither empty nor 0"),
    ("TERM", "dumb: no colour, nothing drawn over"),
    ("COLORTERM", "truecolor or 24bit: colours are drawn as they are"),
    ("COLUMNS", "cells of a line of a table"),
    ("ACCESSIBLE", "the same as --accessible, when neither empty nor 0"),
    ("VISUAL, EDITOR", "the editor for texts of several lines"),
    ("HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY", "the way to services and pictures"),
    ("XDG_CONFIG_HOME", "settings, keys and themes, below tessera/"),
    ("XDG_STATE_HOME", "jobs, selections and history, below tessera/"),
    ("XDG_DATA_HOME", "the index of local deployments, below tessera/"),
    (
        "TMUX, STY, ZELLIJ",
        "inside these pictures are drawn with half-blocks unless asked otherwise",
    ),
    ("SSH_CONNECTION", "a terminal that is asked what it draws has longer to answer"),
    ("TMPDIR", "uploads on their way through a local deployment"),
];

const VERSION_COLUMNS: &[Column] = &[
    Column::new("tessera", "version"),
    Column::new("interface", "interface"),
    Column::new("platform", "platform"),
];

/// Runs one of them.
///
/// # Errors
/// Standard output is closed, or the folder for the manual cannot be written.
pub fn run_info(out: &Output, command: InfoCommand) -> Result<Exit, CliError> {
    match command {
        InfoCommand::Completion { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "tessera", &mut script);
            out.print_text(&String::from_utf8_lossy(&script))?;
        }
        InfoCommand::Man { dir: None } => out.print_text(&man::render_page(&Cli::command())?)?,
        InfoCommand::Man { dir: Some(folder) } => write_pages(out, &folder)?,
        InfoCommand::Spec => out.print_whole(&spec::spec_document(Cli::command())?)?,
        InfoCommand::Version => {
            let version = json!({
                "version": env!("CARGO_PKG_VERSION"),
                "interface": tessera_wire::paths::API_PREFIX,
                "platform": format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
            });
            out.print(&Document::one("tessera.version/1", version, VERSION_COLUMNS))?;
        }
    }
    Ok(Exit::Done)
}

/// Writes a page for the program and one for each command, and prints their names.
fn write_pages(out: &Output, folder: &Path) -> Result<(), CliError> {
    let refused = |error: std::io::Error| {
        CliError::new(Exit::Usage, format!("--dir {}: {error}", folder.display()))
    };
    fs::create_dir_all(folder).map_err(refused)?;
    for (name, page) in man::render_all(Cli::command())? {
        let path = folder.join(name);
        fs::write(&path, page).map_err(refused)?;
        out.print_text(&format!("{}\n", path.display()))?;
    }
    Ok(())
}
