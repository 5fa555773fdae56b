//! Defines the options of every command. No option takes a secret, because other users can read a
//! command line.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    time::Duration,
};

use clap::{
    Arg, ArgMatches, Args, ColorChoice, Command, ValueEnum,
    builder::{
        BoolishValueParser, EnumValueParser, PathBufValueParser, PossibleValue, StringValueParser,
        TypedValueParser,
    },
    parser::ValueSource,
};
use tessera_client::Trace;
use tessera_config::{
    DeploymentKind, GraphicsChoice, Settings, Sources, ThemeChoice, expand_home, user_config_file,
};
use tessera_model::ShellCommand;

use crate::cli::{
    CliError, CliResult,
    output::jq,
    values::{absolute_path, is_path, is_source},
};

/// Parses an option. The value of its variable is read without the white space around it, because a variable that was
/// read from a file often ends with a line break.
#[derive(Clone)]
pub(super) struct TrimmedVariable<P>(pub P);

impl<P: TypedValueParser> TypedValueParser for TrimmedVariable<P> {
    type Value = P::Value;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<P::Value, clap::Error> {
        self.0.parse_ref(command, argument, value)
    }

    fn parse_ref_(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
        source: ValueSource,
    ) -> Result<P::Value, clap::Error> {
        let text = value.to_str().filter(|_| source == ValueSource::EnvVariable);
        self.0.parse_ref(command, argument, text.map_or(value, |text| OsStr::new(text.trim())))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        self.0.possible_values()
    }
}

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Options of every command")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that is independent")]
pub struct GlobalOptions {
    /// Profile of the user's settings file.
    #[arg(long, short, global = true, env = "TESSERA_PROFILE", value_name = "NAME",
          value_parser = TrimmedVariable(StringValueParser::new()))]
    pub profile: Option<String>,
    /// Address of the service, for example `https://media.example`; instead of a profile.
    #[arg(long, global = true, env = "TESSERA_BASE_URL", value_name = "URL",
          value_parser = TrimmedVariable(StringValueParser::new()))]
    pub base_url: Option<String>,
    /// Folder of images; instead of a profile.
    // The ID differs from that of the positional `folder` of some commands.
    #[arg(id = "global_folder", long = "folder", global = true, value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// hosted (with login), onprem (without login) or local (a folder): kind of --base-url, or of a
    /// new profile.
    #[arg(long, global = true, env = "TESSERA_KIND",
          value_parser = TrimmedVariable(EnumValueParser::<DeploymentKind>::new()))]
    pub kind: Option<DeploymentKind>,
    /// Address of the pipeline that adds media at an on-premises deployment.
    #[arg(long, global = true, env = "TESSERA_PIPELINE_URL", value_name = "URL",
          value_parser = TrimmedVariable(StringValueParser::new()))]
    pub pipeline_url: Option<String>,
    /// The prefix of every path of the service, if it is not `/api/v1`; `/` for none.
    #[arg(long, global = true, value_name = "PATH")]
    pub api_prefix: Option<String>,
    /// Send the login over unencrypted connections too; for test services.
    #[arg(long, global = true)]
    pub allow_http: bool,
    /// A PEM file of certificates to trust in addition to the system's.
    #[arg(long, global = true, value_name = "FILE")]
    pub ca_file: Option<PathBuf>,
    /// ID or name of the dataset, or its folder.
    // The ID differs from that of the positional `dataset` of some commands, which would otherwise
    // shadow it.
    #[arg(
        id = "global_dataset",
        long = "dataset",
        short = 'd',
        global = true,
        env = "TESSERA_DATASET",
        value_name = "ID|NAME",
        value_parser = TrimmedVariable(StringValueParser::new())
    )]
    pub dataset: Option<String>,
    /// The dataset argument of the command, which is not a folder.
    #[arg(skip)]
    pub dataset_argument: Option<String>,
    /// Reject every change, and do not offer any in the interface.
    #[arg(long, global = true, env = "TESSERA_READ_ONLY",
          value_parser = TrimmedVariable(BoolishValueParser::new()))]
    pub read_only: bool,
    /// Use this settings file instead of the user's.
    #[arg(long, global = true, env = "TESSERA_CONFIG", value_name = "FILE",
          value_parser = TrimmedVariable(PathBufValueParser::new()))]
    pub config: Option<PathBuf>,
    /// Whether the command creates the settings file, so that a named one need not exist.
    #[arg(skip)]
    pub creates_settings: bool,
    /// Print one JSON document, or only these fields of its rows.
    #[arg(long, global = true, value_name = "FIELDS", num_args = 0..=1, require_equals = true,
          default_missing_value = "", value_delimiter = ',')]
    pub json: Option<Vec<String>>,
    /// Print one JSON object per line.
    #[arg(long, global = true)]
    pub jsonl: bool,
    /// Print comma-separated values with a header line.
    #[arg(long, global = true)]
    pub csv: bool,
    /// Print full IDs in tables, not only their beginnings.
    #[arg(long, global = true)]
    pub full: bool,
    /// Filter the JSON document with a jq expression. Strings are printed without quotes, other
    /// values as JSON, one per line.
    #[arg(long, global = true, value_name = "EXPR", value_parser = jq::parse_expression)]
    pub jq: Option<String>,
    /// When to use color.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: ColorChoice,
    /// The same as --color=never.
    #[arg(long, global = true)]
    pub no_color: bool,
    /// Never prompt; fail if a prompt would be needed.
    #[arg(long, global = true)]
    pub no_input: bool,
    /// Answer yes to every prompt. Does not overwrite files or skip checks: that is --force.
    #[arg(long, short, global = true)]
    pub yes: bool,
    /// Print nothing but the output, warnings and errors.
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Log every request on standard error, without secrets.
    #[arg(long, short, global = true)]
    pub verbose: bool,
    /// Maximum time that a command waits for tasks of the service: 90s, 10m, 2h [default: 24h, and none for
    /// `dataset watch`]. Exit code 124 when it expires. Commands that wait for no task ignore it.
    #[arg(long, global = true, value_name = "DURATION", value_parser = humantime::parse_duration)]
    pub timeout: Option<Duration>,
    /// Retries of a failed request that changes nothing [default: 2]. A request that may have had
    /// an effect is never sent twice.
    #[arg(long, global = true, value_name = "N",
          value_parser = clap::value_parser!(u32).range(..=100))]
    pub retries: Option<u32>,
    /// Print the command's request instead of sending it. The only form is `curl`.
    #[arg(long, global = true, value_name = "FORM")]
    pub print: Option<PrintFormat>,
    /// Check everything and print what would be sent, without sending it.
    #[arg(long, short = 'n', global = true)]
    pub dry_run: bool,
    /// auto, dark, light, plain, or the name of your own theme; like `TESSERA_THEME`.
    #[arg(long, global = true, value_name = "THEME")]
    pub theme: Option<ThemeChoice>,
    /// auto, half, kitty, sixel, iterm or none: how to draw images; like `TESSERA_GRAPHICS`.
    #[arg(long, global = true, value_name = "PROTOCOL")]
    pub graphics: Option<GraphicsChoice>,
    /// Open the interface without the dataset, tabs and tile size of the last session.
    #[arg(long, global = true)]
    pub fresh: bool,
    /// Use sentences and numbered prompts, for screen readers and pipes, instead of a full screen;
    /// like `TESSERA_ACCESSIBLE`.
    #[arg(long, global = true, value_name = "BOOL", num_args = 0..=1,
          require_equals = true, default_missing_value = "true")]
    pub accessible: Option<bool>,
    /// Write events and timings to this new file, as JSON lines without secrets.
    #[arg(long, global = true, value_name = "FILE")]
    pub trace: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PrintFormat {
    /// As a command with `$TESSERA_TOKEN` in place of the login.
    Curl,
}

