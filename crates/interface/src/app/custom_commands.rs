//! Runs the user's own commands on the selection, or else on what is under the cursor.

use tessera_config::custom_command::{CustomCommand, Placeholder, ReadyCommand};
use tessera_model::{Selection, ShellCommand};

use crate::app::prelude::*;
use crate::{
    app::{
        Effect, ReopenCommand,
        overlay::pick_list::{Command, PickItem},
    },
    message::CustomCommandRun,
};

/// Returns the rows of the menu and of the palette for the user's own commands.
pub(in crate::app) fn custom_command_items(app: &App) -> impl Iterator<Item = PickItem> {
    app.setup.settings.commands.iter().enumerate().map(|(position, command)| {
        let keys = app.setup.keymap.keys_of_custom_command(position);
        PickItem::new(Command::CustomCommand(position), &command.name)
            .prefix(keys.unwrap_or_default())
            .note("your command")
            .unavailable(unavailable_reason(app, command))
    })
}

fn unavailable_reason(app: &App, command: &CustomCommand) -> Option<String> {
    if command.uses_files() && app.setup.deployment != DeploymentKind::Local {
        return Some("the files of this deployment may be on another machine".to_owned());
    }
    if app.dataset().is_none() {
        return Some("open a dataset first".to_owned());
    }
    if command.uses(Placeholder::Tessera) && tessera(app).is_none() {
        return Some("other commands cannot reach this deployment".to_owned());
    }
    let lacks_input = command.uses_selection() && input(app, command).is_none();
    lacks_input.then(|| "select something, or go to a picture".to_owned())
}

pub(in crate::app) fn run_custom_command(app: &mut App, position: usize) {
    let Some(command) = app.setup.settings.commands.get(position).cloned() else { return };
    if let Some(reason) = unavailable_reason(app, &command) {
        return app.outbox.notify(Level::Warning, reason);
    }
    let Some(dataset) = app.dataset().map(|dataset| dataset.id) else { return };
    let selection = input(app, &command).unwrap_or_default();
    let tessera = tessera(app).unwrap_or_default();
    let run = CustomCommandRun { command, dataset, selection, tessera };
    app.outbox.send(Lane::CustomCommand, Request::RunCustomCommand(Box::new(run)));
}

/// Returns the beginning of a `tessera` command for the same deployment, if other commands can reach it.
fn tessera(app: &App) -> Option<ShellCommand> {
    match &app.setup.reopen_command {
        ReopenCommand::Whole(_) => None,
        ReopenCommand::Prefix(tessera) => Some(tessera.clone()),
    }
}

/// Returns what a command acts on.
fn input(app: &App, command: &CustomCommand) -> Option<Selection> {
    if command.uses(Placeholder::Path) {
        return Some(app.under_cursor()?.media_item());
    }
    let selection = app.baskets.selection(&app.results).filter(|it| !it.is_empty());
    selection.cloned().or_else(|| Some(app.under_cursor()?.selection()))
}

pub(in crate::app) fn custom_command_started(outbox: &mut Outbox, ready: Option<ReadyCommand>) {
    match ready {
        Some(command) => outbox.push(Effect::RunInTerminal(command)),
        None => outbox.notify(Level::Success, "started your command"),
    }
}
