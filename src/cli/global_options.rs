//! The options that every command takes. Secrets are none of them: other users of the machine can
//! read a command line.

use std::{path::PathBuf, time::Duration};

use clap::{ArgMatches, Args, ColorChoice, ValueEnum, parser::ValueSource};

use crate::{
    cli::{CliError, Exit, output::jq},
    config::{GraphicsChoice, Sources, ThemeChoice, user_config_file},
};

/// The options.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of every command")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that stands alone")]
pub struct GlobalOptions {
    /// The deployment of this name in the user's file.
    #[arg(long, short, global = true, env = "TESSERA_PROFILE", value_name = "NAME")]
    pub profile: Option<String>,

    /// Address of the service, for example `https://media.example`; instead of a profile.
    #[arg(long, global = true, env = "TESSERA_BASE_URL", value_name = "URL")]
    pub base_url: Option<String>,

    /// hosted (with login), onprem (without) or local (a folder): of --base-url, or of a profile that
    /// is added.
    #[arg(long, global = true, env = "TESSERA_KIND")]
    pub kind: Option<DeploymentKind>,

    /// Address of the pipeline that adds media at an on-premises deployment.
    #[arg(
        long,
        global = true,
        env = "TESSERA_PIPELINE_URL",
        value_name = "URL",
        hide_short_help = true
    )]
    pub pipeline_url: Option<String>,

    /// Send the login also where the line is not encrypted: for a test service.
    #[arg(long, global = true, hide_short_help = true)]
    pub allow_http: bool,

    /// A PEM file of certificates to trust beside those of the system.
    #[arg(long, global = true, value_name = "FILE", hide_short_help = true)]
    pub ca_file: Option<PathBuf>,

    /// The dataset: its id or its name.
    // An id of its own: commands have a positional `dataset`, which would take its place.
    #[arg(
        id = "global_dataset",
        long = "dataset",
        short = 'd',
        global = true,
        env = "TESSERA_DATASET",
        value_name = "ID|NAME"
    )]
    pub dataset: Option<String>,

    /// Change nothing, and offer nothing that changes a dataset.
    #[arg(long, global = true, env = "TESSERA_READ_ONLY", hide_short_help = true)]
    pub read_only: bool,

    /// The user's file, when it is another one.
    #[arg(
        long,
        global = true,
        env = "TESSERA_CONFIG",
        value_name = "FILE",
        hide_short_help = true
    )]
    pub config: Option<PathBuf>,

    /// Answer with one JSON document, or with these fields of its rows.
    #[arg(long, global = true, value_name = "FIELDS", num_args = 0..=1, require_equals = true,
          default_missing_value = "", value_delimiter = ',')]
    pub json: Option<Vec<String>>,

    /// Answer with one JSON object per line.
    #[arg(long, global = true, hide_short_help = true)]
    pub jsonl: bool,

    /// Answer with comma-separated values, names first.
    #[arg(long, global = true, hide_short_help = true)]
    pub csv: bool,

    /// Answer with what this jq expression makes of the JSON document: texts as they are, all else as
    /// JSON, one on a line.
    #[arg(long, global = true, value_name = "EXPR", value_parser = jq::parse_expression,
          hide_short_help = true)]
    pub jq: Option<String>,

    /// When to use colour.
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_short_help = true
    )]
    pub color: ColorChoice,

    /// The same as --color=never.
    #[arg(long, global = true, hide_short_help = true)]
    pub no_color: bool,

    /// Never ask; fail where a question would have to be asked.
    #[arg(long, global = true, hide_short_help = true)]
    pub no_input: bool,

    /// Answer yes to every question. Overwrites nothing and skips no check: that is --force.
    #[arg(long, short, global = true, hide_short_help = true)]
    pub yes: bool,

    /// Tell nothing beside the answer and errors.
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    pub quiet: bool,

    /// Tell every request on standard error, without secrets.
    #[arg(long, short, global = true)]
    pub verbose: bool,

    /// Longest time to wait for work of the service: 90s, 10m, 2h. Exit code 124 when it runs out.
    #[arg(long, global = true, value_name = "DURATION", value_parser = humantime::parse_duration,
          hide_short_help = true)]
    pub timeout: Option<Duration>,

    /// Further attempts of a request that changes nothing and met trouble; 2 when not given. What may
    /// have had an effect is never sent twice.
    #[arg(long, global = true, value_name = "N", hide_short_help = true,
          value_parser = clap::value_parser!(u32).range(..=100))]
    pub retries: Option<u32>,

    /// Print the request that the command is about, instead of sending it: `curl` is the one form.
    #[arg(long, global = true, value_name = "FORM", hide_short_help = true)]
    pub print: Option<PrintFormat>,

    /// Check everything and print what would be sent, without sending it.
    #[arg(long, short = 'n', global = true, hide_short_help = true)]
    pub dry_run: bool,

    /// auto, dark, light, plain, or the name of a theme of your own; as `TESSERA_THEME`.
    #[arg(long, global = true, value_name = "THEME", hide_short_help = true)]
    pub theme: Option<ThemeChoice>,

    /// auto, half, kitty, sixel, iterm or none: how pictures are drawn; as `TESSERA_GRAPHICS`.
    #[arg(long, global = true, value_name = "PROTOCOL", hide_short_help = true)]
    pub graphics: Option<GraphicsChoice>,

    /// Sentences and numbered questions for screen readers and pipes, instead of a drawn screen;
    /// as `TESSERA_ACCESSIBLE`.
    #[arg(long, global = true, value_name = "BOOL", num_args = 0..=1,
          require_equals = true, default_missing_value = "true", hide_short_help = true)]
    pub accessible: Option<bool>,

    /// Write what happens and how long it takes into this new file, as JSON lines without secrets.
    #[arg(long, global = true, value_name = "FILE", hide_short_help = true)]
    pub trace: Option<PathBuf>,
}

