//! TLS: which certificates are accepted, and what to do about one that is not. A certificate that the user has named in
//! `ca_file` is accepted for a service that presents exactly this certificate, because a self-signed certificate is
//! usually also marked as an authority, which the usual verification refuses for a service.

use std::{fmt, sync::Arc};

use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, SignatureScheme,
    client::{
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        verify_server_name,
    },
    pki_types::{CertificateDer, ServerName, UnixTime},
    server::ParsedCertificate,
};
use rustls_platform_verifier::Verifier;

/// Returns the configuration of a client that trusts the authorities of the system and these certificates.
pub(super) fn tls_config(named: &[CertificateDer<'static>]) -> Result<ClientConfig, Error> {
    let provider = tessera_crypto::tls_provider();
    let usual = Verifier::new_with_extra_roots(named.iter().cloned(), provider.clone())?;
    let verifier = Arc::new(NamedCertificateVerifier { usual, named: named.to_vec() });
    let builder =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let mut config =
        builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

#[derive(Debug)]
struct NamedCertificateVerifier {
    usual: Verifier,
    named: Vec<CertificateDer<'static>>,
}

impl ServerCertVerifier for NamedCertificateVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        host: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let usual =
            self.usual.verify_server_cert(end_entity, intermediates, host, ocsp_response, now);
        match usual {
            // The time of the certificate was verified before its kind.
            Err(Error::InvalidCertificate(error))
                if is_authority(&error) && self.named.contains(end_entity) =>
            {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, host)?;
                Ok(ServerCertVerified::assertion())
            }
            usual => usual,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.usual.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.usual.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.usual.supported_verify_schemes()
    }
}

/// Whether a service has presented the certificate of an authority. The text is compared, because the type of this
/// error is private.
fn is_authority(error: &CertificateError) -> bool {
    matches!(error, CertificateError::Other(cause) if cause.to_string().contains("CaUsedAsEndEntity"))
}

/// What is wrong with a TLS connection, and what to do about it.
pub(super) struct TlsProblem {
    pub cause: String,
    pub remedy: &'static str,
}

impl TlsProblem {
    pub(super) fn of(error: &Error) -> Self {
        match error {
            Error::InvalidCertificate(error) => Self::of_certificate(error),
            Error::InvalidMessage(_) => Self::new(
                "the service does not speak TLS at this port",
                "Use http:// if the service is not encrypted, or give the port of its encrypted address",
            ),
            _ => {
                Self::new(error, "Check the address, and which versions of TLS the service offers")
            }
        }
    }

    fn of_certificate(error: &CertificateError) -> Self {
        match error {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => Self::new(
                error,
                "Renew the certificate of the service, or correct the clock of this machine",
            ),
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                Self::new(error, "Correct the clock of this machine, or of the one that issued it")
            }
            CertificateError::NotValidForNameContext { presented, .. } if presented.is_empty() => {
                Self::new(
                    "the certificate contains no name (subjectAltName)",
                    "Create it again with one, for example with `-addext subjectAltName=DNS:NAME` of openssl req",
                )
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                Self::new(error, "Use a name that is in the certificate as the address")
            }
            CertificateError::UnknownIssuer => Self::new(
                "nobody that this machine trusts has issued the certificate",
                TRUST_REMEDY,
            ),
            error if is_authority(error) => {
                Self::new("the certificate is self-signed and not trusted", TRUST_REMEDY)
            }
            _ => Self::new(error, "Check the address and the certificate of the service"),
        }
    }

    fn new(cause: impl fmt::Display, remedy: &'static str) -> Self {
        Self { cause: cause.to_string(), remedy }
    }
}

const TRUST_REMEDY: &str = "If you trust the service, set `ca_file` of the profile to a PEM file with its certificate \
                            or the one of its authority";
