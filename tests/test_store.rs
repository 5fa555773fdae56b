//! Creates stores for tests on the server that `TESSERA_TEST_STORE` names.

use tessera_store::{Connection, postgres};
use tessera_testing::server_schema::ServerSchema;

/// Creates a schema without tables. Returns `None` if tests use files.
pub fn schema() -> Option<ServerSchema> {
    ServerSchema::create(run)
}

/// Creates a schema with the tables of a store.
pub fn store() -> Option<ServerSchema> {
    let schema = schema()?;
    postgres::init(&schema.address().parse().unwrap()).unwrap();
    Some(schema)
}

pub fn connect(schema: &ServerSchema) -> Connection {
    postgres::connect(&schema.address().parse().unwrap()).unwrap()
}

fn run(address: &str, sql: &str) -> Result<(), String> {
    let connection = postgres::connect(&address.parse()?).map_err(|error| error.to_string())?;
    connection.execute_batch(sql).map_err(|error| error.to_string())
}
