//! The engine for several machines, which is a schema on a PostgreSQL server that the user operates.

mod address;
mod column_types;
mod connection;
mod full_text;
mod server;
mod tls;

pub use address::StoreAddress;
pub(super) use full_text::{all_of, index_captions, merge_word_counts, search};
pub use server::{StoreHealth, StoreStatus, connect, health, init, reset_settings, status};
pub(super) use server::{connect_to, open};
