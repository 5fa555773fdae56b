//! Tests of `tessera::config`.

mod edit;
mod key;
mod layers;
mod profile;
mod schema;
mod settings;
mod theme;
