//! Lists other words for the actions, by which the palette and the menu find an action as well as by its name and its
//! help. Come here when somebody looks for an action by a word that finds nothing.

use crate::{input::Action, tables::text_of};

const SYNONYMS: &str = include_str!("../../../../assets/synonyms.txt");

impl Action {
    /// Returns the other words for the action, separated by spaces.
    pub fn synonyms(self) -> &'static str {
        text_of(SYNONYMS, self.name()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::tables::rows;

    #[test]
    fn an_action_has_one_row_and_a_word_once() {
        let names: Vec<&str> = rows(SYNONYMS).flat_map(|(names, _)| names.split(' ')).collect();
        let actions: BTreeSet<Action> =
            names.iter().filter_map(|name| Action::by_name(name)).collect();
        assert_eq!(actions.len(), names.len());
        for (names, words) in rows(SYNONYMS) {
            let words: Vec<&str> = words.split(' ').collect();
            assert_eq!(words.iter().collect::<BTreeSet<_>>().len(), words.len(), "{names}");
        }
    }
}
