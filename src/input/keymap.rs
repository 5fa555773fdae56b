//! Which chords mean which action where. Read from `assets/keymap.toml`, which is the
//! documentation at the same time.

use std::collections::BTreeMap;

use crate::input::{Action, Chord};

/// Where a binding holds. The innermost context wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeyContext {
    /// Anywhere outside a text field.
    Everywhere,
    /// The datasets pane.
    Datasets,
    /// The results pane.
    Results,
    /// The detail pane.
    Detail,
    /// The query builder.
    Query,
    /// The jobs pane.
    Jobs,
    /// The basket.
    Basket,
}

impl KeyContext {
    const NAMES: [(&str, Self); 7] = [
        ("everywhere", Self::Everywhere),
        ("datasets", Self::Datasets),
        ("results", Self::Results),
        ("detail", Self::Detail),
        ("query", Self::Query),
        ("jobs", Self::Jobs),
        ("basket", Self::Basket),
    ];
}

/// What a sequence of chords means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyMatch {
    /// This action.
    Action(Action),
    /// The beginning of a longer sequence.
    Pending,
    /// Nothing.
    Unbound,
}

/// A key sequence with what it means.
type Binding = (Vec<Chord>, Action);

/// All bindings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keymap {
    bindings: BTreeMap<KeyContext, Vec<Binding>>,
}

impl Keymap {
    /// The bindings that come with the program.
    ///
    /// # Errors
    /// As [`Keymap::parse`]; a test holds that it never happens.
    pub fn built_in() -> Result<Self, String> {
        Self::parse(include_str!("../../assets/keymap.toml"))
    }

    /// Reads a key file: a table per context, a line per action with its key sequences.
    ///
    /// # Errors
    /// A sentence that names the context, action or key that is not known, or bound twice.
    pub fn parse(source: &str) -> Result<Self, String> {
        let tables: BTreeMap<String, BTreeMap<String, Vec<String>>> =
            toml::from_str(source).map_err(|error| error.to_string())?;
        let mut bindings: BTreeMap<KeyContext, Vec<Binding>> = BTreeMap::new();
        for (name, actions) in tables {
            let known = KeyContext::NAMES.iter().find(|(known, _)| *known == name);
            let &(_, context) = known.ok_or_else(|| format!("`[{name}]` is no context"))?;
            let bound = bindings.entry(context).or_default();
            for (action_name, sequences) in actions {
                let action = Action::by_name(&action_name)
                    .ok_or_else(|| format!("`{action_name}` in [{name}] is no action"))?;
                for sequence in sequences {
                    let chords: Result<Vec<Chord>, String> =
                        sequence.split(' ').map(str::parse).collect();
                    let chords =
                        chords.map_err(|error| format!("[{name}] {action_name}: {error}"))?;
                    if bound.iter().any(|(taken, _)| *taken == chords) {
                        return Err(format!("[{name}] binds `{sequence}` twice"));
                    }
                    // The shorter one would be taken before the longer one is finished.
                    if bound.iter().any(|(taken, _)| is_prefix_conflict(taken, &chords)) {
                        return Err(format!("[{name}] `{sequence}` begins like another binding"));
                    }
                    bound.push((chords, action));
                }
            }
        }
        Ok(Self { bindings })
    }

    /// The same with a person's own file over it: a line there replaces the keys of that action in
    /// that context, and takes a key from whatever else had it. Gives back what lost all its keys.
    ///
    /// # Errors
    /// As [`Keymap::parse`].
    pub fn with_overrides(mut self, source: &str) -> Result<(Self, Vec<Action>), String> {
        let own = Self::parse(source)?;
        for (context, theirs) in own.bindings {
            let bound = self.bindings.entry(context).or_default();
            bound.retain(|(chords, action)| {
                let replaced = theirs.iter().any(|(_, own)| own == action);
                let taken =
                    theirs.iter().any(|(own, _)| own == chords || is_prefix_conflict(own, chords));
                !replaced && !taken
            });
            bound.extend(theirs);
        }
        let contexts: Vec<KeyContext> = self.contexts().collect();
        let keyless = |action: &Action| self.keys_of(&contexts, *action).is_empty();
        let lost = Action::ALL.iter().copied().filter(keyless).collect();
        Ok((self, lost))
    }

