//! Defines the commands and options of the program for `clap`, and dispatches the commands that need no interface. Come
//! here to add a command.

use std::{collections::HashSet, ffi::OsString, pin::pin};

use clap::{
    Arg, Command, CommandFactory as _, FromArgMatches as _, Parser, ValueEnum, ValueHint,
    error::ErrorKind,
};
use tessera_config::expand_home;
use tokio::time::timeout;

use super::help::with_examples;
use crate::cli::prelude::*;
use crate::cli::{
    DoctorOptions, GlobalOptions, InfoCommand, ModelOptions, Output, PatternOptions, ServeOptions,
    WorkOptions, analysis, api,
    auth::{self, AuthCommand},
    config::ConfigCommand,
    dataset, dataset_folder, duplicates, enrichment,
    export::{self, ExportCommand},
    global_options::hide_global_option,
    help::{self, OVERVIEW},
    image,
    jobs::{self, JobsCommand},
    keyboard::watch_interrupts,
    mcp,
    media::{self, MediaCommand},
    messages::write_stderr,
    output::write_stdout,
    profile::{self, ProfileCommand},
    query::{self, QueryCommand},
    reindex, search,
    selection::{self, SelectionCommand},
    service_options::{ModelCommand, StoreCommand},
    set,
    tag::{self, TagCommand},
};

/// See, search and curate image and video datasets from a terminal.
#[derive(Debug, Parser)]
#[command(name = "tessera", version, after_help = help::footer(), mut_args = hide_global_option)]
pub struct Cli {
    #[command(flatten)]
    pub global: GlobalOptions,

    #[command(subcommand)]
    pub command: Option<CliCommand>,
}

#[derive(Debug, Subcommand)]
pub enum CliCommand {
    #[command(flatten)]
    Interface(InterfaceCommand),
    /// Serve folders of images over HTTP, with the same API as the service.
    Serve(ServeOptions),
    /// Run indexing tasks and exports of a store on a server, beside `serve --store`.
    Work(WorkOptions),
    #[command(flatten)]
    Headless(HeadlessCommand),
    /// Show, change and check settings.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Check the terminal, the settings, the logins, the programs and the disk, and report problems.
    ///
    /// The models, the profiles and the store are checked, too. Each problem is reported with what to do about it.
    Doctor(DoctorOptions),
    #[command(flatten)]
    Info(InfoCommand),
    /// Check and manage models of your own for `open`, `serve` and `work`.
    #[command(subcommand)]
    Model(ModelCommand),
    /// Create and inspect a store on a PostgreSQL server, and revoke the login and links of a store.
    ///
    /// The store is for `serve --store` and `work`.
    #[command(subcommand)]
    Store(StoreCommand),
}

/// The commands that open the interface.
#[derive(Debug, Subcommand)]
pub enum InterfaceCommand {
    /// Generate a sample dataset and open it.
    ///
    /// Without a terminal, print a text tour instead.
    Demo {
        /// Number of images to generate.
        #[arg(long, default_value_t = 240, value_parser = clap::value_parser!(u32).range(12..=100_000))]
        images: u32,
        /// Folder for the images and their index.
        #[arg(long, value_name = "DIR")]
        data: Option<PathBuf>,
    },
    /// Index folders of images and browse them.
    Open {
        /// The folders, one dataset each; also in object storage: <s3://bucket/folder>, gs:// or az://.
        #[arg(required = true, value_name = "FOLDER")]
        folders: Vec<PathBuf>,
        /// Folder for the index.
        #[arg(long, value_name = "DIR")]
        data: Option<PathBuf>,
        /// Compare the folders again whenever files in them change.
        #[arg(long)]
        watch: bool,
        #[command(flatten)]
        patterns: PatternOptions,
        #[command(flatten)]
        model: ModelOptions,
    },
    /// Open the interface at a dataset, pane or view.
    Tui(TuiOptions),
    /// Create the first profile, interactively or from the environment.
    Init(profile::InitOptions),
}

