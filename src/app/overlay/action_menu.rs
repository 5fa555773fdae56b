//! The menu of everything that can be done with what has the focus. What cannot be done now stays
//! in it, dimmed, with its reason; chosen all the same, it offers the step that would enable it.

use crate::{
    app::{
        App, Overlay, Pane, availability,
        overlay::{KeyResult, PickItem, PickList},
    },
    input::{Action, Chord, action::ActionGroup},
};
use tessera_model::SafeText;

/// The open menu.
#[derive(Clone, Debug)]
pub struct ActionMenu {
    /// What its actions are done to.
    pub title: SafeText,
    /// The actions.
    pub list: PickList<Action>,
}

impl ActionMenu {
    /// Takes a key.
    pub fn handle_key(&mut self, chord: Chord) -> KeyResult {
        self.list.handle_key(chord)
    }
}

impl App {
    /// Opens the menu.
    pub(in crate::app) fn open_action_menu(&mut self) {
        let title = match (self.focus, self.selected_dataset()) {
            (Pane::Datasets, Some(dataset)) => {
                format!("Actions on {} ({})", dataset.name, dataset.status.word())
            }
            (pane, _) => format!("Actions in {}", pane.name()),
        };
        let choices = self.menu_actions().map(|action| self.action_item(action)).collect();
        self.overlay = Some(Overlay::Menu(ActionMenu {
            title: SafeText::name(&title),
            list: PickList::new(choices),
        }));
    }

    /// What has a key here and is more than a move; what only this pane has comes first.
    fn menu_actions(&self) -> impl Iterator<Item = Action> {
        let [pane, everywhere] = self.contexts();
        let keymap = &self.setup.keymap;
        let bound = move |context, action| !keymap.keys_of(&[context], action).is_empty();
        let mut actions: Vec<Action> = Action::ALL
            .iter()
            .copied()
            .filter(|action| action.group() != ActionGroup::Navigation && *action != Action::Menu)
            .filter(|&action| bound(pane, action) || bound(everywhere, action))
            .collect();
        // What only this pane can do comes first; the results can do nearly everything.
        if !matches!(self.focus, Pane::Results | Pane::Detail) {
            actions.sort_by_key(|&action| !bound(pane, action));
        }
        actions.into_iter()
    }

    /// An action as a line: its key, its sentence, and why it cannot be done now.
    pub(in crate::app) fn action_item(&self, action: Action) -> PickItem<Action> {
        let keys = self.setup.keymap.keys_of(&self.contexts(), action);
        let refusal = availability::unavailable_reason(self, action);
        PickItem::new(action, action.help())
            .prefix(keys.first().map_or("", String::as_str))
            .note(refusal.as_deref().unwrap_or_default())
            .disabled(refusal.is_some())
    }

    /// Does what was chosen, or explains why that cannot be done and what would help.
    pub(in crate::app) fn run_or_explain_action(&mut self, action: Action) {
        let Some(reason) = availability::unavailable_reason(self, action) else {
            return self.perform(action);
        };
        let steps = [availability::suggested_action(self, action), Some(Action::Menu)];
        let choices = steps.into_iter().flatten().map(|step| self.action_item(step)).collect();
        let title = SafeText::name(&format!("{}: {reason}", action.hint()));
        self.overlay = Some(Overlay::Menu(ActionMenu { title, list: PickList::new(choices) }));
    }
}
