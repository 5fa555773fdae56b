//! Runs the user's own commands on the selection, or else on what is under the cursor.

use tessera_model::Selection;

use crate::{
    app::{
        App, Effect, Level,
        availability::unless,
        overlay::pick_list::{Command, PickItem},
    },
    config::DeploymentKind,
    message::{Lane, Request},
    own_command::{OwnCommand, Placeholder, ReadyCommand},
};

impl App {
    /// Returns the rows of the menu and of the palette for the user's own commands.
    pub(in crate::app) fn own_command_items(&self) -> impl Iterator<Item = PickItem> {
        self.setup.commands.iter().enumerate().map(|(position, command)| {
            let keys = self.setup.keymap.keys_of_own_command(position);
            PickItem::new(Command::OwnCommand(position), &command.name)
                .prefix(keys.unwrap_or_default())
                .note("your command")
                .unavailable(self.own_command_reason(command))
        })
    }

    fn own_command_reason(&self, command: &OwnCommand) -> Option<String> {
        if command.uses_files() && self.setup.deployment != DeploymentKind::Local {
            return Some("the files of this deployment may be on another machine".to_owned());
        }
        if self.dataset().is_none() {
            return Some("open a dataset first".to_owned());
        }
        unless(
            !command.uses_selection() || self.own_command_input(command).is_some(),
            "select something, or go to a picture",
        )
    }

    pub(in crate::app) fn run_own_command(&mut self, position: usize) {
        let Some(command) = self.setup.commands.get(position).cloned() else { return };
        if let Some(reason) = self.own_command_reason(&command) {
            return self.outbox.notify(Level::Warning, reason);
        }
        let Some(dataset) = self.dataset().map(|dataset| dataset.id) else { return };
        let selection = self.own_command_input(&command).unwrap_or_default();
        let request = Request::RunOwnCommand(dataset, selection, Box::new(command));
        self.outbox.send(Lane::OwnCommand, request);
    }

    /// Returns what a command acts on.
    fn own_command_input(&self, command: &OwnCommand) -> Option<Selection> {
        if command.uses(Placeholder::Path) {
            return Some(self.under_cursor()?.media_item());
        }
        let selection = self.baskets.selection(&self.results).filter(|it| !it.is_empty());
        selection.cloned().or_else(|| Some(self.under_cursor()?.selection()))
    }

    pub(in crate::app) fn own_command_started(&mut self, ready: Option<ReadyCommand>) {
        match ready {
            Some(command) => self.outbox.push(Effect::RunInTerminal(command)),
            None => self.outbox.notify(Level::Success, "started your command"),
        }
    }
}
