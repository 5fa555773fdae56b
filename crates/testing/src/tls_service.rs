//! Services behind TLS with certificates made for a test, on loopback.

use std::{
    env,
    path::Path,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use tessera_client::{AuthMethod, BaseUrl, CertificateAuthorities, Client, ServiceConfig};

use crate::{certificates::Authority, clients::without_pauses};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};
use tokio_rustls::{TlsAcceptor, rustls::ServerConfig, server::TlsStream};

/// A client of `localhost` that trusts this authority, besides those of the system.
pub fn client_trusting(authority: &Authority, port: u16) -> Client {
    client(port, CertificateAuthorities::read(authority.file().path()).unwrap())
}

pub fn client(port: u16, authorities: CertificateAuthorities) -> Client {
    let url = BaseUrl::parse(&format!("https://localhost:{port}")).unwrap();
    let service = ServiceConfig::new(url, AuthMethod::OnPremises).unwrap();
    Client::with_policy(service.with_authorities(authorities), without_pauses()).unwrap()
}

/// A service on a port of this machine, and how many connections it accepted.
pub struct TlsService {
    pub port: u16,
    accepted: Arc<AtomicUsize>,
}

impl TlsService {
    /// Passes each connection to `serve`, with its number.
    pub async fn start<F: Future<Output = ()> + Send>(
        serve: impl Fn(TcpStream, usize) -> F + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let accepted = Arc::<AtomicUsize>::default();
        let (count, serve) = (Arc::clone(&accepted), Arc::new(serve));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let number = count.fetch_add(1, Ordering::SeqCst);
                let serve = Arc::clone(&serve);
                tokio::spawn(async move { serve(stream, number).await });
            }
        });
        Self { port, accepted }
    }

    /// As [`Self::start`], after the handshake of TLS. Failed handshakes end their connection.
    pub async fn start_tls<F: Future<Output = ()> + Send>(
        config: ServerConfig,
        serve: impl Fn(TlsStream<TcpStream>, usize) -> F + Send + Sync + 'static,
    ) -> Self {
        let (acceptor, serve) = (TlsAcceptor::from(Arc::new(config)), Arc::new(serve));
        Self::start(move |stream, number| {
            let (acceptor, serve) = (acceptor.clone(), Arc::clone(&serve));
            async move {
                if let Ok(stream) = acceptor.accept(stream).await {
                    serve(stream, number).await;
                }
            }
        })
        .await
    }

    pub fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }
}

/// Responds 404 to a request. The request is read first, because closing a connection with unread bytes resets it.
pub async fn respond_not_found(mut stream: TlsStream<TcpStream>, _: usize) {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") && stream.read_buf(&mut request).await.unwrap() > 0 {}
    let response = b"HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    stream.write_all(response).await.unwrap();
    stream.shutdown().await.unwrap();
}

const PORT_VARIABLE: &str = "TESSERA_TEST_PORT";

/// Runs a test of this program in another process, because the certificates of the system are those of `file` there,
/// and variables are read once for a process. Returns whether the test passed.
pub async fn passes_where_system_trusts(file: &Path, test: &str, port: u16) -> bool {
    let mut child = Command::new(env::current_exe().unwrap());
    child.args(["--exact", test]);
    child.env("SSL_CERT_FILE", file).env(PORT_VARIABLE, port.to_string());
    let output = tokio::task::spawn_blocking(move || child.output().unwrap()).await.unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(printed.contains("running 1 test"), "{printed}");
    output.status.success()
}

/// Returns the port of the service that a test uses that [`passes_where_system_trusts`] runs. In the process that
/// starts the service, there is none.
pub fn port_of_environment() -> Option<u16> {
    env::var(PORT_VARIABLE).ok().map(|port| port.parse().unwrap())
}
