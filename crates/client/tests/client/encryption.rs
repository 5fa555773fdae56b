//! TLS: files of trusted certificates. Services that cannot prove their identity, or only speak old versions, are
//! refused after one attempt.

use std::fs;

use base64::{Engine as _, prelude::BASE64_STANDARD};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use tokio_rustls::{
    rustls::{
        ServerConfig,
        pki_types::{CertificateDer, pem::PemObject as _},
    },
    server::TlsStream,
};

use tessera_client::CertificateAuthorities;
use tessera_model::{DatasetList, FailureKind};
use tessera_testing::{
    certificates::{Authority, self_signed},
    tls_service::{
        self, TlsService, client, client_trusting, passes_where_system_trusts, port_of_environment,
    },
};

#[test]
fn invalid_certificate_files_are_reported_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let begin = "-----BEGIN CERTIFICATE-----\n";
    let end = "-----END CERTIFICATE-----\n";
    let key = "-----BEGIN PRIVATE KEY-----\nMC4=\n-----END PRIVATE KEY-----\n";
    let good = fs::read_to_string(Authority::new("good").file().path()).unwrap();
    let with_comment = folder.path().join("latin1.pem");
    fs::write(&with_comment, [b"# Certifica\xe7\xe3o\n", good.as_bytes()].concat()).unwrap();
    assert!(CertificateAuthorities::read(&with_comment).is_ok());
    let der = CertificateDer::from_pem_slice(good.as_bytes()).unwrap();
    let with_settings = BASE64_STANDARD.encode([&der, &[0x30, 2, 0x30, 0][..]].concat());
    let x509 = good.replace(" CERTIFICATE", " X509 CERTIFICATE");
    let trusted = format!(
        "-----BEGIN TRUSTED CERTIFICATE-----\n{with_settings}\n-----END TRUSTED CERTIFICATE-----\n"
    );
    let marked: String = format!("\u{feff}{good}");
    let utf16: Vec<u8> = marked.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (name, content) in [
        ("utf8_mark.pem", marked.into_bytes()),
        ("utf16.pem", utf16),
        ("x509.pem", x509.into_bytes()),
        ("trusted.pem", trusted.into_bytes()),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, content).unwrap();
        assert!(CertificateAuthorities::read(&path).is_ok(), "{name}");
    }
    let one_bad = format!("{good}{begin}MC4=\n{end}");
    for (name, content, word) in [
        ("missing.pem", None, "No such file"),
        ("empty.pem", Some(b"\n".to_vec()), "is empty"),
        ("der.crt", Some(vec![0x30, 0x82, 0x03, 0xff]), "DER"),
        ("large.pem", Some(vec![b'a'; 10 << 20]), "1 MiB"),
        (
            "bad.pem",
            Some(format!("{begin}!!!\n{end}").into_bytes()),
            "certificate 1 of 1 is damaged",
        ),
        ("one_bad.pem", Some(one_bad.into_bytes()), "certificate 2 of 2 is damaged"),
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

async fn answer(mut stream: TlsStream<TcpStream>, _: usize) {
    let reply = b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\n[]";
    if stream.read(&mut [0; 4_096]).await.is_ok_and(|read| read > 0) {
        stream.write_all(reply).await.unwrap();
        stream.shutdown().await.unwrap();
    }
}

#[tokio::test]
async fn only_a_proven_identity_is_accepted() {
    let trusted = Authority::new("trusted");
    let service = async |config: ServerConfig| TlsService::start_tls(config, answer).await;
    let good = service(trusted.server("localhost", false)).await;
    assert_eq!(
        client_trusting(&trusted, good.port).list_datasets().await,
        Ok(DatasetList::default())
    );

    let unknown = Authority::new("unknown");
    for (name, config, cause) in [
        ("expired", trusted.server("localhost", true), "expired"),
        ("another name", trusted.server("media.example", false), "not valid for"),
        ("self-signed", self_signed("localhost").0, "certificate"),
        ("unknown authority", unknown.server("localhost", false), "certificate"),
    ] {
        let service = service(config).await;
        let failure = client_trusting(&trusted, service.port).list_datasets().await.unwrap_err();
        let text = failure.to_string();
        assert_eq!((failure.kind, service.accepted()), (FailureKind::Unreachable, 1), "{name}");
        assert!(text.contains("cannot verify the identity of the service"), "{name}: {text}");
        assert!(text.contains(cause), "{name}: {text}");
    }
    let service = service(trusted.server("localhost", false)).await;
    let untrusting = client(service.port, CertificateAuthorities::default());
    let failure = untrusting.list_datasets().await.unwrap_err();
    assert_eq!((failure.kind, service.accepted()), (FailureKind::Unreachable, 1), "{failure}");
}

#[tokio::test]
async fn a_certificate_that_the_user_names_is_accepted_for_its_service() {
    let (config, file) = self_signed("localhost");
    let service = TlsService::start_tls(config, answer).await;
    let named = CertificateAuthorities::read(file.path()).unwrap();
    let client = client(service.port, named.clone());
    assert_eq!(client.list_datasets().await, Ok(DatasetList::default()));

    // Another service with such a certificate, or this certificate under another name, proves nothing.
    let (config, _) = self_signed("localhost");
    let (elsewhere, elsewhere_file) = self_signed("media.example");
    let of_elsewhere = CertificateAuthorities::read(elsewhere_file.path()).unwrap();
    for (config, authorities, cause, remedy) in [
        (config, named, "self-signed and not trusted", "ca_file"),
        (
            elsewhere,
            of_elsewhere,
            "is not valid for localhost, only for media.example",
            "a name that is in the certificate",
        ),
    ] {
        let service = TlsService::start_tls(config, answer).await;
        let failure = tls_service::client(service.port, authorities).list_datasets().await;
        let text = failure.unwrap_err().to_string();
        assert!(text.contains(cause) && text.contains(remedy), "{text}");
        assert!(!text.contains("clock"), "{text}");
    }
}

/// Lists the datasets of the service at the port that the environment names, if it names one.
#[tokio::test]
async fn the_service_of_the_environment_is_listed() {
    let Some(port) = port_of_environment() else { return };
    let client = client(port, CertificateAuthorities::default());
    assert_eq!(client.list_datasets().await, Ok(DatasetList::default()));
}

#[tokio::test]
async fn a_certificate_of_the_system_is_accepted_for_its_service() {
    let (config, file) = self_signed("localhost");
    let service = TlsService::start_tls(config, answer).await;
    let (_, other) = self_signed("localhost");
    for (file, is_accepted) in [(&file, true), (&other, false)] {
        let test = "encryption::the_service_of_the_environment_is_listed";
        let passes = passes_where_system_trusts(file.path(), test, service.port).await;
        assert_eq!(passes, is_accepted);
    }
}

#[tokio::test]
async fn a_service_that_requires_a_certificate_of_the_client_says_so() {
    let trusted = Authority::new("trusted");
    let config = trusted.server_requiring_client("localhost");
    let service = TlsService::start_tls(config, answer).await;
    let failure = client_trusting(&trusted, service.port).list_datasets().await.unwrap_err();
    let text = failure.to_string();
    assert!(text.contains("requires a certificate of the client"), "{text}");
    assert_eq!(service.accepted(), 1, "{text}");
}

#[tokio::test]
async fn a_named_certificate_of_a_company_authority_is_accepted_for_its_service() {
    let authority = Authority::new("company");
    for (host, expired, refused) in [
        ("localhost", false, None),
        ("localhost", true, Some("expired")),
        ("media.example", false, Some("is not valid for localhost, only for media.example")),
    ] {
        let (config, file) = authority.server_and_file(host, expired);
        let service = TlsService::start_tls(config, answer).await;
        let named = CertificateAuthorities::read(file.path()).unwrap();
        let listed = client(service.port, named).list_datasets().await;
        match refused {
            None => assert_eq!(listed, Ok(DatasetList::default())),
            Some(cause) => {
                let text = listed.unwrap_err().to_string();
                assert!(text.contains(cause), "{text}");
            }
        }
    }
    // Another certificate of the same authority is not trusted.
    let (_, file) = authority.server_and_file("localhost", false);
    let service = TlsService::start_tls(authority.server("localhost", false), answer).await;
    let named = CertificateAuthorities::read(file.path()).unwrap();
    let failure = client(service.port, named).list_datasets().await.unwrap_err();
    assert!(failure.to_string().contains("has issued the certificate"), "{failure}");
}

#[tokio::test]
async fn a_port_without_encryption_is_named() {
    let service = TlsService::start(|mut stream: TcpStream, _| async move {
        let mut hello = [0; 4_096];
        if stream.read(&mut hello).await.is_ok_and(|read| read > 0) {
            let reply = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n";
            stream.write_all(reply).await.unwrap();
        }
    })
    .await;
    let client = client(service.port, CertificateAuthorities::default());
    let text = client.list_datasets().await.unwrap_err().to_string();
    assert!(text.contains("does not speak TLS at this port") && text.contains("http://"), "{text}");
}

/// A service that agrees to nothing but an old version.
fn hello_of_old_version(minor: u8) -> Vec<u8> {
    let random = [7; 32];
    // TLS_RSA_WITH_AES_128_CBC_SHA, no session, no compression.
    let choice = [0, 0, 0x2f, 0];
    let body = [&[3, minor][..], &random, &choice].concat();
    let length = u8::try_from(body.len()).unwrap();
    [&[0x16, 3, minor, 0, length + 4, 2, 0, 0, length][..], &body].concat()
}

#[tokio::test]
async fn old_versions_of_tls_are_refused() {
    for minor in [1, 2] {
        let service = TlsService::start(move |mut stream: TcpStream, _| async move {
            let mut hello = [0; 4_096];
            if stream.read(&mut hello).await.is_ok_and(|read| read > 0) {
                stream.write_all(&hello_of_old_version(minor)).await.unwrap();
                while stream.read(&mut hello).await.is_ok_and(|read| read > 0) {}
            }
        })
        .await;
        let client = client(service.port, CertificateAuthorities::default());
        let failure = client.list_datasets().await.unwrap_err();
        assert_eq!((failure.kind, service.accepted()), (FailureKind::Unreachable, 1), "{failure}");
        assert!(failure.to_string().contains("peer is incompatible"), "{failure}");
    }
}
