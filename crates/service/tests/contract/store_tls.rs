//! TLS to a server of the store: a proxy with a certificate made for the test stands before the server of
//! `TESSERA_TEST_STORE`, or before none.

use std::sync::Arc;

use tempfile::NamedTempFile;
use tessera_store::postgres::{self, StoreAddress, StoreStatus};
use tessera_testing::certificates::{Authority, self_signed};
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
