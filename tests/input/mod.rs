//! Tests of `tessera_config::input`, one file per module.

mod chord;
mod keymap;
