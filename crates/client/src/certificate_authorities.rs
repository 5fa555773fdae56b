//! Certificates that the user trusts in addition to the system's, read once.

use std::{fs, io::Read as _, path::Path};

use tessera_model::Failure;

/// Four times the size of a system bundle.
const MAX_BYTES: u64 = 1 << 20;

#[derive(Clone, Debug, Default)]
pub struct CertificateAuthorities(Vec<reqwest::Certificate>);

impl CertificateAuthorities {
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let to_failure = |reason: &str| {
            let sentence = format!("cannot read certificates from {}: {reason}", path.display());
            Failure::local(sentence)
                .with_remedy("Use a PEM file, which starts with -----BEGIN CERTIFICATE-----")
        };
        let mut bytes = Vec::new();
        fs::File::open(path)
            .and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
            .map_err(|error| to_failure(&error.to_string()))?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(to_failure("larger than 1 MiB"));
        }
        if bytes.trim_ascii().is_empty() {
            return Err(to_failure("the file is empty"));
        }
        let Ok(text) = std::str::from_utf8(&bytes) else {
            return Err(to_failure(
                "binary, possibly DER: convert it to PEM with `openssl x509 -inform der -in FILE`",
            ));
        };
        let named = text.matches("-----BEGIN CERTIFICATE-----").count();
        if named == 0 {
            return Err(to_failure("the file contains no certificate"));
        }
        match reqwest::Certificate::from_pem_bundle(&bytes) {
            Ok(certificates) if certificates.len() == named => Ok(Self(certificates)),
            Ok(_) | Err(_) => Err(to_failure("a certificate is damaged")),
        }
    }

    pub(super) fn certificates(&self) -> impl Iterator<Item = reqwest::Certificate> {
        self.0.iter().cloned()
    }
}
