//! The command line: what can be typed, and the commands that need no terminal interface.
//!
//! What was asked for goes to standard output, what is told beside it to standard error.

mod api;
mod auth;
mod config;
mod connection;
mod context;
mod dataset;
mod demo;
mod deployment;
mod doctor;
mod encoder_options;
mod enrichment;
mod exit;
mod export;
mod global_options;
mod image;
mod info;
mod init;
mod item_options;
mod job_recorder;
mod jobs;
mod login;
mod media;
mod messages;
mod output;
mod polling;
mod profile;
mod query;
mod reindex;
mod saved_search;
mod search;
mod selection;
mod serve;
mod set_algebra;
mod target_dataset;

use std::{
    ffi::OsString, io::Write as _, net::SocketAddr, path::PathBuf, pin::pin, time::Duration,
};

use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};
use tokio::time::timeout;

pub use config::run as configure;
pub use connection::Connection;
pub use context::{Context, read_file_or_stdin};
pub use demo::{run_text_tour, start_demo};
pub use deployment::{
    LocalService, ServiceAddress, ServiceTarget, address_client, profile_by_name, profile_client,
    select_target,
};
pub use doctor::{DoctorOptions, run_doctor};
pub use encoder_options::EncoderOptions;
pub use exit::{CliError, Exit};
pub use global_options::{DeploymentKind, GlobalOptions, PrintFormat};
pub use image::{NamedPicture, TerminalInfo, draw_pictures};
pub use info::{InfoCommand, run_info};
pub use job_recorder::JobRecorder;
pub use login::open_secrets;
pub use output::{Column, Document, Output};
pub use serve::{report_skipped, serve};

use tessera_service::InjectedFailure;

/// See, search and curate image and video datasets from a terminal.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100, after_help = help_footer())]
pub struct Cli {
    /// What every command takes.
    #[command(flatten)]
    pub global: GlobalOptions,

    /// What to do.
    #[command(subcommand)]
    pub command: Option<CliCommand>,
}

const HELP_EXAMPLES: &str = "\
Examples:
  tessera                         ask what to open, or open the default profile
  tessera demo                    paint a sample dataset and open it
  tessera open ~/photos           open a folder of pictures
  tessera serve ~/photos          serve it to other programs
  tessera --base-url https://media.example --kind hosted
                                  open a service; TESSERA_API_KEY and TESSERA_API_SECRET log in
";

