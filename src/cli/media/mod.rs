//! `tessera media add`: plans an addition and sends it, in parts if requested.
//!
//! `plan` reads the sources and prepares the requests, and `addition` sends them.

mod addition;
mod plan;

use addition::AdditionRun;
use clap::Subcommand;
use plan::AdditionPlan;
use tessera_client::Endpoint;
use tessera_model::MediaSource;

use crate::{
    cli::{CliResult, Connection, Context, media::addition::MediaAddOptions},
    command_lines::{ProfilerCommand, profiler_command_line},
};

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
        let plan =
            AdditionPlan::prepare(context, source, addition, options.split_options()).await?;
        let client = options.upload_client(connection).await?;
        let run = AdditionRun::new(connection, client, &options, &plan, dataset);
        // The future is large. It is boxed so that it does not enlarge the futures of all callers.
        Box::pin(run.run()).await
    };
    context.with_connection(&[Endpoint::AddMedia, Endpoint::ProcessMedia], work).await
}