/// The commands that need no interface.
#[derive(Debug, Subcommand)]
pub enum HeadlessCommand {
    /// Send any API request once, with the login of the profile.
    Api(api::ApiOptions),
    /// Import, check and remove the key pair of a profile; print a token.
    #[command(subcommand)]
    Auth(AuthCommand),
    /// Check the quality of a dataset against limits, for scripts and build servers.
    ///
    /// Exits with 11 if a check fails. The limits are the largest allowed numbers.
    Check(analysis::CheckOptions),
    /// List, show and watch datasets.
    #[command(subcommand)]
    Dataset(dataset::DatasetCommand),
    /// List groups of near-duplicates, and trash, move or link all but the ones to keep.
    ///
    /// Local folders only.
    Duplicates(duplicates::DuplicatesOptions),
    /// Show which models were applied to a dataset.
    #[command(subcommand)]
    Enrichment(enrichment::EnrichmentCommand),
    /// Start, watch, download and inspect exports.
    #[command(subcommand)]
    Export(ExportCommand),
    /// Draw pictures in the terminal.
    #[command(subcommand)]
    Image(image::ImageCommand),
    /// List, show and watch the jobs started from this machine.
    #[command(subcommand)]
    Jobs(JobsCommand),
    /// Offer searches and reports to an assistant as tools, by the Model Context Protocol.
    ///
    /// The program that starts this command exchanges lines of JSON-RPC with it. Without --allow-changes, no tool
    /// changes anything.
    Mcp {
        /// Offer tools that change something, too: exports, selections, splits, rescans and reindexes.
        #[arg(long)]
        allow_changes: bool,
    },
    /// Add media to datasets, and copy, move, link or trash original files.
    #[command(subcommand)]
    Media(MediaCommand),
    /// List, show, add and remove profiles: named deployments.
    #[command(subcommand)]
    Profile(ProfileCommand),
    /// Write, check and save queries.
    #[command(subcommand)]
    Query(QueryCommand),
    /// Cluster a dataset again after media were added.
    Reindex(reindex::ReindexOptions),
    /// Describe a dataset on one page: counts, sizes, classes, issues and duplicates.
    Report(analysis::ReportOptions),
    /// Search a dataset by text, image, media item, anchor or filters.
    #[command(subcommand)]
    Search(search::SearchCommand),
    /// Select media and clusters, to export part of a dataset.
    #[command(subcommand)]
    Selection(SelectionCommand),
    /// Combine two search results.
    #[command(subcommand)]
    Set(set::SetCommand),
    /// Tag and rate media, and manage tags.
    #[command(subcommand)]
    Tag(TagCommand),
}

/// Parses the command line. Exits on errors and after printing the help.
pub fn parse_args() -> Cli {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    parse(arguments.clone()).unwrap_or_else(|error| {
        if let Some(text) = help::topic(&error, &arguments, definition) {
            print_and_exit(&text);
        }
        if help::is_short_help(&error, definition) {
            print_and_exit(&PrintableText::lines(OVERVIEW));
        }
        let requests_document = |argument: OsString| {
            let argument = argument.to_string_lossy();
            ["--json", "--jsonl", "--jq"].contains(&argument.split('=').next().unwrap_or_default())
        };
        let is_machine = std::env::args_os().any(requests_document);
        let unusable = help::unknown_word(&error, &arguments, &definition());
        if let Some(error) = unusable.or_else(|| help::not_text(&error, &arguments)) {
            std::process::exit(error.report(is_machine));
        }
        if error.use_stderr() && is_machine {
            let text = error.render().to_string();
            let message = text.split("\n\n").next().unwrap_or_default();
            let message = message.trim_start_matches("error: ").trim();
            std::process::exit(CliError::usage(message).report(true));
        }
        let error = help::with_tip(error, &arguments);
        // Errors quote arguments, and an argument may come from outside, for example as a file
        // name.
        let (text, printable) = (error.render().to_string(), PrintableText::lines);
        if error.use_stderr() && printable(&text).as_str() != text {
            write_stderr(&printable(&text));
            std::process::exit(error.exit_code());
        }
        if error.use_stderr() {
            error.exit();
        }
        exit_after(error.print().map_err(|error| CliError::output(&error)))
    })
}

fn print_and_exit(text: &PrintableText) -> ! {
    exit_after(write_stdout(text))
}

fn exit_after(printed: CliResult<()>) -> ! {
    std::process::exit(match printed {
        Ok(()) => 0,
        Err(error) => error.report(false),
    })
}

/// The command for which a folder stands.
const OPEN: &str = "open";

