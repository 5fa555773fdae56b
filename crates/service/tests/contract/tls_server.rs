//! TLS to a real PostgreSQL server with `ssl = on`. It is started where `TESSERA_TEST_POSTGRES` names the folder of
//! the programs of one that can encrypt.

use std::{
    env,
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Command, Output},
};

use tempfile::TempDir;
use tessera_store::{
    StoreError, params,
    postgres::{self, StoreAddress},
    query,
};
use tessera_testing::certificates::Authority;

/// Stops when it is dropped.
struct TlsServer {
    programs: String,
    folder: TempDir,
    address: String,
}

impl TlsServer {
    /// A server with a certificate for `localhost`; `None` without its programs.
    fn start(authority: &Authority) -> Option<Self> {
        let programs =
            env::var("TESSERA_TEST_POSTGRES").ok().filter(|folder| !folder.is_empty())?;
        let folder = tempfile::tempdir().unwrap();
        // The server runs as another user if the tests run as root.
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let files = authority.server_files("localhost");
        let mut server = Self { programs, folder, address: String::new() };
        let Output { status, stdout, stderr } =
            server.script(&[]).env("TLS_FILES", files.path()).output().unwrap();
        assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
        String::from_utf8(stdout).unwrap().trim().clone_into(&mut server.address);
        Some(server)
    }

    fn script(&self, arguments: &[&str]) -> Command {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/postgres.sh");
        let mut command = Command::new(script);
        command.env("POSTGRES_PROGRAMS", &self.programs).arg(self.folder.path().join("server"));
        command.args(arguments);
        command
    }

    /// Whether a connection is encrypted.
    fn is_encrypted(&self, host: &str, options: &str) -> Result<bool, StoreError> {
        let connection = postgres::connect(&self.address(host, options))?;
        let sql = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
        Ok(query::one(&connection, sql, params![], |row| row.get(0))?)
    }

    fn address(&self, host: &str, options: &str) -> StoreAddress {
        format!("{}?{options}", self.address.replace("127.0.0.1", host)).parse().unwrap()
    }
}

impl Drop for TlsServer {
    fn drop(&mut self) {
        // It may have failed to start.
        let _ = self.script(&["stop"]).output();
    }
}

#[test]
fn a_server_with_tls_is_verified_as_its_address_says() {
    let (trusted, unknown) = (Authority::new("trusted"), Authority::new("unknown"));
    let Some(server) = TlsServer::start(&trusted) else { return };
    let (roots, other_roots) = (trusted.file(), unknown.file());
    let verified = |mode: &str| format!("sslmode={mode}&sslrootcert={}", roots.path().display());
    let other = format!("sslmode=verify-ca&sslrootcert={}", other_roots.path().display());
    for (host, options, expected) in [
        ("127.0.0.1", "sslmode=disable".to_owned(), Ok(false)),
        ("127.0.0.1", "sslmode=prefer".to_owned(), Ok(true)),
        ("127.0.0.1", "sslmode=require".to_owned(), Ok(true)),
        ("127.0.0.1", verified("require"), Ok(true)),
        ("127.0.0.1", verified("verify-ca"), Ok(true)),
        ("localhost", verified("verify-full"), Ok(true)),
        ("127.0.0.1", verified("verify-full"), Err("not valid for")),
        ("localhost", other, Err("UnknownIssuer")),
        ("localhost", "sslrootcert=system".to_owned(), Err("UnknownIssuer")),
    ] {
        let found = server.is_encrypted(host, &options).map_err(|error| error.to_string());
        match (&found, expected) {
            (Ok(found), Ok(expected)) => assert_eq!(*found, expected, "{host} {options}"),
            (Err(found), Err(expected)) => assert!(found.contains(expected), "{options}: {found}"),
            _ => panic!("{host} {options}: {found:?}"),
        }
    }
    let address = server.address("localhost", &verified("verify-full"));
    let status = postgres::init(&address).unwrap();
    assert_eq!(status.schema_version, status.known_version);
}
