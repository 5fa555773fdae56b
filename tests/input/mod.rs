//! Tests of `tessera::input`.

mod chord;
mod keymap;
