//! The engine of several machines: a schema of a PostgreSQL server that the user operates.

mod address;
mod full_text;
mod health;
mod listener;
mod schema;
mod server;
mod tables;
mod text_match;
mod tls_options;

pub use address::StoreAddress;
pub(super) use full_text::{index_caption, search};
pub use health::{StoreHealth, health};
pub use listener::TaskListener;
pub(super) use server::PostgresServer;
pub use server::{StoreStatus, connect, init, status};