/// The kind of a deployment: stated, never guessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DeploymentKind {
    /// Every request carries a token.
    Hosted,
    /// No login, and no Authorization header at all.
    Onprem,
    /// A folder of this machine.
    Local,
}

/// How a request is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PrintFormat {
    /// As a command with `$TESSERA_TOKEN` where the login goes.
    Curl,
}

impl GlobalOptions {
    /// Refuses options that do not go together. Clap cannot: some come from the environment.
    ///
    /// # Errors
    /// A sentence that names them.
    pub fn validate(&self) -> Result<(), CliError> {
        let usage = |sentence: &str| Err(CliError::new(Exit::Usage, sentence));
        if self.base_url.is_some() && self.kind.is_none() {
            return usage("--base-url needs --kind hosted (with login) or --kind onprem (without)");
        }
        if self.pipeline_url.is_some() && self.base_url.is_none() {
            return usage(
                "--pipeline-url belongs to --base-url; a profile has its own pipeline_url",
            );
        }
        if [self.json.is_some(), self.jsonl, self.csv].iter().filter(|on| **on).count() > 1 {
            return usage("--json, --jsonl and --csv are three forms of one answer: choose one");
        }
        let fields = self.json.as_ref().is_some_and(|fields| fields.iter().any(|f| !f.is_empty()));
        if self.jq.is_some() && (fields || self.jsonl || self.csv) {
            return usage(
                "--jq reads the whole JSON document: give it with --json alone, or by itself",
            );
        }
        Ok(())
    }

    /// Lets what was typed win over what the environment says: of a profile and an address, the one
    /// that was typed is meant.
    pub(super) fn prefer_typed(&mut self, matches: &ArgMatches) {
        let typed = |id| matches.value_source(id) == Some(ValueSource::CommandLine);
        if typed("base_url") && !typed("profile") {
            self.profile = None;
        } else if typed("profile") && !typed("base_url") {
            self.base_url = None;
            self.pipeline_url = self.pipeline_url.take().filter(|_| typed("pipeline_url"));
        }
    }

    /// Where settings are read from, with these options over all of it.
    #[must_use]
    pub fn sources(&self) -> Sources {
        let theme = self.theme.as_ref().map(|theme| theme.word().to_owned());
        let graphics = self.graphics.and_then(|graphics| graphics.to_possible_value());
        let graphics = graphics.map(|value| value.get_name().to_owned());
        let flags = [
            theme.map(|word| ("ui.theme", "--theme", word.into())),
            graphics.map(|word| ("ui.graphics", "--graphics", word.into())),
            self.accessible.map(|on| ("ui.accessible", "--accessible", on.into())),
        ];
        let user = self.config.clone().or_else(user_config_file);
        Sources::from_environment(flags.into_iter().flatten().collect(), user)
    }

    /// Whether answers and errors are documents for programs.
    #[must_use]
    pub fn is_machine(&self) -> bool {
        self.json.is_some() || self.jsonl || self.jq.is_some()
    }
}
