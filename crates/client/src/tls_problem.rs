//! Describes what is wrong with a TLS connection, and what to do about it.

use std::fmt;

use rustls::{AlertDescription, CertificateError, Error, OtherError};
use tessera_crypto::{AUTHORITY_VARIABLES, is_ca_used_as_end_entity};

pub(super) fn needs_client_certificate(error: &Error) -> bool {
    *error == Error::AlertReceived(AlertDescription::CertificateRequired)
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
            Error::General(cause)
                if AUTHORITY_VARIABLES.iter().any(|name| cause.contains(name)) =>
            {
                Self::new(cause, VARIABLE_REMEDY)
            }
            Error::General(cause) => Self::new(cause, AUTHORITIES_REMEDY),
            error if needs_client_certificate(error) => Self::new(
                "the service requires a certificate of the client, which this program does not send",
                "Use an address of the service that accepts a key pair, a token or a session instead",
            ),
            Error::AlertReceived(AlertDescription::HandshakeFailure) => Self::new(
                "the service refused the encryption: it may require a certificate of the client, or have no cipher or \
                 kind of key in common with this program, which does not support P-521",
                "Check the address, and which certificates, keys and versions of TLS the service uses",
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
            CertificateError::NotValidForNameContext { expected, presented } => {
                Self::of_name(&expected.to_str(), presented)
            }
            CertificateError::UnknownIssuer => Self::new(
                "nobody that this machine trusts has issued the certificate",
                TRUST_REMEDY,
            ),
            error if is_ca_used_as_end_entity(error) => {
                Self::new("the certificate is self-signed and not trusted", TRUST_REMEDY)
            }
            error => Self::of_other(&name_of(error)),
        }
    }

    fn of_other(name: &str) -> Self {
        match CERTIFICATE_PROBLEMS.iter().find(|(start, ..)| name.starts_with(start)) {
            Some((_, cause, remedy)) => Self::new(cause, remedy),
            None => Self::new(
                format_args!("the certificate is damaged or not supported ({name})"),
                "Check the address and the certificate of the service",
            ),
        }
    }

    /// `presented` has the names of the certificate as the verification formats them: `DnsName("media.example")`.
    fn of_name<'a>(expected: &str, presented: &'a [String]) -> Self {
        let name = |presented: &'a String| {
            let mut kinds = ["DnsName(", "IpAddress("].into_iter();
            let name = kinds.find_map(|kind| presented.strip_prefix(kind))?;
            Some(name.trim_matches(['"', ')']))
        };
        let names: Vec<&str> = presented.iter().filter_map(name).collect();
        if names.is_empty() {
            return Self::new(
                "the certificate contains no name of a service (subjectAltName)",
                NAME_REMEDY,
            );
        }
        if names.contains(&expected) {
            return Self::new(
                format_args!("the certificate contains the IP address {expected} as a DNS name"),
                "Create it again with `subjectAltName=IP:ADDRESS` instead of `DNS:ADDRESS`",
            );
        }
        Self::new(
            format_args!(
                "the certificate is not valid for {expected}, only for {}",
                names.join(", ")
            ),
            "Use a name that is in the certificate as the address",
        )
    }

    fn new(cause: impl fmt::Display, remedy: &'static str) -> Self {
        Self { cause: cause.to_string(), remedy }
    }
}

/// Returns the name of an error without its fields, which are of use only to this program.
fn name_of(error: &CertificateError) -> String {
    let text = match error {
        CertificateError::Other(OtherError(cause)) => format!("{cause:?}"),
        error => format!("{error:?}"),
    };
    text.split([' ', '(', '{']).next().unwrap_or_default().to_owned()
}

