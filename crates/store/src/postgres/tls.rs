//! TLS for connections to PostgreSQL: how a connection is encrypted, and which certificates of a server are accepted.

use std::{
    convert::Infallible,
    fmt, io,
    path::PathBuf,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use tessera_crypto::system_tls_config;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::{
    Socket,
    tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream as PostgresTlsStream},
};
use tokio_rustls::{
    TlsConnector,
    client::TlsStream,
    rustls::{
        ClientConfig, DigitallySignedStruct, Error as TlsError, RootCertStore, SignatureScheme,
        client::{
            danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
            verify_server_cert_signed_by_trust_anchor, verify_server_name,
        },
        crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature},
        pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject as _},
        server::ParsedCertificate,
    },
};

/// The name of the protocol, in the spelling of libpq.
const PROTOCOL: &[u8] = b"postgresql";

/// What the certificate of a server must prove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ServerVerification {
    /// Nothing. The connection is encrypted, but another server can impersonate this one.
    Unverified,
    /// The certificate is in this file, or was issued by an authority in this file.
    IssuedBy(PathBuf),
    /// The same as `IssuedBy`, and the certificate is valid for the name of the host.
    IssuedForHostBy(PathBuf),
    /// The system trusts the certificate or its issuer, and the certificate is valid for the name of the host.
    IssuedForHostBySystem,
}

impl ServerVerification {
    /// Reads the authorities and creates the TLS configuration.
    fn client_config(&self) -> Result<ClientConfig, String> {
        let authorities = match self {
            Self::Unverified => None,
            Self::IssuedBy(file) | Self::IssuedForHostBy(file) => Some(Authorities::read(file)?),
            Self::IssuedForHostBySystem => return system_tls_config(true),
        };
        let provider = tessera_crypto::tls_provider();
        let algorithms = provider.signature_verification_algorithms;
        let for_host = matches!(self, Self::IssuedForHostBy(_));
        let verifier = CertificateVerifier { authorities, for_host, algorithms };
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|cause| cause.to_string())?;
        let builder = builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier));
        Ok(builder.with_no_client_auth())
    }
}

#[derive(Debug)]
struct Authorities {
    roots: RootCertStore,
    certificates: Vec<CertificateDer<'static>>,
}

impl Authorities {
    fn read(file: &PathBuf) -> Result<Self, String> {
        let unusable = |cause: &dyn std::fmt::Display| {
            format!("the root certificates in {} cannot be used: {cause}", file.display())
        };
        let read = CertificateDer::pem_file_iter(file).map_err(|cause| unusable(&cause))?;
        let certificates: Vec<_> =
            read.collect::<Result<_, _>>().map_err(|cause| unusable(&cause))?;
        let mut roots = RootCertStore::empty();
        for certificate in &certificates {
            roots.add(certificate.clone()).map_err(|cause| unusable(&cause))?;
        }
        if roots.is_empty() {
            return Err(unusable(&"there are none"));
        }
        Ok(Self { roots, certificates })
    }
}

#[derive(Debug)]
struct CertificateVerifier {
    /// The accepted authorities. `None` accepts every certificate.
    authorities: Option<Authorities>,
    for_host: bool,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for CertificateVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        host: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        let Some(authorities) = &self.authorities else {
            return Ok(ServerCertVerified::assertion());
        };
        let certificate = ParsedCertificate::try_from(end_entity)?;
        // A self-signed certificate, which the manual of PostgreSQL shows how to make, is its own authority.
        if !authorities.certificates.contains(end_entity) {
            verify_server_cert_signed_by_trust_anchor(
                &certificate,
                &authorities.roots,
                intermediates,
                now,
                self.algorithms.all,
            )?;
        }
        if self.for_host {
            verify_server_name(&certificate, host)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        verify_tls12_signature(message, certificate, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// Encrypts connections if the server supports it.
#[derive(Clone)]
pub(super) struct Encryption(TlsConnector);

impl Encryption {
    pub fn new(verification: &ServerVerification) -> Result<Self, String> {
        let mut config = verification.client_config()?;
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        Ok(Self(TlsConnector::from(Arc::new(config))))
    }
}

/// The authorities are not printed.
impl fmt::Debug for Encryption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Encryption")
    }
}

impl MakeTlsConnect<Socket> for Encryption {
    type Stream = EncryptedStream;
    type TlsConnect = Handshake;
    type Error = Infallible;

    /// The library also calls this function for connections that are not encrypted.
    fn make_tls_connect(&mut self, host: &str) -> Result<Handshake, Infallible> {
        Ok(Handshake { connector: self.0.clone(), host: host.to_owned() })
    }
}

/// A TLS handshake that has not begun yet.
pub(super) struct Handshake {
    connector: TlsConnector,
    host: String,
}

impl TlsConnect<Socket> for Handshake {
    type Stream = EncryptedStream;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<EncryptedStream>> + Send>>;

    fn connect(self, socket: Socket) -> Self::Future {
        Box::pin(async move {
            let host = ServerName::try_from(self.host).map_err(io::Error::other)?;
            Ok(EncryptedStream(self.connector.connect(host, socket).await?))
        })
    }
}

pub(super) struct EncryptedStream(TlsStream<Socket>);

impl PostgresTlsStream for EncryptedStream {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for EncryptedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl AsyncWrite for EncryptedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
