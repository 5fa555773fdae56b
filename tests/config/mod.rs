//! Tests of `tessera_config`, by module.

mod edit;
mod layers;
mod schema;
mod settings;
