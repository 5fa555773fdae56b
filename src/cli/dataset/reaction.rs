//! Reactions of `tessera dataset watch`: a shell command, the bell, a desktop notification.

use std::{
    io,
    process::{Command, Stdio},
};

use crate::{
    cli::{CliError, CliResult, Context, polling::StatusChange},
    subprocess,
};
use tessera_model::{Dataset, SafeText, Status};

pub(super) struct ChangeReaction<'a> {
    context: &'a Context,
    /// A command line for `sh`.
    command: Option<&'a str>,
    notify: bool,
}

impl<'a> ChangeReaction<'a> {
    pub(super) fn new(context: &'a Context, command: Option<&'a str>, notify: bool) -> Self {
        if notify && !context.messages.is_terminal() {
            context.messages.warn("--notify has no effect: standard error is not a terminal");
        }
        Self { context, command, notify }
    }

    /// Reacts to a change. The initial status is not a change.
    pub(super) async fn react(&self, dataset: &Dataset, change: &StatusChange) -> CliResult<()> {
        let Some(from) = &change.from else { return Ok(()) };
        if self.notify {
            let text = SafeText::detail(&format!("{}: {}", dataset.name, change.to.as_str()));
            self.context.messages.notify(&text);
        }
        let Some(command) = self.command else { return Ok(()) };
        let mut command = change_command(command, dataset, from, &change.to);
        let run = tokio::task::spawn_blocking(move || command.status()).await;
        let status = run.map_err(|error| CliError::failed(error.to_string()))?;
        let status = status.map_err(|error| CliError::io("run the --on-change command", &error))?;
        if !status.success() {
            self.context.messages.warn(format!("the --on-change command failed: {status}"));
        }
        Ok(())
    }
}

/// The event is in the environment, so that text from the service never becomes part of the shell
/// command line. The output goes to standard error, because standard output is for the events.
fn change_command(line: &str, dataset: &Dataset, from: &Status, to: &Status) -> Command {
    let mut command = subprocess::command("sh");
    command.args(["-c", line]);
    command.env("TESSERA_EVENT", "status");
    command.env("TESSERA_DATASET", dataset.id.to_string());
    command.env("TESSERA_DATASET_NAME", dataset.name.as_str());
    command.env("TESSERA_FROM", from.as_str()).env("TESSERA_TO", to.as_str());
    let progress = dataset.progress.map(|progress| progress.to_string());
    command.env("TESSERA_PROGRESS", progress.unwrap_or_default());
    command.stdin(Stdio::null()).stdout(io::stderr());
    command
}
