//! Keys: what can be pressed, what it means, and the table between the two.
//!
//! `action` lists everything a person can do, once, with its words for help and hints;
//! `keymap` binds chords to actions by context; `chord` reads and prints one key press.

pub mod action;
pub mod chord;
pub mod keymap;

pub use action::{Action, ActionGroup};
pub use chord::{Chord, Key};
pub use keymap::{KeyContext, KeyMatch, Keymap};
