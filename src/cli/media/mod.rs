//! `tessera media`: adds media to a dataset, and acts on the original files of a local one.
//!
//! `plan` reads the sources of an addition and prepares the requests, and `addition` sends them. `act` moves, copies,
//! links and trashes originals.

mod act;
mod addition;
mod plan;

pub(super) use act::{
    AnnotationOptions, LinkChoice, carry_out_and_report, listed_files, target_layout,
};
use act::{CopyOptions, LinkOptions, MoveOptions, TrashOptions};

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
    /// Move original files and their sidecars to another folder.
    ///
    /// Local folders only.
    Move(Box<MoveOptions>),
    /// Copy original files and their sidecars to another folder.
    ///
    /// Local folders only.
    Copy(Box<CopyOptions>),
    /// Create links to original files and their sidecars in another folder.
    ///
    /// Local folders only.
    Link(Box<LinkOptions>),
    /// Put original files and their sidecars into the trash of the desktop.
    ///
    /// Local folders only.
    Trash(Box<TrashOptions>),
    /// Revert the last action on original files.
    Undo,
    /// Continue an action on original files that was interrupted by a crash.
    Resume,
}

pub async fn run(context: &Context, command: MediaCommand) -> CliResult {
    let options = match command {
        MediaCommand::Add(options) => options,
        MediaCommand::Move(options) => return act::move_files(context, *options).await,
        MediaCommand::Copy(options) => return act::copy(context, *options).await,
        MediaCommand::Link(options) => return act::link(context, *options).await,
        MediaCommand::Trash(options) => return act::trash(context, *options).await,
        MediaCommand::Undo => return act::undo(context).await,
        MediaCommand::Resume => return act::resume(context).await,
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
