//! TLS of the clients: which certificates are accepted. A certificate that the user has named, or has added to the
//! authorities of the system, is accepted for a service that presents exactly this certificate, as OpenSSL does. The
//! usual verification refuses a self-signed certificate that is marked as an authority, and a certificate whose issuer
//! is unknown.

use std::{
    env,
    error::Error as StdError,
    io,
    iter::successors,
    sync::{Arc, OnceLock},
};

use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, SignatureScheme,
    client::{
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        verify_server_name,
    },
    crypto::CryptoProvider,
    pki_types::{CertificateDer, ServerName, UnixTime},
    server::ParsedCertificate,
};
use rustls_native_certs::{ErrorKind, load_native_certs};
use rustls_platform_verifier::Verifier;

/// The variables that name a file and folders of authorities, in place of those of the system.
pub const AUTHORITY_VARIABLES: [&str; 2] = ["SSL_CERT_FILE", "SSL_CERT_DIR"];

/// Returns the configuration of HTTP clients that trust the authorities of the system and these certificates. The
/// authorities are read now if the service is encrypted, else when a link leads to an encrypted one.
///
/// # Errors
/// The service is encrypted, and this machine has no authorities.
pub fn http_tls_config(
    named: &[CertificateDer<'static>],
    is_encrypted: bool,
) -> Result<ClientConfig, Error> {
    let provider = crate::tls_provider();
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()?;
    let verifier =
        CertificateVerifier { named: named.to_vec(), provider, authorities: OnceLock::new() };
    if is_encrypted {
        verifier.authorities()?;
    }
    let mut config = builder
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// Returns the configuration of HTTP clients that trust what the system trusts. See [`http_tls_config`].
///
/// # Errors
/// The service is encrypted, and this machine has no authorities. The error is a sentence with the remedy.
pub fn system_tls_config(is_encrypted: bool) -> Result<ClientConfig, String> {
    http_tls_config(&[], is_encrypted).map_err(|_| match unreadable_variables() {
        Some(problem) => format!("{problem}; correct or unset the variable"),
        None => "this machine has no certificate authorities; install the package ca-certificates"
            .to_owned(),
    })
}

/// Says which variables name no authorities, and why. Returns `None` if no variable is set.
fn unreadable_variables() -> Option<String> {
    let named = |name: &&str| {
        // The format for debugging escapes everything that a terminal interprets.
        env::var_os(name).map(|value| format!("{name}={:?}", value.to_string_lossy()))
    };
    let named: Vec<String> = AUTHORITY_VARIABLES.iter().filter_map(named).collect();
    let causes = load_native_certs().errors.into_iter().map(|error| error.kind);
    let cause = causes.into_iter().find_map(|cause| match cause {
        ErrorKind::Io { inner, .. } => Some(format!(" ({inner})")),
        _ => None,
    });
    let text = format!("no certificates in {}{}", named.join(" or "), cause.unwrap_or_default());
    (!named.is_empty()).then_some(text)
}

#[derive(Debug)]
struct CertificateVerifier {
    named: Vec<CertificateDer<'static>>,
    provider: Arc<CryptoProvider>,
    /// Reading the files of the system takes longer than the rest of a start, which an unencrypted service does not
    /// need.
    authorities: OnceLock<Result<Verifier, Error>>,
}

impl CertificateVerifier {
    fn authorities(&self) -> Result<&Verifier, Error> {
        let read = || {
            let named = self.named.iter().cloned();
            Verifier::new_with_extra_roots(named, self.provider.clone())
                .map_err(|error| unreadable_variables().map_or(error, Error::General))
        };
        self.authorities.get_or_init(read).as_ref().map_err(Clone::clone)
    }

    /// Whether exactly this certificate is in `ca_file`, in `SSL_CERT_FILE` or among the authorities of the system. The
    /// files of the system are read again, because this happens only before a connection fails.
    fn is_named(&self, certificate: &CertificateDer<'_>) -> bool {
        self.named.contains(certificate) || load_native_certs().certs.contains(certificate)
    }
}

impl ServerCertVerifier for CertificateVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        host: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let authorities = self.authorities()?;
        let verify = |intermediates| {
            authorities.verify_server_cert(end_entity, intermediates, host, ocsp_response, now)
        };
        let usual = verify(intermediates);
        if usual.is_ok() || !self.is_named(end_entity) {
            return usual;
        }
        match verify(&[]) {
            // The dates and the purpose of the certificate are verified before its kind and its issuer.
            Err(Error::InvalidCertificate(error))
                if is_ca_used_as_end_entity(&error) || error == CertificateError::UnknownIssuer =>
            {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, host)?;
                Ok(ServerCertVerified::assertion())
            }
            alone => alone,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.authorities()?.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.authorities()?.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Whether a certificate is refused because it is that of an authority, and not of a service.
pub fn is_ca_used_as_end_entity(error: &CertificateError) -> bool {
    // The text is compared, because the type of this error is private.
    matches!(error, CertificateError::Other(cause) if format!("{cause:?}").contains("CaUsedAsEndEntity"))
}

/// Returns what is wrong with the certificate of a server, and what to do, if this is why an HTTP client with
/// [`system_tls_config`] has failed.
pub fn certificate_problem(error: &(dyn StdError + 'static)) -> Option<String> {
    let Error::InvalidCertificate(problem) =
        causes(error).find_map(<dyn StdError>::downcast_ref)?
    else {
        return None;
    };
    if is_ca_used_as_end_entity(problem) || *problem == CertificateError::UnknownIssuer {
        let sentence = "nobody that this machine trusts has issued the certificate of the server; if you trust the \
                        server, add the certificate to those of the system, or set SSL_CERT_FILE to a PEM file with it";
        return Some(sentence.to_owned());
    }
    Some(format!(
        "the certificate of the server is not accepted: {problem}; correct the certificate or the address of the server"
    ))
}

/// Returns all causes of an error, outermost first. The source of an I/O error would skip the error that it contains, so
/// that error is taken instead.
pub fn causes<'a>(
    error: &'a (dyn StdError + 'static),
) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    successors(error.source(), |&cause| match cause.downcast_ref::<io::Error>() {
        Some(io) => io.get_ref().map(|inner| inner as &(dyn StdError + 'static)),
        None => cause.source(),
    })
}
