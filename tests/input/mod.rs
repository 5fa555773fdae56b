//! Tests of `tessera::input`, one file per module.

mod chord;
mod keymap;
