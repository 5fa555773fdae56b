//! Creates a schema for the store of one test, on the PostgreSQL server that `TESSERA_TEST_STORE` names.

use std::{
    env,
    sync::atomic::{AtomicU64, Ordering},
    time::UNIX_EPOCH,
};

/// Runs SQL on the server at an address.
type Run = fn(address: &str, sql: &str) -> Result<(), String>;

/// A schema that exists until this is dropped.
pub struct ServerSchema {
    name: String,
    server: String,
    run: Run,
}

impl ServerSchema {
    /// Creates an empty schema. Returns `None` if tests use files.
    pub fn create(run: Run) -> Option<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let server = env::var("TESSERA_TEST_STORE").ok()?;
        let now = UNIX_EPOCH.elapsed().unwrap().as_nanos();
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("test_{now}_{}_{number}", std::process::id());
        run(&server, &format!("CREATE SCHEMA {name}")).unwrap();
        Some(Self { name, server, run })
    }

    /// Returns the address of a store in the schema. The server names the connections of the store as the schema.
    pub fn address(&self) -> String {
        let separator = if self.server.contains('?') { '&' } else { '?' };
        let Self { name, server, .. } = self;
        format!("{server}{separator}application_name={name}&options=-csearch_path%3D{name}")
    }
}

impl Drop for ServerSchema {
    fn drop(&mut self) {
        let sql = format!("SET lock_timeout = '5s'; DROP SCHEMA {} CASCADE", self.name);
        // An error is ignored, because a failed test may still be using the schema.
        let _ = (self.run)(&self.server, &sql);
    }
}