/// The starts of the names of errors, what they mean, and what to do.
const CERTIFICATE_PROBLEMS: [(&str, &str, &str); 8] = [
    (
        "UnsupportedCertVersion",
        "the certificate has version 1, which contains no name of a service (subjectAltName)",
        NAME_REMEDY,
    ),
    (
        "UnsupportedSignatureAlgorithm",
        "the certificate or its issuer has a kind of key or signature that is not supported, such as P-521 or SHA-1",
        KEY_REMEDY,
    ),
    (
        "BadSignature",
        "a signature of the certificate is wrong, or its key is RSA with fewer than 2048 bits",
        KEY_REMEDY,
    ),
    (
        "EkuError",
        "the certificate is not for services (its extendedKeyUsage has no serverAuth)",
        "Create the certificate of the service again with `extendedKeyUsage=serverAuth`",
    ),
    (
        "NameConstraintViolation",
        "an issuer of the certificate is not allowed to certify this name (nameConstraints)",
        "Use another name as the address, or a certificate of another issuer",
    ),
    (
        "EndEntityUsedAsCa",
        "an issuer of the certificate is not marked as an authority (basicConstraints)",
        "Create the certificate of the issuer again with `basicConstraints=CA:TRUE`",
    ),
    (
        "UnhandledCriticalExtension",
        "the certificate has a critical extension that is not supported",
        "Create the certificate of the service again without this extension",
    ),
    ("Revoked", "the certificate was revoked", "Renew the certificate of the service"),
];

const NAME_REMEDY: &str =
    "Create it again with one, for example with `-addext subjectAltName=DNS:NAME` of openssl req";

const KEY_REMEDY: &str = "Check which versions of TLS the service offers, and create its certificate again with a key \
                          of P-256 or RSA with 2048 bits, and SHA-256";

/// What to do on a system without certificate authorities, such as a minimal container.
const AUTHORITIES_REMEDY: &str = "Encrypted services need the certificate authorities of the system (package \
                                  ca-certificates), or `ca_file` in the profile";

const VARIABLE_REMEDY: &str =
    "Correct the variable, or unset it to use the certificate authorities of the system";

const TRUST_REMEDY: &str = "If you trust the service, set `ca_file` of the profile to a PEM file with its certificate \
                            or the one of its authority";

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rustls::pki_types::ServerName;

    use super::*;

    /// An error whose message does not contain its name, like those of the verifier.
    struct NamedError(&'static str);

    impl fmt::Debug for NamedError {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }

    impl fmt::Display for NamedError {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("certificate had invalid extensions")
        }
    }

    impl std::error::Error for NamedError {}

    #[test]
    fn problems_are_described_without_the_structure_of_errors() {
        let of_name =
            |host: &'static str, presented: &[&str]| CertificateError::NotValidForNameContext {
                expected: ServerName::try_from(host).unwrap(),
                presented: presented.iter().map(ToString::to_string).collect(),
            };
        let other = |name| CertificateError::Other(OtherError(Arc::new(NamedError(name))));
        for (error, cause, remedy) in [
            (
                of_name("localhost", &["Unsupported(0x01)"]),
                "the certificate contains no name of a service",
                "subjectAltName=DNS:NAME",
            ),
            (
                of_name(
                    "localhost",
                    &["DnsName(\"a.example\")", "IpAddress(10.0.0.1)", "DirectoryName"],
                ),
                "the certificate is not valid for localhost, only for a.example, 10.0.0.1",
                "a name that is in the certificate",
            ),
            (
                of_name("127.0.0.1", &["DnsName(\"a.example\")", "DnsName(\"127.0.0.1\")"]),
                "contains the IP address 127.0.0.1 as a DNS name",
                "subjectAltName=IP:",
            ),
            (
                other("MaximumPathDepthExceeded"),
                "damaged or not supported (MaximumPathDepthExceeded)",
                "",
            ),
            (other("UnsupportedCertVersion"), "has version 1", "subjectAltName=DNS:NAME"),
            (other("EkuError"), "has no serverAuth", "extendedKeyUsage=serverAuth"),
            (other("NameConstraintViolation"), "not allowed to certify this name", ""),
            (
                CertificateError::UnsupportedSignatureAlgorithmContext {
                    signature_algorithm_id: vec![1],
                    supported_algorithms: Vec::new(),
                },
                "such as P-521",
                "P-256",
            ),
            (CertificateError::BadSignature, "RSA with fewer than 2048 bits", "2048 bits"),
        ] {
            let problem = TlsProblem::of_certificate(&error);
            assert!(problem.cause.contains(cause), "{}", problem.cause);
            assert!(problem.remedy.contains(remedy), "{}", problem.remedy);
        }
        let problem =
            TlsProblem::of(&Error::AlertReceived(AlertDescription::HandshakeFailure)).cause;
        assert!(problem.contains("P-521"), "{problem}");
    }
}
