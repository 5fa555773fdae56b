//! `tessera media`: adds media to a dataset, and acts on the original files of a local one.
//!
//! `plan` reads the sources of an addition and prepares the requests, and `addition` sends them. `act` moves, copies,
//! links and trashes originals.

mod act;
mod addition;
mod plan;

use act::FileCommand;
pub(super) use act::{
    AnnotationOptions, carry_out_and_report, link_kind_parser, listed_files, target_layout,
};

use addition::AdditionRun;
use plan::AdditionPlan;
use tessera_interface::command_lines::{ProfilerCommand, profiler_command_line};
use tessera_model::MediaSource;

use crate::cli::media::addition::MediaAddOptions;
use crate::cli::prelude::*;

#[derive(Debug, Subcommand)]
pub enum MediaCommand {
    /// Add media to a dataset.
    ///
    /// The media are in object storage, in files on this machine, in an archive, or in a folder that the pipeline of an
    /// on-premises deployment can read.
    Add(Box<MediaAddOptions>),
    #[command(flatten)]
    Files(FileCommand),
}

pub async fn run(context: &Context, command: MediaCommand) -> CliResult {
    let options = match command {
        MediaCommand::Add(options) => options,
        MediaCommand::Files(command) => return act::run(context, command).await,
    };
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
        let (split, strict) = (options.split, options.strict);
        let plan = AdditionPlan::prepare(context, source, addition, split, strict).await?;
        let client = options.upload_client(connection)?;
        let run = AdditionRun::new(connection, client, &options, &plan, dataset);
        // The future is large. It is boxed so that it does not enlarge the futures of all callers.
        Box::pin(run.run()).await
    };
    context.with_connection(&[Endpoint::AddMedia, Endpoint::ProcessMedia], work).await
}
