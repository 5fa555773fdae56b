//! Maps key sequences to actions by context. `assets/keymap.toml` contains and documents the
//! defaults.

use std::collections::BTreeMap;

use crate::{
    ConfigError,
    input::{Action, Chord},
    text_enum,
};

/// The lines of a key file: by context and action, its key sequences.
type KeyTables = BTreeMap<String, BTreeMap<String, Vec<String>>>;

text_enum! {
    /// Where a binding applies. The innermost context wins.
    #[derive(PartialOrd, Ord)]
    pub enum KeyContext: name {
        /// Anywhere outside a text field.
        Everywhere = "everywhere",
        Datasets = "datasets",
        Results = "results",
        Detail = "detail",
        Query = "query",
        Jobs = "jobs",
        Basket = "basket",
        /// The full-size view of a picture.
        Viewer = "viewer",
        /// The results and the detail while the tagging mode is on.
        Tagging = "tagging",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyMatch {
    Action(Action),
    /// The user's own command at this position in the settings.
    CustomCommand(usize),
    /// The keys are the prefix of a longer sequence.
    Pending,
    Unbound,
}

type Binding = (Vec<Chord>, Action);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keymap {
    bindings: BTreeMap<KeyContext, Vec<Binding>>,
    /// The actions that apply in each context, including those without a key.
    actions: BTreeMap<KeyContext, Vec<Action>>,
    /// The keys of the user's own commands, which apply in every context, and the positions of the commands.
    custom_commands: Vec<(Vec<Chord>, usize)>,
}

/// Parses a key sequence such as `g g`.
pub fn parse_sequence(written: &str) -> Result<Vec<Chord>, String> {
    let chords: Result<_, String> = written.split(' ').map(str::parse).collect();
    chords
        .map_err(|error| format!("{error}; a sequence has one space between its keys, as in `g g`"))
}

impl Keymap {
    pub fn built_in() -> Result<Self, String> {
        let parsed = Self::parse(include_str!("../../../../assets/keymap.toml"));
        parsed.map_err(|error| error.to_string())
    }

    /// Parses a key file, which has a table for each context and a line for each action with its
    /// key sequences.
    pub fn parse(source: &str) -> Result<Self, ConfigError> {
        let tables = toml::from_str(source);
        let tables = tables.map_err(|error| ConfigError::of_toml("", source, &error))?;
        Self::from_tables(tables).map_err(|mistakes| ConfigError::of_all("", &mistakes))
    }

    fn from_tables(tables: KeyTables) -> Result<Self, Vec<String>> {
        let mut bindings: BTreeMap<KeyContext, Vec<Binding>> = BTreeMap::new();
        let mut applicable: BTreeMap<KeyContext, Vec<Action>> = BTreeMap::new();
        let mut mistakes = Vec::new();
        for (name, actions) in tables {
            let known = KeyContext::ALL.into_iter().find(|known| known.name() == name);
            let Some(context) = known else {
                let contexts = KeyContext::ALL.map(KeyContext::name).join(", ");
                mistakes.push(format!("`[{name}]` is not a key context; there are {contexts}"));
                continue;
            };
            let bound = bindings.entry(context).or_default();
            for (action_name, sequences) in actions {
                let Some(action) = Action::by_name(&action_name) else {
                    mistakes.push(format!(
                        "`{action_name}` in [{name}] is not an action; `:` in the interface lists the actions"
                    ));
                    continue;
                };
                applicable.entry(context).or_default().push(action);
                for sequence in sequences {
                    match unbound_chords(bound, &sequence) {
                        Ok(chords) => bound.push((chords, action)),
                        Err(reason) => mistakes.push(format!("[{name}] {action_name}: {reason}")),
                    }
                }
            }
        }
        if mistakes.is_empty() {
            Ok(Self { bindings, actions: applicable, custom_commands: Vec::new() })
        } else {
            Err(mistakes)
        }
    }

    /// Applies the user's key file. Each line replaces the keys of its action in its context, and takes those keys from
    /// any other action. Also returns the actions that have no key left.
    pub fn with_overrides(mut self, source: &str) -> Result<(Self, Vec<Action>), ConfigError> {
        let overrides = Self::parse(source)?;
        for (context, replacements) in overrides.bindings {
            let bound = self.bindings.entry(context).or_default();
            let listed = overrides.actions.get(&context);
            bound.retain(|(chords, action)| {
                let replaced = listed.is_some_and(|listed| listed.contains(action));
                let taken = replacements.iter().any(|(new_chords, _)| {
                    new_chords == chords || is_prefix_conflict(new_chords, chords)
                });
                !replaced && !taken
            });
            bound.extend(replacements);
        }
        for (context, replacements) in overrides.actions {
            self.actions.entry(context).or_default().extend(replacements);
        }
        let contexts: Vec<KeyContext> = self.contexts().collect();
        let keyless = |action: &Action| self.keys_of(&contexts, *action).is_empty();
        let without_keys = Action::ALL.iter().copied().filter(keyless).collect();
        Ok((self, without_keys))
    }

    /// Binds keys to the user's own commands. They win over an action with the same keys.
    pub fn with_custom_commands(mut self, keys: Vec<(Vec<Chord>, usize)>) -> Result<Self, String> {
        for (chords, _) in &keys {
            let others = self.bindings.values().flatten().map(|(other, _)| other);
            let mut others = others.chain(keys.iter().map(|(other, _)| other));
            if let Some(other) = others.find(|other| is_prefix_conflict(other, chords)) {
                let (sequence, other) = (format_sequence(chords), format_sequence(other));
                return Err(format!("`{sequence}` cannot be typed beside `{other}`"));
            }
            if keys.iter().filter(|(other, _)| other == chords).count() > 1 {
                return Err(format!("`{}` is bound twice", format_sequence(chords)));
            }
        }
        self.custom_commands = keys;
        Ok(self)
    }

    /// Returns the label of the keys of the user's own command at a position.
    pub fn keys_of_custom_command(&self, position: usize) -> Option<String> {
        let bound = self.custom_commands.iter().find(|(_, command)| *command == position);
        bound.map(|(chords, _)| format_sequence(chords))
    }

    /// Returns what the user's own commands add to [`Self::continuations`].
    pub fn custom_continuations(&self, keys: &[Chord]) -> impl Iterator<Item = (String, usize)> {
        let follows = |chords: &Vec<Chord>| chords.len() > keys.len() && chords.starts_with(keys);
        let bound = self.custom_commands.iter().filter(move |(chords, _)| follows(chords));
        bound.map(|(chords, command)| (format_sequence(&chords[keys.len()..]), *command))
    }

    /// Resolves a key sequence, innermost context first.
    pub fn resolve(&self, contexts: &[KeyContext], keys: &[Chord]) -> KeyMatch {
        if let Some((_, command)) = self.custom_commands.iter().find(|(chords, _)| chords == keys) {
            return KeyMatch::CustomCommand(*command);
        }
        let mut pending = self.custom_commands.iter().any(|(chords, _)| chords.starts_with(keys));
        for bound in contexts.iter().filter_map(|context| self.bindings.get(context)) {
            if let Some((_, action)) = bound.iter().find(|(chords, _)| chords == keys) {
                return KeyMatch::Action(*action);
            }
            pending |= bound.iter().any(|(chords, _)| chords.starts_with(keys));
        }
        if pending { KeyMatch::Pending } else { KeyMatch::Unbound }
    }

    fn bindings_of(&self, contexts: &[KeyContext]) -> impl Iterator<Item = &Binding> {
        contexts.iter().filter_map(|context| self.bindings.get(context)).flatten()
    }

    /// Returns whether the keys perform the action in these contexts. An inner context or a command of the user may take
    /// the keys, or the first ones of them.
    fn is_active(&self, contexts: &[KeyContext], (chords, action): &Binding) -> bool {
        let is_pending =
            |count: usize| self.resolve(contexts, &chords[..count]) == KeyMatch::Pending;
        self.resolve(contexts, chords) == KeyMatch::Action(*action)
            && (1..chords.len()).all(is_pending)
    }

    /// Returns what can follow `keys`: the remaining keys of each sequence that starts with them,
    /// and its action.
    pub fn continuations(&self, contexts: &[KeyContext], keys: &[Chord]) -> Vec<(String, Action)> {
        self.bindings_of(contexts)
            .filter(|(chords, _)| chords.len() > keys.len() && chords.starts_with(keys))
            .filter(|binding| self.is_active(contexts, binding))
            .map(|(chords, action)| (format_sequence(&chords[keys.len()..]), *action))
            .collect()
    }

    /// Returns the labels of the keys that are bound to an action in any of these contexts, such as `j` and `↓`.
    pub fn keys_of(&self, contexts: &[KeyContext], action: Action) -> Vec<String> {
        self.bindings_of(contexts)
            .filter(|(_, bound)| *bound == action)
            .map(|(chords, _)| format_sequence(chords))
            .collect()
    }

    /// Returns the labels of the keys that perform an action in these contexts, innermost context first.
    pub fn active_keys_of(&self, contexts: &[KeyContext], action: Action) -> Vec<String> {
        self.bindings_of(contexts)
            .filter(|binding| binding.1 == action && self.is_active(contexts, binding))
            .map(|(chords, _)| format_sequence(chords))
            .collect()
    }

    /// Returns whether an action applies in a context, even if it has no key left.
    pub fn has_action(&self, context: KeyContext, action: Action) -> bool {
        self.actions.get(&context).is_some_and(|actions| actions.contains(&action))
    }

    pub fn contexts(&self) -> impl Iterator<Item = KeyContext> {
        self.bindings.keys().copied()
    }
}

/// Parses a key sequence that can be typed beside those that are bound.
fn unbound_chords(bound: &[Binding], sequence: &str) -> Result<Vec<Chord>, String> {
    let chords = parse_sequence(sequence)?;
    if bound.iter().any(|(other, _)| *other == chords) {
        return Err(format!("`{sequence}` is bound twice"));
    }
    // A prefix is refused, because the shorter sequence would run before the longer one is complete.
    if bound.iter().any(|(other, _)| is_prefix_conflict(other, &chords)) {
        return Err(format!("`{sequence}` is a prefix of another binding, or starts with one"));
    }
    Ok(chords)
}

fn format_sequence(chords: &[Chord]) -> String {
    chords.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// Returns whether one sequence is a prefix of the other, so that the longer one could never be
/// typed.
fn is_prefix_conflict(one: &[Chord], other: &[Chord]) -> bool {
    one != other && (one.starts_with(other) || other.starts_with(one))
}
