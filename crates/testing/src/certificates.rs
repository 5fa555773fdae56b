//! Makes server certificates for tests.

use std::sync::Arc;

use rcgen::{
    BasicConstraints, Certificate, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd,
};
use tempfile::{NamedTempFile, TempDir};
use tokio_rustls::rustls::{
    RootCertStore, ServerConfig,
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
    server::WebPkiClientVerifier,
};

/// A certificate authority.
pub struct Authority {
    certificate: Certificate,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    pub fn new(name: &str) -> Self {
        let (params, key) = authority(&[], name);
        let certificate = params.self_signed(&key).unwrap();
        Self { certificate, issuer: Issuer::new(params, key) }
    }

    /// Returns the configuration of a server with a certificate for `host`.
    pub fn server(&self, host: &str, expired: bool) -> ServerConfig {
        let (certificate, key) = self.certificate(host, expired);
        config(&certificate, &key)
    }

    /// Returns the configuration of a server that requires a certificate of its clients.
    pub fn server_requiring_client(&self, host: &str) -> ServerConfig {
        let (certificate, key) = self.certificate(host, false);
        let mut clients = RootCertStore::empty();
        clients.add(self.certificate.der().clone()).unwrap();
        let verifier = WebPkiClientVerifier::builder(Arc::new(clients)).build().unwrap();
        let builder = ServerConfig::builder().with_client_cert_verifier(verifier);
        builder.with_single_cert(vec![certificate.der().clone()], private_key(&key)).unwrap()
    }

    /// Returns the configuration of a server, and the file of its certificate.
    pub fn server_and_file(&self, host: &str, expired: bool) -> (ServerConfig, NamedTempFile) {
        let (certificate, key) = self.certificate(host, expired);
        (config(&certificate, &key), file(&certificate))
    }

    /// Returns a folder with a certificate for `host` and its key: `server.crt` and `server.key`.
    pub fn server_files(&self, host: &str) -> TempDir {
        let (certificate, key) = self.certificate(host, false);
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("server.crt"), certificate.pem()).unwrap();
        std::fs::write(folder.path().join("server.key"), key.serialize_pem()).unwrap();
        folder
    }

    fn certificate(&self, host: &str, expired: bool) -> (Certificate, KeyPair) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new([host.to_owned()]).unwrap();
        if expired {
            params.not_before = date_time_ymd(2000, 1, 1);
            params.not_after = date_time_ymd(2001, 1, 1);
        }
        (params.signed_by(&key, &self.issuer).unwrap(), key)
    }

    pub fn file(&self) -> NamedTempFile {
        file(&self.certificate)
    }
}

/// Returns the configuration of a server with a self-signed certificate for `host`, and the file of the certificate.
/// The certificate may sign others, like the certificates that `openssl req -x509` makes.
pub fn self_signed(host: &str) -> (ServerConfig, NamedTempFile) {
    let (params, key) = authority(&[host.to_owned()], host);
    let certificate = params.self_signed(&key).unwrap();
    (config(&certificate, &key), file(&certificate))
}

fn authority(hosts: &[String], name: &str) -> (CertificateParams, KeyPair) {
    let mut params = CertificateParams::new(hosts).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, name);
    (params, KeyPair::generate().unwrap())
}

fn file(certificate: &Certificate) -> NamedTempFile {
    let file = NamedTempFile::new().unwrap();
    std::fs::write(file.path(), certificate.pem()).unwrap();
    file
}

fn config(certificate: &Certificate, key: &KeyPair) -> ServerConfig {
    let builder = ServerConfig::builder().with_no_client_auth();
    builder.with_single_cert(vec![certificate.der().clone()], private_key(key)).unwrap()
}

fn private_key(key: &KeyPair) -> PrivateKeyDer<'static> {
    PrivatePkcs8KeyDer::from(key.serialize_der()).into()
}
