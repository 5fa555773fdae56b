//! The menu of all actions for the focused pane. An unavailable action is listed with its reason;
//! picking it shows the actions that would make it available.

use super::{Command, ListKind, PickItem};
use crate::{
    app::{App, Pane, availability},
    input::{Action, action::ActionGroup},
};

impl App {
    pub(in crate::app) fn open_action_menu(&mut self) {
        let title = match (self.panes.focus, self.selected_dataset()) {
            _ if self.viewer.is_some() => "Actions on the picture".to_owned(),
            (Pane::Datasets, Some(dataset)) => {
                format!("Actions on {} ({})", dataset.name, dataset.status.as_str())
            }
            (pane, _) => format!("Actions in {}", pane.name()),
        };
        let items = self.menu_actions().map(|action| self.action_item(action)).collect();
        self.open_list(ListKind::Actions, &title, items);
    }

    fn menu_actions(&self) -> impl Iterator<Item = Action> {
        let [pane, everywhere] = self.contexts();
        let keymap = &self.setup.keymap;
        let applies = move |context, action| keymap.has_action(context, action);
        let mut actions: Vec<Action> = Action::ALL
            .iter()
            .copied()
            .filter(|action| action.group() != ActionGroup::Navigation && *action != Action::Menu)
            .filter(|&action| applies(pane, action) || applies(everywhere, action))
            .collect();
        // Actions of this pane alone come first; nearly all actions belong to the results.
        if !matches!(self.panes.focus, Pane::Results | Pane::Detail) {
            actions.sort_by_key(|&action| !applies(pane, action));
        }
        actions.into_iter()
    }

    fn action_item(&self, action: Action) -> PickItem {
        let keys = self.setup.keymap.keys_of(&self.contexts(), action);
        PickItem::new(Command::Action(action), action.help())
            .prefix(keys.first().map_or("", String::as_str))
            .picked(self.times_picked(action))
            .unavailable(availability::unavailable_reason(self, action))
    }

    pub(in crate::app) fn times_picked(&self, action: Action) -> u32 {
        self.overlays.picked_actions.get(action.name()).copied().unwrap_or(0)
    }

    pub(in crate::app) fn run_or_explain_action(&mut self, action: Action) {
        let picked = self.overlays.picked_actions.entry(action.name().to_owned()).or_default();
        *picked = picked.saturating_add(1);
        let Some(reason) = availability::unavailable_reason(self, action) else {
            return self.perform(action);
        };
        let steps = [availability::suggested_action(self, action), Some(Action::Menu)];
        let items = steps.into_iter().flatten().map(|step| self.action_item(step)).collect();
        self.open_list(ListKind::Actions, &reason, items);
    }
}
