//! `tessera media add`: plans an addition and sends it, in parts if requested.
//!
//! `plan` reads the sources and prepares the requests, and `addition` sends them.

mod addition;
mod plan;

use addition::AdditionRun;
use clap::{Subcommand, ValueEnum};
use plan::{AdditionPlan, SourceOptions};
use secrecy::SecretString;

use crate::{
    cli::{CliError, CliResult, Connection, Context, auth::import::read_session_cookie},
    command_lines::{ProfilerCommand, profiler_command_line},
};
use tessera_client::{Client, Endpoint};
use tessera_model::{MediaAddition, MediaSource};

#[derive(Debug, Subcommand)]
pub enum MediaCommand {
    /// Add media to a dataset: from object storage, from files on this machine, from an archive, or
    /// from a folder that the pipeline of an on-premises deployment can read.
    #[command(after_help = EXAMPLES)]
    Add(Box<MediaAddOptions>),
}

const EXAMPLES: &str = "\
Examples:
  tessera media add street --dir ~/new --glob '*.jpg' --wait
  tessera media add street --s3 s3://bucket/day-2/ --reindex
  find . -name '*.jpg' -print0 |
    tessera media add street --files-from - --split 2000 --then-reindex --wait";

pub async fn run(context: &Context, command: MediaCommand) -> CliResult {
    let MediaCommand::Add(options) = command;
    // These checks fail early on what cannot be sent at all.
    let source = options.source.resolve()?;
    let addition = options.addition(&source.media)?;
    let work = async |connection: &Connection<'_>| {
        options.check_deployment(connection, &source.media)?;
        let dataset = connection.dataset(options.dataset.as_deref()).await?;
        if let (true, MediaSource::ServerPath(path)) = (options.print_script, &source.media) {
            let command = ProfilerCommand::AddMedia(path, options.reindex);
            return context.print_line(profiler_command_line(dataset.id, command));
        }
        let plan = AdditionPlan::prepare(context, &options, source, addition).await?;
        let client = options.upload_client(connection).await?;
        let run = AdditionRun::new(connection, client, (&options, &plan), dataset);
        // The future is large. It is boxed so that it does not enlarge the futures of all callers.
        Box::pin(run.run()).await
    };
    context.with_connection(&[Endpoint::AddMedia, Endpoint::ProcessMedia], work).await
}

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that is independent")]
pub struct MediaAddOptions {
    /// ID or name of the dataset.
    pub dataset: Option<String>,
    #[command(flatten)]
    pub source: SourceOptions,
    /// Cluster the dataset again as part of the addition; otherwise it stays in PARTIAL INDEX.
    #[arg(long, conflicts_with_all = ["then_reindex", "split"])]
    pub reindex: bool,
    /// Wait for the addition, then start a reindex.
    #[arg(long)]
    pub then_reindex: bool,
    /// Role to assume for storage of another account.
    #[arg(long, value_name = "ARN")]
    assume_role: Option<String>,
    /// Number of images to allocate for, instead of the computed number.
    #[arg(long, value_name = "N")]
    batch_images: Option<u64>,
    /// Number of videos to allocate for.
    #[arg(long, value_name = "N")]
    batch_videos: Option<u64>,
    /// Number of objects to allocate for.
    #[arg(long, value_name = "N")]
    batch_objects: Option<u64>,
    /// Whether to use spot instances; hosted deployments only.
    #[arg(long, value_name = "on|off", value_parser = parse_on_off)]
    spot: Option<bool>,
    /// Send at most this many files per request, each after the previous part was added.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub split: Option<u64>,
    /// Wait until the dataset is idle, then send.
    #[arg(long)]
    pub queue: bool,
    /// Send nothing if a file cannot be read.
    #[arg(long)]
    pub strict: bool,
    /// Wait until the addition has finished.
    #[arg(long)]
    pub wait: bool,
    /// How the upload logs in: with a token, or with the SESSION cookie of a signed-in browser, which
    /// is not stored. All other requests use the login of the profile.
    #[arg(long, value_name = "HOW", default_value = "token")]
    auth: UploadLogin,
    /// Read the SESSION cookie from standard input instead of prompting for it.
    #[arg(long)]
    cookie_stdin: bool,
    /// Print the `run_profiler.sh` command line for an on-premises deployment, and send nothing.
    #[arg(long, requires = "server_path")]
    pub print_script: bool,
    /// Send even if the status of the dataset forbids it.
    #[arg(long)]
    pub force: bool,
}

/// How an upload logs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum UploadLogin {
    Token,
    Cookie,
}

fn parse_on_off(raw: &str) -> Result<bool, String> {
    match raw {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("expected on or off".to_owned()),
    }
}

impl MediaAddOptions {
    pub fn addition(&self, media: &MediaSource) -> CliResult<MediaAddition> {
        let addition = MediaAddition {
            auto_reindex: self.reindex,
            assume_role: self.assume_role.clone(),
            batch_videos: self.batch_videos,
            batch_images: self.batch_images,
            batch_objects: self.batch_objects,
            spot: self.spot,
            force: self.force,
            ..MediaAddition::new(media.clone())
        };
        if self.split.is_some() && !matches!(media, MediaSource::Files(_)) {
            return Err(CliError::usage("--split is for files: --file, --dir, --files-from"));
        }
        if self.cookie_stdin && self.auth != UploadLogin::Cookie {
            return Err(CliError::usage("--cookie-stdin belongs to --auth cookie"));
        }
        if !self.print_script {
            addition.validate().map_err(|invalid| CliError::usage(invalid.to_string()))?;
        }
        Ok(addition)
    }

    pub fn by_cookie(&self) -> bool {
        self.auth == UploadLogin::Cookie
    }

    /// Returns the client that uploads. It uses a browser session if the options ask for one.
    pub async fn upload_client(&self, connection: &Connection<'_>) -> CliResult<Client> {
        let client = connection.client.clone();
        if !self.by_cookie() {
            return Ok(client);
        }
        let context = connection.context;
        let session = if context.is_dry_run() {
            SecretString::from("unknown")
        } else {
            read_session_cookie(self.cookie_stdin, context.global.no_input).await?
        };
        Ok(client.with_upload_session(&session)?)
    }

    pub fn check_deployment(
        &self,
        connection: &Connection<'_>,
        media: &MediaSource,
    ) -> CliResult<()> {
        let service = connection.client.service();
        let hosted = !service.is_on_premises();
        let by_path = matches!(media, MediaSource::ServerPath(_));
        let message = match (hosted, by_path) {
            (true, true) => {
                "--server-path is for on-premises deployments; a hosted service cannot read your \
                 folders, so use --dir or --s3"
            }
            (false, _) if self.spot.is_some() => "--spot is for hosted deployments only",
            (false, _) if self.by_cookie() => "--auth cookie: this deployment needs no login",
            (false, true) if service.pipeline_url().is_none() && !self.print_script => {
                "--server-path needs the address of the pipeline: pipeline_url in the profile, or \
                 --pipeline-url"
            }
            (true | false, _) => return Ok(()),
        };
        Err(CliError::usage(message))
    }
}