/// Hides an option of every command from `-h`, which would otherwise be longer than a screen.
pub(super) fn hide_global_option(option: Arg) -> Arg {
    let is_global = option.is_global_set();
    if is_global { option.hide_short_help(true) } else { option }
}

impl GlobalOptions {
    /// Whether a dataset is named, by itself or by its folder, which a saved view must not replace.
    pub fn names_dataset(&self) -> bool {
        self.dataset.is_some() || self.folder.is_some()
    }

    /// Rejects conflicting options. Clap cannot do this, because some options come from the
    /// environment.
    pub fn validate(&self) -> CliResult<()> {
        let usage = |message: &str| Err(CliError::usage(message));
        if let Some(folder) = self.folder.as_deref().map(Path::display) {
            if self.profile.is_some() || self.base_url.is_some() {
                return usage(&format!(
                    "the folder {folder} takes the place of --profile and --base-url; give only one"
                ));
            }
            let dataset = self.dataset_argument.as_ref().or(self.dataset.as_ref());
            if let Some(second) = dataset.filter(|it| is_path(it) && is_source(it)) {
                return usage(&format!("{folder} and {second} are two folders; give only one"));
            }
        }
        if self.base_url.is_some() && self.kind.is_none() {
            return usage(
                "--base-url (TESSERA_BASE_URL) needs --kind (TESSERA_KIND): hosted (with login) or onprem (without)",
            );
        }
        if self.pipeline_url.is_some() && self.base_url.is_none() {
            return usage(
                "--pipeline-url belongs to --base-url; a profile has its own pipeline_url",
            );
        }
        if [self.json.is_some(), self.jsonl, self.csv].iter().filter(|on| **on).count() > 1 {
            return usage("--json, --jsonl and --csv are mutually exclusive");
        }
        let fields = self.json.as_ref().is_some_and(|fields| fields.iter().any(|f| !f.is_empty()));
        if self.jq.is_some() && (fields || self.jsonl || self.csv) {
            return usage(
                "--jq filters the whole JSON document; use it alone or with a plain --json",
            );
        }
        Ok(())
    }

