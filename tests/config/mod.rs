//! Tests of `tessera_config`, one file per module.

mod edit;
mod key;
mod layers;
mod profile;
mod schema;
mod settings;
mod theme;