/// Examples and exit codes, below the help.
fn help_footer() -> String {
    let codes = Exit::ALL.map(|exit| format!("  {:<4}{}\n", exit as i32, exit.meaning()));
    format!("{HELP_EXAMPLES}\nExit codes:\n{}", codes.concat().trim_end())
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum CliCommand {
    /// What opens the interface.
    #[command(flatten)]
    Interface(InterfaceCommand),
    /// Serve folders of pictures over HTTP, in the words of the interface.
    Serve(ServeOptions),
    /// What needs no interface.
    #[command(flatten)]
    Headless(HeadlessCommand),
    /// Show, change and check settings.
    #[command(subcommand)]
    Config(config::ConfigCommand),
    /// Look at the terminal, the settings, the profiles and their logins, and tell what is wrong.
    Doctor(DoctorOptions),
    /// What the program tells about itself.
    #[command(flatten)]
    Info(InfoCommand),
}

/// The commands that open the interface.
#[derive(Debug, Subcommand)]
pub enum InterfaceCommand {
    /// Paint a sample dataset and open it; without a terminal, tell the same as text.
    Demo {
        /// How many images are painted.
        #[arg(long, default_value_t = 240, value_parser = clap::value_parser!(u32).range(12..=100_000))]
        images: u32,
        /// Folder for the images and their index.
        #[arg(long, value_name = "DIR")]
        data: Option<PathBuf>,
    },
    /// Open a folder of pictures: index it and browse it.
    Open {
        /// The folder.
        folder: PathBuf,
        /// Folder for the index.
        #[arg(long, value_name = "DIR")]
        data: Option<PathBuf>,
        /// A person's own encoders.
        #[command(flatten)]
        encoders: EncoderOptions,
    },
    /// Open the interface at a place.
    Tui(TuiOptions),
    /// Make the first profile: by questions in a terminal, or of the environment or a folder.
    Init(init::InitOptions),
}

/// The commands that ask a deployment, and need no interface.
#[derive(Debug, Subcommand)]
pub enum HeadlessCommand {
    /// Send any request of the interface, with the login of the profile, once.
    Api(api::ApiOptions),
    /// Import, check and remove the key pair of a profile; print a token.
    #[command(subcommand)]
    Auth(auth::AuthCommand),
    /// List, show and follow datasets.
    #[command(subcommand)]
    Dataset(dataset::DatasetCommand),
    /// Show which models were applied to a dataset.
    #[command(subcommand)]
    Enrichment(enrichment::EnrichmentCommand),
    /// Start, follow, fetch and inspect exports.
    #[command(subcommand)]
    Export(export::ExportCommand),
    /// Draw pictures in the terminal.
    #[command(subcommand)]
    Image(image::ImageCommand),
    /// List, show and follow what was started from this machine.
    #[command(subcommand)]
    Jobs(jobs::JobsCommand),
    /// Add media to datasets.
    #[command(subcommand)]
    Media(media::MediaCommand),
    /// List, show, add and remove the deployments that have a name.
    #[command(subcommand)]
    Profile(profile::ProfileCommand),
    /// Write, check and keep queries.
    #[command(subcommand)]
    Query(query::QueryCommand),
    /// Cluster a dataset anew, after media were added.
    Reindex(reindex::ReindexOptions),
    /// Search a dataset: by text, picture, media, anchor or filters.
    #[command(subcommand)]
    Search(search::SearchCommand),
    /// Mark media and clusters, for exports of a part of a dataset.
    #[command(subcommand)]
    Selection(selection::SelectionCommand),
    /// Put two answers of searches together.
    #[command(subcommand)]
    Set(set_algebra::SetCommand),
}

/// The command line of this process. Ends the process where it cannot be understood, or only asks for
/// help.
#[must_use]
pub fn parse_args() -> Cli {
    let line = Cli::command().try_get_matches().and_then(|matches| {
        let mut line = Cli::from_arg_matches(&matches)?;
        line.global.prefer_typed(&matches);
        Ok(line)
    });
    line.unwrap_or_else(|refused| {
        let wants_document = |word: OsString| {
            let word = word.to_string_lossy().into_owned();
            ["--json", "--jsonl", "--jq"].contains(&word.split('=').next().unwrap_or_default())
        };
        if refused.use_stderr() && std::env::args_os().any(wants_document) {
            let words = refused.render().to_string();
            let sentence = words.split("\n\n").next().unwrap_or_default();
            let sentence = sentence.trim_start_matches("error: ").trim();
            std::process::exit(CliError::new(Exit::Usage, sentence).report(true));
        }
        refused.exit()
    })
}

/// Tells the short help on standard error: nothing was asked for.
///
/// # Errors
/// Standard error is closed.
pub fn print_help() -> std::io::Result<()> {
    let help = Cli::command().render_help();
    writeln!(std::io::stderr(), "{help}")
}

impl CliCommand {
    /// The command behind another name of it.
    #[must_use]
    pub fn canonical(self) -> Self {
        match self {
            Self::Headless(HeadlessCommand::Dataset(dataset::DatasetCommand::Open { dataset })) => {
                Self::Interface(InterfaceCommand::Tui(TuiOptions {
                    at: dataset,
                    tab: None,
                    view: None,
                }))
            }
            other => other,
        }
    }
}

/// The options of `tui`.
#[derive(Debug, Args)]
pub struct TuiOptions {
    /// The dataset: its id or its name.
    pub at: Option<String>,
    /// The pane that takes the keys.
    #[arg(long, value_name = "PANE")]
    pub tab: Option<StartPane>,
    /// A saved view, by its name.
    #[arg(long, value_name = "NAME")]
    pub view: Option<String>,
}

/// A pane of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StartPane {
    /// List of datasets and the status of one.
    Datasets,
    /// Clusters as tiles.
    Results,
    /// One preview, large.
    Detail,
    /// The filters of the search.
    Query,
    /// What takes time.
    Jobs,
    /// What is marked.
    Basket,
}

