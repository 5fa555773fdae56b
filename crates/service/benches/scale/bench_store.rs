//! The store of the bench, which is a file or a separate schema on the server that `TESSERA_TEST_STORE` names.

use std::path::{Path, PathBuf};

use tessera_service::DeploymentSettings;
use tessera_store::{
    Store,
    postgres::{self, StoreAddress},
};
use tessera_testing::server_schema::ServerSchema;

/// The argument of a role that means a file.
const FILE: &str = "file";

pub struct BenchStore {
    /// The index folder.
    pub data: PathBuf,
    pub address: Option<StoreAddress>,
    /// The address, as an argument of a role.
    pub argument: String,
}

impl BenchStore {
    pub fn from_arguments(data: &str, address: &str) -> Self {
        let argument = address.to_owned();
        let address = (address != FILE).then(|| address.parse().unwrap());
        Self { data: data.into(), address, argument }
    }

    /// Returns the same store with a separate index folder.
    pub fn of_another_machine(&self, name: &str) -> Self {
        let data = self.data.join(name);
        Self { data, address: self.address.clone(), argument: self.argument.clone() }
    }

    pub fn open(&self) -> Store {
        match &self.address {
            Some(address) => Store::open_on_server(&self.data, address).unwrap(),
            None => Store::open(&self.data).unwrap(),
        }
    }

    /// Returns the settings of a process that serves. On a server, other processes do the work.
    pub fn settings(&self) -> DeploymentSettings {
        DeploymentSettings {
            store: self.address.clone(),
            jobs: usize::from(self.address.is_none()),
            ..DeploymentSettings::default()
        }
    }
}

/// Creates a schema with the tables of a store. Returns it with its address for the arguments of a role.
pub fn create_schema() -> (Option<ServerSchema>, String) {
    let Some(schema) = ServerSchema::create(run) else { return (None, FILE.to_owned()) };
    let address = schema.address();
    postgres::init(&address.parse().unwrap()).unwrap();
    (Some(schema), address)
}

fn run(address: &str, sql: &str) -> Result<(), String> {
    let connection = postgres::connect(&address.parse()?).map_err(|error| error.to_string())?;
    connection.execute_batch(sql).map_err(|error| error.to_string())
}

pub fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}
