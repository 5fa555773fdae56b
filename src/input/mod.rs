//! Keys: chords, actions and the keymap.
