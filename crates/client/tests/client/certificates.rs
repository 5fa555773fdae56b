//! Files of trusted certificates.

use std::fs;

use tessera_client::CertificateAuthorities;

#[test]
fn invalid_certificate_files_are_reported_by_name() {
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
