//! The keys that all forms have in common.

use super::KeyResult;
use crate::{
    app::pane::cycle,
    input::{Chord, Key},
};

/// Handles a key that ends a form or moves between its fields; other keys change the field: `None`.
pub(super) fn handle_key<F: Copy + PartialEq>(
    focused: &mut F,
    fields: &[F],
    chord: Chord,
) -> Option<KeyResult> {
    let by = match chord.key {
        Key::Esc => return Some(KeyResult::Close),
        Key::Enter => return Some(KeyResult::Accept),
        Key::Tab if chord.shift => -1,
        Key::Up => -1,
        Key::Tab | Key::Down => 1,
        _ => return None,
    };
    *focused = cycle(fields, *focused, by);
    Some(KeyResult::Stay)
}
