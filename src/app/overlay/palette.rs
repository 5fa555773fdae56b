//! The command palette: every action, dataset, tab, profile, theme and tile size by a few letters
//! of its name. What was typed before comes back with ↑.

use tui_input::Input;

use crate::{
    app::{
        App, Effect, Overlay, Pane, gate,
        overlay::{Choice, Pick, Press},
    },
    config::{Destination, ThemeChoice, TileSize},
    input::{Action, Chord, Key},
};
use tessera_model::{DatasetId, SafeText};

/// Lines that are remembered.
const REMEMBERED: usize = 50;

/// What the palette can do.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// An action.
    Act(Action),
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
    Tiles(TileSize),
}

/// The open palette.
#[derive(Clone, Debug)]
pub struct Palette {
    /// The commands.
    pub pick: Pick<Command>,
    /// What was typed before, newest first.
    before: Vec<String>,
    /// Which of it is in the line, counted from 1; 0 is what is being typed.
    back: usize,
}

impl Palette {
    /// Takes a key.
    pub fn key(&mut self, chord: Chord) -> Press {
        match chord.key {
            Key::Up if self.pick.cursor == 0 => self.recall(self.back + 1),
            Key::Down if self.back > 0 => self.recall(self.back - 1),
            // Digits are typed here: tabs and datasets have numbers in their names.
            Key::Char(digit) if digit.is_ascii_digit() && self.pick.typed.value().is_empty() => {
                self.pick.typed = Input::from(digit.to_string());
            }
            _ => {
                self.back = 0;
                return self.pick.key(chord);
            }
        }
        Press::Stay
    }

    fn recall(&mut self, back: usize) {
        if back == 0 {
            self.pick.typed = Input::default();
            self.back = 0;
        } else if let Some(line) = self.before.get(back - 1) {
            self.pick.typed = line.as_str().into();
            self.back = back;
        }
    }
}

impl App {
    /// Opens the palette.
    pub(in crate::app) fn open_palette(&mut self) {
        let pick = Pick::new(self.commands());
        self.overlay =
            Some(Overlay::Palette(Palette { pick, before: self.typed_commands.clone(), back: 0 }));
    }

    fn commands(&self) -> Vec<Choice<Command>> {
        let actions = Action::ALL.iter().filter(|action| **action != Action::Palette);
        let mut commands: Vec<_> = actions.map(|&action| self.action_command(action)).collect();
        commands.extend(self.store.list().iter().map(|dataset| {
            Choice::new(Command::Dataset(dataset.id), format!("ds {}", dataset.name))
                .note(dataset.status.word())
        }));
        let tabs = self.results.tabs().map_or(0, |tabs| tabs.all().len());
        commands.extend((0..tabs).map(|tab| {
            Choice::new(Command::Tab(tab), format!("tab {}", tab + 1)).note("of the results")
        }));
        commands.extend(self.views().iter().map(|view| {
            Choice::new(Command::View(view.name.clone()), format!("view {}", view.name))
                .note(self.about_view(view))
        }));
        commands.extend(self.setup.profiles.iter().map(|profile| {
            let open = Command::Profile(Destination::Profile(profile.name.clone()));
            Choice::new(open, format!("profile {}", profile.name)).note(profile.place.address())
        }));
        let mut themes =
            vec![ThemeChoice::Auto, ThemeChoice::Dark, ThemeChoice::Light, ThemeChoice::Plain];
        if matches!(self.setup.theme, ThemeChoice::Named(_)) {
            themes.push(self.setup.theme.clone());
        }
        commands.extend(themes.into_iter().map(|theme| {
            let name = format!("theme {}", theme.word());
            Choice::new(Command::Theme(theme), name)
        }));
        commands.extend(
            TileSize::ALL
                .map(|size| Choice::new(Command::Tiles(size), format!("tiles {}", size.word()))),
        );
        commands
    }

    /// An action by its name in the key file, with its key, its sentence, and why not now.
    fn action_command(&self, action: Action) -> Choice<Command> {
        let contexts: Vec<_> = self.setup.keymap.contexts().collect();
        let keys = self.setup.keymap.keys_of(&contexts, action);
        let refusal = gate::refusal(self, action);
        let note = refusal.as_ref().map(|reason| format!("not now: {reason}"));
        Choice::new(Command::Act(action), action.name().replace('-', " "))
            .mark(keys.first().map_or("", String::as_str))
            .note(note.as_deref().unwrap_or(action.help()))
            .refused(refusal.is_some())
    }

    /// Does what was chosen, and remembers what was typed for it.
    pub(in crate::app) fn run_command(&mut self, palette: &Palette, effects: &mut Vec<Effect>) {
        let typed = palette.pick.typed.value().to_owned();
        if !typed.is_empty() {
            self.typed_commands.retain(|line| *line != typed);
            self.typed_commands.insert(0, typed);
            self.typed_commands.truncate(REMEMBERED);
        }
        match palette.pick.chosen().cloned() {
            Some(Command::Act(action)) => self.choose_action(action, effects),
            Some(Command::Dataset(dataset)) => {
                self.open_dataset(dataset);
                self.focus = Pane::Results;
            }
            Some(Command::Tab(tab)) => {
                if let Some(tabs) = self.results.tabs_mut() {
                    tabs.go_to(tab);
                }
                self.focus = Pane::Results;
            }
            Some(Command::View(name)) => self.open_view(&name, effects),
            Some(Command::Profile(destination)) => effects.push(Effect::Switch(destination)),
            Some(Command::Theme(theme)) => self.theme = theme,
            Some(Command::Tiles(size)) => self.tile = size,
            None => {}
        }
    }
}
