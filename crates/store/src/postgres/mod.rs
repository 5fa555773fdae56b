//! The engine of several machines: a schema of a PostgreSQL server that the user operates.

mod address;
mod full_text;
mod health;
mod listener;
mod schema;
mod server;
mod text_match;
mod tls_options;
mod word_counts;

pub use address::StoreAddress;
pub(super) use full_text::{index_captions, search};
pub use health::{StoreHealth, health};
pub use listener::TaskListener;
pub(super) use server::PostgresServer;
pub use server::{StoreStatus, connect, init, reset_settings, status};
pub(super) use word_counts::merge_word_counts;
