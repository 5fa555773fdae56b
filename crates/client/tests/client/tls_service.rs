//! Services behind TLS with certificates made for a test, on loopback.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use rcgen::{
    BasicConstraints, Certificate, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd,
};
use tempfile::NamedTempFile;
use tessera_client::{AuthMethod, BaseUrl, CertificateAuthorities, Client, Endpoint};
use tessera_testing::clients::without_pauses;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
    },
    server::TlsStream,
};

/// A certificate authority.
pub(crate) struct Authority {
    certificate: Certificate,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    pub(crate) fn new(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        Self { certificate, issuer: Issuer::new(params, key) }
    }

    /// The configuration of a service with a certificate for `host`.
    pub(crate) fn service(&self, host: &str, expired: bool) -> ServerConfig {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new([host.to_owned()]).unwrap();
        if expired {
            params.not_before = date_time_ymd(2000, 1, 1);
            params.not_after = date_time_ymd(2001, 1, 1);
        }
        config(&params.signed_by(&key, &self.issuer).unwrap(), &key)
    }

    /// A client of `localhost` that trusts this authority, besides those of the system.
    pub(crate) fn client(&self, port: u16) -> Client {
        let file = NamedTempFile::new().unwrap();
        std::fs::write(file.path(), self.certificate.pem()).unwrap();
        client(port, CertificateAuthorities::read(file.path()).unwrap())
    }
}

pub(crate) fn client(port: u16, authorities: CertificateAuthorities) -> Client {
    let url = BaseUrl::parse(&format!("https://localhost:{port}")).unwrap();
    let endpoint = Endpoint::new(url, AuthMethod::OnPremises).unwrap();
    Client::with_policy(endpoint.with_authorities(authorities), without_pauses()).unwrap()
}

pub(crate) fn self_signed_service() -> ServerConfig {
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(["localhost".to_owned()]).unwrap();
    config(&params.self_signed(&key).unwrap(), &key)
}

fn config(certificate: &Certificate, key: &KeyPair) -> ServerConfig {
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let builder = ServerConfig::builder().with_no_client_auth();
    builder.with_single_cert(vec![certificate.der().clone()], key).unwrap()
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
