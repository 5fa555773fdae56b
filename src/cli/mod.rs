//! The command line: what can be typed, and the commands that need no terminal interface.
//!
//! What was asked for goes to standard output, what is told beside it to standard error.

mod about;
mod api;
mod auth;
mod compose;
mod config;
mod connection;
mod context;
mod dataset;
mod demo;
mod doctor;
mod encoding;
mod enrichment;
mod exit;
mod export;
mod follow;
mod global;
mod image;
mod init;
mod jobs;
mod login;
mod marks;
mod media;
mod note;
mod out;
mod profile;
mod query;
mod record;
mod reindex;
mod saved;
mod search;
mod selection;
mod serve;
mod set;
mod subject;

use std::{
    ffi::OsString, io::Write as _, net::SocketAddr, path::PathBuf, pin::pin, time::Duration,
};

use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};
use tokio::time::timeout;

pub use about::{About, about};
pub use compose::{Address, Local, Target, chosen, client_of, named, remote};
pub use config::run as configure;
pub use connection::Connection;
pub use context::{Context, read_argument};
pub use demo::{paint, tell};
pub use doctor::{Doctor, doctor};
pub use encoding::Encoding;
pub use exit::{Ended, Exit};
pub use global::{Global, Kind, Print};
pub use image::{Screen, Tile, draw};
pub use login::secrets;
pub use out::{Column, Document, Out};
pub use record::Record;
pub use serve::{serve, tell_skipped};

use tessera_service::Failing;

/// See, search and curate image and video datasets from a terminal.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100, after_help = after_help())]
pub struct Line {
    /// What every command takes.
    #[command(flatten)]
    pub global: Global,

    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
}

const EXAMPLES: &str = "\
Examples:
  tessera                         ask what to open, or open the default profile
  tessera demo                    paint a sample dataset and open it
  tessera open ~/photos           open a folder of pictures
  tessera serve ~/photos          serve it to other programs
  tessera --base-url https://media.example --kind hosted
                                  open a service; TESSERA_API_KEY and TESSERA_API_SECRET log in
";

/// Examples and exit codes, below the help.
fn after_help() -> String {
    let codes = Exit::ALL.map(|exit| format!("  {:<4}{}\n", exit as i32, exit.meaning()));
    format!("{EXAMPLES}\nExit codes:\n{}", codes.concat().trim_end())
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// What opens the interface.
    #[command(flatten)]
    Interface(Interface),
    /// Serve folders of pictures over HTTP, in the words of the interface.
    Serve(Serve),
    /// What needs no interface.
    #[command(flatten)]
    Verb(Verb),
    /// Show, change and check settings.
    #[command(subcommand)]
    Config(config::Config),
    /// Look at the terminal, the settings, the profiles and their logins, and tell what is wrong.
    Doctor(Doctor),
    /// What the program tells about itself.
    #[command(flatten)]
    About(About),
}

/// The commands that open the interface.
#[derive(Debug, Subcommand)]
pub enum Interface {
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
        encoding: Encoding,
    },
    /// Open the interface at a place.
    Tui(Tui),
    /// Make the first profile: by questions in a terminal, or of the environment or a folder.
    Init(init::Init),
}

/// The commands that ask a deployment, and need no interface.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Send any request of the interface, with the login of the profile, once.
    Api(api::Api),
    /// Import, check and remove the key pair of a profile; print a token.
    #[command(subcommand)]
    Auth(auth::Auth),
    /// List, show and follow datasets.
    #[command(subcommand)]
    Dataset(dataset::Dataset),
    /// Show which models were applied to a dataset.
    #[command(subcommand)]
    Enrichment(enrichment::Enrichment),
    /// Start, follow, fetch and inspect exports.
    #[command(subcommand)]
    Export(export::Export),
    /// Draw pictures in the terminal.
    #[command(subcommand)]
    Image(image::Image),
    /// List, show and follow what was started from this machine.
    #[command(subcommand)]
    Jobs(jobs::Jobs),
    /// Add media to datasets.
    #[command(subcommand)]
    Media(media::Media),
    /// List, show, add and remove the deployments that have a name.
    #[command(subcommand)]
    Profile(profile::Profiles),
    /// Write, check and keep queries.
    #[command(subcommand)]
    Query(query::Query),
    /// Cluster a dataset anew, after media were added.
    Reindex(reindex::Reindex),
    /// Search a dataset: by text, picture, media, anchor or filters.
    #[command(subcommand)]
    Search(search::Search),
    /// Mark media and clusters, for exports of a part of a dataset.
    #[command(subcommand)]
    Selection(selection::Selection),
    /// Put two answers of searches together.
    #[command(subcommand)]
    Set(set::Set),
}