/// The options of `serve`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that stands alone")]
pub struct ServeOptions {
    /// The folders; one dataset each.
    #[arg(required_unless_present = "explain")]
    pub folders: Vec<PathBuf>,
    /// Address and port; port 0 takes a free one.
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:0")]
    pub listen: SocketAddr,
    /// Folder for the index.
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Without login, as an on-premises deployment; on this machine only.
    #[arg(long)]
    pub no_auth: bool,
    /// Accept and answer what public clients send beyond the interface; --explain lists it.
    #[arg(long)]
    pub compat: bool,
    /// Nobody may change a dataset: adding media and reindexing answer 403.
    #[arg(long)]
    pub read_only: bool,
    /// Switch off the feature of adding media.
    #[arg(long)]
    pub no_add_media: bool,
    /// A folder below which `process/add_media` may read, beside those served; repeatable.
    #[arg(long, value_name = "DIR")]
    pub allow_path: Vec<PathBuf>,
    /// Let every operation and export take at least so long, to look at passing states.
    #[arg(long, value_name = "SECONDS", default_value_t = 0,
          value_parser = clap::value_parser!(u64).range(0..=3600))]
    pub slow_progress: u64,
    /// Let a part fail, to look at rare states; repeatable.
    #[arg(long, value_name = "WHAT", value_parser = parse_failing)]
    pub fail: Vec<InjectedFailure>,
    /// A person's own encoders.
    #[command(flatten)]
    pub encoding: EncoderOptions,
    /// Tell what the interface leaves open and what is done here, and end.
    #[arg(long)]
    pub explain: bool,
}

fn parse_failing(raw: &str) -> Result<InjectedFailure, String> {
    InjectedFailure::parse(raw).ok_or_else(|| {
        let words = InjectedFailure::ALL.map(InjectedFailure::as_str).join(", ");
        format!("there are {words}")
    })
}

/// Time for the last words of a command that was interrupted.
const INTERRUPT_GRACE: Duration = Duration::from_secs(1);

/// Runs a command that needs no interface.
///
/// # Errors
/// The command ends early; a person who interrupts it is one reason.
pub async fn run(context: &Context, command: HeadlessCommand) -> Result<Exit, CliError> {
    let work = async {
        match command {
            HeadlessCommand::Api(command) => api::run(context, command).await,
            HeadlessCommand::Auth(command) => auth::run(context, command).await,
            HeadlessCommand::Dataset(command) => dataset::run(context, command).await,
            HeadlessCommand::Enrichment(command) => enrichment::run(context, command).await,
            HeadlessCommand::Export(command) => export::run(context, command).await,
            HeadlessCommand::Image(command) => image::run(context, command).await,
            HeadlessCommand::Jobs(command) => jobs::run(context, command).await,
            HeadlessCommand::Media(command) => media::run(context, command).await,
            HeadlessCommand::Profile(command) => profile::run(context, command),
            HeadlessCommand::Query(command) => query::run(context, command).await,
            HeadlessCommand::Reindex(options) => reindex::run(context, options).await,
            HeadlessCommand::Search(command) => search::run(context, command).await,
            HeadlessCommand::Selection(command) => selection::run(context, command).await,
            HeadlessCommand::Set(command) => set_algebra::run(context, &command),
        }
    };
    let mut work = pin!(work);
    tokio::select! {
        outcome = &mut work => outcome,
        interrupted = tokio::signal::ctrl_c() => {
            interrupted?;
            if context.notify_interrupt() && let Ok(outcome) = timeout(INTERRUPT_GRACE, work).await {
                return outcome;
            }
            // The second one ends the program at once.
            Err(CliError::interrupted())
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    /// An option with the name of one of every command is read as that one: it must be of its type.
    #[test]
    fn no_command_takes_an_option_of_every_command_for_something_else() {
        fn walk(command: &clap::Command, taken: &clap::Command) {
            for option in command.get_arguments() {
                let same = taken.get_arguments().find(|known| known.get_id() == option.get_id());
                let (own, name) = (option.get_value_parser().type_id(), command.get_name());
                let fits = same.is_none_or(|known| known.get_value_parser().type_id() == own);
                assert!(fits, "{name} has another `{}`", option.get_id());
            }
            command.get_subcommands().for_each(|command| walk(command, taken));
        }
        let line = Cli::command();
        line.get_subcommands().for_each(|command| walk(command, &line));
    }
}
