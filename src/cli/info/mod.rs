//! `tessera completion`, `man`, `spec` and `version`, derived from the command line definition.

mod man;
mod spec;

use std::{
    fs,
    path::{Path, PathBuf},
};

use clap::{Command, Subcommand};
use clap_complete::Shell;
use serde_json::json;

use crate::cli::{CliError, CliResult, Column, Document, Exit, Output, completion::shell_script};

#[derive(Debug, Subcommand)]
pub enum InfoCommand {
    /// Print the script that lets a shell complete commands, options and names.
    #[command(after_help = COMPLETION_EXAMPLES)]
    Completion {
        /// The shell.
        shell: Shell,
    },
    /// Print the manual in the format that `man -l -` reads.
    Man {
        /// Write the manual to this directory instead, one page per command.
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
    /// Describe every command, option, exit code and document as JSON.
    Spec,
    /// Show version information.
    Version,
}

const COMPLETION_EXAMPLES: &str = "\
Examples:
  tessera completion bash > ~/.local/share/bash-completion/completions/tessera
  tessera completion zsh  > ~/.zfunc/_tessera
  tessera completion fish > ~/.config/fish/completions/tessera.fish";

/// Environment variables that do not correspond to an option.
const ENVIRONMENT_VARIABLES: [(&str, &str); 18] = [
    (
        "TESSERA_API_KEY",
        "API key of the hosted deployment in TESSERA_BASE_URL or TESSERA_PROFILE; it and its secret \
         are sent to no other",
    ),
    ("TESSERA_API_SECRET_FILE", "file with the secret of the key; safer than the next one"),
    ("TESSERA_API_SECRET", "secret of the key"),
    ("TESSERA_COMPLETE", "set by scripts of `tessera completion`: the shell that asks for names"),
    ("NO_COLOR", "no color, if set and not empty"),
    ("FORCE_COLOR, CLICOLOR_FORCE", "color without a terminal too, if neither empty nor 0"),
    ("TERM", "dumb: no color, no redrawing"),
    ("COLORTERM", "truecolor or 24bit: exact colors"),
    ("COLUMNS", "width of tables in columns"),
    ("ACCESSIBLE", "the same as --accessible, if neither empty nor 0"),
    ("VISUAL, EDITOR", "editor for multi-line text"),
    ("HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY", "proxies for services and pictures"),
    ("XDG_CONFIG_HOME", "settings, keys and themes, below tessera/"),
    ("XDG_STATE_HOME", "jobs, selections and history, below tessera/"),
    ("XDG_DATA_HOME", "index of local deployments, below tessera/"),
    ("TMUX, STY, ZELLIJ", "inside these, pictures are drawn with half-blocks by default"),
    ("SSH_CONNECTION", "longer timeout for terminal queries"),
    ("TMPDIR", "temporary files of uploads to a local deployment"),
];

const VERSION_COLUMNS: &[Column] = &[
    Column::new("tessera", "version"),
    Column::new("interface", "interface"),
    Column::new("platform", "platform"),
];

/// `root` is the definition of the command line.
pub fn run_info(out: &Output, command: InfoCommand, root: Command) -> CliResult {
    match command {
        InfoCommand::Completion { shell } => {
            out.print_text(&shell_script(&shell.to_string())?)?;
        }
        InfoCommand::Man { dir: None } => {
            out.print_text(&man::render_page(&root).map_err(|error| unwritten(&error))?)?;
        }
        InfoCommand::Man { dir: Some(folder) } => write_pages(out, &folder, root)?,
        InfoCommand::Spec => {
            out.print_whole(&spec::spec_document(root).map_err(|error| unwritten(&error))?)?;
        }
        InfoCommand::Version => {
            let version = json!({
                "version": env!("CARGO_PKG_VERSION"),
                "interface": tessera_wire::endpoints::API_PREFIX,
                "platform": format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
            });
            out.print(&Document::one("tessera.version/1", version, VERSION_COLUMNS))?;
        }
    }
    Ok(Exit::Done)
}

fn write_pages(out: &Output, folder: &Path, root: Command) -> CliResult<()> {
    let refused =
        |error: std::io::Error| CliError::usage(format!("--dir {}: {error}", folder.display()));
    fs::create_dir_all(folder).map_err(refused)?;
    for (name, page) in man::render_all(root).map_err(|error| unwritten(&error))? {
        let path = folder.join(name);
        fs::write(&path, page).map_err(refused)?;
        out.print_text(&format!("{}\n", path.display()))?;
    }
    Ok(())
}

fn unwritten(error: &std::io::Error) -> CliError {
    CliError::io("describe the commands", error)
}
