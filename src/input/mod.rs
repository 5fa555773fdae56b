//! Keyboard input: actions, key presses (chords), and the keymap that binds them by context.

pub mod action;
pub mod chord;
pub mod keymap;

pub use action::{Action, ActionGroup};
pub use chord::{Chord, Key};
pub use keymap::{KeyContext, KeyMatch, Keymap};
