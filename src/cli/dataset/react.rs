//! What `tessera dataset watch` does at a change beside telling it: a command of the person, the bell,
//! a notification of the desktop (M75).

use std::{
    env, io,
    process::{Command, Stdio},
};

use crate::{
    cli::{Context, Ended, Exit, follow::Change},
    config::Desktop,
};
use tessera_model::{Dataset, SafeText, Status, program};

/// What is done at each change of a status.
pub(super) struct Reaction<'a> {
    context: &'a Context,
    /// A line for `sh`.
    command: Option<&'a str>,
    /// Whether the terminal rings, and notifies.
    notify: bool,
}

impl<'a> Reaction<'a> {
    /// The reaction that was asked for.
    pub(super) fn new(context: &'a Context, command: Option<&'a str>, notify: bool) -> Self {
        if notify && !context.note.is_terminal() {
            context.note.warn("--notify needs a terminal at standard error: nobody is notified");
        }
        Self { context, command, notify }
    }

    /// Reacts to a change. The first look is none.
    ///
    /// # Errors
    /// The shell cannot be started. A command that fails is a warning.
    pub(super) async fn to(&self, dataset: &Dataset, change: &Change) -> Result<(), Ended> {
        let Some(from) = &change.from else { return Ok(()) };
        if self.notify {
            let words = SafeText::detail(&format!("{}: {}", dataset.name, change.to.word()));
            let desktop = Desktop::by(|name| env::var(name).ok());
            let desktop = desktop.map(|desktop| desktop.sequence(&words)).unwrap_or_default();
            self.context.note.signal(&format!("\x07{desktop}"));
        }
        match self.command {
            Some(command) => self.run(command_of(command, dataset, from, &change.to)).await,
            None => Ok(()),
        }
    }

    async fn run(&self, mut command: Command) -> Result<(), Ended> {
        let ended = tokio::task::spawn_blocking(move || command.status()).await;
        let status = ended.map_err(|error| Ended::new(Exit::Failed, error.to_string()))??;
        if !status.success() {
            self.context.note.warn(format!("the command of --on-change ended with {status}"));
        }
        Ok(())
    }
}

/// The command with the event in its environment: what a service says never becomes a part of the
/// line that the shell reads. What it prints goes to standard error, which is not ours to answer on.
fn command_of(line: &str, dataset: &Dataset, from: &Status, to: &Status) -> Command {
    let mut command = program::command("sh");
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
