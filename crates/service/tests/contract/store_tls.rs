//! TLS to a server of the store. A proxy with a certificate made for the test stands before the server of
//! `TESSERA_TEST_STORE`, or before none. A real server with `ssl = on` is started where `TESSERA_TEST_POSTGRES` names the
//! folder of the programs of one that can encrypt.

use std::{
    env,
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Command, Output},
    sync::Arc,
};

use tempfile::{NamedTempFile, TempDir};
use tessera_store::{
    StoreError, params,
    postgres::{self, StoreAddress, StoreStatus},
    query,
};
use tessera_testing::{
    certificates::{Authority, self_signed},
    tls_service::{passes_where_system_trusts, port_of_environment},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional},
    net::{TcpListener, TcpStream},
};
use tokio_rustls::{TlsAcceptor, rustls::ServerConfig};

const PASSWORD: &str = "hunter2-over-tls";
/// Length and code of a request for TLS.
const TLS_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];
/// The proxy answers an encrypted connection with it if there is no server behind it.
const GREETING: &str = "nobody is behind this proxy";

/// Starts a proxy, which refuses what is not encrypted; returns its port.
async fn proxy(config: ServerConfig, server: Option<String>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(forward(stream, acceptor.clone(), server.clone()));
        }
    });
    port
}

async fn forward(mut stream: TcpStream, acceptor: TlsAcceptor, server: Option<String>) {
    let mut request = [0; 8];
    stream.read_exact(&mut request).await.unwrap();
    if request != TLS_REQUEST {
        return;
    }
    stream.write_all(b"S").await.unwrap();
    let Ok(mut encrypted) = acceptor.accept(stream).await else { return };
    if let Some(server) = server {
        let mut server = TcpStream::connect(server).await.unwrap();
        let _ = copy_bidirectional(&mut encrypted, &mut server).await;
        return;
    }
    let fields = format!("SFATAL\0C57P03\0M{GREETING}\0\0");
    let length = u32::try_from(fields.len() + 4).unwrap().to_be_bytes();
    let message = [b"E", &length[..], fields.as_bytes()].concat();
    encrypted.write_all(&message).await.unwrap();
    encrypted.shutdown().await.unwrap();
}

/// The status of the store at an address, or why there is none.
async fn status(address: String) -> Result<StoreStatus, String> {
    let address: StoreAddress = address.parse()?;
    let asked = tokio::task::spawn_blocking(move || postgres::status(&address));
    asked.await.unwrap().map_err(|error| error.to_string())
}

/// What connecting to a proxy as `host` ends with.
async fn outcome(config: ServerConfig, host: &str, options: &str) -> String {
    let port = proxy(config, None).await;
    let address = format!("postgres://ann:{PASSWORD}@{host}:{port}/media?{options}");
    let error = status(address).await.unwrap_err();
    assert!(!error.contains(PASSWORD), "{error}");
    error
}

#[tokio::test]
async fn a_server_is_verified_as_its_address_says() {
    let (trusted, unknown) = (Authority::new("trusted"), Authority::new("unknown"));
    let roots = trusted.file();
    let from_roots = |mode: &str| format!("sslmode={mode}&sslrootcert={}", path(&roots));
    let server = |host| trusted.server(host, false);
    let other_names = "not valid for";
    for (config, host, options, expected) in [
        (unknown.server("db.example", true), "localhost", "sslmode=prefer".to_owned(), GREETING),
        (unknown.server("db.example", true), "localhost", "sslmode=require".to_owned(), GREETING),
        (server("db.example"), "localhost", from_roots("require"), GREETING),
        (server("db.example"), "localhost", from_roots("verify-ca"), GREETING),
        (server("db.example"), "localhost", from_roots("verify-full"), other_names),
        (server("localhost"), "localhost", from_roots("verify-full"), GREETING),
        (server("127.0.0.1"), "127.0.0.1", from_roots("verify-full"), GREETING),
        (server("localhost"), "127.0.0.1", from_roots("verify-full"), other_names),
        (trusted.server("localhost", true), "localhost", from_roots("verify-ca"), "expired"),
        (unknown.server("localhost", false), "localhost", from_roots("require"), "UnknownIssuer"),
        (unknown.server("localhost", false), "localhost", from_roots("verify-ca"), "UnknownIssuer"),
        (server("localhost"), "localhost", "sslrootcert=system".to_owned(), "UnknownIssuer"),
    ] {
        let found = outcome(config, host, &options).await;
        assert!(found.contains(expected), "{host} {options}: {found}");
    }
}

#[tokio::test]
async fn a_self_signed_server_is_its_own_authority() {
    for (host, mode, expected) in [
        ("localhost", "verify-full", GREETING),
        ("db.example", "verify-ca", GREETING),
        ("db.example", "verify-full", "not valid for"),
    ] {
        let (config, certificate) = self_signed(host);
        let options = format!("sslmode={mode}&sslrootcert={}", path(&certificate));
        let found = outcome(config, "localhost", &options).await;
        assert!(found.contains(expected), "{host} {mode}: {found}");
    }
}

#[tokio::test]
async fn a_self_signed_server_is_accepted_if_the_system_trusts_it() {
    let address =
        |port| format!("postgres://ann:{PASSWORD}@localhost:{port}/media?sslrootcert=system");
    if let Some(port) = port_of_environment() {
        let found = status(address(port)).await.unwrap_err();
        return assert!(found.contains(GREETING), "{found}");
    }
    let test = "store_tls::a_self_signed_server_is_accepted_if_the_system_trusts_it";
    let ((config, own), (_, other)) = (self_signed("localhost"), self_signed("localhost"));
    let port = proxy(config, None).await;
    for (trusted, is_accepted) in [(own, true), (other, false)] {
        let passes = passes_where_system_trusts(trusted.path(), test, port).await;
        assert_eq!(passes, is_accepted);
    }
}

#[tokio::test]
async fn a_server_without_tls_is_used_only_if_the_address_allows_it() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = [0; 8];
            stream.read_exact(&mut request).await.unwrap();
            assert_eq!(request, TLS_REQUEST);
            stream.write_all(b"N").await.unwrap();
        }
    });
    let address = format!("postgres://ann@127.0.0.1:{port}/media?sslmode=require");
    let refused = status(address).await.unwrap_err();
    assert!(refused.contains("server does not support TLS"), "{refused}");
}

#[tokio::test]
async fn a_store_is_used_over_tls() {
    let Ok(server) = std::env::var("TESSERA_TEST_STORE") else { return };
    let host = server.split(['@', '/']).nth(3).unwrap();
    let (config, certificate) = self_signed("localhost");
    let port = proxy(config, Some(host.to_owned())).await;
    let address = server.replace(host, &format!("localhost:{port}"));
    let options = format!("sslmode=verify-full&sslrootcert={}", path(&certificate));
    let separator = if address.contains('?') { '&' } else { '?' };
    let status = status(format!("{address}{separator}{options}")).await.unwrap();
    assert_eq!(
        status.known_version,
        postgres::status(&server.parse().unwrap()).unwrap().known_version
    );
}

fn path(file: &NamedTempFile) -> &str {
    file.path().to_str().unwrap()
}

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