/// Parses the arguments. A folder in place of a command stands for `open` with this folder, and a folder in place of a
/// dataset stands for `--folder`.
fn parse(mut arguments: Vec<OsString>) -> Result<Cli, clap::Error> {
    expand_home_in_options(&mut arguments);
    let matches_of = |words: Vec<OsString>| {
        let matches = definition().try_get_matches_from(&words);
        matches.or_else(|error| match error.kind() {
            ErrorKind::InvalidUtf8 => {
                dataset_folder::accepting_paths(definition()).try_get_matches_from(words)
            }
            _ => Err(error),
        })
    };
    let matches = matches_of(arguments.clone()).or_else(|error| {
        let Some(position) = help::folder_position(&error, &arguments) else { return Err(error) };
        arguments.insert(position, OPEN.into());
        matches_of(arguments.clone()).map_err(|with_open| {
            // The folder is not in place of a command, so an error would name a word that nobody typed.
            if help::names_word(&with_open, OPEN) { error } else { with_open }
        })
    })?;
    let matches = dataset_folder::with_folder_option(matches, &arguments, matches_of);
    let mut line = Cli::from_arg_matches(&matches)?;
    line.global.expand_variables(&matches);
    dataset_folder::replace_dataset_option(&mut line.global, &matches);
    line.global.prefer_typed(&matches);
    line.global.creates_settings = line.command.as_ref().is_some_and(CliCommand::creates_settings);
    Ok(line)
}

/// Expands `~/` after the `=` of an option that takes a path, because shells expand it only at the start of a word.
fn expand_home_in_options(arguments: &mut [OsString]) {
    for argument in arguments.iter_mut().take_while(|argument| *argument != "--") {
        let option = argument.to_str().and_then(|text| text.strip_prefix("--")?.split_once('='));
        let Some((option, path)) = option.filter(|(_, path)| path.starts_with("~/")) else {
            continue;
        };
        if takes_path(&definition(), option) {
            let mut expanded = OsString::from(format!("--{option}="));
            expanded.push(expand_home(path.into()));
            *argument = expanded;
        }
    }
}

/// Whether a command or one of its subcommands has this option for the path of a file or folder.
fn takes_path(command: &Command, option: &str) -> bool {
    let is_path = |argument: &Arg| {
        let hint = argument.get_value_hint();
        argument.get_long() == Some(option)
            && matches!(hint, ValueHint::AnyPath | ValueHint::FilePath | ValueHint::DirPath)
    };
    command.get_arguments().any(is_path)
        || command.get_subcommands().any(|command| takes_path(command, option))
}

/// Returns the command line. An empty variable counts as unset, as in every other place.
pub fn definition() -> Command {
    definition_in(help::width())
}

/// Returns the command line with a help of this width in columns.
pub(super) fn definition_in(width: usize) -> Command {
    let variables = std::env::vars_os();
    let is_empty = |text: &OsString| text.to_string_lossy().trim().is_empty();
    let empty: HashSet<OsString> =
        variables.filter(|(_, text)| is_empty(text)).map(|(name, _)| name).collect();
    let without_empty = |argument: Arg| match argument.get_env() {
        Some(variable) if empty.contains(variable) => argument.env(None::<&str>),
        _ => argument,
    };
    // The examples are broken for this width, so the parser must not wrap them for another one.
    let command = Cli::command().term_width(width);
    // Looking at each argument of each command takes longer than everything else here.
    let command = if empty.is_empty() { command } else { with_arguments(command, &without_empty) };
    with_examples(command, "", width)
}

fn with_arguments(command: Command, change: &impl Fn(Arg) -> Arg) -> Command {
    command.mut_args(change).mut_subcommands(|command| with_arguments(command, change))
}

pub fn print_help() {
    write_stderr(&PrintableText::lines(OVERVIEW));
}

impl CliCommand {
    pub fn canonical(self) -> Self {
        match self {
            Self::Headless(HeadlessCommand::Dataset(dataset::DatasetCommand::Open(options))) => {
                let tui = TuiOptions { at: options.dataset, ..TuiOptions::default() };
                Self::Interface(InterfaceCommand::Tui(tui))
            }
            Self::Headless(HeadlessCommand::Duplicates(options)) if options.review => {
                let tui = TuiOptions { at: options.dataset, review: true, ..TuiOptions::default() };
                Self::Interface(InterfaceCommand::Tui(tui))
            }
            other => other,
        }
    }

