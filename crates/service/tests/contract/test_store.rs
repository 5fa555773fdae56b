//! The store of a test: a file in its index folder, or a schema of its own on the server of
//! `TESSERA_TEST_STORE`.

use std::path::Path;

use tessera_store::{
    Connection,
    postgres::{self, StoreAddress},
    sqlite,
};
use tessera_testing::server_schema::ServerSchema;

pub struct TestStore(Option<ServerSchema>);

impl TestStore {
    pub fn new() -> Self {
        let schema = ServerSchema::create(run);
        if let Some(schema) = &schema {
            postgres::init(&address_of(schema)).unwrap();
        }
        Self(schema)
    }

    pub fn file() -> Self {
        Self(None)
    }

    pub fn address(&self) -> Option<StoreAddress> {
        self.0.as_ref().map(address_of)
    }

    /// The address as a text, with the schema of the test.
    pub fn address_text(&self) -> Option<String> {
        self.0.as_ref().map(ServerSchema::address)
    }

    pub fn connect(&self, data: &Path) -> Connection {
        if let Some(schema) = &self.0 {
            return postgres::connect(&address_of(schema)).unwrap();
        }
        let database = rusqlite::Connection::open(data.join("tessera.db")).unwrap();
        let database = sqlite::connection(database).unwrap();
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

fn address_of(schema: &ServerSchema) -> StoreAddress {
    schema.address().parse().unwrap()
}

/// Runs SQL on the server of the tests.
pub fn run(address: &str, sql: &str) -> Result<(), String> {
    let connection = postgres::connect(&address.parse()?).map_err(|error| error.to_string())?;
    connection.execute_batch(sql).map_err(|error| error.to_string())
}
