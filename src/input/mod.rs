//! Keyboard input: `action` lists the actions, `keymap` binds chords to them by context, `chord`
//! parses and prints one key press.

pub mod action;
pub mod chord;
pub mod keymap;

pub use action::{Action, ActionGroup};
pub use chord::{Chord, Key};
pub use keymap::{KeyContext, KeyMatch, Keymap};
