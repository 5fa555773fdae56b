//! Certificates that the user trusts in addition to the system's. The file is read once, when the
//! client is created; nothing falls back silently.

use std::{fs, io::Read as _, path::Path};

use tessera_model::{Failure, FailureKind};

/// Four times the size of a system bundle.
const MAX_BYTES: u64 = 1 << 20;

#[derive(Clone, Debug, Default)]
pub struct CertificateAuthorities(Vec<reqwest::Certificate>);

impl CertificateAuthorities {
    /// Reads a file of PEM certificates.
    ///
    /// # Errors The file is missing, empty, larger than 1 MiB, binary (DER), or contains no valid
    /// certificate.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let refuse = |reason: &str| {
            let sentence = format!("the certificates in {}: {reason}", path.display());
            Failure::new(FailureKind::Local, sentence)
                .with_remedy("Give a PEM file: -----BEGIN CERTIFICATE----- and so on")
        };
        let mut bytes = Vec::new();
        fs::File::open(path)
            .and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
            .map_err(|error| refuse(&error.to_string()))?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(refuse("larger than 1 MiB"));
        }
        if bytes.trim_ascii().is_empty() {
            return Err(refuse("the file is empty"));
        }
        let Ok(text) = std::str::from_utf8(&bytes) else {
            return Err(refuse(
                "binary, perhaps DER: turn it into PEM with `openssl x509 -inform der -in FILE`",
            ));
        };
        let named = text.matches("-----BEGIN CERTIFICATE-----").count();
        if named == 0 {
            return Err(refuse("there is no certificate in it"));
        }
        match reqwest::Certificate::from_pem_bundle(&bytes) {
            Ok(certificates) if certificates.len() == named => Ok(Self(certificates)),
            Ok(_) | Err(_) => Err(refuse("a certificate in it is damaged")),
        }
    }

    pub(super) fn certificates(&self) -> impl Iterator<Item = reqwest::Certificate> {
        self.0.iter().cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_files_that_are_no_certificates_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let begin = "-----BEGIN CERTIFICATE-----\n";
        let end = "-----END CERTIFICATE-----\n";
        let key = "-----BEGIN PRIVATE KEY-----\nMC4=\n-----END PRIVATE KEY-----\n";
        for (name, content, word) in [
            ("missing.pem", None, "No such file"),
            ("empty.pem", Some(b"\n".to_vec()), "is empty"),
            ("der.crt", Some(vec![0x30, 0x82, 0x03, 0xff]), "DER"),
            ("large.pem", Some(vec![b'a'; 10 << 20]), "1 MiB"),
            ("bad.pem", Some(format!("{begin}!!!\n{end}").into_bytes()), "damaged"),
            ("key.pem", Some(key.as_bytes().to_vec()), "no certificate"),
        ] {
            let path = folder.path().join(name);
            if let Some(content) = content {
                fs::write(&path, content).unwrap();
            }
            let failure = CertificateAuthorities::read(&path).unwrap_err().to_string();
            assert!(failure.contains(name) && failure.contains(word), "{failure}");
        }
    }
}