    fn creates_settings(&self) -> bool {
        matches!(
            self,
            Self::Interface(InterfaceCommand::Init(_))
                | Self::Headless(HeadlessCommand::Profile(ProfileCommand::Add(_)))
        )
    }

    /// Returns the schema of the document that the command prints after it has changed something or written a file.
    fn changed_schema(&self) -> Option<&'static str> {
        match self {
            Self::Headless(command) => command.changed_schema(),
            Self::Interface(InterfaceCommand::Init(_)) => Some("tessera.profiles/1"),
            Self::Config(ConfigCommand::Set { .. } | ConfigCommand::Unset { .. }) => {
                Some("tessera.setting/1")
            }
            Self::Config(ConfigCommand::Edit) => Some("tessera.settings_check/1"),
            Self::Store(StoreCommand::Init { .. }) => Some("tessera.store/1"),
            Self::Store(StoreCommand::Revoke { .. }) => Some("tessera.service_login/1"),
            Self::Model(
                ModelCommand::Get { .. } | ModelCommand::Add { .. } | ModelCommand::Remove { .. },
            ) => Some("tessera.models/1"),
            _ => None,
        }
    }

    /// Whether the command runs until the user ends it, so that its changes are not known in advance.
    fn is_session(&self) -> bool {
        match self {
            Self::Interface(InterfaceCommand::Init(init)) => init.is_interactive(),
            Self::Interface(_)
            | Self::Serve(_)
            | Self::Work(_)
            | Self::Headless(HeadlessCommand::Mcp { .. }) => true,
            _ => false,
        }
    }
}

impl HeadlessCommand {
    fn changed_schema(&self) -> Option<&'static str> {
        Some(match self {
            Self::Auth(AuthCommand::Import(_)) => "tessera.key_pair/1",
            Self::Auth(AuthCommand::Status) => "tessera.login/1",
            Self::Auth(AuthCommand::Logout) | Self::Profile(ProfileCommand::Remove { .. }) => {
                "tessera.logout/1"
            }
            Self::Check(_) => "tessera.checks/1",
            Self::Dataset(command) => return command.changed_schema(),
            Self::Duplicates(options) if options.acts() => "tessera.file_actions/1",
            Self::Export(ExportCommand::Start(_) | ExportCommand::Download { .. }) => {
                "tessera.export/1"
            }
            Self::Jobs(JobsCommand::Cancel { .. }) => "tessera.job/1",
            Self::Jobs(JobsCommand::Forget { .. }) => "tessera.removal/1",
            Self::Media(MediaCommand::Add(_)) => "tessera.addition/1",
            Self::Media(MediaCommand::Files(_)) => "tessera.file_actions/1",
            Self::Profile(ProfileCommand::Add(_) | ProfileCommand::Use { .. }) => {
                "tessera.profiles/1"
            }
            Self::Query(QueryCommand::Save { .. } | QueryCommand::Remove { .. }) => {
                "tessera.views/1"
            }
            Self::Reindex(_) => "tessera.reindex/1",
            Self::Report(_) => "tessera.report/1",
            Self::Selection(
                SelectionCommand::Add(_)
                | SelectionCommand::Remove(_)
                | SelectionCommand::Exclude(_)
                | SelectionCommand::Clear(_)
                | SelectionCommand::Import { .. }
                | SelectionCommand::Export { .. },
            ) => "tessera.selection/1",
            Self::Tag(TagCommand::List(_)) => return None,
            Self::Tag(_) => "tessera.tag_change/1",
            _ => return None,
        })
    }
}

/// Refuses what would show only after the change of a command: a dry run of a command that has none, and an output with
/// unknown fields. Without a command, the interface is opened.
pub fn refuse_before_change(global: &GlobalOptions, command: Option<&CliCommand>) -> CliResult<()> {
    let is_dry_run = global.dry_run || global.print.is_some();
    if is_dry_run && command.is_none_or(CliCommand::is_session) {
        let message = "this command has no dry run; remove --dry-run and --print";
        return Err(CliError::usage(message));
    }
    // A dry run prints other documents.
    let schema = command.and_then(CliCommand::changed_schema).filter(|_| !is_dry_run);
    schema.map_or(Ok(()), |schema| Output::new(global).require_fields_of(schema))
}

