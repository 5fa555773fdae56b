//! The command palette: every action, dataset, tab, profile, theme and tile size by a few letters
//! of its name. What was typed before comes back with ↑.

use tui_input::Input;

use crate::{
    app::{
        App, Effect, Overlay, Pane, availability,
        overlay::{KeyResult, PickItem, PickList},
    },
    config::{Destination, ThemeChoice, TileSize},
    input::{Action, Chord, Key},
};
use tessera_model::{DatasetId, SafeText};

/// Lines that are remembered.
const MAX_HISTORY: usize = 50;

/// What the palette can do.
#[derive(Clone, Debug, PartialEq)]
pub enum PaletteCommand {
    /// An action.
    Action(Action),
    /// Opens a dataset.
    Dataset(DatasetId),
    /// Goes to a tab of the results, 0-based.
    Tab(usize),
    /// Opens a saved view.
    View(SafeText),
    /// Opens another deployment.
    Profile(Destination),
    /// Takes a theme.
    Theme(ThemeChoice),
    /// Takes a size of tiles.
    TileSize(TileSize),
}

/// The open palette.
#[derive(Clone, Debug)]
pub struct Palette {
    /// The commands.
    pub list: PickList<PaletteCommand>,
    /// What was typed before, newest first.
    history: Vec<String>,
    /// Which of it is in the line, counted from 1; 0 is what is being typed.
    history_position: usize,
}

impl Palette {
    /// Takes a key.
    pub fn handle_key(&mut self, chord: Chord) -> KeyResult {
        match chord.key {
            Key::Up if self.list.cursor == 0 => self.show_history(self.history_position + 1),
            Key::Down if self.history_position > 0 => self.show_history(self.history_position - 1),
            // Digits are typed here: tabs and datasets have numbers in their names.
            Key::Char(digit) if digit.is_ascii_digit() && self.list.filter.value().is_empty() => {
                self.list.filter = Input::from(digit.to_string());
            }
            _ => {
                self.history_position = 0;
                return self.list.handle_key(chord);
            }
        }
        KeyResult::Stay
    }

    fn show_history(&mut self, back: usize) {
        if back == 0 {
            self.list.filter = Input::default();
            self.history_position = 0;
        } else if let Some(line) = self.history.get(back - 1) {
            self.list.filter = line.as_str().into();
            self.history_position = back;
        }
    }
}

impl App {
    /// Opens the palette.
    pub(in crate::app) fn open_palette(&mut self) {
        let pick = PickList::new(self.palette_commands());
        self.overlay = Some(Overlay::Palette(Palette {
            list: pick,
            history: self.palette_history.clone(),
            history_position: 0,
        }));
    }

    fn palette_commands(&self) -> Vec<PickItem<PaletteCommand>> {
        let actions = Action::ALL.iter().filter(|action| **action != Action::Palette);
        let mut commands: Vec<_> = actions.map(|&action| self.palette_action(action)).collect();
        commands.extend(self.store.dataset_list().iter().map(|dataset| {
            PickItem::new(PaletteCommand::Dataset(dataset.id), format!("ds {}", dataset.name))
                .note(dataset.status.word())
        }));
        let tabs = self.results.tabs().map_or(0, |tabs| tabs.all().len());
        commands.extend((0..tabs).map(|tab| {
            PickItem::new(PaletteCommand::Tab(tab), format!("tab {}", tab + 1))
                .note("of the results")
        }));
        commands.extend(self.saved_views().iter().map(|view| {
            PickItem::new(PaletteCommand::View(view.name.clone()), format!("view {}", view.name))
                .note(self.describe_view(view))
        }));
        commands.extend(self.setup.profiles.iter().map(|profile| {
            let open = PaletteCommand::Profile(Destination::Profile(profile.name.clone()));
            PickItem::new(open, format!("profile {}", profile.name))
                .note(profile.deployment.address())
        }));
        let mut themes =
            vec![ThemeChoice::Auto, ThemeChoice::Dark, ThemeChoice::Light, ThemeChoice::Plain];
        if matches!(self.setup.theme, ThemeChoice::Named(_)) {
            themes.push(self.setup.theme.clone());
        }
        commands.extend(themes.into_iter().map(|theme| {
            let name = format!("theme {}", theme.word());
            PickItem::new(PaletteCommand::Theme(theme), name)
        }));
        commands.extend(TileSize::ALL.map(|size| {
            PickItem::new(PaletteCommand::TileSize(size), format!("tiles {}", size.word()))
        }));
        commands
    }

    /// An action by its name in the key file, with its key, its sentence, and why not now.
    fn palette_action(&self, action: Action) -> PickItem<PaletteCommand> {
        let contexts: Vec<_> = self.setup.keymap.contexts().collect();
        let keys = self.setup.keymap.keys_of(&contexts, action);
        let refusal = availability::unavailable_reason(self, action);
        let note = refusal.as_ref().map(|reason| format!("not now: {reason}"));
        PickItem::new(PaletteCommand::Action(action), action.name().replace('-', " "))
            .prefix(keys.first().map_or("", String::as_str))
            .note(note.as_deref().unwrap_or(action.help()))
            .disabled(refusal.is_some())
    }

    /// Does what was chosen, and remembers what was typed for it.
    pub(in crate::app) fn run_palette_command(&mut self, palette: &Palette) {
        let typed = palette.list.filter.value().to_owned();
        if !typed.is_empty() {
            self.palette_history.retain(|line| *line != typed);
            self.palette_history.insert(0, typed);
            self.palette_history.truncate(MAX_HISTORY);
        }
        match palette.list.selected().cloned() {
            Some(PaletteCommand::Action(action)) => self.run_or_explain_action(action),
            Some(PaletteCommand::Dataset(dataset)) => {
                self.open_dataset(dataset);
                self.focus = Pane::Results;
            }
            Some(PaletteCommand::Tab(tab)) => {
                if let Some(tabs) = self.results.tabs_mut() {
                    tabs.go_to(tab);
                }
                self.focus = Pane::Results;
            }
            Some(PaletteCommand::View(name)) => self.open_saved_view(&name),
            Some(PaletteCommand::Profile(destination)) => {
                self.effects.push(Effect::OpenDeployment(destination))
            }
            Some(PaletteCommand::Theme(theme)) => self.theme = theme,
            Some(PaletteCommand::TileSize(size)) => self.tile_size = size,
            None => {}
        }
    }
}