    /// What `keys` mean, asked of the innermost context first.
    pub fn resolve(&self, contexts: &[KeyContext], keys: &[Chord]) -> KeyMatch {
        let mut pending = false;
        for bound in contexts.iter().filter_map(|context| self.bindings.get(context)) {
            if let Some((_, action)) = bound.iter().find(|(chords, _)| chords == keys) {
                return KeyMatch::Action(*action);
            }
            pending |= bound.iter().any(|(chords, _)| chords.starts_with(keys));
        }
        if pending { KeyMatch::Pending } else { KeyMatch::Unbound }
    }

    /// What may follow the `keys` of a sequence that is not complete: the keys still to be pressed,
    /// with the action they lead to.
    pub fn continuations(&self, contexts: &[KeyContext], keys: &[Chord]) -> Vec<(String, Action)> {
        contexts
            .iter()
            .filter_map(|context| self.bindings.get(context))
            .flatten()
            .filter(|(chords, _)| chords.len() > keys.len() && chords.starts_with(keys))
            .map(|(chords, action)| (format_sequence(&chords[keys.len()..]), *action))
            .collect()
    }

    /// The keys of an action in these contexts, as printed: `j`, `↓`.
    pub fn keys_of(&self, contexts: &[KeyContext], action: Action) -> Vec<String> {
        contexts
            .iter()
            .filter_map(|context| self.bindings.get(context))
            .flatten()
            .filter(|(_, bound)| *bound == action)
            .map(|(chords, _)| format_sequence(chords))
            .collect()
    }

    /// Every context with its bindings, for the table in the documentation.
    pub fn contexts(&self) -> impl Iterator<Item = KeyContext> {
        self.bindings.keys().copied()
    }
}

/// A sequence as it is read on the keys.
fn format_sequence(chords: &[Chord]) -> String {
    chords.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// Whether two sequences cannot both be typed: one is the beginning of the other.
fn is_prefix_conflict(one: &[Chord], other: &[Chord]) -> bool {
    one != other && (one.starts_with(other) || other.starts_with(one))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(written: &str) -> Vec<Chord> {
        written.split(' ').map(|chord| chord.parse().unwrap()).collect()
    }

    #[test]
    fn the_shipped_keymap_binds_every_action() {
        let keymap = Keymap::built_in().unwrap();
        let contexts: Vec<KeyContext> = keymap.contexts().collect();
        for &action in Action::ALL {
            assert!(!keymap.keys_of(&contexts, action).is_empty(), "{action:?} has no key");
        }
    }

    #[test]
    fn inner_contexts_win_and_sequences_wait() {
        let keymap =
            Keymap::parse("[everywhere]\nfirst = ['g g']\nquit = ['q']\n[jobs]\nback = ['q']")
                .unwrap();
        let jobs = [KeyContext::Jobs, KeyContext::Everywhere];
        assert_eq!(keymap.resolve(&jobs, &keys("g")), KeyMatch::Pending);
        assert_eq!(keymap.resolve(&jobs, &keys("g g")), KeyMatch::Action(Action::First));
        assert_eq!(keymap.resolve(&jobs, &keys("q")), KeyMatch::Action(Action::Back));
        assert_eq!(keymap.resolve(&jobs, &keys("x")), KeyMatch::Unbound);
    }

    #[test]
    fn a_person_s_own_keys_replace_line_by_line_and_what_lost_its_key_is_told() {
        let shipped = Keymap::built_in().unwrap();
        let source = "[everywhere]\nquit = ['Q']\nexport = ['f']";
        let (keymap, lost) = shipped.with_overrides(source).unwrap();
        let everywhere = [KeyContext::Everywhere];
        assert_eq!(keymap.resolve(&everywhere, &keys("Q")), KeyMatch::Action(Action::Quit));
        assert_eq!(keymap.resolve(&everywhere, &keys("q")), KeyMatch::Unbound);
        assert_eq!(keymap.resolve(&everywhere, &keys("f")), KeyMatch::Action(Action::Export));
        assert_eq!(keymap.resolve(&everywhere, &keys("j")), KeyMatch::Action(Action::Down));
        assert_eq!(lost, [Action::Similar]);
    }

    #[test]
    fn mistakes_are_named() {
        for (source, word) in [
            ("[nowhere]\nquit = ['q']", "nowhere"),
            ("[everywhere]\nfly = ['q']", "fly"),
            ("[everywhere]\nquit = ['hyper-q']", "hyper-q"),
            ("[everywhere]\nquit = ['q']\nback = ['q']", "twice"),
            ("[everywhere]\nfirst = ['g g']\nlast = ['g']", "begins like"),
        ] {
            assert!(Keymap::parse(source).unwrap_err().contains(word), "{source}");
        }
    }
}