/// The command line of this process. Ends the process where it cannot be understood, or only asks for
/// help.
#[must_use]
pub fn parsed() -> Line {
    let line = Line::command().try_get_matches().and_then(|matches| {
        let mut line = Line::from_arg_matches(&matches)?;
        line.global.settle(&matches);
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
            std::process::exit(Ended::new(Exit::Usage, sentence).told(true));
        }
        refused.exit()
    })
}

/// Tells the short help on standard error: nothing was asked for.
///
/// # Errors
/// Standard error is closed.
pub fn tell_help() -> std::io::Result<()> {
    let help = Line::command().render_help();
    writeln!(std::io::stderr(), "{help}")
}

impl Command {
    /// The command behind another name of it.
    #[must_use]
    pub fn at_home(self) -> Self {
        match self {
            Self::Verb(Verb::Dataset(dataset::Dataset::Open { dataset })) => {
                Self::Interface(Interface::Tui(Tui { at: dataset, tab: None, view: None }))
            }
            other => other,
        }
    }
}

/// The options of `tui`.
#[derive(Debug, Args)]
pub struct Tui {
    /// The dataset: its id or its name.
    pub at: Option<String>,
    /// The pane that takes the keys.
    #[arg(long, value_name = "PANE")]
    pub tab: Option<Tab>,
    /// A saved view, by its name.
    #[arg(long, value_name = "NAME")]
    pub view: Option<String>,
}

/// A pane of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Tab {
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
pub struct Serve {
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
    #[arg(long, value_name = "WHAT", value_parser = failing)]
    pub fail: Vec<Failing>,
    /// A person's own encoders.
    #[command(flatten)]
    pub encoding: Encoding,
    /// Tell what the interface leaves open and what is done here, and end.
    #[arg(long)]
    pub explain: bool,
}

fn failing(raw: &str) -> Result<Failing, String> {
    Failing::parse(raw).ok_or_else(|| {
        let words = Failing::ALL.map(Failing::word).join(", ");
        format!("there are {words}")
    })
}

/// Time for the last words of a command that was interrupted.
const PARTING: Duration = Duration::from_secs(1);

/// Runs a command that needs no interface.
///
/// # Errors
/// The command ends early; a person who interrupts it is one reason.
pub async fn run(context: &Context, command: Verb) -> Result<Exit, Ended> {
    let work = async {
        match command {
            Verb::Api(command) => api::run(context, command).await,
            Verb::Auth(command) => auth::run(context, command).await,
            Verb::Dataset(command) => dataset::run(context, command).await,
            Verb::Enrichment(command) => enrichment::run(context, command).await,
            Verb::Export(command) => export::run(context, command).await,
            Verb::Image(command) => image::run(context, command).await,
            Verb::Jobs(command) => jobs::run(context, command).await,
            Verb::Media(command) => media::run(context, command).await,
            Verb::Profile(command) => profile::run(context, command),
            Verb::Query(command) => query::run(context, command).await,
            Verb::Reindex(options) => reindex::run(context, options).await,
            Verb::Search(command) => search::run(context, command).await,
            Verb::Selection(command) => selection::run(context, command).await,
            Verb::Set(command) => set::run(context, &command),
        }
    };
    let mut work = pin!(work);
    tokio::select! {
        outcome = &mut work => outcome,
        interrupted = tokio::signal::ctrl_c() => {
            interrupted?;
            if context.wants_last_words() && let Ok(outcome) = timeout(PARTING, work).await {
                return outcome;
            }
            // The second one ends the program at once.
            Err(Ended::interrupted())
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Line::command().debug_assert();
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
        let line = Line::command();
        line.get_subcommands().for_each(|command| walk(command, &line));
    }
}
