//! The store of a test: a file in its data directory, or a schema of its own on the server of
//! `TESSERA_TEST_STORE`.

use std::path::Path;

use tessera_service::store::{
    Connection,
    postgres::{self, StoreAddress},
    sqlite::register_functions,
};
use uuid::Uuid;

pub struct TestStore(Option<Schema>);

struct Schema {
    name: String,
    server: StoreAddress,
    address: StoreAddress,
}

impl TestStore {
    pub fn new() -> Self {
        Self(std::env::var("TESSERA_TEST_STORE").ok().map(|server| Schema::create(&server)))
    }

    pub fn file() -> Self {
        Self(None)
    }

    pub fn address(&self) -> Option<StoreAddress> {
        self.0.as_ref().map(|schema| schema.address.clone())
    }

    pub fn connect(&self, data: &Path) -> Connection {
        if let Some(schema) = &self.0 {
            return postgres::connect(&schema.address).unwrap();
        }
        let database = rusqlite::Connection::open(data.join("tessera.db")).unwrap();
        register_functions(&database).unwrap();
        let database = Connection::Sqlite(database);
        database.execute_batch("PRAGMA foreign_keys = ON").unwrap();
        database
    }

    /// Any status from any other, which the service itself rejects.
    pub fn allow_any_transition(&self, database: &Connection) {
        let sql = match self.0 {
            Some(_) => "DROP TRIGGER IF EXISTS transition ON dataset",
            None => "DROP TRIGGER IF EXISTS transition",
        };
        database.execute_batch(sql).unwrap();
    }
}

impl Schema {
    fn create(server: &str) -> Self {
        let name = format!("test_{}", Uuid::new_v4().simple());
        let separator = if server.contains('?') { '&' } else { '?' };
        let address = format!("{server}{separator}options=-csearch_path%3D{name}");
        let (server, address): (StoreAddress, StoreAddress) =
            (server.parse().unwrap(), address.parse().unwrap());
        let sql = format!("CREATE SCHEMA {name}");
        postgres::connect(&server).unwrap().execute_batch(&sql).unwrap();
        postgres::init(&address).unwrap();
        Self { name, server, address }
    }
}

impl Drop for Schema {
    fn drop(&mut self) {
        let sql = format!("SET lock_timeout = '5s'; DROP SCHEMA {} CASCADE", self.name);
        // A test that failed may still use it.
        let _ = postgres::connect(&self.server).map(|connection| connection.execute_batch(&sql));
    }
}
