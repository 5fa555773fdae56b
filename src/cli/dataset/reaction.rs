//! What `tessera dataset watch` does at a change beside telling it: a command of the person, the bell,
//! a notification of the desktop.

use std::{
    env, io,
    process::{Command, Stdio},
};

use crate::{
    cli::{CliError, Context, Exit, polling::StatusChange},
    config::DesktopProtocol,
};
use tessera_model::{Dataset, SafeText, Status, subprocess};

/// What is done at each change of a status.
pub(super) struct ChangeReaction<'a> {
    context: &'a Context,
    /// A line for `sh`.
    command: Option<&'a str>,
    /// Whether the terminal rings, and notifies.
    notify: bool,
}

impl<'a> ChangeReaction<'a> {
    /// The reaction that was asked for.
    pub(super) fn new(context: &'a Context, command: Option<&'a str>, notify: bool) -> Self {
        if notify && !context.messages.is_terminal() {
            context
                .messages
                .warn("--notify needs a terminal at standard error: nobody is notified");
        }
        Self { context, command, notify }
    }

    /// Reacts to a change. The first look is none.
    ///
    /// # Errors
    /// The shell cannot be started. A command that fails is a warning.
    pub(super) async fn react(
        &self,
        dataset: &Dataset,
        change: &StatusChange,
    ) -> Result<(), CliError> {
        let Some(from) = &change.from else { return Ok(()) };
        if self.notify {
            let words = SafeText::detail(&format!("{}: {}", dataset.name, change.to.word()));
            let desktop = DesktopProtocol::detect(|name| env::var(name).ok());
            let desktop = desktop.map(|desktop| desktop.sequence(&words)).unwrap_or_default();
            self.context.messages.terminal_sequence(&format!("\x07{desktop}"));
        }
        match self.command {
            Some(command) => {
                self.run_command(change_command(command, dataset, from, &change.to)).await
            }
            None => Ok(()),
        }
    }

    async fn run_command(&self, mut command: Command) -> Result<(), CliError> {
        let ended = tokio::task::spawn_blocking(move || command.status()).await;
        let status = ended.map_err(|error| CliError::new(Exit::Failed, error.to_string()))??;
        if !status.success() {
            self.context.messages.warn(format!("the command of --on-change ended with {status}"));
        }
        Ok(())
    }
}

/// The command with the event in its environment: what a service says never becomes a part of the
/// line that the shell reads. What it prints goes to standard error, which is not ours to answer on.
fn change_command(line: &str, dataset: &Dataset, from: &Status, to: &Status) -> Command {
    let mut command = subprocess::command("sh");
    command.args(["-c", line]);
    command.env("TESSERA_EVENT", "status");
    command.env("TESSERA_DATASET", dataset.id.to_string());
    command.env("TESSERA_DATASET_NAME", dataset.name.as_str());
    command.env("TESSERA_FROM", from.word()).env("TESSERA_TO", to.word());
    let progress = dataset.progress.map(|progress| progress.to_string());
    command.env("TESSERA_PROGRESS", progress.unwrap_or_default());
    command.stdin(Stdio::null()).stdout(io::stderr());
    command
}