    /// Expands `~/` in paths of variables, because a shell does not in quotes, and a service manager never does.
    pub(super) fn expand_variables(&mut self, matches: &ArgMatches) {
        let is_variable = |id| matches.value_source(id) == Some(ValueSource::EnvVariable);
        if is_variable("config") {
            self.config = self.config.take().map(expand_home);
        }
    }

    /// Lets typed options override the environment. A folder drops the profile, the address and the dataset, a typed
    /// profile drops the address, and a typed address drops the profile.
    pub(super) fn prefer_typed(&mut self, matches: &ArgMatches) {
        let typed = |id| matches.value_source(id) == Some(ValueSource::CommandLine);
        if self.folder.is_some() {
            self.dataset = self.dataset.take().filter(|_| typed("global_dataset"));
            self.profile = self.profile.take().filter(|_| typed("profile"));
            self.base_url = self.base_url.take().filter(|_| typed("base_url"));
            self.pipeline_url = self.pipeline_url.take().filter(|_| typed("pipeline_url"));
        } else if typed("base_url") && !typed("profile") {
            self.profile = None;
        } else if typed("profile") && !typed("base_url") {
            self.base_url = None;
            self.pipeline_url = self.pipeline_url.take().filter(|_| typed("pipeline_url"));
        }
    }

    /// Returns the options that select the deployment, so that another command reaches the same one.
    pub(super) fn deployment_options(&self) -> Vec<(&'static str, OsString)> {
        let absolute = |path: &PathBuf| absolute_path(path).unwrap_or_else(|_| path.clone()).into();
        let text = |text: &Option<String>| text.as_ref().map(OsString::from);
        let path = |path: &Option<PathBuf>| path.as_ref().map(absolute);
        let kind = self.kind.filter(|_| self.base_url.is_some());
        let kind = kind.and_then(|kind| kind.to_possible_value());
        let values = [
            ("--profile", text(&self.profile)),
            ("--base-url", text(&self.base_url)),
            ("--kind", kind.map(|kind| kind.get_name().into())),
            ("--pipeline-url", text(&self.pipeline_url)),
            ("--folder", path(&self.folder)),
            ("--api-prefix", text(&self.api_prefix)),
            ("--ca-file", path(&self.ca_file)),
            ("--config", path(&self.config)),
        ];
        values.into_iter().filter_map(|(flag, value)| Some((flag, value?))).collect()
    }

    pub fn sources(&self) -> Sources {
        let theme = self.theme.as_ref().map(|theme| theme.as_str().to_owned());
        let graphics = self.graphics.and_then(|graphics| graphics.to_possible_value());
        let graphics = graphics.map(|value| value.get_name().to_owned());
        let flags = [
            theme.map(|word| ("ui.theme", "--theme", word.into())),
            graphics.map(|word| ("ui.graphics", "--graphics", word.into())),
            self.accessible.map(|on| ("ui.accessible", "--accessible", on.into())),
        ];
        let user = self.config.clone().or_else(user_config_file);
        let user_is_required = self.config.is_some() && !self.creates_settings;
        let sources = Sources::from_environment(flags.into_iter().flatten().collect(), user);
        Sources { user_is_required, ..sources }
    }

    pub fn load_settings(&self) -> CliResult<Settings> {
        let remedy = || self.config_command("tessera config validate");
        Settings::load(&self.sources())
            .map_err(|error| CliError::usage(error).with_remedy(remedy()))
    }

    /// Returns a command about the settings file of this command, to suggest.
    pub(super) fn config_command(&self, command: &'static str) -> ShellCommand {
        let command = ShellCommand::new(command);
        self.config.iter().fold(command, |it, file| it.option("--config", file))
    }

    pub fn open_trace(&self) -> CliResult<Trace> {
        let Some(path) = &self.trace else { return Ok(Trace::disabled()) };
        Trace::create(path)
            .map_err(|error| CliError::io(format_args!("create {}", path.display()), &error))
    }

    pub fn is_machine(&self) -> bool {
        self.json.is_some() || self.jsonl || self.jq.is_some()
    }
}
