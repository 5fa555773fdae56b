//! `tessera media add`: plans an addition, and sends it, in parts if requested.
//!
//! `source` reads the sources, `plan` prepares the requests, `addition` sends them.

mod addition;
mod plan;
mod source;

use clap::Subcommand;

use self::{addition::AdditionRun, plan::AdditionPlan, source::SourceOptions};
use crate::cli::{CliError, Connection, Context, Exit};
use crate::command_lines::{ProfilerCommand, profiler_command_line};
use tessera_client::{ApiOperation, AuthMethod};
use tessera_model::{Dataset, MediaSource};

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

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that is independent")]
pub struct MediaAddOptions {
    /// ID or name of the dataset.
    pub dataset: Option<String>,
    #[command(flatten)]
    source: SourceOptions,
    /// Cluster the dataset again as part of the addition; otherwise it stays in PARTIAL INDEX.
    #[arg(long, conflicts_with_all = ["then_reindex", "split"])]
    reindex: bool,
    /// Wait for the addition, then start a reindex.
    #[arg(long)]
    then_reindex: bool,
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
    split: Option<u64>,
    /// Wait until the dataset is idle, then send.
    #[arg(long)]
    queue: bool,
    /// Send nothing if a file cannot be read.
    #[arg(long)]
    strict: bool,
    /// Wait until the addition has finished.
    #[arg(long)]
    wait: bool,
    /// Print the `run_profiler.sh` command line for an on-premises deployment, and send nothing.
    #[arg(long, requires = "server_path")]
    print_script: bool,
    /// Send even if the status of the dataset forbids it.
    #[arg(long)]
    force: bool,
}

fn parse_on_off(raw: &str) -> Result<bool, String> {
    match raw {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("expected on or off".to_owned()),
    }
}

pub async fn run(context: &Context, command: MediaCommand) -> Result<Exit, CliError> {
    let MediaCommand::Add(add) = command;
    // Fail early on what cannot be sent at all.
    let source = add.source.resolve()?;
    let wishes = add.addition_request(&source.media)?;
    let connection = context.connect(&[ApiOperation::AddMedia, ApiOperation::ProcessMedia]).await?;
    let outcome = async {
        add.check_deployment(&connection, &source.media)?;
        let dataset = context.dataset(&connection, add.dataset.as_deref()).await?;
        if let (true, MediaSource::ServerPath(path)) = (add.print_script, &source.media) {
            return print_script(context, &dataset, path, add.reindex);
        }
        let plan = AdditionPlan::prepare(context, &add, source, wishes).await?;
        AdditionRun::new(context, &connection, &add, &plan, dataset).run().await
    };
    let outcome = outcome.await;
    connection.close(context, outcome).await
}

impl MediaAddOptions {
    fn addition_request(
        &self,
        media: &MediaSource,
    ) -> Result<tessera_model::MediaAddition, CliError> {
        let wishes = tessera_model::MediaAddition {
            auto_reindex: self.reindex,
            assume_role: self.assume_role.clone(),
            batch_videos: self.batch_videos,
            batch_images: self.batch_images,
            batch_objects: self.batch_objects,
            spot: self.spot,
            force: self.force,
            ..tessera_model::MediaAddition::new(media.clone())
        };
        let splits = self.split.is_some() && !matches!(media, MediaSource::Files(_));
        if splits {
            return Err(CliError::usage("--split is for files: --file, --dir, --files-from"));
        }
        if self.print_script {
            return Ok(wishes);
        }
        wishes.validate().map_err(|invalid| CliError::usage(invalid.to_string()))?;
        Ok(wishes)
    }

    /// Rejects what this kind of deployment does not support.
    fn check_deployment(
        &self,
        connection: &Connection,
        media: &MediaSource,
    ) -> Result<(), CliError> {
        let hosted = matches!(connection.client.endpoint().auth(), AuthMethod::Hosted(_));
        let by_path = matches!(media, MediaSource::ServerPath(_));
        let wrong = match (hosted, by_path) {
            (true, true) => {
                "--server-path is for on-premises deployments; a hosted service cannot read your \
                 folders, so use --dir or --s3"
            }
            (false, _) if self.spot.is_some() => "--spot is for hosted deployments only",
            (false, true)
                if connection.client.endpoint().pipeline_url().is_none() && !self.print_script =>
            {
                "--server-path needs the address of the pipeline: pipeline_url in the profile, or \
                 --pipeline-url"
            }
            (true | false, _) => return Ok(()),
        };
        Err(CliError::usage(wrong))
    }
}

/// Prints the command line to run on the deployment's machine.
fn print_script(
    context: &Context,
    dataset: &Dataset,
    path: &str,
    reindex: bool,
) -> Result<Exit, CliError> {
    let line = profiler_command_line(dataset.id, ProfilerCommand::AddMedia(path, reindex));
    context.out.print_text(&format!("{line}\n"))?;
    Ok(Exit::Done)
}
