//! Services behind TLS with certificates made for a test, on loopback.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use tessera_client::{AuthMethod, BaseUrl, CertificateAuthorities, Client, ServiceConfig};
use tessera_testing::{certificates::Authority, clients::without_pauses};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::{TlsAcceptor, rustls::ServerConfig, server::TlsStream};

/// A client of `localhost` that trusts this authority, besides those of the system.
pub(crate) fn client_trusting(authority: &Authority, port: u16) -> Client {
    client(port, CertificateAuthorities::read(authority.file().path()).unwrap())
}

pub(crate) fn client(port: u16, authorities: CertificateAuthorities) -> Client {
    let url = BaseUrl::parse(&format!("https://localhost:{port}")).unwrap();
    let service = ServiceConfig::new(url, AuthMethod::OnPremises).unwrap();
    Client::with_policy(service.with_authorities(authorities), without_pauses()).unwrap()
}

/// A service on a port of this machine, and how many connections it accepted.
pub(crate) struct TlsService {
    pub port: u16,
    accepted: Arc<AtomicUsize>,
}

impl TlsService {
    /// Passes each connection to `serve`, with its number.
    pub(crate) async fn start<F: Future<Output = ()> + Send>(
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
    pub(crate) async fn start_tls<F: Future<Output = ()> + Send>(
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

    pub(crate) fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }
}