#[derive(Debug, Default, Args)]
pub struct TuiOptions {
    /// ID or name of the dataset, or its folder.
    pub at: Option<String>,
    /// Pane to focus.
    #[arg(long, value_name = "PANE")]
    pub tab: Option<StartPane>,
    /// Name of a saved view.
    #[arg(long, value_name = "NAME")]
    pub view: Option<String>,
    /// Whether to review near-duplicates at once.
    #[arg(skip)]
    pub review: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StartPane {
    /// List of datasets, and the status of one.
    Datasets,
    /// Clusters as tiles.
    Results,
    /// One preview, large.
    Detail,
    /// The filters of the search.
    Query,
    /// Running and finished jobs.
    Jobs,
    /// The selection.
    Basket,
}

const INTERRUPT_GRACE: Duration = Duration::from_secs(1);

pub async fn run(context: &Context, command: HeadlessCommand) -> CliResult {
    let work = async {
        match command {
            HeadlessCommand::Api(command) => api::run(context, command).await,
            HeadlessCommand::Auth(command) => auth::run(context, command).await,
            HeadlessCommand::Check(options) => options.run(context).await,
            HeadlessCommand::Dataset(command) => dataset::run(context, command).await,
            HeadlessCommand::Duplicates(options) => duplicates::run(context, options).await,
            HeadlessCommand::Enrichment(command) => enrichment::run(context, command).await,
            HeadlessCommand::Export(command) => export::run(context, command).await,
            HeadlessCommand::Image(command) => image::run(context, command).await,
            HeadlessCommand::Jobs(command) => jobs::run(context, command).await,
            HeadlessCommand::Mcp { allow_changes } => {
                mcp::run(context, allow_changes, definition()).await
            }
            HeadlessCommand::Media(command) => media::run(context, command).await,
            HeadlessCommand::Profile(command) => profile::run(context, command),
            HeadlessCommand::Query(command) => query::run(context, command).await,
            HeadlessCommand::Reindex(options) => reindex::run(context, options).await,
            HeadlessCommand::Report(options) => options.run(context).await,
            HeadlessCommand::Search(command) => search::run(context, command).await,
            HeadlessCommand::Selection(command) => selection::run(context, command).await,
            HeadlessCommand::Set(command) => set::run(context, &command),
            HeadlessCommand::Tag(command) => tag::run(context, command).await,
        }
    };
    run_until_interrupted(context, Box::pin(work)).await
}

/// Runs the work of a command. An interrupt drops the work, and with it the programs that it has started.
pub async fn run_until_interrupted(
    context: &Context,
    work: impl Future<Output = CliResult>,
) -> CliResult {
    let mut work = pin!(work);
    let interrupted = watch_interrupts(context.global.is_machine())?;
    tokio::select! {
        biased;
        _ = interrupted => {
            if context.notify_interrupt() && let Ok(outcome) = timeout(INTERRUPT_GRACE, work).await {
                return outcome;
            }
            Err(CliError::interrupted())
        }
        outcome = &mut work => outcome,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clap_accepts_the_command_line() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_home_folder_is_expanded_in_options_for_paths() {
        let home = expand_home("~/".into()).display().to_string();
        let typed =
            ["--archive=~/a b.zip", "--files-from=~/x", "--to=~/x", "--name=~/x", "--", "--to=~/x"];
        let mut arguments = typed.map(OsString::from);
        expand_home_in_options(&mut arguments);
        let expanded = arguments.map(|it| it.to_str().unwrap().replace(&home, "HOME/"));
        let expected = ["--archive=HOME/a b.zip", "--files-from=HOME/x", "--to=HOME/x"];
        assert_eq!(expanded[..3], expected);
        assert_eq!(expanded[3..], typed[3..], "other values and arguments stay");
    }

    /// Clap reads an option that has the ID of a global option as the global option, so their types
    /// must match.
    #[test]
    fn options_that_shadow_a_global_option_have_its_type() {
        fn walk(command: &clap::Command, root: &clap::Command) {
            for option in command.get_arguments() {
                let same = root.get_arguments().find(|known| known.get_id() == option.get_id());
                let (value_type, name) = (option.get_value_parser().type_id(), command.get_name());
                let fits =
                    same.is_none_or(|known| known.get_value_parser().type_id() == value_type);
                assert!(fits, "{name} has another `{}`", option.get_id());
            }
            command.get_subcommands().for_each(|command| walk(command, root));
        }
        let line = Cli::command();
        line.get_subcommands().for_each(|command| walk(command, &line));
    }
}
